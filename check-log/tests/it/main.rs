//! Logs against their definitions.

mod certify;
mod examples;
mod figures;
mod oracle;
mod simulated;
mod unread;
mod worlds;
