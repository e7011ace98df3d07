//! The limits on memory, and what is given up when one is reached.

use super::judge::Judge;
use history_core::UnreadResults;
use history_core::cast::Cast as _;

/// The maximum amounts that are kept in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Transactions.
    pub(crate) txns: usize,
    /// Values of keys, before keys are dropped that no op has named for [`idle`](Limits::idle) ops.
    pub(crate) values: usize,
    /// The number of ops after which an unnamed key is idle.
    pub(crate) idle: u64,
    /// Values of keys, before other keys are dropped.
    pub(crate) values_max: usize,
    /// The minimum number of new transactions between two clean-ups.
    pub(crate) pause: usize,
}

/// What was given up because of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GivenUp {
    /// The number of operations that were open for too long, and the index of the first one.
    pub(crate) open: u64,
    pub(crate) first_open: Option<u64>,
    /// Whether giving these up did not suffice.
    pub(crate) all: bool,
}

history_core::state!(struct GivenUp { open, first_open, all });

/// Discards what no later event can make part of a violation, if a clean-up is due. Amortized O(edges) per event.
pub(crate) fn clean_up<J: Judge>(judge: &mut J, op: u64, limits: &Limits, given_up: &mut GivenUp) {
    let left = judge.kept().values;
    if judge.values() > limits.values.max(left + left / 4) {
        judge.drop_keys(op.saturating_sub(limits.idle), limits.values / 2);
        if judge.values() > limits.values_max {
            judge.drop_keys(op, limits.values_max / 2);
        }
        judge.kept().values = judge.values();
    }
    // A clean-up visits every key, so the pause grows with the number of keys.
    let pause = limits.pause.max(limits.pause.min(1) * judge.keys() / 4);
    let kept = judge.kept().txns;
    let count = judge.graph().count;
    if count < (2 * kept).max(kept + pause) && count <= limits.txns {
        return;
    }
    judge.forget();
    if judge.graph().count > limits.txns {
        // Writers of values that no transaction has read are kept because of keys that may never be used again.
        judge.drop_keys(op.saturating_sub(limits.idle), judge.values() / 2);
        judge.forget();
    }
    // While an operation is open, nothing that follows it is discarded.
    while judge.graph().count > limits.txns / 2 {
        let is_over = judge.graph().count > limits.txns;
        let Some(txn) = judge.graph_mut().earliest_open().filter(|_| is_over) else { break };
        given_up.open += 1;
        given_up.first_open.get_or_insert(judge.graph().at(txn).index);
        judge.graph_mut().give_up(txn);
        judge.kept().given_up.push(txn);
        judge.forget();
    }
    if judge.graph().count > limits.txns {
        judge.drop_keys(op, 0);
        judge.forget();
    }
    given_up.all |= judge.graph().count > limits.txns;
    judge.kept().txns = judge.graph().count;
}

/// The number of ops of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) ok: u64,
    pub(crate) fail: u64,
    pub(crate) info: u64,
    pub(crate) mops: u64,
    /// Ops whose read results are missing.
    pub(crate) unread: UnreadResults,
}

history_core::state!(struct Counts { ok, fail, info, mops, unread });

impl Counts {
    pub(crate) fn add_mops(&mut self, mops: usize) {
        self.mops += mops.to_u64();
    }
}
