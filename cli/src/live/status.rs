//! The status of a run for the user: a line on a terminal that is updated, and a line for each fault.

use crate::output::diagnose;
use indicatif::{ProgressBar, ProgressStyle};
use record_live::{FaultEvent, Progress};
use std::time::{Duration, Instant};

/// The status line; empty if standard error is not a terminal.
pub(super) struct Status {
    bar: ProgressBar,
    /// The number of ops at the last update of the rate, and its time.
    before: (u64, Instant),
    rate: u64,
}

/// The minimum time over which a rate is measured.
const WINDOW: Duration = Duration::from_secs(1);

impl Status {
    pub(super) fn begin(what: String) -> Status {
        let bar = ProgressBar::new_spinner();
        bar.set_style(
            ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        bar.set_message(what);
        bar.tick();
        Status { bar, before: (0, Instant::now()), rate: 0 }
    }

    /// Shows the progress of the run, and the actions of the nemesis.
    pub(super) fn update(&mut self, progress: &Progress) {
        for event in &progress.news {
            self.bar.suspend(|| diagnose::note(&sentence(event)));
        }
        let (ops, at) = self.before;
        if at.elapsed() >= WINDOW {
            self.rate = rate(progress.ops - ops, at.elapsed());
            self.before = (progress.ops, Instant::now());
        }
        self.bar.set_message(line(progress, self.rate));
        self.bar.tick();
    }

    /// Runs `what` while the status line is hidden.
    pub(super) fn aside<T>(&self, what: impl FnOnce() -> T) -> T {
        self.bar.suspend(what)
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The number per second.
fn rate(count: u64, time: Duration) -> u64 {
    (u128::from(count) * 1000 / time.as_millis().max(1)).try_into().unwrap_or(u64::MAX)
}

fn line(progress: &Progress, rate: u64) -> String {
    let Progress { ops, open, checked, fault, .. } = progress;
    let fault = fault.as_ref().map_or("no fault".to_owned(), |fault| format!("fault: {fault}"));
    format!("{ops} ops, {rate} per second, {open} in flight, {fault}, no violation in the first {checked} ops")
}

/// A line on an action of the nemesis.
fn sentence(event: &FaultEvent) -> String {
    let tenths = event.time.as_millis() / 100;
    let time = format!("{}.{} s", tenths / 10, tenths % 10);
    match &event.fault {
        Some(fault) => format!("{time}: fault {} begins", format!("{fault} {}", event.nodes.join(", ")).trim()),
        None => format!("{time}: all faults end"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_known() {
        let progress =
            Progress { ops: 100, open: 3, fault: Some("isolate n1".into()), checked: 90, ..Progress::default() };
        assert_eq!(
            line(&progress, rate(50, Duration::from_millis(500))),
            "100 ops, 100 per second, 3 in flight, fault: isolate n1, no violation in the first 90 ops"
        );
    }

    #[test]
    fn faults_are_sentences() {
        let time = Duration::from_millis(12_345);
        let event = FaultEvent { time, fault: Some("isolate".into()), nodes: vec!["n1".into()] };
        assert_eq!(sentence(&event), "12.3 s: fault isolate n1 begins");
        let command = FaultEvent { nodes: Vec::new(), fault: Some("command".into()), ..event.clone() };
        assert_eq!(sentence(&command), "12.3 s: fault command begins");
        assert_eq!(sentence(&FaultEvent { fault: None, ..event }), "12.3 s: all faults end");
    }
}
