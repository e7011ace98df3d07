//! The line on a terminal that shows the progress of a watch.

use history_core::cast::Cast as _;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two updates.
const EVERY: Duration = Duration::from_millis(200);

/// The status line, which appears only on a terminal.
pub(super) struct Status {
    bar: ProgressBar,
    figures: Arc<Figures>,
}

/// The current values.
#[derive(Default)]
struct Figures {
    ops: AtomicU64,
    in_flight: AtomicU64,
    /// The number of configurations plus one; 0 if the checker has none.
    configurations: AtomicU64,
}

impl Status {
    pub(super) fn begin() -> Status {
        // Draws to standard error, or nothing if that is not a terminal.
        let bar = ProgressBar::new_spinner();
        bar.set_style(
            ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        let figures = Arc::new(Figures::default());
        if !bar.is_hidden() {
            let (bar, figures) = (bar.clone(), Arc::clone(&figures));
            thread::spawn(move || refresh(&bar, &figures));
        }
        Status { bar, figures }
    }

    pub(super) fn update(&self, ops: u64, in_flight: usize, configurations: Option<u64>) {
        self.figures.ops.store(ops, Ordering::Relaxed);
        self.figures.in_flight.store(in_flight.to_u64(), Ordering::Relaxed);
        self.figures.configurations.store(configurations.map_or(0, |count| count + 1), Ordering::Relaxed);
    }

    /// Runs `what` while the line is hidden.
    pub(super) fn suspended<T>(&self, what: impl FnOnce() -> T) -> T {
        self.bar.suspend(what)
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn refresh(bar: &ProgressBar, figures: &Figures) {
    let (mut before, mut looked) = (0, Instant::now());
    while !bar.is_finished() {
        thread::sleep(EVERY);
        let ops = figures.ops.load(Ordering::Relaxed);
        let rate = rate(ops.saturating_sub(before), looked.elapsed());
        (before, looked) = (ops, Instant::now());
        let configurations = figures.configurations.load(Ordering::Relaxed).checked_sub(1);
        bar.set_message(line(ops, rate, figures.in_flight.load(Ordering::Relaxed), configurations, memory()));
        bar.tick();
    }
}

/// The number per second.
fn rate(count: u64, time: Duration) -> u64 {
    let milliseconds = time.as_millis().max(1);
    (u128::from(count) * 1000 / milliseconds).try_into().unwrap_or(u64::MAX)
}

fn line(ops: u64, rate: u64, in_flight: u64, configurations: Option<u64>, bytes: Option<u64>) -> String {
    let mut line = format!("{ops} ops, {rate} per second, {in_flight} in flight");
    if let Some(count) = configurations {
        _ = write!(line, ", {count} {}", if count == 1 { "configuration" } else { "configurations" });
    }
    if let Some(bytes) = bytes {
        _ = write!(line, ", {} MB", bytes / 1_000_000);
    }
    line
}

/// The memory of this process in bytes, if the system reports it in a file.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    kilobytes.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_known() {
        assert_eq!(line(10, 2, 3, None, None), "10 ops, 2 per second, 3 in flight");
        let all = "1000000 ops, 499995 per second, 0 in flight, 1 configuration, 31 MB";
        assert_eq!(line(1_000_000, rate(99_999, Duration::from_millis(200)), 0, Some(1), Some(31_999_999)), all);
    }
}
