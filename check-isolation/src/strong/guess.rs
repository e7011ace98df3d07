//! A first guess: transactions in the order of their completions, unless something contradicts it, repaired where that
//! order does not explain the history. It needs no clocks, and its number of steps is linear.
//!
//! Most stores execute transactions in an order near that of completions. So such an order is replayed. If it does not
//! explain a read, another writer of the key is between the version that was read and the reader. Then either the
//! reader is before that writer, or that writer is before the version's writer. At snapshot isolation, of two writers
//! of a key that overlap, one is before the other. If a path rules out one of the two alternatives, the other follows;
//! otherwise the one that moves fewer nodes is chosen. The nodes that have to move do so among the few transactions in
//! between, and the replay continues from the first of them. If paths rule out both, an earlier choice was wrong: the
//! last choice that the paths depend on is reversed, and the decisions after it are retracted.
//!
//! A replay that explains all reads is a result; nothing else is.

use super::order::{Arc, Ground, NONE, Ordered};
use super::shape::Shape;
use crate::base::Frame;
use crate::evidence::Order;
use crate::ids::TxnId;
use crate::level::{Axiom, Base};
use crate::transactions::Transactions;
use crate::weak::Backwards;
use history_core::Budget;
use history_core::cast::Cast as _;
use history_core::hash::HashSet;

/// The number of steps per node of the graph, and at least: a step visits, moves or replays a node.
const STEPS_PER_NODE: u64 = 128;
const STEPS_MIN: u64 = 1 << 22;
/// The maximum number of steps for any history: each walk is at least one step, and walks have 32-bit numbers.
const STEPS_MAX: u64 = 1 << 31;
/// The number of bytes for decisions per node of the graph, and at least.
const BYTES_PER_NODE: u64 = 256;
const BYTES_MIN: u64 = 1 << 24;
/// The number of repairs between two checks of the budget.
const LOOK_EVERY: u32 = 256;

/// The facts that are known if no order was found.
#[derive(Debug, Default)]
pub(super) struct Failed {
    /// Transactions whose places in their sessions and in real time seem to be wrong, as far as was examined.
    pub(super) misplaced: Vec<TxnId>,
    /// Transactions that seem to contradict each other; they read from no others. Empty if unknown.
    pub(super) contradicted: Vec<TxnId>,
}

/// An order that explains the history by an axiom and extends the base, if one is found. It also explains all weaker
/// axioms with that base.
pub(super) fn order(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget) -> Result<Order, Failed> {
    match near(txns, axiom, base, Base::RealTime, budget) {
        Some(found) => found,
        // Some transaction read from one that began after its end.
        None => near(txns, axiom, base, base, budget).unwrap_or_else(|| Err(Failed::default())),
    }
}

/// The same, starting with the order of a frame, of which only the base must hold; `None` if that contradicts itself.
fn near(txns: &Transactions, axiom: Axiom, base: Base, frame: Base, budget: &Budget) -> Option<Result<Order, Failed>> {
    let (frame, shape) = (Frame::new(txns, frame), Shape::new(axiom));
    let backwards = Backwards::new(txns, &frame);
    let nodes = backwards.nodes().to_u64();
    let (steps_max, bytes_max) =
        ((STEPS_PER_NODE * nodes).clamp(STEPS_MIN, STEPS_MAX), BYTES_MIN.max(BYTES_PER_NODE * nodes));
    let mut replay = Replay::new(txns, shape, Ordered::new(&backwards, base, shape)?);
    let mut repairs = 0_u32;
    while let Some(open) = replay.run() {
        let bytes = replay.order.bytes();
        let is_over = || repairs.is_multiple_of(LOOK_EVERY) && budget.check(0, bytes).is_err();
        if replay.order.steps > steps_max || bytes > bytes_max || is_over() {
            return Some(Err(Failed { misplaced: replay.order.free, contradicted: Vec::new() }));
        }
        repairs += 1;
        if replay.repair(open).is_none() {
            return Some(Err(replay.failed()));
        }
    }
    let own = shape.nodes(txns.len());
    Some(Ok(shape.order(replay.order.nodes().iter().copied().filter(|node| node.to_usize() < own))))
}

/// A read or write that an order does not explain.
#[derive(Clone, Copy)]
struct Open {
    /// The transaction with the read or write.
    txn: TxnId,
    /// The two alternatives; the first changes the order less.
    either: [Arc; 2],
}

