//! The data of a history so far: the run collects it, and the analysis uses it.

use crate::columns::messages::Messages;
use crate::columns::{KeyId, MsgId, OpId, Ops};
use history_core::{Coverage, UndecodedOps};
use std::collections::BTreeMap;

/// The data of a history so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) ops: Ops,
    pub(crate) messages: Messages,
    /// Failed sends.
    pub(crate) failed: Vec<(MsgId, OpId)>,
    /// Whether some op sent, or failed to send, a message that an `ok` op had sent before.
    pub(crate) sent_after_ok: bool,
    /// The number of rows that are `ok`.
    pub(crate) oks: u32,
    /// The causes that crashed sends, polls and transactions give, with the number of ops.
    pub(crate) causes: BTreeMap<String, u64>,
    pub(crate) clients: u64,
    /// The first op that may have happened and whose invocation is unknown, by its index.
    pub(crate) first_uninvoked: Option<u64>,
    /// Whether two ops concern the same log; until then, the first op of each log.
    pub(crate) related: bool,
    pub(crate) first_of: BTreeMap<KeyId, OpId>,
    pub(crate) coverage: Coverage,
    /// Ops that were not understood, and that did not fail.
    pub(crate) undecoded: UndecodedOps,
    /// The index of the first of these that may have sent or polled a message.
    pub(crate) first_undecoded: Option<u64>,
    /// Invocations in flight that were not understood. Those that fail did not happen.
    pub(crate) unread: BTreeMap<u64, Unread>,
    /// Ops that were not understood and failed, and their number.
    pub(crate) ignored: UndecodedOps,
    pub(crate) ignored_ops: u64,
    /// The rows before which the position of a process is lost, because an op of the process was not understood.
    /// Without a process, the positions of all are lost.
    pub(crate) lapses: Vec<(OpId, Option<i64>)>,
    /// Ops without a value that may have sent messages, if no completion states which. By the index from which they may
    /// have sent them, and their own index, or `u64::MAX` for all whose invocation is unknown.
    pub(crate) hidden: BTreeMap<(u64, u64), UndecodedOps>,
    /// Failed ops that do not record which messages they were to send.
    pub(crate) unrecorded_failures: UndecodedOps,
}

/// An invocation that was not understood.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    pub(crate) undecoded: UndecodedOps,
    /// Whether its function neither sends nor polls.
    pub(crate) is_assignment: bool,
    pub(crate) process: Option<i64>,
}

impl Seen {
    /// The index of the first op that may have sent messages which are unknown.
    pub(crate) fn first_unknown(&self) -> Option<u64> {
        let unread = self.unread.iter().find(|(_, unread)| !unread.is_assignment).map(|(index, _)| *index);
        self.first_undecoded.into_iter().chain(unread).chain(self.hidden.keys().next().map(|(since, _)| *since)).min()
    }

    /// Records an op that may have happened and was not understood.
    pub(crate) fn push_undecoded(&mut self, index: u64, unread: Unread) {
        if !unread.is_assignment {
            self.first_undecoded = Some(self.first_undecoded.map_or(index, |known| known.min(index)));
        }
        self.lapses.push((OpId::new(self.ops.len()), unread.process));
        self.undecoded.extend([unread.undecoded]);
    }
}
