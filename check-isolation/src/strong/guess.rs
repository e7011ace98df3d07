//! A first guess: transactions in the order in which they completed, unless something contradicts that, with repairs
//! where that order does not explain the history; without clocks, and with a number of steps that is linear.
//!
//! Most stores run transactions in an order near that of completions. So such an order is replayed. A read that it does
//! not explain has a writer of the key between the version that it shows and itself: either the reader is before that
//! writer, or that writer is before the version's. At snapshot isolation two writers of a key that overlap are one
//! before the other. Where a path rules out one of the two the other follows; else it is chosen what moves less. What
//! has to move does, within the few transactions between, and the replay goes on from the first of them. Where paths
//! rule out both, something was chosen wrongly: the last choice that the paths rest on is turned around, and what was
//! decided behind it taken back.
//!
//! A replay that explains all reads is an answer; nothing else is.

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

/// Nodes that are walked to, moved or run once more: for each node of the graph, and at the least.
const STEPS_PER_NODE: u64 = 128;
const STEPS_MIN: u64 = 1 << 22;
/// Steps that no history takes more of: walks, of which each is a step at least, are told apart by 32 bits.
const STEPS_MAX: u64 = 1 << 31;
/// Bytes of what was decided: for each node of the graph, and at the least.
const BYTES_PER_NODE: u64 = 256;
const BYTES_MIN: u64 = 1 << 24;
/// Repairs between two looks at the budget.
const LOOK_EVERY: u32 = 256;

/// What is known where no order was found.
#[derive(Debug, Default)]
pub(super) struct Failed {
    /// Transactions that seem not to be where their sessions and real time put them, as far as was looked.
    pub(super) misplaced: Vec<TxnId>,
    /// Transactions that nothing seems to explain; they read from no others. Empty if it is not known.
    pub(super) contradicted: Vec<TxnId>,
}

/// An order that explains the history by an axiom and extends the base, if one is found: it explains all weaker axioms
/// of that base.
pub(super) fn order(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget) -> Result<Order, Failed> {
    match near(txns, axiom, base, Base::RealTime, budget) {
        Some(found) => found,
        // Somebody read what began after that.
        None => near(txns, axiom, base, base, budget).unwrap_or_else(|| Err(Failed::default())),
    }
}

/// The same, beginning with what a frame says, of which only the base must hold; nothing if that contradicts itself.
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

/// Something that an order does not explain.
#[derive(Clone, Copy)]
struct Open {
    /// Whose reads or writes they are.
    txn: TxnId,
    /// Either is needed; the first changes the order less.
    either: [Arc; 2],
}

/// Runs an order like a store.
struct Replay<'t> {
    txns: &'t Transactions,
    shape: Shape,
    order: Ordered<'t>,
    /// How much of the order ran.
    at: usize,
    /// How much of it ever did. What was decided is about no more than that.
    at_most: usize,
    /// For each key, who wrote it last.
    last: Vec<TxnId>,
    /// For each write that ran, who had written the key last.
    before: Vec<TxnId>,
    /// What turning choices around led to: where such a choice is met again, it is right more likely than the nearer.
    turned: HashSet<Arc>,
}

impl<'t> Replay<'t> {
    fn new(txns: &'t Transactions, shape: Shape, order: Ordered<'t>) -> Replay<'t> {
        let (last, before) = (vec![TxnId::NONE; txns.keys()], vec![TxnId::NONE; txns.write_count()]);
        Replay { txns, shape, order, at: 0, at_most: 0, last, before, turned: HashSet::default() }
    }

    /// Runs as far as the order explains the history.
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

    /// A read that shows an older version than is there.
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

    /// Whether it is the reader, more likely than the version that it read, that is on the wrong side of the writer
    /// between.
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

    /// Takes back what ran from a place on.
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

    /// Decides what explains it; `None` if nothing does, whatever was chosen.
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

    /// Turns the last choice among grounds around, which cannot all be right. If none is, then it is a transaction that
    /// is not where its session or real time put it: this one, if it may be.
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

    /// All that ran, and what cannot.
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

    /// Takes back what ran and an arc will move.
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

    /// Adds a transaction of these moments that reads and writes these keys.
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
    fn snapshots_may_be_older_than_others_commits_but_writers_of_a_key_do_not_overlap() {
        let mut txns = Transactions::default();
        let one = push(&mut txns, (0, 4), &[(0, FIRST)], &[1]);
        let other = push(&mut txns, (1, 5), &[(1, FIRST)], &[0]);
        let found = order(&txns, Axiom::Snapshot, Base::RealTime, &Budget::default()).expect("write skew is allowed");
        let [begin, commit] = [Moment::Begin, Moment::Commit];
        assert_eq!(found.moments, [begin(one), begin(other), commit(one), commit(other)]);
        let reader = push(&mut txns, (6, 7), &[(0, other), (1, one)], &[]);
        let found = order(&txns, Axiom::Snapshot, Base::RealTime, &Budget::default()).expect("it sees both");
        assert_eq!(found.moments[4..], [begin(reader), commit(reader)]);
        // Both replaced the first state of key 2.
        let one = push(&mut txns, (8, 12), &[(2, FIRST)], &[2]);
        let other = push(&mut txns, (9, 13), &[(2, FIRST)], &[2]);
        let failed = order(&txns, Axiom::Snapshot, Base::RealTime, &Budget::default()).expect_err("an update is lost");
        assert!(failed.contradicted.contains(&one) && failed.contradicted.contains(&other), "{failed:?}");
    }

    #[test]
    fn who_is_not_where_real_time_says_is_found_where_the_base_does_not_ask_for_it() {
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

    /// The contradiction is at the beginning: what comes behind it is not part of it.
    #[test]
    fn what_contradicts_itself_is_a_part() {
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
