//! Compares the checker of logs with its definitions.

mod certify;
mod examples;
mod figures;
mod nameless;
mod oracle;
mod senders;
mod simulated;
mod unread;
mod worlds;
