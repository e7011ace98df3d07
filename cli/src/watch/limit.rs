//! `--timeout` and `--max-memory`: at a limit the watch ends, with the violation that was found or without a verdict.
//!
//! At a limit, no further work is requested from the checker, because it could take as long, or as much memory, again.

mod stopped;

pub(super) use stopped::Stopped;

use crate::judge::child::memory;
use crate::judge::limits::Limits;
use history_core::{NextStep, Report, Run, Spent, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The number of ops between two measurements of memory.
const LOOK_OPS: u64 = 1000;

/// Detects when a limit is reached.
pub(super) struct Limit {
    limits: Limits,
    is_late: Arc<AtomicBool>,
    /// The number of ops at the last measurement of memory.
    looked: Option<u64>,
    reached: Option<(Spent, String)>,
}

impl Limit {
    /// Starts to measure. At the time limit, `wake` wakes the thread that waits for ops.
    pub(super) fn begin(limits: Limits, wake: impl FnOnce() + Send + 'static) -> Limit {
        let is_late = Arc::<AtomicBool>::default();
        if let Some(timeout) = limits.timeout {
            let is_late = Arc::clone(&is_late);
            std::thread::spawn(move || {
                std::thread::sleep(timeout);
                is_late.store(true, Ordering::SeqCst);
                wake();
            });
        }
        Limit { limits, is_late, looked: None, reached: None }
    }

    /// The limit that was reached first, as a clause.
    pub(super) fn reached(&mut self, ops: u64) -> Option<&(Spent, String)> {
        if self.reached.is_none() {
            self.reached = self.look(ops);
        }
        self.reached.as_ref()
    }

    fn look(&mut self, ops: u64) -> Option<(Spent, String)> {
        if let Some(timeout) = self.limits.timeout.filter(|_| self.is_late.load(Ordering::SeqCst)) {
            return Some((Spent::Time, format!("the time limit of {} was reached", seconds(timeout))));
        }
        let bytes_max = self.limits.bytes_max?;
        if self.looked.is_some_and(|looked| ops - looked < LOOK_OPS) {
            return None;
        }
        self.looked = Some(ops);
        let bytes = memory(std::process::id())?;
        let why = || format!("the memory limit of {bytes_max} bytes was reached ({bytes} bytes)");
        (bytes > bytes_max).then(|| (Spent::Bytes, why()))
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// Returns what is certain at a limit, after this number of ops. `is_violated`: a violation was found before, perhaps
/// by an earlier watch.
pub(super) fn report(
    checker: &str,
    run: &dyn Run,
    is_violated: bool,
    (spent, why): &(Spent, String),
    ops: u64,
) -> Report {
    let end = format!("The watch ended after {ops} ops: {why}.");
    if let Some(mut report) = run.violation() {
        report.notes.push(end);
        return report;
    }
    let mut report = Report::new(checker.to_owned(), Verdict::Unknown);
    let found = if is_violated || run.is_violated() {
        "The violation that was found may have been taken back since"
    } else {
        "No violation was found before the limit"
    };
    report.notes.push(format!("{end} {found}, so the verdict is unknown."));
    report.add_next(NextStep::spent(*spent));
    report
}
