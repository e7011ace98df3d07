//! Transactions as columns: one row each, their micro-ops in one flat vector.

use crate::ids::TxnId;
use history_core::cast::Cast as _;
use history_core::{Client, IntMap, Op, OpKind, Pair, Participants, Process, UnreadResults};

/// An absent index in a column of indices.
const NO_INDEX: u64 = u64::MAX;
/// An unknown number of transactions.
const UNKNOWN: u32 = u32::MAX;
/// An absent process or time.
const NOTHING: i64 = i64::MIN;

/// All transactions that happened, may have happened, or failed after writing something, in the order of their
/// completions; those without a completion are at the end.
#[derive(Clone, Debug)]
pub(crate) struct Txns<M> {
    kind: Vec<OpKind>,
    index: Vec<u64>,
    process: Vec<i64>,
    time_ns: Vec<i64>,
    invoked: Vec<u64>,
    invoked_time_ns: Vec<i64>,
    oks_before: Vec<u32>,
    /// The ends of the transactions' micro-ops. Nondecreasing; its last entry is `mops.len()`.
    mops_end: Vec<u32>,
    mops: Vec<M>,
    /// The recorded micro-ops of transactions whose checked micro-ops differ.
    recorded: IntMap<Vec<M>>,
    /// The processes.
    pub(crate) participants: Participants,
}

impl<M> Default for Txns<M> {
    fn default() -> Txns<M> {
        Txns {
            kind: Vec::new(),
            index: Vec::new(),
            process: Vec::new(),
            time_ns: Vec::new(),
            invoked: Vec::new(),
            invoked_time_ns: Vec::new(),
            oks_before: Vec::new(),
            mops_end: Vec::new(),
            mops: Vec::new(),
            recorded: IntMap::default(),
            participants: Participants::new(),
        }
    }
}

