//! Ops that are not understood: those that failed did not happen, and the effects of the others are unknown.

use super::hidden::since;
use super::{LogRun, Open};
use crate::columns::{Function, Row, client};
use crate::decode;
use crate::seen::Unread;
use history_core::cast::Cast as _;
use history_core::{Op, OpKind, OpUse, Pair, UndecodedOps};

impl LogRun {
    /// Handles a failed op that is not understood: the messages of its invocation were not sent. Nothing else is known
    /// of it, and no result depends on it.
    #[cold]
    pub(super) fn ignore_failed(&mut self, op: &Op<'_>, invocation: Option<Open>) -> OpUse {
        self.seen.ignored_ops += 1;
        if !is_assignment(op) && !invocation.as_ref().is_some_and(|open| open.has_value) {
            self.see_unrecorded_failure(op);
        }
        if let Some(open) = invocation {
            self.reveal(&open);
            self.excused.clear();
            self.enter(&Row::of(op, open.row.function, open.row.oks_before), &open.items);
        }
        OpUse::PassedOver
    }

    /// Handles an op that is not understood. An invocation in flight may still fail.
    #[cold]
    pub(super) fn note_undecoded(&mut self, op: &Op<'_>, reason: &str, stops: bool) {
        let mut undecoded = UndecodedOps::default();
        undecoded.push(op, reason, stops);
        // A completion may have another function than its invocation, which may have sent messages.
        let is_assignment = is_assignment(op)
            && match op.pair {
                Pair::Invokes { .. } => true,
                Pair::Completes { .. } => self.was_assignment(op),
                Pair::Alone => false,
            };
        let unread = Unread { undecoded, is_assignment, process: client(op) };
        if matches!(op.pair, Pair::Invokes { .. }) && !stops {
            self.seen.unread.insert(op.index, unread);
        } else {
            if let Pair::Completes { invoked, .. } = op.pair {
                self.settle_unread(invoked);
            }
            // The messages that it sent are known from its invocation, if that was understood.
            self.seen.push_undecoded(since(op), unread);
        }
    }

    /// Returns true if the invocation of a completion that was not understood neither sends nor polls.
    fn was_assignment(&self, op: &Op<'_>) -> bool {
        let Pair::Completes { slot, invoked, .. } = op.pair else { return false };
        let waits = self.open.get(slot.to_usize()).and_then(Option::as_ref);
        let known = waits.into_iter().chain(self.unanswered.last()).find(|open| open.row.index == invoked);
        match self.seen.unread.get(&invoked) {
            Some(unread) => unread.is_assignment,
            None => known.is_some_and(|open| open.row.function.is_assignment()),
        }
    }

    /// Records that the invocation with this index may have happened, if it was not understood.
    fn settle_unread(&mut self, index: u64) {
        if let Some(unread) = self.seen.unread.remove(&index) {
            self.seen.push_undecoded(index, unread);
        }
    }

    /// Handles the end of an operation whose invocation was not understood.
    #[cold]
    pub(super) fn end_unread(&mut self, op: &Op<'_>) {
        let Pair::Completes { invoked, .. } = op.pair else { return };
        if op.kind != OpKind::Fail {
            self.settle_unread(invoked);
        } else if let Some(unread) = self.seen.unread.remove(&invoked) {
            self.seen.ignored_ops += 1;
            self.seen.ignored.extend([unread.undecoded]);
        }
    }

    /// Records that operations that were not understood and never ended may have happened.
    pub(super) fn settle_all_unread(&mut self) {
        while let Some((index, unread)) = self.seen.unread.pop_first() {
            self.seen.push_undecoded(index, unread);
        }
    }
}

/// Returns true if the function of an op neither sends nor polls.
fn is_assignment(op: &Op<'_>) -> bool {
    decode::function(op).is_some_and(Function::is_assignment)
}
