//! `histcheck live`: a real store under faults, checked while it runs.
//!
//! The crate `record-live` starts the store, drives it and records; this module implements the command: the environment
//! of the nodes ([`outside`]), work on other machines ([`worker`]), the directory ([`place`]) and the earlier run in it
//! ([`earlier`]), the status for the user ([`status`]), and the evidence for the verdict ([`evidence`]).

mod drive;
mod earlier;
mod evidence;
mod outside;
mod page;
mod place;
pub(crate) mod replay;
mod status;
mod stores;
mod worker;

use crate::job::{Check, PageAt};
use crate::minimize::Minimize;
use record_live::{Fault, Kind, Nodes, Stands, Target, Workload};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
pub(crate) use stores::list;
pub(crate) use worker::{Worker, serve_run};

/// The environment of a cluster's nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    /// Namespaces if they are permitted, else proxies.
    Any,
    Namespaces,
    Proxies,
    /// Machines reached with this command.
    Ssh(String),
}

/// A run.
pub(crate) struct Live<'c> {
    /// How the history is checked, and minimized.
    pub(crate) minimal: Minimize<'c>,
    pub(crate) kind: &'static Kind,
    /// The command that starts the store, if it has one.
    pub(crate) command: String,
    /// The given options of the store.
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) nodes: Nodes,
    pub(crate) around: Around,
    pub(crate) workload: &'static Workload,
    /// The number of clients; the default depends on the workload.
    pub(crate) clients: Option<u32>,
    pub(crate) stands: Stands,
    /// Operations per second, of all clients together.
    pub(crate) rate: Option<u64>,
    pub(crate) time_limit: Duration,
    pub(crate) ops_max: Option<u64>,
    /// Whether to continue after a violation.
    pub(crate) keep_going: bool,
    /// The address of a page that shows the run in progress.
    pub(crate) serve: Option<PageAt>,
    /// The timeout of a request.
    pub(crate) timeout: Duration,
    pub(crate) seed: Option<u64>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) target: Target,
    pub(crate) every: Option<Duration>,
    pub(crate) longer: Option<Duration>,
    /// The directory of an earlier run, whose faults are replayed.
    pub(crate) steps: Option<PathBuf>,
    /// The command line of this run, with all settings.
    pub(crate) words: Vec<OsString>,
}

impl<'c> Live<'c> {
    /// How the history is checked.
    fn check(&self) -> &Check<'c> {
        &self.minimal.check
    }
}

/// Serves a part of a store, if this process was started for that.
pub(crate) fn serve() -> Option<std::io::Result<()>> {
    record_live::store::serve()
}

/// Executes the run, in its own namespaces if the store needs them.
pub(crate) fn run(job: &Live<'_>) -> crate::output::exit::Exit {
    outside::run(job)
}
