//! A history that arrives in pieces and is watched, compared with the same history as a whole.

use crate::models::{budget, checkers, options};
use history_core::{Checker, HistoryError, Reader, Report, Verdict};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Bytes that arrive in pieces, with lengths from `lengths`.
struct Pieces<'a> {
    data: &'a [u8],
    lengths: &'a [u8],
    at: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.lengths.get(self.at % self.lengths.len().max(1)).map_or(1, |length| 1 + usize::from(*length));
        self.at += 1;
        let count = length.min(self.data.len()).min(out.len());
        let (now, later) = self.data.split_at(count);
        out[..count].copy_from_slice(now);
        self.data = later;
        Ok(count)
    }
}

/// Checks op by op, and examines after each whether the history is known to be invalid.
fn watch(checker: &dyn Checker, reader: &mut Reader<'_>) -> Result<Report, HistoryError> {
    let mut run = checker.start(&options(checker)).expect("options that it has");
    let mut is_violated = false;
    reader.for_each(|op| {
        let goes_on = run.observe(op)?;
        assert!(run.is_violated() || !is_violated, "{}: a violation stays one", checker.name());
        if run.is_violated() && !is_violated {
            is_violated = true;
            let known = run.violation().expect("a report");
            assert_eq!(known.verdict, Verdict::Invalid, "{known:?}");
        }
        Ok(if goes_on.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    let report = run.finish(&budget())?;
    assert!(!is_violated || report.verdict == Verdict::Invalid, "it was violated: {report:?}");
    Ok(report)
}

/// Watches any text: the first bytes determine how the rest is cut into pieces. The verdict of a watcher may be unknown
/// where a check of the complete text has one, but they never contradict each other.
pub fn watching(data: &[u8]) -> String {
    let lengths = usize::from(data.first().copied().unwrap_or_default()) % 8;
    let (lengths, text) = data.split_at((1 + lengths).min(data.len()));
    let pieces = || Pieces { data: text, lengths, at: 0 };
    let mut said = String::new();
    let batch = checkers();
    for online in
        batch.iter().map(|checker| &**checker).chain(check_online::checkers().iter().map(|checker| &**checker))
    {
        let checker =
            batch.iter().find(|checker| checker.name() == online.name()).expect("it can be judged in the end too");
        let whole = {
            let run = checker.start(&options(&**checker)).expect("options that it has");
            history_core::check(run, &mut Reader::new(text), &budget())
        };
        let watched = watch(online, &mut Reader::new(pieces()));
        let at_once = watch(online, &mut Reader::new(text));
        assert!(watched == at_once || format!("{watched:?}") == format!("{at_once:?}"), "{watched:?}\n{at_once:?}");
        said += &watched
            .as_ref()
            .map_or_else(|error| format!("{:?} ", error.kind), |report| format!("{} ", report.verdict.name()));
        // One of them may reach an error before which the other one has stopped.
        let (Ok(whole), Ok(watched)) = (whole, watched) else { continue };
        let (a, b) = (whole.verdict, watched.verdict);
        let differ = a != b && a != Verdict::Unknown && b != Verdict::Unknown;
        assert!(!differ, "{}: {} and watched {}", online.name(), a.name(), b.name());
    }
    said
}
