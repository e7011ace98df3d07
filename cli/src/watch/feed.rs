//! The ops of a history that is being written: parsed from a text, or received from writers.

use super::ahead::{Ahead, ReadOn};
use super::follow::Shared;
use super::follow::gap::Gap;
use super::inbox::{Inbox, Text};
use super::refused::{Doubt, Refusal, Refused};
use histcheck_front::ReadAs;
use history_core::cast::Cast as _;
use history_core::state::Damaged;
use history_core::{Batch, ErrorKind, HistoryError, Merge, Position, Reader};
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

/// An arrival from writers.
pub(super) enum FromWriters {
    Ops(Placed),
    Refused(Refusal),
}

/// Ops that were added to the history.
pub(super) struct Placed {
    ops: Batch,
    /// The number of operations in flight after them.
    in_flight: usize,
    /// Names in the client rule that no process had so far.
    unmatched: Vec<String>,
}

impl Placed {
    /// Ops that were just added to `history`.
    pub(super) fn new(ops: Batch, history: &Merge) -> Placed {
        Placed { ops, in_flight: history.in_flight(), unmatched: history.unmatched().map(str::to_owned).collect() }
    }
}

/// The source of the ops.
pub(super) enum Feed {
    Text {
        ahead: Ahead,
        /// The file that is followed, if the source is one.
        file: Arc<Shared>,
        /// The beginning of the last op, if it is known.
        last: Option<u64>,
    },
    Writers(Writers),
}

/// Ops from writers, and the refused messages.
pub(super) struct Writers {
    inbox: Inbox<FromWriters>,
    ops: u64,
    in_flight: usize,
    unmatched: Vec<String>,
    refused: Refused,
    /// Warnings about refused messages that were not printed yet.
    warnings: Vec<String>,
}

impl Feed {
    /// The ops of a text, which may end within an op only if it was cut.
    pub(super) fn stream(inbox: Inbox<Vec<u8>>, read_as: &ReadAs) -> Feed {
        let is_cut = inbox.is_cut();
        let reader = Reader::new(Text::new(inbox)).growing_if(is_cut);
        Feed::Text { ahead: Ahead::new(read_as.reader(reader)), file: Arc::default(), last: None }
    }

    /// The ops of a file that is followed, and may end anywhere.
    pub(super) fn followed(inbox: Inbox<Vec<u8>>, read_as: &ReadAs, file: Arc<Shared>) -> Feed {
        let reader = Reader::new(Text::new(inbox)).growing();
        Feed::Text { ahead: Ahead::new(read_as.reader(reader)), file, last: None }
    }

    /// Continues after the position where the feed of a text was [saved](ReadOn::At).
    pub(super) fn resume(self, state: &[u8]) -> Result<Feed, Damaged> {
        match self {
            Feed::Text { ahead, file, last } => Ok(Feed::Text { ahead: ahead.resume(state)?, file, last }),
            Feed::Writers(_) => Err(Damaged),
        }
    }

    /// The position from which reading can continue after the last batch.
    pub(super) fn read_on(&self) -> &ReadOn {
        match self {
            Feed::Text { ahead, .. } => &ahead.place().read_on,
            Feed::Writers(_) => &ReadOn::Never,
        }
    }

    /// Requests such a position each time this much time has passed.
    pub(super) fn save_every(&mut self, time: Duration) {
        if let Feed::Text { ahead, .. } = self {
            ahead.save_every(time);
        }
    }

    /// Requests such a position after one of the next batches.
    pub(super) fn want_save(&self) {
        if let Feed::Text { ahead, .. } = self {
            ahead.want_save();
        }
    }

    pub(super) fn writers(inbox: Inbox<FromWriters>) -> Feed {
        let (unmatched, refused) = (Vec::new(), Refused::default());
        Feed::Writers(Writers { inbox, ops: 0, in_flight: 0, unmatched, refused, warnings: Vec::new() })
    }

    /// Reads the next ops into `batch`, and replaces its content. Returns false, and no ops, at the end of the history.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, or its text is not a history. `batch` then contains the ops before the error.
    pub(super) fn read_batch(&mut self, batch: &mut Batch) -> Result<bool, HistoryError> {
        match self {
            Feed::Text { ahead, last, .. } => {
                let more = ahead.read_batch(batch);
                if let Some(at) = batch.len().checked_sub(1) {
                    *last = batch.op(at).position.filter(|_| !ahead.place().is_compressed).map(|at| at.offset);
                }
                more
            }
            Feed::Writers(writers) => writers.read_batch(batch),
        }
    }

