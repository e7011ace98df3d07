//! What is discarded if real-time gates are numbers: see the proof in [the parent](super).

use super::judge::ListJudge;
use crate::txn::online::named;
use crate::txn::online::time::{Gate, NEVER, NONE, Txn};
use history_core::cast::Cast as _;

impl ListJudge {
    pub(super) fn forget_settled(&mut self) {
        let mut live = self.live();
        live.sort_unstable_by(|a, b| b.cmp(a));
        let mut keep = vec![false; self.graph.txns.len()];
        self.graph.each_within(&live, &mut keep);
        for txn in &self.kept.given_up {
            keep[txn.to_usize()] = true;
        }
        for key in self.lists.all_keys().collect::<Vec<_>>() {
            self.forget_readers(key, &keep);
        }
        let gone: Vec<u32> = self.graph.all().filter(|txn| !keep[txn.to_usize()]).collect();
        for txn in &gone {
            let Txn { done, writes, .. } = self.graph.at(*txn);
            for elem in writes {
                let elem = self.lists.elem_mut(*elem);
                (elem.done, elem.writer) = (*done, NONE);
            }
        }
        self.graph.remove_all(&gone);
    }

    /// Discards the readers of a key. While writes of an operation in flight are unknown, keeps those in `keep`.
    fn forget_readers(&mut self, key: u32, keep: &[bool]) {
        let readers = &mut self.lists.key_mut(key).readers;
        if !self.findings.awaits {
            return readers.clear();
        }
        for readers in readers.iter_mut() {
            readers.retain(|txn| keep[txn.to_usize()]);
        }
    }

    /// The transactions to which a later event may add an edge, each with the gate to which it leads.
    fn live(&mut self) -> Vec<(Gate, u32)> {
        let mut live = self.graph.late();
        for key in self.lists.all_keys() {
            let unread = &self.lists.key(key).unread;
            if unread.len() < 2 {
                continue;
            }
            let span = |elem: u32| {
                let elem = self.lists.elem(elem);
                if elem.writer == NONE { (elem.after, elem.done) } else { self.span(elem.writer) }
            };
            // Unread appends are in the order of their invocations.
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
        self.graph.gates(live)
    }

    fn span(&self, txn: u32) -> (Gate, Gate) {
        let txn = self.graph.at(txn);
        (txn.after, txn.done)
    }

    /// Drops keys that were last named before the op `op`, until at most `elems` elements are left.
    pub(super) fn drop_idle_keys(&mut self, op: u64, elems: usize) {
        let keys = self.lists.all_keys().map(|key| (key, self.lists.key(key).named));
        for key in named::idle(keys, op) {
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
                    self.graph.txns[writer.to_usize()].writes.retain(|other| other != elem);
                }
            }
            self.lists.drop_key(key);
        }
    }
}
