//! Checking histories: their sources, their limits, and running checkers on them.

pub(crate) mod apart;
pub(crate) mod check;
pub(crate) mod child;
pub(crate) mod child_job;
pub(crate) mod expand;
pub(crate) mod in_order;
pub(crate) mod input;
pub(crate) mod limits;
pub(crate) mod node_logs;
pub(crate) mod program;
pub(crate) mod progress;
#[cfg(feature = "scale")]
pub(crate) mod scale;
pub(crate) mod signals;
mod workers;
