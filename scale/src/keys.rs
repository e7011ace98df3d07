//! One worker's ops, range by range, and its keys: passes the ops to the runs of the checker.

use crate::packet::{Base, Packet};
use histcheck_front::setup;
use history_core::keyed_parts::{Form, KeyRuns};
use history_core::part::PartReader;
use history_core::{Checker, ErrorKind, Format, HistoryError, Op, OptionError, Options, TimeUnit};
use std::cell::Cell;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a checker's code. A panic in it, which is a bug, becomes an error of this history.
///
/// # Errors
///
/// Those of `what`, and an error instead of a panic.
pub(crate) fn guarded<T>(what: impl FnOnce() -> Result<T, HistoryError>) -> Result<T, HistoryError> {
    GUARDED.set(true);
    let done = setup::guarded(what);
    GUARDED.set(false);
    done
}

/// Returns true if this thread is running a checker's code.
pub(crate) fn is_guarded() -> bool {
    GUARDED.get()
}

/// Parses the ops of packets.
pub(crate) struct Feed {
    reader: PartReader,
    /// The index of the first op that cannot be checked, and the reason.
    failed: Option<(u64, HistoryError)>,
}

impl Feed {
    /// A feed of texts in this format.
    pub(crate) fn new(format: Format, unit: Option<TimeUnit>) -> Feed {
        Feed { reader: PartReader::new(format, unit), failed: None }
    }

    /// Passes the ops of one range, which may come in several packets, to `see` in their order; up to the first one
    /// that is rejected.
    pub(crate) fn feed<'p>(
        &mut self,
        packets: impl IntoIterator<Item = &'p Packet>,
        base: &Base,
        mut see: impl FnMut(&Op<'_>) -> Result<(), HistoryError>,
    ) {
        if self.failed.is_some() {
            return;
        }
        let mut ops: Vec<_> = packets.into_iter().flat_map(Packet::ops).collect();
        // Most often, one packet contains all of them in order.
        if !ops.is_sorted_by_key(|(head, _)| head.seq) {
            ops.sort_unstable_by_key(|(head, _)| head.seq);
        }
        let mut index = 0;
        let fed = guarded(|| {
            ops.into_iter().try_for_each(|(head, text)| {
                let place = head.place(base);
                index = place.index;
                self.reader.read(text, &place, &mut see)
            })
        });
        self.failed = fed.err().map(|error| (index, error));
    }

    /// The position of the first op that was rejected, among all ops, and the reason.
    pub(crate) fn failed(&self) -> Option<&(u64, HistoryError)> {
        self.failed.as_ref()
    }
}

/// The keys of one worker.
pub(crate) struct Keys<'c> {
    pub(crate) runs: KeyRuns<'c>,
    feed: Feed,
}

impl<'c> Keys<'c> {
    /// Starts without ops, for texts in this format.
    pub(crate) fn start(
        checker: &'c dyn Checker,
        options: &Options,
        form: Form,
        format: Format,
        unit: Option<TimeUnit>,
    ) -> Result<Keys<'c>, HistoryError> {
        let runs = KeyRuns::start(checker, options, form).map_err(|error| unfit(&error))?;
        Ok(Keys { runs, feed: Feed::new(format, unit) })
    }

    /// Processes the ops of one range, which may come in several packets, in their order.
    pub(crate) fn take<'p>(&mut self, packets: impl IntoIterator<Item = &'p Packet>, base: &Base) {
        let runs = &mut self.runs;
        self.feed.feed(packets, base, |op| if runs.trouble().is_some() { Ok(()) } else { runs.observe(op) });
    }

    /// The position of the first op that was rejected, among all ops, and the reason.
    pub(crate) fn failed(&self) -> Option<&(u64, HistoryError)> {
        self.feed.failed()
    }
}

/// The error if a checker does not start with its options.
pub(crate) fn unfit(error: &OptionError) -> HistoryError {
    HistoryError::new(ErrorKind::Unexpected, error.to_string())
}
