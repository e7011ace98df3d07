//! The command line: its grammar, the meaning of its words, and the checkers that it can name.

pub(crate) mod args;
pub(crate) mod common;
pub(crate) mod compat;
pub(crate) mod config;
pub(crate) mod gen_args;
pub(crate) mod grammar;
pub(crate) mod help;
#[cfg(all(unix, feature = "live"))]
pub(crate) mod live_grammar;
pub(crate) mod manual;
pub(crate) mod plugins;
pub(crate) mod shells;
pub(crate) mod tables;
pub(crate) mod texts;
pub(crate) mod units;
pub(crate) mod usage;
