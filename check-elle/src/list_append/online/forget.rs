//! What is forgotten, where real time is in numbers: see the proof in [the parent](super).

use super::judge::Judge;
use super::time::{Gate, NEVER, NONE};
use history_core::cast::Cast as _;

/// How much is kept, at the most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Transactions.
    pub(super) txns: usize,
    /// Elements of lists, before keys are dropped that no op has named for long.
    pub(super) elems: usize,
    /// For how many ops.
    pub(super) idle: u64,
    /// Elements of lists, before other keys are dropped.
    pub(super) elems_max: usize,
    /// Transactions between two clean-ups, at least.
    pub(super) pause: usize,
}

/// What was given up because of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GivenUp {
    /// Operations that were open for long, and the first one's index.
    pub(super) open: u64,
    pub(super) first_open: Option<u64>,
    /// Whether that was not enough.
    pub(super) all: bool,
}

impl Judge {
    /// Forgets what no later event can make part of a cycle, if it is time to look. Amortized O(edges) an event.
    pub(super) fn clean_up(&mut self, op: u64, limits: &Limits, given_up: &mut GivenUp) {
        if self.lists.len() > limits.elems.max(self.kept_elems + self.kept_elems / 4) {
            self.drop_keys(op.saturating_sub(limits.idle), limits.elems / 2);
            if self.lists.len() > limits.elems_max {
                self.drop_keys(op, limits.elems_max / 2);
            }
            self.kept_elems = self.lists.len();
        }
        // A clean-up looks at every key.
        let pause = limits.pause.max(limits.pause.min(1) * self.lists.keys() / 4);
        if self.graph.count < (2 * self.kept).max(self.kept + pause) && self.graph.count <= limits.txns {
            return;
        }
        self.forget();
        // While one operation is open, nothing that came after it is forgotten.
        while self.graph.count > limits.txns / 2 {
            let Some(txn) = self.graph.earliest_open().filter(|_| self.graph.count > limits.txns) else { break };
            given_up.open += 1;
            given_up.first_open.get_or_insert(self.graph.at(txn).index);
            self.graph.give_up(txn);
            self.given_up.push(txn);
            self.forget();
        }
        if self.graph.count > limits.txns {
            self.drop_keys(op, 0);
            self.forget();
        }
        given_up.all |= self.graph.count > limits.txns;
        self.kept = self.graph.count;
    }

    fn forget(&mut self) {
        let mut live = self.live();
        live.sort_unstable_by(|a, b| b.cmp(a));
        let mut keep = vec![false; self.graph.txns.len()];
        self.graph.each_within(&live, &mut keep);
        for txn in &self.given_up {
            keep[txn.to_usize()] = true;
        }
        let gone: Vec<u32> = self.graph.all().filter(|txn| !keep[txn.to_usize()]).collect();
        for txn in gone {
            let done = self.graph.at(txn).done;
            for elem in std::mem::take(&mut self.graph.txns[txn.to_usize()].appends) {
                let elem = self.lists.elem_mut(elem);
                (elem.done, elem.writer) = (done, NONE);
            }
            self.graph.remove(txn);
        }
    }

    /// The transactions to which a later event may add an edge, each with the gate to which it leads.
    fn live(&mut self) -> Vec<(Gate, u32)> {
        let horizon = self.graph.horizon();
        let is_late = |txn: &u32| {
            let txn = self.graph.at(*txn);
            // The keys of one that crashed may have been dropped.
            txn.is_open || txn.done > horizon && (txn.done != NEVER || !txn.appends.is_empty())
        };
        let mut live: Vec<u32> = self.graph.all().filter(is_late).collect();
        for key in self.lists.all_keys() {
            let unread = &self.lists.key(key).unread;
            if unread.len() < 2 {
                continue;
            }
            let span = |elem: u32| {
                let elem = self.lists.elem(elem);
                if elem.writer == NONE { (elem.after, elem.done) } else { self.span(elem.writer) }
            };
            // Unread appends are in the order in which they were invoked.
            let mut latest = 0;
            for (at, elem) in unread.iter().enumerate() {
                let (after, done) = span(*elem);
                let next = unread.get(at + 1).map_or(NEVER, |next| span(*next).0);
                let writer = self.lists.elem(*elem).writer;
                if (latest > after || next < done) && writer != NONE {
                    live.push(writer);
                }
                latest = latest.max(done);
            }
        }
        live.sort_unstable();
        live.dedup();
        live.into_iter().map(|txn| (self.graph.at(txn).done, txn)).collect()
    }

    fn span(&self, txn: u32) -> (Gate, Gate) {
        let txn = self.graph.at(txn);
        (txn.after, txn.done)
    }

    /// Drops keys that were named before an op and not since, that for longest first, until so many elements are left.
    fn drop_keys(&mut self, op: u64, elems: usize) {
        let keys = self.lists.all_keys().map(|key| (self.lists.key(key).used, key));
        let mut keys: Vec<(u64, u32)> = keys.filter(|(used, _)| *used < op).collect();
        keys.sort_unstable();
        for (_, key) in keys {
            if self.lists.len() <= elems {
                break;
            }
            let all = self.lists.key(key);
            let is_in_use = |elem: &u32| {
                let writer = self.lists.elem(*elem).writer;
                writer != NONE && self.graph.at(writer).is_open
            };
            if all.unread.iter().chain(&all.elems).any(is_in_use) {
                continue;
            }
            for elem in all.unread.iter().chain(&all.elems) {
                let writer = self.lists.elem(*elem).writer;
                if writer != NONE {
                    self.graph.txns[writer.to_usize()].appends.retain(|other| other != elem);
                }
            }
            self.lists.drop_key(key);
        }
    }
}
