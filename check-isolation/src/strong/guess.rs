//! A first guess: versions in the order in which their writers completed, unless something says otherwise; no clocks,
//! each round linear.
//!
//! Two writers of a key that ran at different times are in that order in nearly every store, and of two that ran at
//! once reads mostly show it: a read behind both returns the later one. So the guess begins with what causal
//! consistency forces. Overwritten reads of writers that ran at different times are then added, as these decide most of
//! what reads leave open. The order that comes out is replayed. What it does not explain lies between transactions that
//! ran at once, so a short walk back along the order mostly shows which way around they must be. A replay that explains
//! all reads is an answer; nothing else is.

use crate::base::Frame;
use crate::csr::Csr;
use crate::evidence::{Moment, Order};
use crate::ids::{KeyId, TxnId};
use crate::level::Base;
use crate::transactions::Transactions;
use crate::weak::{self, Backwards};
use history_core::Budget;
use history_core::cast::Cast as _;

/// Orders that are replayed, at the most.
const ROUNDS_MAX: usize = 24;
/// Nodes on a walk back, at the most, and for each node of the graph on all of them.
const WALK_MAX: usize = 512;
const WALKED_PER_NODE: usize = 32;

/// An arc from one transaction to another.
type Arc = (TxnId, TxnId);

/// A serial order that explains the history and extends the base, if one is found. It explains every level of that
/// base.
pub(super) fn serial_order(txns: &Transactions, base: Base, budget: &Budget) -> Option<Order> {
    let frame = Frame::new(txns, base);
    let backwards = Backwards::new(txns, &frame);
    let mut arcs = weak::causal_orders(&backwards, &frame, budget)?;
    let order = backwards.order(&by_end(txns, &arcs))?;
    Versions::along(txns, &order).each_overwritten(|reader, writer, next| {
        if is_apart(txns, writer, next) {
            arcs.push((reader, next));
        }
    });
    let mut replay = Replay::new(txns, backwards.nodes());
    let mut incoming = by_end(txns, &arcs);
    let mut order = backwards.order(&incoming)?;
    for _ in 0..ROUNDS_MAX {
        let open = replay.run(&order);
        if open.is_empty() {
            let commits = order.iter().filter(|node| node.to_usize() < txns.len());
            return Some(Order { moments: commits.map(|node| Moment::Commit((*node).into())).collect() });
        }
        budget.check(0, 0).ok()?;
        let mut choices = Vec::new();
        for case in open {
            match replay.certain(&backwards, &incoming, case) {
                Some(arc) => arcs.push(arc),
                None => choices.push(replay.nearer(case)),
            }
        }
        // What was chosen may contradict itself: then less of it at a time.
        let certain = arcs.len();
        loop {
            arcs.truncate(certain);
            arcs.extend_from_slice(&choices);
            incoming = by_end(txns, &arcs);
            if let Some(found) = backwards.order(&incoming) {
                order = found;
                break;
            }
            if choices.is_empty() {
                return None;
            }
            choices.truncate(choices.len() / 4);
        }
    }
    None
}

/// Arcs by where they lead to.
fn by_end(txns: &Transactions, arcs: &[Arc]) -> Csr {
    Csr::new(txns.len(), |emit| arcs.iter().for_each(|(from, to)| emit(to.at(), from.number())))
}

/// Whether one was over before the other began. The first state was.
fn is_apart(txns: &Transactions, writer: TxnId, next: TxnId) -> bool {
    writer == TxnId::NONE || txns.end(writer) < txns.begin(next)
}

/// A read that an order does not explain: `between` wrote the key behind the one that was read from, and before the
/// reader.
#[derive(Clone, Copy)]
struct Open {
    writer: TxnId,
    between: TxnId,
    reader: TxnId,
}

/// Runs orders like a store, in memory that is used again.
struct Replay<'t> {
    txns: &'t Transactions,
    /// Where each node is in the order.
    place: Vec<u32>,
    /// For each key, who wrote it last.
    last: Vec<TxnId>,
    /// For each node, the last walk that passed it.
    passed: Vec<u32>,
    walks: u32,
    /// How many nodes may still be walked to.
    walk_left: usize,
}

