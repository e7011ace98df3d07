//! A topological order found backwards: each transaction comes after all that it reads from and all before it in the
//! base.
//!
//! Reads name the transactions that they follow, so the columns of transactions already are this graph. The walk is
//! depth-first, from row to row, so that the order differs from that of completion only where it must.

use crate::base::Frame;
use crate::csr::Csr;
use crate::ids::TxnId;
use crate::transactions::Transactions;
use history_core::cast::Cast as _;

/// The arcs of base, reads and known orders, by target.
#[derive(Debug)]
pub(crate) struct Backwards<'t> {
    pub(crate) txns: &'t Transactions,
    frame: &'t Frame,
    /// For each transaction, the previous transaction of its session; `NONE` if there is none.
    previous: Vec<u32>,
    /// For each event, the transactions whose completion it is the first event after.
    ended: Csr,
    /// For each transaction, the writers before it in known orders; empty if no order is known.
    ordered: Csr,
}

/// The number of an absent node.
const NONE: u32 = u32::MAX;

/// The progress of the walk at a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Ahead,
    /// It waits for a node before it.
    Waits,
    Passed,
}

impl<'t> Backwards<'t> {
    pub(crate) fn new(txns: &'t Transactions, frame: &'t Frame) -> Backwards<'t> {
        let mut previous = vec![NONE; txns.len()];
        for (txn, next) in frame.next.iter().enumerate() {
            if *next != TxnId::NONE {
                previous[next.at()] = txn.to_u32();
            }
        }
        let ended = Csr::new(frame.events, |emit| {
            for (txn, event) in frame.ends_at.iter().enumerate().filter(|(_, event)| **event != NONE) {
                emit(event.to_usize(), txn.to_u32());
            }
        });
        let orders = txns.orders();
        let ordered = Csr::new(if orders.is_empty() { 0 } else { txns.len() }, |emit| {
            for order in orders {
                emit(order.after.at(), order.before.number());
            }
        });
        Backwards { txns, frame, previous, ended, ordered }
    }

    /// The number of nodes: transactions and events.
    pub(crate) fn nodes(&self) -> usize {
        self.txns.len() + self.frame.events
    }

    /// Calls `each` for each arc of base or reads to a node, with its source. Along these a transaction observes
    /// another.
    #[inline]
    pub(crate) fn each_seen(&self, node: usize, mut each: impl FnMut(usize)) {
        let n = self.txns.len();
        if node >= n {
            let event = node - n;
            if event > 0 {
                each(node - 1);
            }
            self.ended.row(event).iter().for_each(|txn| each(txn.to_usize()));
            return;
        }
        let txn = TxnId::new(node);
        self.previous(txn).into_iter().chain(self.event_before(txn)).for_each(&mut each);
        for read in self.txns.reads(txn) {
            if read.writer != TxnId::NONE {
                each(read.writer.at());
            }
        }
    }

    /// The previous transaction in the session of a transaction.
    #[inline]
    pub(crate) fn previous(&self, txn: TxnId) -> Option<usize> {
        let node = self.previous[txn.at()];
        (node != NONE).then(|| node.to_usize())
    }

    /// The last event before a transaction's invocation.
    #[inline]
    pub(crate) fn event_before(&self, txn: TxnId) -> Option<usize> {
        let event = self.frame.begins_at[txn.at()];
        (event != NONE).then(|| self.txns.len() + event.to_usize())
    }

    /// Calls `each` for each writer before a transaction in a known order.
    #[inline]
    pub(crate) fn each_ordered(&self, txn: TxnId, each: impl FnMut(TxnId)) {
        if self.ordered.len() > 0 {
            self.ordered.row(txn.at()).iter().map(|before| TxnId::from(*before)).for_each(each);
        }
    }

    /// The source of the arc with this position among all arcs to a node; `Some(NONE)` if this position has no arc, and
    /// `None` after the last position.
    #[inline]
    fn before(&self, node: usize, place: usize, more: &Csr) -> Option<u32> {
        let n = self.txns.len();
        if node >= n {
            let event = node - n;
            return match place.checked_sub(1) {
                None => Some(if event > 0 { (node - 1).to_u32() } else { NONE }),
                Some(at) => self.ended.row(event).get(at).copied(),
            };
        }
        let mut at = match place {
            0 => return Some(self.previous[node]),
            1 => {
                let begin = self.frame.begins_at[node];
                return Some(if begin == NONE { NONE } else { n.to_u32() + begin });
            }
            _ => place - 2,
        };
        let reads = self.txns.reads(TxnId::new(node));
        if let Some(read) = reads.get(at) {
            return Some(if read.writer == TxnId::NONE { NONE } else { read.writer.number() });
        }
        at -= reads.len();
        for arcs in [&self.ordered, more].into_iter().filter(|arcs| arcs.len() > 0) {
            let row = arcs.row(node);
            if let Some(other) = row.get(at) {
                return Some(*other);
            }
            at -= row.len();
        }
        None
    }

    /// Returns true if all nodes that base and reads put before a node were passed.
    #[inline]
    fn is_next(&self, node: usize, progress: &[Progress]) -> bool {
        let mut is_next = true;
        self.each_seen(node, |before| is_next &= progress[before] == Progress::Passed);
        is_next
    }

    /// A topological order of all nodes, also along the arcs of `more`: for each transaction, those before it (no rows
    /// if there are none). `None` if there is a cycle. Linear.
    pub(crate) fn order(&self, more: &Csr) -> Option<Vec<u32>> {
        let nodes = self.nodes();
        let mut progress = vec![Progress::Ahead; nodes];
        let mut order = Vec::with_capacity(nodes);
        // The nodes that wait, each for the next one here, and the position of that one among its predecessors.
        let mut waiting: Vec<(u32, u32)> = Vec::new();
        let has_more = self.ordered.len() + more.len() > 0;
        for root in 0..nodes {
            if progress[root] != Progress::Ahead {
                continue;
            }
            // Nearly all nodes follow earlier ones of the history.
            if !has_more && self.is_next(root, &progress) {
                progress[root] = Progress::Passed;
                order.push(root.to_u32());
                continue;
            }
            waiting.push((root.to_u32(), 0));
            while let Some((node, place)) = waiting.last_mut() {
                let at = node.to_usize();
                let mut next = NONE;
                while let Some(before) = self.before(at, place.to_usize(), more) {
                    *place += 1;
                    if before == NONE || progress[before.to_usize()] == Progress::Passed {
                        continue;
                    }
                    next = before;
                    break;
                }
                if next == NONE {
                    progress[at] = Progress::Passed;
                    order.push(*node);
                    waiting.pop();
                } else {
                    progress[at] = Progress::Waits;
                    // A node that waits for this one is before it: a cycle.
                    if progress[next.to_usize()] == Progress::Waits {
                        return None;
                    }
                    waiting.push((next, 0));
                }
            }
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base;
    use crate::ids::KeyId;
    use crate::level::Base;
    use crate::transactions::{KnownOrder, NewTxn, Read};

    /// Random transactions that read from any others, with sessions, real time and sometimes known orders.
    fn any(seed: u64) -> Transactions {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).to_usize() % n
        };
        let (n, key) = (2 + below(6), KeyId::new(0));
        let mut txns = Transactions::default();
        for at in 0..n {
            let other = |below: &mut dyn FnMut(usize) -> usize| match below(n + 2) {
                other if other < n && other != at => TxnId::new(other),
                _ => TxnId::NONE,
            };
            let reads: Vec<Read> = (0..below(3)).map(|_| Read { key, writer: other(&mut below) }).collect();
            let begin = (2 * at).saturating_sub(below(6)).to_u64();
            let end = (below(4) > 0).then(|| 2 * at.to_u64() + 1);
            let session = (below(3) > 0).then(|| below(3).to_u32());
            txns.push(&NewTxn { session, begin: Some(begin), end, reads: &reads, writes: &[key] });
        }
        for _ in 0..below(3) {
            let (before, after) = (below(n), below(n));
            if before != after {
                txns.push_order(KnownOrder { key, before: TxnId::new(before), after: TxnId::new(after) });
            }
        }
        txns
    }

    #[test]
    fn an_order_is_found_exactly_if_the_graph_has_one() {
        let (mut found, mut none) = (0, 0);
        for seed in 0..3000 {
            let txns = any(seed);
            for base in [Base::None, Base::Session, Base::RealTime] {
                let frame = Frame::new(&txns, base);
                let more = [(TxnId::new(txns.len() - 1), TxnId::new(0))];
                for more in [&more[..0], &more] {
                    let graph = base::graph(&txns, &frame, more);
                    let incoming = Csr::new(if more.is_empty() { 0 } else { txns.len() }, |emit| {
                        for (before, after) in more {
                            emit(after.at(), before.number());
                        }
                    });
                    let order = Backwards::new(&txns, &frame).order(&incoming);
                    assert_eq!(order.is_some(), graph.topological().len() == graph.len(), "{seed} {base:?}");
                    let Some(order) = order else {
                        none += 1;
                        continue;
                    };
                    found += 1;
                    let mut place = vec![usize::MAX; graph.len()];
                    order.iter().enumerate().for_each(|(at, node)| place[node.to_usize()] = at);
                    for (node, at) in place.iter().enumerate() {
                        assert!(*at < graph.len(), "all nodes are there");
                        for next in graph.row(node) {
                            assert!(at < &place[next.to_usize()], "{seed} {base:?}: {node} is before {next}");
                        }
                    }
                }
            }
        }
        assert!(found > 3000 && none > 3000, "{found}, {none}");
    }

    #[test]
    fn a_million_transactions_that_each_wait_for_the_next_have_an_order() {
        let (n, key) = (1_000_000, KeyId::new(0));
        let mut txns = Transactions::default();
        for at in 0..n {
            let writer = if at + 1 < n { TxnId::new(at + 1) } else { TxnId::NONE };
            txns.push(&NewTxn { reads: &[Read { key, writer }], writes: &[key], ..NewTxn::default() });
        }
        let frame = Frame::new(&txns, Base::None);
        let order = Backwards::new(&txns, &frame).order(&Csr::default()).expect("there is no cycle");
        assert_eq!((order.len(), order[0]), (n, n.to_u32() - 1));
    }
}
