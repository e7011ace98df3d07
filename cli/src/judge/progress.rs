//! Progress lines on a terminal while histories are checked.
//!
//! If standard error is not a terminal, there are no lines, and nothing is counted. Lines appear once the work has
//! taken a while, and disappear while other text is written. A thread of `indicatif` draws the numbers that other
//! threads store.

use crate::judge::input::Input;
use histcheck_front::setup::Observer;
use histcheck_front::source::Reading;
use history_core::Activity;
use history_core::cast::Cast as _;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work that ends sooner shows no progress.
const FIRST: Duration = Duration::from_millis(500);
/// The time between two updates.
const EVERY: Duration = Duration::from_millis(125);
/// The maximum number of histories with a line of their own.
const LINES_MAX: usize = 8;
/// The maximum number of characters shown of a path.
const NAME_CHARS_MAX: usize = 32;

/// Progress on all histories; shown until it is dropped.
pub(crate) struct Progress(Option<(ProgressBar, Arc<Shown>)>);

/// The data that is drawn.
struct Shown {
    histories: usize,
    began: Instant,
    under_way: Mutex<Vec<Arc<Figures>>>,
}

/// Progress on one history.
pub(crate) struct Figures {
    /// The history's position, from 0.
    at: usize,
    name: String,
    began: Instant,
    /// The reader's state; absent if another process reads.
    reading: Option<Arc<Reading>>,
    ops: AtomicU64,
    /// Whether the whole history was read.
    read: AtomicBool,
    activity: Arc<Activity>,
}

/// A history in progress; shown until this is dropped.
pub(crate) struct UnderWay<'p>(Option<(&'p Shown, Arc<Figures>)>);

/// Locks the terminal for text that is not progress.
#[derive(Clone)]
pub(crate) struct TerminalLock(Option<ProgressBar>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // After a panic, the counts may be incomplete, which does no harm here.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    /// Starts progress for this number of histories. It is never shown if `wanted` is false.
    pub(crate) fn begin(histories: usize, wanted: bool) -> Progress {
        let bar = ProgressBar::no_length();
        // A child process that checks one history has no terminal.
        if !wanted || bar.is_hidden() {
            return Progress(None);
        }
        let shown = Arc::new(Shown { histories, began: Instant::now(), under_way: Mutex::default() });
        let drawn = Arc::clone(&shown);
        let lines = move |_: &ProgressState, out: &mut dyn fmt::Write| _ = out.write_str(&drawn.lines());
        let style = ProgressStyle::with_template("{lines}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style.with_key("lines", lines));
        bar.enable_steady_tick(EVERY);
        Progress(Some((bar, shown)))
    }

    /// Shows one more history, which is read here (or in another process).
    pub(crate) fn history(&self, at: usize, input: &Input, reading: Option<&Arc<Reading>>) -> UnderWay<'_> {
        UnderWay(self.0.as_ref().map(|(_, shown)| {
            let figures = Arc::new(Figures {
                at,
                name: shortened(&input.place()),
                began: Instant::now(),
                reading: reading.cloned(),
                ops: AtomicU64::new(0),
                read: AtomicBool::new(false),
                activity: Arc::default(),
            });
            lock(&shown.under_way).push(Arc::clone(&figures));
            (&**shown, figures)
        }))
    }

    pub(crate) fn terminal(&self) -> TerminalLock {
        TerminalLock(self.0.as_ref().map(|(bar, _)| bar.clone()))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((bar, _)) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl TerminalLock {
    /// Writes text while no progress is drawn.
    pub(crate) fn write<T>(&self, what: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bar) => bar.suspend(what),
            None => what(),
        }
    }
}

impl Observer for UnderWay<'_> {
    fn set_ops(&self, ops: usize) {
        if let Some((_, figures)) = &self.0 {
            figures.ops.store(ops.to_u64(), Ordering::Relaxed);
        }
    }

    fn set_read(&self) {
        if let Some((_, figures)) = &self.0 {
            figures.read.store(true, Ordering::Relaxed);
        }
    }
}

impl UnderWay<'_> {
    /// The object in which a checker stores its current activity.
    pub(crate) fn activity(&self) -> Option<Arc<Activity>> {
        self.0.as_ref().map(|(_, figures)| Arc::clone(&figures.activity))
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some((shown, figures)) = &self.0 {
            lock(&shown.under_way).retain(|other| !Arc::ptr_eq(other, figures));
        }
    }
}

impl Shown {
    /// The lines to show; empty at first, because the work may end soon.
    fn lines(&self) -> String {
        if self.began.elapsed() < FIRST {
            return String::new();
        }
        let mut under_way = lock(&self.under_way).clone();
        under_way.sort_by_key(|figures| figures.at);
        let now = Instant::now();
        let mut lines: Vec<String> =
            under_way.iter().take(LINES_MAX).map(|figures| figures.line(self.histories, now)).collect();
        if under_way.len() > LINES_MAX {
            lines.push(format!("and {} more", under_way.len() - LINES_MAX));
        }
        lines.join("\n")
    }
}

