//! The page of a run: opened in this process, or by the process outside if the run is in namespaces.

use super::Live;
#[cfg(target_os = "linux")]
use super::place;
use crate::job::PageAt;
use crate::serve::page::Page;
use crate::serve::shown::{Progressed, Shown};
use record_live::{FaultEvent, Progress};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The page of a run, shared by its threads.
#[derive(Default)]
pub(super) struct Shared(Mutex<Option<Page>>);

impl Shared {
    /// Creates it; `page` is `None` if no page was requested.
    pub(super) fn new(page: Option<Page>) -> Shared {
        Shared(Mutex::new(page))
    }

    pub(super) fn page(&self) -> MutexGuard<'_, Option<Page>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the progress on the page.
    pub(super) fn progress(&self, progress: &Progress) {
        if let Some(page) = &mut *self.page() {
            page.progress(Progressed {
                ops: progress.ops,
                checked: progress.checked.min(progress.ops),
                open: progress.open,
                completed: progress.completed,
                took_ns: progress.took_ns.clone(),
                faults: progress.news.iter().map(fault).collect(),
            });
        }
    }
}

/// The fault and its location; `None` if all faults have ended.
fn fault(event: &FaultEvent) -> Option<String> {
    let fault = event.fault.as_ref()?;
    Some(format!("{fault} {}", event.nodes.join(", ")).trim_end().to_owned())
}

/// Opens the page of a run whose files are in a directory.
pub(super) fn open(job: &Live<'_>, directory: &Path) -> Result<Option<Page>, String> {
    let checkers = job.check().setup.checker.name();
    let show = |at: PageAt| {
        let details = format!("workload {}", job.workload.name);
        Page::open(&Shown {
            listen: at.listen,
            directory: Some(directory),
            name: job.kind.name.to_owned(),
            checkers,
            details,
        })
    };
    job.serve.map(show).transpose()
}

/// The socket through which a run in namespaces sends its updates.
#[cfg(target_os = "linux")]
const SOCKET: &str = "page.socket";

/// Opens the page of a run that will take place in namespaces.
#[cfg(target_os = "linux")]
pub(super) fn open_outside(job: &Live<'_>, scratch: &place::Scratch) -> Result<Option<Page>, String> {
    if job.serve.is_none() {
        return Ok(None);
    }
    let directory = match &job.check().pages {
        Some(pages) => place::made(pages.directory.clone())?,
        None => scratch.below("run")?,
    };
    let page = open(job, &directory)?;
    page.as_ref().map(|page| page.receive_at(&scratch.path().join(SOCKET))).transpose()?;
    Ok(page)
}

/// Connects to the page of the process outside, from within namespaces.
#[cfg(target_os = "linux")]
pub(super) fn reach(job: &Live<'_>, scratch: &place::Scratch) -> Result<Option<Page>, String> {
    job.serve.map(|_| Page::elsewhere(&scratch.path().join(SOCKET))).transpose()
}
