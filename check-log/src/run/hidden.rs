//! Ops that do not record what they send: they may have sent any polled message.

use super::{LogRun, Open};
use crate::columns::Function;
use history_core::{Op, OpKind, Pair, Process};

const HIDDEN: &str =
    "it may have sent a polled message, and neither its invocation nor its completion records what it sent";
const UNRECORDED_FAILURE: &str = "a failed or crashed op polled a message that this op may have failed to send, and neither its \
                              invocation nor its completion records what it was to send";

impl LogRun {
    /// Records that it is unknown what an op sends until its completion.
    #[cold]
    pub(super) fn hide(&mut self, op: &Op<'_>) {
        // Nothing removes those whose invocation is unknown, so they share an entry.
        let since = since(op);
        let own = if since == op.index { since } else { u64::MAX };
        self.seen.hidden.entry((since, own)).or_default().push(op, HIDDEN, false);
    }

    /// Records that the completion of an invocation states what it sent.
    pub(super) fn reveal(&mut self, invocation: &Open) {
        let index = invocation.row.index;
        self.seen.hidden.remove(&(index, index));
    }

    /// Returns true if no completion states so far what an invocation without a value sent.
    pub(super) fn is_hidden(&self, invocation: &Open) -> bool {
        let index = invocation.row.index;
        self.seen.hidden.contains_key(&(index, index))
    }

    /// Counts an op with an unknown client that may send. Records whether it may have sent unknown messages, although
    /// it has no value.
    pub(super) fn see_unrecorded(&mut self, op: &Op<'_>, function: Function, invocation: Option<&Open>) {
        if !matches!(function, Function::Send | Function::Txn) {
            return;
        }
        let is_recorded = match (invocation, op.pair) {
            (Some(open), _) => open.has_value,
            // Each completion may belong to one invocation.
            (None, Pair::Alone) if self.nameless_open > 0 && op.process == Process::Unknown => {
                self.nameless_open -= 1;
                true
            }
            (None, _) => false,
        };
        if is_recorded || !op.value.is_nil() {
            return;
        }
        match op.kind {
            OpKind::Fail => self.see_unrecorded_failure(op),
            OpKind::Info if op.pair == Pair::Alone => self.hide(op),
            OpKind::Info | OpKind::Ok | OpKind::Invoke => {}
        }
    }

    /// Records a failed op that may have been to send any messages.
    #[cold]
    pub(super) fn see_unrecorded_failure(&mut self, op: &Op<'_>) {
        self.seen.unrecorded_failures.push(op, UNRECORDED_FAILURE, false);
    }

    /// Counts ops that do not record what they sent as not understood, if the sender of a polled message is unknown.
    pub(super) fn settle_hidden(&mut self) {
        if !self.seen.unrecorded_failures.is_empty() && self.seen.messages.have_unsent_of_aborted() {
            self.seen.undecoded.extend([self.seen.unrecorded_failures.clone()]);
        }
        let hidden = std::mem::take(&mut self.seen.hidden);
        let Some((first, _)) = hidden.keys().next().copied() else { return };
        if self.seen.messages.have_doubtful_sender() {
            self.seen.first_undecoded = Some(self.seen.first_undecoded.map_or(first, |known| known.min(first)));
            self.seen.undecoded.extend(hidden.into_values());
        }
    }
}

/// The index from which an op may have sent messages. If its invocation is unknown, that is the start of the history.
pub(super) fn since(op: &Op<'_>) -> u64 {
    if op.pair == Pair::Alone && op.kind != OpKind::Invoke { 0 } else { op.index }
}