    pub(super) fn ops(&self) -> u64 {
        match self {
            Feed::Text { ahead, .. } => ahead.place().ops,
            Feed::Writers(writers) => writers.ops,
        }
    }

    pub(super) fn in_flight(&self) -> usize {
        match self {
            Feed::Text { ahead, .. } => ahead.place().in_flight,
            Feed::Writers(writers) => writers.in_flight,
        }
    }

    /// The names in the client rule that no process had, at the end.
    pub(super) fn unmatched(&self) -> &[String] {
        match self {
            Feed::Text { ahead, .. } => &ahead.place().unmatched,
            Feed::Writers(writers) => &writers.unmatched,
        }
    }

    /// The beginning of the op that the end of the text cuts.
    pub(super) fn cut_off(&self) -> Option<Position> {
        match self {
            Feed::Text { ahead, .. } => ahead.place().cut_off,
            Feed::Writers(_) => None,
        }
    }

    /// The number of operations that are not ordered after the previous one of the same client.
    pub(super) fn dropped_client_orders(&self) -> u64 {
        match self {
            Feed::Text { ahead, .. } => ahead.place().dropped_client_orders,
            Feed::Writers(_) => 0,
        }
    }

    /// The file from which all text comes, if there is one and it only grew.
    pub(super) fn file(&self) -> Option<Arc<File>> {
        match self {
            Feed::Text { file, .. } => file.file(),
            Feed::Writers(_) => None,
        }
    }

    /// The ops that may be missing since the file was emptied or replaced.
    pub(super) fn gap(&self) -> Gap {
        let Feed::Text { ahead, file, last } = self else { return Gap::None };
        let Some(begins) = file.begins() else { return Gap::None };
        if !ahead.place().is_consecutive {
            Gap::Before
        } else if last.is_none_or(|last| last < begins) {
            // The indices up to here are consecutive. The next op, which is in the new text, will show whether ops are
            // missing.
            Gap::Behind
        } else {
            Gap::None
        }
    }

    /// Returns true if ops may be missing. Ops after the last one matter only to a verdict on the whole history.
    pub(super) fn has_gap(&self, is_whole: bool) -> bool {
        match self.gap() {
            Gap::None => false,
            Gap::Behind => is_whole,
            Gap::Before => true,
        }
    }

    /// Returns from where on the recorded history may differ from the real one, if it may.
    pub(super) fn doubt(&self) -> Doubt {
        let missing = if self.has_gap(false) { Doubt::FromHere } else { Doubt::None };
        self.refused().map_or(missing, Refused::doubt)
    }

    /// The messages that were refused before the last ops that were read.
    pub(super) fn refused(&self) -> Option<&Refused> {
        match self {
            Feed::Text { .. } => None,
            Feed::Writers(writers) => Some(&writers.refused),
        }
    }

    /// The warnings about messages that were refused since the last call.
    pub(super) fn warnings(&mut self) -> Vec<String> {
        match self {
            Feed::Text { .. } => Vec::new(),
            Feed::Writers(writers) => std::mem::take(&mut writers.warnings),
        }
    }
}

impl Writers {
    fn read_batch(&mut self, batch: &mut Batch) -> Result<bool, HistoryError> {
        *batch = Batch::new();
        let arrived = self.inbox.next();
        let failed = |error| HistoryError::new(ErrorKind::Io, format!("reading failed: {error}"));
        match arrived.map_err(failed)? {
            Some(FromWriters::Ops(placed)) => {
                self.ops += placed.ops.len().to_u64();
                self.in_flight = placed.in_flight;
                self.unmatched = placed.unmatched;
                *batch = placed.ops;
            }
            Some(FromWriters::Refused(refusal)) => self.warnings.extend(self.refused.add(&refusal)),
            None if self.ops == 0 => {
                let expected = "one op per line: a map with :type (invoke, ok, fail or info), :process, :f and :value";
                return Err(HistoryError::new(ErrorKind::NotAnOp, "it contains no op").expected(expected));
            }
            None => return Ok(false),
        }
        Ok(true)
    }
}
