//! Checks that users request: each is a process of the command itself ([`child`]), with limits, and can be cancelled.
//!
//! A check has a folder with its results: `result.json`, `report.html`, the process's messages, and `check.json`, which
//! contains the request. It is therefore found again after the server ended for any reason and was restarted.

mod child;
mod left;
mod receiving;
mod record;
mod store;

pub(crate) use left::Folder;
pub(crate) use record::{Record, Stage, Wanted};
pub(crate) use store::Checks;