impl Figures {
    fn line(&self, histories: usize, now: Instant) -> String {
        let mut line = String::new();
        if histories > 1 {
            _ = write!(line, "{} of {histories} ", self.at + 1);
        }
        _ = write!(line, "{}: ", self.name);
        let ops = self.ops.load(Ordering::Relaxed);
        let time = now.saturating_duration_since(self.began);
        match &self.reading {
            None => _ = write!(line, "running for {} s", time.as_secs()),
            Some(_) if self.read.load(Ordering::Relaxed) => {
                let phase = self.activity.phase();
                _ = write!(line, "{} ops, {}", short(ops), if phase.is_empty() { "checking" } else { phase });
                if self.activity.states() > 0 {
                    _ = write!(line, ", {} steps", short(self.activity.states()));
                }
            }
            Some(reading) => {
                match reading.bytes() {
                    (bytes, Some(all)) => {
                        // The file may grow while it is read.
                        let percent = (u128::from(bytes) * 100 / u128::from(all)).min(100);
                        _ = write!(line, "reading, {percent}% of {}B", short(all));
                    }
                    (bytes, None) => _ = write!(line, "reading, {}B", short(bytes)),
                }
                _ = write!(line, ", {} ops, {} per second", short(ops), short(rate(ops, time)));
            }
        }
        line
    }
}

/// The number per second.
fn rate(count: u64, time: Duration) -> u64 {
    (u128::from(count) * 1000 / time.as_millis().max(1)).try_into().unwrap_or(u64::MAX)
}

/// Formats a number with few characters: `999`, `1.2k`, `12.3M`, `456.7G`. It is truncated, not rounded.
fn short(number: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    match UNITS.iter().find(|(size, _)| number >= *size) {
        Some((size, unit)) => format!("{}.{}{unit}", number / size, number % size * 10 / size),
        None => number.to_string(),
    }
}

/// The end of a path, which distinguishes it from others, without characters that could move the cursor.
fn shortened(name: &str) -> String {
    let plain = |c: char| if c.is_control() { '?' } else { c };
    let count = name.chars().count();
    let cut = count.saturating_sub(NAME_CHARS_MAX);
    let kept = name.chars().skip(if cut > 0 { cut + 3 } else { 0 }).map(plain);
    (if cut > 0 { "..." } else { "" }).chars().chain(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{Budget, Cancel};
    use std::io::Read as _;

    fn figures(at: usize, name: &str, reading: Option<Arc<Reading>>) -> Figures {
        let (ops, read) = (AtomicU64::new(1_234_567), AtomicBool::new(false));
        Figures { at, name: shortened(name), began: Instant::now(), reading, ops, read, activity: Arc::default() }
    }

    #[test]
    fn a_line_says_what_is_done_and_how_far_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.edn");
        std::fs::write(&path, " ".repeat(2_500_000)).unwrap();
        let reading = Arc::new(Reading::new(Cancel::default()));
        let mut source = histcheck_front::source::open(path.as_os_str(), &reading).unwrap();
        source.read_exact(&mut vec![0; 1_000_000]).unwrap();
        let figures = figures(2, "h.edn", Some(reading));
        let later = figures.began + Duration::from_secs(2);
        let line = |histories| figures.line(histories, later);
        assert_eq!(line(1), "h.edn: reading, 40% of 2.5MB, 1.2M ops, 617.2k per second");
        assert_eq!(line(10), "3 of 10 h.edn: reading, 40% of 2.5MB, 1.2M ops, 617.2k per second");
        figures.read.store(true, Ordering::Relaxed);
        assert_eq!(line(1), "h.edn: 1.2M ops, checking");
        let budget = Budget::default().with_activity(Arc::clone(&figures.activity));
        budget.begin("searching");
        assert_eq!(line(1), "h.edn: 1.2M ops, searching");
        budget.check(12_345_678, 0).unwrap();
        budget.check(0, 0).unwrap();
        assert_eq!(line(1), "h.edn: 1.2M ops, searching, 12.3M steps");
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let pipe = figures(0, "<stdin>", Some(Arc::default()));
        assert_eq!(pipe.line(1, pipe.began), "<stdin>: reading, 0B, 1.2M ops, 1.2G per second");
        let elsewhere = figures(0, "h.edn", None);
        assert_eq!(elsewhere.line(1, elsewhere.began + Duration::from_millis(2999)), "h.edn: running for 2 s");
    }

    #[test]
    fn a_path_is_known_by_its_end() {
        assert_eq!(shortened("store/shop/latest"), "store/shop/latest");
        let long = "store/shop/20240229T120000.000Z/history.edn";
        assert_eq!(shortened(long), "...40229T120000.000Z/history.edn");
        assert_eq!(shortened(long).chars().count(), NAME_CHARS_MAX);
        assert_eq!(shortened("a\u{1b}[2Jb\n"), "a?[2Jb?");
    }

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (1999, "1.9k"),
            (12_345_678, "12.3M"),
            (u64::MAX, "18446744073.7G"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn many_histories_take_few_lines() {
        let under_way = (0..10).rev().map(|at| Arc::new(figures(at, "h", None))).collect();
        let mut shown = Shown { histories: 20, began: Instant::now(), under_way: Mutex::new(under_way) };
        assert_eq!(shown.lines(), "", "it has just begun");
        shown.began = Instant::now().checked_sub(FIRST).unwrap();
        let lines = shown.lines();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!((lines.len(), lines[0], lines[8]), (9, "1 of 20 h: running for 0 s", "and 2 more"));
    }
}