impl<M: Copy> Txns<M> {
    pub(crate) fn len(&self) -> usize {
        self.kind.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = TxnId> + use<M> {
        (0..self.len()).map(TxnId::new)
    }

    /// The micro-ops of all transactions, one after another.
    pub(crate) fn all_mops(&self) -> &[M] {
        &self.mops
    }

    /// Adds a row for the completion `op`. `oks_before` transactions had completed `ok` before its invocation.
    pub(crate) fn push(&mut self, op: &Op<'_>, mops: &[M], oks_before: Option<u32>) {
        let (invoked, invoked_time_ns) = match op.pair {
            Pair::Completes { invoked, invoked_time_ns, .. } => (invoked, invoked_time_ns),
            Pair::Alone | Pair::Invokes { .. } => (NO_INDEX, None),
        };
        let process = match op.process {
            Process::Client(process) => process,
            Process::Other(_) | Process::Unknown => NOTHING,
        };
        self.kind.push(op.kind);
        self.index.push(op.index);
        self.process.push(process);
        self.time_ns.push(op.time.unwrap_or(NOTHING));
        self.invoked.push(invoked);
        self.invoked_time_ns.push(invoked_time_ns.unwrap_or(NOTHING));
        self.oks_before.push(oks_before.unwrap_or(UNKNOWN));
        self.mops.extend_from_slice(mops);
        self.mops_end.push(self.mops.len().to_u32());
    }

    /// Adds a row for an invocation without a completion.
    pub(crate) fn push_open(&mut self, open: &Open<M>) {
        self.kind.push(OpKind::Info);
        self.index.push(open.index);
        self.process.push(open.process.unwrap_or(NOTHING));
        self.time_ns.push(open.time_ns.unwrap_or(NOTHING));
        // If its client is unknown, it may be the invocation of an operation that completed.
        let known = open.process.is_some();
        self.invoked.push(if known { open.index } else { NO_INDEX });
        self.oks_before.push(if known { open.oks_before } else { UNKNOWN });
        self.invoked_time_ns.push(open.time_ns.unwrap_or(NOTHING));
        self.mops.extend_from_slice(&open.mops);
        self.mops_end.push(self.mops.len().to_u32());
    }

    #[inline]
    pub(crate) fn kind(&self, txn: TxnId) -> OpKind {
        self.kind[txn.at()]
    }

    /// The index of the completion, or of the invocation if there is no completion.
    pub(crate) fn index(&self, txn: TxnId) -> u64 {
        self.index[txn.at()]
    }

    /// The index of the invocation, if it is known.
    #[inline]
    pub(crate) fn invoked(&self, txn: TxnId) -> Option<u64> {
        let invoked = self.invoked[txn.at()];
        (invoked != NO_INDEX).then_some(invoked)
    }

    /// The number of transactions that had completed `ok` when this one was invoked, if its invocation is known.
    #[inline]
    pub(crate) fn oks_before(&self, txn: TxnId) -> Option<u32> {
        let oks = self.oks_before[txn.at()];
        (oks != UNKNOWN).then_some(oks)
    }

    pub(crate) fn process(&self, txn: TxnId) -> Option<i64> {
        some(self.process[txn.at()])
    }

    /// The transaction's process as the history names it.
    pub(crate) fn client(&self, txn: TxnId) -> Option<Client> {
        self.process(txn).map(|process| self.participants.client(process))
    }

    pub(crate) fn time_ns(&self, txn: TxnId) -> Option<i64> {
        some(self.time_ns[txn.at()])
    }

    pub(crate) fn invoked_time_ns(&self, txn: TxnId) -> Option<i64> {
        some(self.invoked_time_ns[txn.at()])
    }

    #[inline]
    pub(crate) fn mops(&self, txn: TxnId) -> &[M] {
        let start = if txn.at() == 0 { 0 } else { self.mops_end[txn.at() - 1].to_usize() };
        &self.mops[start..self.mops_end[txn.at()].to_usize()]
    }

    /// Keeps the recorded micro-ops of a transaction for reports, before others replace them.
    pub(crate) fn keep_recorded(&mut self, txn: TxnId) {
        let mops = self.mops(txn).to_vec();
        self.recorded.insert(txn.at().to_i64(), mops);
    }

    /// The recorded micro-ops of a transaction, for reports, including those that are not checked, if they were kept.
    pub(crate) fn recorded(&self, txn: TxnId) -> &[M] {
        self.recorded.get(txn.at().to_i64()).map_or(self.mops(txn), Vec::as_slice)
    }

    /// Replaces a micro-op.
    pub(crate) fn set_mop(&mut self, txn: TxnId, at: usize, mop: M) {
        let end = self.mops_end[txn.at()].to_usize();
        let start = end - self.mops(txn).len();
        self.mops[start..end][at] = mop;
    }

    /// Replaces the micro-ops of a transaction.
    pub(crate) fn replace_mops_of(&mut self, txn: TxnId, with: impl Fn(M) -> M) {
        for at in 0..self.mops(txn).len() {
            self.set_mop(txn, at, with(self.mops(txn)[at]));
        }
    }

    /// Replaces all micro-ops.
    pub(crate) fn replace_mops(&mut self, with: impl Fn(M) -> M) {
        for mop in &mut self.mops {
            *mop = with(*mop);
        }
    }

    /// Returns true if the transaction is known to have happened.
    #[inline]
    pub(crate) fn is_ok(&self, txn: TxnId) -> bool {
        self.kind(txn) == OpKind::Ok
    }

    /// Returns true if the transaction happened or may have happened: only such transactions have edges.
    #[inline]
    pub(crate) fn is_possible(&self, txn: TxnId) -> bool {
        matches!(self.kind(txn), OpKind::Ok | OpKind::Info)
    }

    /// Returns true if the invocation of some client's transaction is unknown. O(transactions).
    pub(crate) fn lacks_invocations(&self) -> bool {
        let is_sudden = |txn| self.is_possible(txn) && self.process(txn).is_some() && self.invoked(txn).is_none();
        self.ids().any(is_sudden)
    }
}

fn some(n: i64) -> Option<i64> {
    (n != NOTHING).then_some(n)
}

/// The number of ops of each kind.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) ok: u64,
    pub(crate) fail: u64,
    pub(crate) info: u64,
    /// The index of the first op that may have happened and has micro-ops neither in its invocation nor in its
    /// completion: it may have written any value that no other op wrote.
    pub(crate) unsaid: Option<u64>,
    /// Ops whose read results are missing.
    pub(crate) unread: UnreadResults,
    /// Whether some invocation has no process.
    pub(crate) has_nameless: bool,
}

/// Why an op could not be decoded.
#[derive(Clone, Debug)]
pub(crate) struct Undecoded {
    pub(crate) reason: String,
    /// Whether the part that could not be decoded may be a write.
    pub(crate) may_write: bool,
    /// Whether the op is not a list of micro-ops at all, so that none is known.
    pub(crate) is_whole: bool,
    /// The line of the op.
    pub(crate) line: Option<u64>,
}

/// An invocation that waits for its completion.
#[derive(Clone, Debug)]
pub(crate) struct Open<M> {
    pub(crate) waits: bool,
    /// Why the invocation could not be decoded, if so.
    pub(crate) undecoded: Option<Box<Undecoded>>,
    pub(crate) has_value: bool,
    pub(crate) index: u64,
    pub(crate) process: Option<i64>,
    pub(crate) time_ns: Option<i64>,
    /// The number of transactions that had completed `ok` at the invocation.
    pub(crate) oks_before: u32,
    /// Whether the operation writes a key of another share.
    pub(crate) writes_elsewhere: bool,
    /// For a share: a hash of all writes of the operation, on any keys, in their order.
    pub(crate) all_writes: u64,
    pub(crate) mops: Vec<M>,
}

impl<M> Default for Open<M> {
    fn default() -> Open<M> {
        Open {
            waits: false,
            undecoded: None,
            has_value: false,
            index: 0,
            process: None,
            time_ns: None,
            oks_before: 0,
            writes_elsewhere: false,
            all_writes: 0,
            mops: Vec::new(),
        }
    }
}