impl<'t> Replay<'t> {
    fn new(txns: &'t Transactions, nodes: usize) -> Replay<'t> {
        let last = vec![TxnId::NONE; txns.keys()];
        let walk_left = WALKED_PER_NODE * nodes;
        Replay { txns, place: vec![0; nodes], last, passed: vec![0; nodes], walks: 0, walk_left }
    }

    /// What an order of all nodes does not explain.
    fn run(&mut self, order: &[u32]) -> Vec<Open> {
        order.iter().enumerate().for_each(|(at, node)| self.place[node.to_usize()] = at.to_u32());
        self.last.fill(TxnId::NONE);
        let mut open = Vec::new();
        for reader in order.iter().filter(|node| node.to_usize() < self.txns.len()).map(|node| TxnId::from(*node)) {
            for read in self.txns.reads(reader) {
                let between = self.last[read.key.at()];
                if between != read.writer {
                    open.push(Open { writer: read.writer, between, reader });
                }
            }
            self.txns.writes(reader).iter().for_each(|key| self.last[key.at()] = reader);
        }
        open
    }

    /// The arc that follows from what is known, if that is found.
    fn certain(&mut self, backwards: &Backwards<'_>, incoming: &Csr, case: Open) -> Option<Arc> {
        let Open { writer, between, reader } = case;
        if is_apart(self.txns, writer, between) {
            Some((reader, between))
        } else if self.leads(backwards, incoming, between, reader) {
            Some((between, writer))
        } else if self.leads(backwards, incoming, writer, between) {
            Some((reader, between))
        } else {
            None
        }
    }

    /// The arc that changes the order less.
    fn nearer(&self, case: Open) -> Arc {
        let Open { writer, between, reader } = case;
        let at = |txn: TxnId| self.place[txn.at()];
        let is_reader_nearer = at(reader) - at(between) <= at(between) - at(writer);
        if is_reader_nearer { (reader, between) } else { (between, writer) }
    }

    /// Whether a path is found from one transaction to one behind it: back along arcs, no further than the first.
    fn leads(&mut self, backwards: &Backwards<'_>, incoming: &Csr, from: TxnId, to: TxnId) -> bool {
        self.walks += 1;
        let mut waiting = vec![to.at()];
        let mut at = 0;
        while at < waiting.len() && waiting.len() < WALK_MAX && self.walk_left > 0 {
            let node = waiting[at];
            at += 1;
            self.walk_left -= 1;
            let mut pass = |before: usize| {
                if self.place[before] >= self.place[from.at()] && self.passed[before] != self.walks {
                    self.passed[before] = self.walks;
                    waiting.push(before);
                }
            };
            backwards.each_seen(node, &mut pass);
            if node < incoming.len() {
                incoming.row(node).iter().for_each(|before| pass(before.to_usize()));
            }
            if self.passed[from.at()] == self.walks {
                return true;
            }
        }
        false
    }
}

/// The writers of each key in one order.
struct Versions<'t> {
    txns: &'t Transactions,
    /// For each write of all, who wrote the key next; `TxnId::NONE` if nobody did.
    next: Vec<TxnId>,
    /// For each key, who wrote it first.
    first: Vec<TxnId>,
}

