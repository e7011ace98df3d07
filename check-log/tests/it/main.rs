//! Logs against their definitions.

mod certify;
mod examples;
mod oracle;
mod simulated;
mod worlds;
