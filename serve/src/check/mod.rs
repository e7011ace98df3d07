//! Checks that readers ask for: each is a process of the command itself ([`child`]), with limits, and can be cancelled.
//!
//! A check has a folder with what came of it: `result.json`, `report.html`, the process's messages, and `check.json`,
//! which says what was asked for. So it is found again after a restart, whatever ended the server.

mod child;
mod left;
mod receiving;
mod record;
mod store;

pub(crate) use left::Folder;
pub(crate) use record::{Record, Stage, Wanted};
pub(crate) use store::Checks;
