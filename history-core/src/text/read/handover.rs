//! Batches passed between the thread that reads and the thread that processes their ops.

use crate::error::HistoryError;
use crate::ops::batch::Batch;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The number of batches in use: one being filled, one waiting, one being processed.
const BATCHES: usize = 3;

/// A batch, and what [`Reader::read_batch`](super::Reader::read_batch) returned with it.
type Filled = (Batch, Result<bool, HistoryError>);

/// Passes batches to the receiver, and takes them back to be filled again.
pub(super) struct Handover {
    filled: SyncSender<Filled>,
    to_fill: Receiver<Batch>,
    /// The number of batches that were not returned yet.
    out: usize,
}

impl Handover {
    /// Creates a handover, and the receiver's ends: for incoming batches, and to return them.
    pub(super) fn new() -> (Handover, Receiver<Filled>, Sender<Batch>) {
        let (filled, to_see) = sync_channel(BATCHES);
        let (seen, to_fill) = channel();
        (Handover { filled, to_fill, out: 0 }, to_see, seen)
    }

    /// Passes on a batch, with the result of reading it. Breaks if it was the last one, or the receiver has stopped.
    pub(super) fn put(&mut self, batch: Batch, more: Result<bool, HistoryError>) -> ControlFlow<()> {
        let is_last = !matches!(more, Ok(true));
        self.out += 1;
        if self.filled.send((batch, more)).is_err() || is_last {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Returns a batch to fill, and waits for one if all are in use; `None` if the receiver has ended.
    pub(super) fn next(&mut self) -> Option<Batch> {
        if self.out < BATCHES {
            return Some(self.any());
        }
        self.out -= 1;
        self.to_fill.recv().ok()
    }

    /// Returns a batch to fill: one that was returned, or a new one.
    pub(super) fn any(&mut self) -> Batch {
        let back = self.to_fill.try_recv();
        self.out -= usize::from(back.is_ok());
        back.unwrap_or_default()
    }
}
