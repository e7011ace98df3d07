//! `--timeout` and `--max-memory`: the watch ends at a limit, with the violation that was found or without a verdict.
//!
//! Whatever is asked of a checker beyond that may take as long, or as much, again.

mod stopped;

pub(super) use stopped::Stopped;

use crate::judge::child::memory;
use crate::judge::limits::Limits;
use history_core::{NextStep, Report, Run, Spent, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Ops between two looks at the memory.
const LOOK_OPS: u64 = 1000;

/// Looks whether a limit was reached.
pub(super) struct Limit {
    limits: Limits,
    is_late: Arc<AtomicBool>,
    /// Ops at the last look at the memory.
    looked: Option<u64>,
    reached: Option<(Spent, String)>,
}

impl Limit {
    /// Begins to measure. At the time limit, `wake` makes whoever waits for ops go on.
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

/// What is certain at a limit, after so many ops, and whether a violation was found, if by an earlier watch.
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
