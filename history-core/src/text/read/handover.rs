//! Batches on their way from the thread that reads to the one that sees their ops, and back.

use crate::error::HistoryError;
use crate::ops::batch::Batch;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Batches under way: one being filled, one waiting, one being seen.
const BATCHES: usize = 3;

/// A batch, and what [`Reader::read_batch`](super::Reader::read_batch) returned with it.
type Filled = (Batch, Result<bool, HistoryError>);

/// Hands batches to who sees them, and takes them back to be filled again.
pub(super) struct Handover {
    filled: SyncSender<Filled>,
    to_fill: Receiver<Batch>,
    /// Batches that did not come back yet.
    out: usize,
}

impl Handover {
    /// One, and the ends of who sees batches: where they come, and where they go back.
    pub(super) fn new() -> (Handover, Receiver<Filled>, Sender<Batch>) {
        let (filled, to_see) = sync_channel(BATCHES);
        let (seen, to_fill) = channel();
        (Handover { filled, to_fill, out: 0 }, to_see, seen)
    }

    /// Hands over a batch, and what came with it. Breaks if it was the last one, or nobody
    /// takes any.
    pub(super) fn put(&mut self, batch: Batch, more: Result<bool, HistoryError>) -> ControlFlow<()> {
        let is_last = !matches!(more, Ok(true));
        self.out += 1;
        if self.filled.send((batch, more)).is_err() || is_last {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// A batch to be filled, once there are few under way; `None` if none comes back any more.
    pub(super) fn next(&mut self) -> Option<Batch> {
        if self.out < BATCHES {
            return Some(self.any());
        }
        self.out -= 1;
        self.to_fill.recv().ok()
    }

    /// A batch to be filled, a new one if none came back.
    pub(super) fn any(&mut self) -> Batch {
        let back = self.to_fill.try_recv();
        self.out -= usize::from(back.is_ok());
        back.unwrap_or_default()
    }
}
