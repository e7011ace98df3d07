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
    pub(crate) undecoded: UndecodedOps,
    /// The index of the first of these.
    pub(crate) first_undecoded: Option<u64>,
    /// Invocations without a value that may send, and were not answered by what they sent; by index.
    pub(crate) hidden: BTreeMap<u64, UndecodedOps>,
}

impl Seen {
    /// The index of the first op that may have sent anything.
    pub(crate) fn first_unknown(&self) -> Option<u64> {
        self.first_undecoded.into_iter().chain(self.hidden.keys().next().copied()).min()
    }
}