/// Executes an order like a store.
struct Replay<'t> {
    txns: &'t Transactions,
    shape: Shape,
    order: Ordered<'t>,
    /// The number of nodes of the order that were executed.
    at: usize,
    /// The maximum of `at` so far. Decisions concern only nodes before it.
    at_most: usize,
    /// For each key, its last writer.
    last: Vec<TxnId>,
    /// For each executed write, the previous writer of the key.
    before: Vec<TxnId>,
    /// The results of reversed choices: if such a choice comes up again, it is more likely to be right than the nearer
    /// one.
    turned: HashSet<Arc>,
}

impl<'t> Replay<'t> {
    fn new(txns: &'t Transactions, shape: Shape, order: Ordered<'t>) -> Replay<'t> {
        let (last, before) = (vec![TxnId::NONE; txns.keys()], vec![TxnId::NONE; txns.write_count()]);
        Replay { txns, shape, order, at: 0, at_most: 0, last, before, turned: HashSet::default() }
    }

    /// Executes the order as far as it explains the history.
    fn run(&mut self) -> Option<Open> {
        let own = self.shape.nodes(self.txns.len());
        while let Some(node) = self.order.nodes().get(self.at).copied() {
            if node.to_usize() < own {
                let txn = self.shape.txn(node);
                if self.shape.is_start(node)
                    && let Some(open) = self.unexplained(txn)
                {
                    return Some(open);
                }
                if self.shape.is_commit(node) {
                    if self.shape.axiom == Axiom::Snapshot
                        && let Some(open) = self.overlapping(txn)
                    {
                        return Some(open);
                    }
                    for (write, key) in self.txns.writes_range(txn).zip(self.txns.writes(txn)) {
                        self.before[write] = std::mem::replace(&mut self.last[key.at()], txn);
                    }
                }
            }
            self.at += 1;
        }
        None
    }

    /// A read of a version that is not the current one.
    fn unexplained(&self, reader: TxnId) -> Option<Open> {
        let shape = self.shape;
        for read in self.txns.reads(reader) {
            let between = self.last[read.key.at()];
            if between == read.writer {
                continue;
            }
            let (start, overwriter) = (shape.start(reader), shape.commit(between));
            let mut either = [Arc { from: start, to: overwriter }, Arc { from: overwriter, to: NONE }];
            if read.writer != TxnId::NONE {
                either[1].to = shape.overwrites_at(read.writer);
                if !self.is_reader_first(read.writer, between, reader) {
                    either.reverse();
                }
            }
            return Some(Open { txn: reader, either });
        }
        None
    }

    /// Returns true if the reader, rather than the version that it read, is probably on the wrong side of the writer
    /// between them.
    fn is_reader_first(&self, writer: TxnId, between: TxnId, reader: TxnId) -> bool {
        let is_over = |first: TxnId, second: TxnId| self.txns.end(first) < self.txns.begin(second);
        let at = |node: u32| self.order.place(node);
        let between_at = at(self.shape.commit(between));
        let is_nearer = at(self.shape.start(reader)) - between_at <= between_at - at(self.shape.commit(writer));
        is_over(writer, between) || (is_nearer && !is_over(between, reader))
    }

    /// Another writer of a key that committed since this one started.
    fn overlapping(&self, txn: TxnId) -> Option<Open> {
        let shape = self.shape;
        let arc = |first: TxnId, second: TxnId| Arc { from: shape.commit(first), to: shape.start(second) };
        let is_over = |other: &TxnId| self.order.place(shape.commit(*other)) < self.order.place(shape.start(txn));
        let writers = self.txns.writes(txn).iter().map(|key| self.last[key.at()]);
        let other = writers.filter(|other| *other != TxnId::NONE).find(|other| !is_over(other))?;
        Some(Open { txn, either: [arc(other, txn), arc(txn, other)] })
    }

    /// Undoes the execution from a position on.
    fn rewind(&mut self, place: usize) {
        self.order.steps += self.at.saturating_sub(place).to_u64();
        self.at_most = self.at_most.max(self.at);
        let own = self.shape.nodes(self.txns.len());
        while self.at > place {
            self.at -= 1;
            let node = self.order.nodes()[self.at];
            if node.to_usize() < own && self.shape.is_commit(node) {
                let writer = self.shape.txn(node);
                for (write, key) in self.txns.writes_range(writer).zip(self.txns.writes(writer)) {
                    self.last[key.at()] = self.before[write];
                }
            }
        }
    }

    /// Decides between the alternatives; `None` if no choice makes either possible.
    fn repair(&mut self, Open { txn, either: [first, other] }: Open) -> Option<()> {
        let (mut grounds, mut of_other) = (Vec::new(), Vec::new());
        let is_first_out = self.order.is_ruled_out(first, &mut grounds);
        let is_other_out = self.order.is_ruled_out(other, &mut of_other);
        match (is_first_out, is_other_out) {
            (false, false) => {
                let (first, other) = if self.turned.contains(&other) { (other, first) } else { (first, other) };
                self.make_way(first);
                self.order.choose(first, other);
            }
            (true, false) => self.follow(other, &mut grounds),
            (false, true) => self.follow(first, &mut of_other),
            (true, true) => {
                grounds.append(&mut of_other);
                self.turn_around(txn, grounds)?;
            }
        }
        Some(())
    }

    /// Reverses the last of these choices, which cannot all be right. If none can be reversed, the place of some
    /// transaction in its session or in real time is wrong: that of this one, if it is among the grounds.
    fn turn_around(&mut self, txn: TxnId, mut grounds: Vec<Ground>) -> Option<()> {
        loop {
            let last = *grounds.iter().max()?;
            let Ground::Choice(choice) = last else { break };
            grounds.retain(|ground| *ground != last);
            let (arc, other) = self.order.take_back(choice);
            if !self.order.is_ruled_out(other, &mut grounds) {
                self.turned.remove(&arc);
                self.turned.insert(other);
                self.follow(other, &mut grounds);
                return Some(());
            }
        }
        if grounds.contains(&Ground::Frame(txn)) {
            grounds = vec![Ground::Frame(txn)];
        }
        let mut is_new = false;
        for ground in grounds {
            if let Ground::Frame(txn) = ground {
                is_new |= self.order.set_free(txn);
            }
        }
        is_new.then_some(())
    }

    /// The executed transactions, and the one that cannot be executed.
    fn failed(self) -> Failed {
        let own = self.shape.nodes(self.txns.len());
        let ran = self.order.nodes()[..=self.at.max(self.at_most)].iter().filter(|node| node.to_usize() < own);
        let mut contradicted: Vec<TxnId> = ran.map(|node| self.shape.txn(*node)).collect();
        contradicted.sort_unstable();
        contradicted.dedup();
        Failed { misplaced: self.order.free, contradicted }
    }

    fn follow(&mut self, arc: Arc, grounds: &mut Vec<Ground>) {
        self.make_way(arc);
        self.order.follow(arc, grounds);
    }

    /// Undoes the execution of the nodes that an arc will move.
    fn make_way(&mut self, arc: Arc) {
        if let Some(place) = self.order.moves_from(arc) {
            self.rewind(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Moment;
    use crate::ids::KeyId;
    use crate::transactions::{NewTxn, Read};

    const FIRST: TxnId = TxnId::NONE;

    /// Adds a transaction with this begin and end that reads and writes these keys.
    fn push(txns: &mut Transactions, (begin, end): (u64, u64), reads: &[(usize, TxnId)], writes: &[usize]) -> TxnId {
        let reads: Vec<Read> =
            reads.iter().map(|(key, writer)| Read { key: KeyId::new(*key), writer: *writer }).collect();
        let writes: Vec<KeyId> = writes.iter().map(|key| KeyId::new(*key)).collect();
        txns.push(&NewTxn { begin: Some(begin), end: Some(end), reads: &reads, writes: &writes, ..NewTxn::default() })
    }

    fn guessed(txns: &Transactions) -> Option<Vec<Moment>> {
        order(txns, Axiom::Serializable, Base::RealTime, &Budget::default()).map(|order| order.moments).ok()
    }

    #[test]
    fn an_overwritten_read_decides_between_two_writers_at_once() {
        let mut txns = Transactions::default();
        let one = push(&mut txns, (0, 4), &[], &[0, 1]);
        // It misses the first one's write of key 1, so it was first, although it completed later.
        let other = push(&mut txns, (1, 5), &[(1, FIRST)], &[0]);
        assert_eq!(guessed(&txns).unwrap(), [Moment::Commit(other), Moment::Commit(one)]);
        // Then the last version of key 0 is that of the transaction that completed first.
        let reader = push(&mut txns, (6, 7), &[(0, one)], &[]);
        assert_eq!(guessed(&txns).unwrap(), [other, one, reader].map(Moment::Commit));
        // A read of the other one's write contradicts this.
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
    fn a_transaction_that_replaces_the_version_it_read_is_next_to_its_writer() {
        let mut txns = Transactions::default();
        let first = push(&mut txns, (0, 1), &[(0, FIRST)], &[0]);
        let second = push(&mut txns, (2, 3), &[(0, first)], &[0]);
        assert_eq!(guessed(&txns).unwrap(), [first, second].map(Moment::Commit));
        push(&mut txns, (2, 4), &[(0, first)], &[0]);
        assert_eq!(guessed(&txns), None, "one of the updates is lost");
    }

    /// Transactions that a store executes one after another, with about twenty overlapping at a time: rows are in the
    /// order of their ends.
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
    fn snapshots_may_be_older_than_others_commits_but_writers_of_a_key_do_not_overlap() {
        let mut txns = Transactions::default();
        let one = push(&mut txns, (0, 4), &[(0, FIRST)], &[1]);
        let other = push(&mut txns, (1, 5), &[(1, FIRST)], &[0]);
        let found = order(&txns, Axiom::Snapshot, Base::RealTime, &Budget::default()).expect("write skew is allowed");
        let [begin, commit] = [Moment::Begin, Moment::Commit];
        assert_eq!(found.moments, [begin(one), begin(other), commit(one), commit(other)]);
        let reader = push(&mut txns, (6, 7), &[(0, other), (1, one)], &[]);
        let found =
            order(&txns, Axiom::Snapshot, Base::RealTime, &Budget::default()).expect("the snapshot contains both");
        assert_eq!(found.moments[4..], [begin(reader), commit(reader)]);
        // Both replaced the first state of key 2.
        let one = push(&mut txns, (8, 12), &[(2, FIRST)], &[2]);
        let other = push(&mut txns, (9, 13), &[(2, FIRST)], &[2]);
        let failed =
            order(&txns, Axiom::Snapshot, Base::RealTime, &Budget::default()).expect_err("one of the updates is lost");
        assert!(failed.contradicted.contains(&one) && failed.contradicted.contains(&other), "{failed:?}");
    }

    #[test]
    fn a_transaction_out_of_real_time_is_found_if_the_base_does_not_require_real_time() {
        let mut txns = Transactions::default();
        let first = push(&mut txns, (0, 1), &[], &[0]);
        push(&mut txns, (2, 3), &[], &[0]);
        let stale = push(&mut txns, (4, 5), &[(0, first)], &[]);
        push(&mut txns, (6, 7), &[(0, FIRST)], &[0]);
        let failed = order(&txns, Axiom::Serializable, Base::RealTime, &Budget::default()).expect_err("a stale read");
        assert!(failed.misplaced.is_empty() && failed.contradicted.contains(&stale), "{failed:?}");
        let found = order(&txns, Axiom::Serializable, Base::None, &Budget::default()).expect("there is an order");
        let at = |txn: TxnId| found.moments.iter().position(|moment| *moment == Moment::Commit(txn)).unwrap();
        assert_eq!(at(stale), at(first) + 1);
    }

    /// The contradiction is at the beginning: later transactions are not part of it.
    #[test]
    fn the_contradiction_is_a_part_of_the_history() {
        let mut txns = overlapping(30, 1);
        let behind = 10 * txns.len().to_u64();
        let skewed = [
            push(&mut txns, (behind, behind + 4), &[(30, FIRST)], &[31]),
            push(&mut txns, (behind + 1, behind + 5), &[(31, FIRST)], &[30]),
        ];
        for at in 0..400 {
            push(&mut txns, (behind + 10 + 2 * at, behind + 11 + 2 * at), &[], &[at.to_usize() % 30]);
        }
        let failed = order(&txns, Axiom::Serializable, Base::RealTime, &Budget::default()).expect_err("write skew");
        let part = failed.contradicted;
        assert!(skewed.iter().all(|txn| part.contains(txn)) && part.len() < 450, "{}", part.len());
        for txn in &part {
            for read in txns.reads(*txn) {
                assert!(read.writer == FIRST || part.contains(&read.writer), "{txn:?} reads from outside");
            }
        }
    }

    #[test]
    fn overlapping_transactions_that_ran_one_by_one_are_put_into_such_an_order() {
        for keys in [30, 100] {
            let found = (0..40).filter(|seed| guessed(&overlapping(keys, *seed)).is_some()).count();
            assert_eq!(found, 40, "{keys} keys");
        }
    }
}
