//! One worker's keys: their ops, range by range, into the runs of the checker.

use crate::packet::{Base, Packet};
use histcheck_front::setup;
use history_core::keyed_parts::{Form, KeyRuns};
use history_core::part::PartReader;
use history_core::{Checker, ErrorKind, Format, HistoryError, OptionError, Options, TimeUnit};
use std::cell::Cell;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a checker's code, in which a bug may panic: an error for this history.
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

/// Whether this thread runs a checker's code.
pub(crate) fn is_guarded() -> bool {
    GUARDED.get()
}

/// The keys of one worker.
pub(crate) struct Keys<'c> {
    pub(crate) runs: KeyRuns<'c>,
    reader: PartReader,
    /// The index of the first op that cannot be judged, and why.
    failed: Option<(u64, HistoryError)>,
}

impl<'c> Keys<'c> {
    /// No ops yet, of texts in this format.
    pub(crate) fn start(
        checker: &'c dyn Checker,
        options: &Options,
        form: Form,
        format: Format,
        unit: Option<TimeUnit>,
    ) -> Result<Keys<'c>, HistoryError> {
        let unfit = |error: OptionError| HistoryError::new(ErrorKind::Unexpected, error.to_string());
        let runs = KeyRuns::start(checker, options, form).map_err(unfit)?;
        Ok(Keys { runs, reader: PartReader::new(format, unit), failed: None })
    }

    /// Takes the ops of one range, which may come in several packets, in their order.
    pub(crate) fn take<'p>(&mut self, packets: impl IntoIterator<Item = &'p Packet>, base: &Base) {
        let mut ops: Vec<_> = packets.into_iter().flat_map(Packet::ops).collect();
        ops.sort_unstable_by_key(|(head, _)| head.seq);
        for (head, text) in ops {
            if self.failed.is_some() || self.runs.trouble().is_some() {
                return;
            }
            let place = head.place(base);
            let (runs, reader) = (&mut self.runs, &mut self.reader);
            if let Err(error) = guarded(|| reader.read(text, &place, |op| runs.observe(op))) {
                self.failed = Some((place.index, error));
            }
        }
    }

    /// The place of the first op that cannot be judged among all ops, and why.
    pub(crate) fn failed(&self) -> Option<&(u64, HistoryError)> {
        self.failed.as_ref()
    }
}