impl<'t> Versions<'t> {
    /// As an order of all nodes has them.
    fn along(txns: &'t Transactions, order: &[u32]) -> Versions<'t> {
        let mut versions =
            Versions { txns, next: vec![TxnId::NONE; txns.write_count()], first: vec![TxnId::NONE; txns.keys()] };
        // For each key the last write of all that was passed.
        let mut last = vec![u32::MAX; txns.keys()];
        for txn in order.iter().filter(|node| node.to_usize() < txns.len()).map(|node| TxnId::from(*node)) {
            for (write, key) in txns.writes_range(txn).zip(txns.writes(txn)) {
                match std::mem::replace(&mut last[key.at()], write.to_u32()) {
                    u32::MAX => versions.first[key.at()] = txn,
                    before => versions.next[before.to_usize()] = txn,
                }
            }
        }
        versions
    }

    /// Who wrote a key after another one; of the first state, who wrote it first.
    fn after(&self, key: KeyId, writer: TxnId) -> TxnId {
        if writer == TxnId::NONE {
            return self.first[key.at()];
        }
        let own = self.txns.writes(writer).binary_search(&key);
        own.map_or(TxnId::NONE, |at| self.next[self.txns.writes_range(writer).start + at])
    }

    /// Calls with each reader of a version that another one replaced, the version's writer, and that other one.
    fn each_overwritten(&self, mut each: impl FnMut(TxnId, TxnId, TxnId)) {
        for reader in self.txns.ids() {
            for read in self.txns.reads(reader) {
                let next = self.after(read.key, read.writer);
                if next != TxnId::NONE && next != reader {
                    each(reader, read.writer, next);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transactions::{NewTxn, Read};

    const FIRST: TxnId = TxnId::NONE;

    /// Adds a transaction of these moments that reads and writes these keys.
    fn push(txns: &mut Transactions, (begin, end): (u64, u64), reads: &[(usize, TxnId)], writes: &[usize]) -> TxnId {
        let reads: Vec<Read> =
            reads.iter().map(|(key, writer)| Read { key: KeyId::new(*key), writer: *writer }).collect();
        let writes: Vec<KeyId> = writes.iter().map(|key| KeyId::new(*key)).collect();
        txns.push(&NewTxn { begin: Some(begin), end: Some(end), reads: &reads, writes: &writes, ..NewTxn::default() })
    }

    fn guessed(txns: &Transactions) -> Option<Vec<Moment>> {
        serial_order(txns, Base::RealTime, &Budget::default()).map(|order| order.moments)
    }

    #[test]
    fn an_overwritten_read_decides_between_two_writers_at_once() {
        let mut txns = Transactions::default();
        let one = push(&mut txns, (0, 4), &[], &[0, 1]);
        // It misses the first one's write of key 1, so it was first, although it completed later.
        let other = push(&mut txns, (1, 5), &[(1, FIRST)], &[0]);
        assert_eq!(guessed(&txns).unwrap(), [Moment::Commit(other), Moment::Commit(one)]);
        // Then the last version of key 0 is that of the one that completed first.
        let reader = push(&mut txns, (6, 7), &[(0, one)], &[]);
        assert_eq!(guessed(&txns).unwrap(), [other, one, reader].map(Moment::Commit));
        // Who reads the other one's contradicts that.
        push(&mut txns, (8, 9), &[(0, other)], &[]);
        assert_eq!(guessed(&txns), None);
    }

    #[test]
    fn write_skew_has_no_serial_order() {
        let mut txns = Transactions::default();
        push(&mut txns, (0, 4), &[(0, FIRST)], &[1]);
        push(&mut txns, (1, 5), &[(1, FIRST)], &[0]);
        assert_eq!(guessed(&txns), None);
    }

    #[test]
    fn one_that_replaces_what_it_read_is_next_to_it() {
        let mut txns = Transactions::default();
        let first = push(&mut txns, (0, 1), &[(0, FIRST)], &[0]);
        let second = push(&mut txns, (2, 3), &[(0, first)], &[0]);
        assert_eq!(guessed(&txns).unwrap(), [first, second].map(Moment::Commit));
        push(&mut txns, (2, 4), &[(0, first)], &[0]);
        assert_eq!(guessed(&txns), None, "an update is lost");
    }

    /// Transactions that a store runs one after another, of which some twenty overlap: rows are in the order of their
    /// ends.
    fn overlapping(keys: usize, mut seed: u64) -> Transactions {
        let mut below = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33).to_usize() % n
        };
        const COUNT: usize = 400;
        let mut rows: Vec<(u64, usize)> = (0..COUNT).map(|at| ((10 * at + below(100)).to_u64(), at)).collect();
        rows.sort_unstable();
        let mut row_of = [TxnId::NONE; COUNT];
        rows.iter().enumerate().for_each(|(row, (_, at))| row_of[*at] = TxnId::new(row));
        let mut last = vec![FIRST; keys];
        let mut ran = Vec::new();
        for row in row_of {
            let reads: Vec<(usize, TxnId)> = (0..=below(3)).map(|_| below(keys)).map(|key| (key, last[key])).collect();
            let writes: Vec<usize> = (0..below(3)).map(|_| below(keys)).collect();
            for key in &writes {
                last[*key] = row;
            }
            ran.push((reads, writes));
        }
        let mut txns = Transactions::default();
        for (end, at) in rows {
            let begin = (10 * at).saturating_sub(below(100)).to_u64();
            push(&mut txns, (2 * begin, 2 * end + 1), &ran[at].0, &ran[at].1);
        }
        txns
    }

    #[test]
    fn overlapping_transactions_that_ran_one_by_one_are_put_into_such_an_order() {
        for keys in [30, 100] {
            let found = (0..40).filter(|seed| guessed(&overlapping(keys, *seed)).is_some()).count();
            assert!(found >= 36, "{keys} keys: {found} of 40");
        }
    }
}
