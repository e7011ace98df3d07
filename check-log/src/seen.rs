//! All that is known of a history so far: what the run fills in and the analysis looks at.

use crate::columns::messages::Messages;
use crate::columns::{KeyId, MsgId, OpId, Ops};
use history_core::{Coverage, UndecodedOps};
use std::collections::BTreeMap;

/// All that is known of a history so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) ops: Ops,
    pub(crate) messages: Messages,
    /// Failed sends.
    pub(crate) failed: Vec<(MsgId, OpId)>,
    /// Whether some op sent, or failed to send, what an `ok` op had sent before.
    pub(crate) sent_after_ok: bool,
    /// How many rows are `ok`.
    pub(crate) oks: u32,
    /// What crashed sends, polls and transactions say of their cause.
    pub(crate) causes: BTreeMap<String, u64>,
    pub(crate) clients: u64,
    /// The first op that may have happened and whose invocation is unknown, by its index.
    pub(crate) first_uninvoked: Option<u64>,
    /// Whether two ops are about the same log; until then, the first op of each log.
    pub(crate) related: bool,
    pub(crate) first_of: BTreeMap<KeyId, OpId>,
    pub(crate) coverage: Coverage,
    /// Ops that were not understood, and that did not fail.
    pub(crate) undecoded: UndecodedOps,
    /// The index of the first of these that may have sent or polled something.
    pub(crate) first_undecoded: Option<u64>,
    /// Invocations in flight that were not understood: what fails did not happen.
    pub(crate) unread: BTreeMap<u64, Unread>,
    /// Ops that were not understood, and failed; and how many ops they are.
    pub(crate) ignored: UndecodedOps,
    pub(crate) ignored_ops: u64,
    /// Where the position of a process is lost, by the number of the next row: an op of it was not understood. All are,
    /// if it is not known of which process the op was.
    pub(crate) lapses: Vec<(OpId, Option<i64>)>,
    /// Invocations without a value that may send, and were not answered by what they sent; by index.
    pub(crate) hidden: BTreeMap<u64, UndecodedOps>,
}

/// An invocation that was not understood.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    pub(crate) undecoded: UndecodedOps,
    /// Whether its function is one that sends and polls nothing.
    pub(crate) is_assignment: bool,
    pub(crate) process: Option<i64>,
}

impl Seen {
    /// The index of the first op that may have sent anything, of which it is not known what.
    pub(crate) fn first_unknown(&self) -> Option<u64> {
        let unread = self.unread.iter().find(|(_, unread)| !unread.is_assignment).map(|(index, _)| *index);
        self.first_undecoded.into_iter().chain(unread).chain(self.hidden.keys().next().copied()).min()
    }

    /// Takes note of an op that may have happened, and was not understood.
    pub(crate) fn push_undecoded(&mut self, index: u64, unread: Unread) {
        if !unread.is_assignment {
            self.first_undecoded = Some(self.first_undecoded.map_or(index, |known| known.min(index)));
        }
        self.lapses.push((OpId::new(self.ops.len()), unread.process));
        self.undecoded.extend([unread.undecoded]);
    }
}
