//! Known versions: if reads and known orders put the writers of each key into one order, a level is one graph, decided
//! in linear time.
//!
//! A transaction that reads a key and then writes it follows the one that it read from. If every write is like that
//! (mini-transactions, of Huang et al., "MTC", 2025; any workload that only updates), or lists are read completely, no
//! choice is left: the level holds exactly if base, reads, orders of versions and overwritten reads have no cycle. Two
//! transactions that follow one version are a lost update, which serializable and snapshot isolation exclude, whatever
//! the other keys are like.

use super::build;
use super::shape::Shape;
use crate::base::{self, Frame};
use crate::csr::Csr;
use crate::evidence::{Because, Before, Fact, Link, Moment, Order, Outcome, Refutation, Relation};
use crate::ids::{KeyId, TxnId};
use crate::level::{Axiom, Base};
use crate::transactions::Transactions;
use history_core::cast::Cast as _;

/// The successor of each version.
struct Versions<'t> {
    txns: &'t Transactions,
    /// The position of each transaction's first write among all writes.
    writes_from: Vec<u32>,
    /// For each write, the next writer of the key.
    next: Vec<TxnId>,
    /// For each key, its first writer.
    first: Vec<TxnId>,
}

/// The reason why versions are in no known order.
enum Unordered {
    /// Two transactions replaced the write of a third, or the first state.
    LostUpdate { key: KeyId, writer: TxnId, one: TxnId, other: TxnId },
    /// Some order of versions is open.
    Open,
}

/// The outcome if no choice is left; otherwise `None`.
pub(super) fn decide(txns: &Transactions, axiom: Axiom, base: Base) -> Option<Outcome> {
    if axiom == Axiom::ParallelSnapshot {
        return None;
    }
    let versions = match Versions::new(txns) {
        Ok(versions) => versions,
        Err(Unordered::LostUpdate { key, writer, one, other }) if axiom != Axiom::Prefix => {
            return Some(lost_update((axiom, base), key, writer, [one, other]));
        }
        Err(_) => return None,
    };
    let (frame, shape) = (Frame::new(txns, base), Shape::new(axiom));
    let mut arcs = build::known_arcs(txns, shape, &frame);
    for reader in txns.ids() {
        for read in txns.reads(reader) {
            let next = versions.after(read.key, read.writer);
            if next != TxnId::NONE && next != reader {
                arcs.push((shape.start(reader), shape.commit(next)));
            }
        }
    }
    let graph = Csr::new(shape.nodes(txns.len()) + frame.events, |emit| {
        for (from, to) in &arcs {
            emit(from.to_usize(), *to);
        }
    });
    let order = graph.topological();
    Some(if order.len() == graph.len() {
        Outcome::Holds(as_order(txns, shape, &order))
    } else {
        Outcome::from(versions.refute((axiom, base), shape, &frame, &graph.cycle()))
    })
}

fn as_order(txns: &Transactions, shape: Shape, order: &[u32]) -> Order {
    let of_txns = order.iter().filter(|node| node.to_usize() < shape.nodes(txns.len()));
    let moment = |node: &u32| {
        let txn = shape.txn(*node);
        if shape.is_commit(*node) { Moment::Commit(txn) } else { Moment::Begin(txn) }
    };
    Order { moments: of_txns.map(moment).collect() }
}

/// Both read the write of a third transaction and replaced it: neither can be first.
fn lost_update(level: (Axiom, Base), key: KeyId, writer: TxnId, [one, other]: [TxnId; 2]) -> Outcome {
    let mut facts = Vec::new();
    if writer != TxnId::NONE {
        facts.extend([one, other].map(|after| follows(key, writer, after)));
    }
    let rw = |from: TxnId, to: TxnId| Link { from, to, relation: Relation::Rw(key, writer) };
    let order = Before { key, first: other, second: one };
    facts.push(Fact { order, because: Because::Inevitable { path: vec![rw(other, one)] } });
    let cycle = vec![Link { from: other, to: one, relation: Relation::Ww(key) }, rw(one, other)];
    Outcome::from(Refutation::of_facts(level, facts, cycle))
}

/// A transaction that read a version and replaced it follows the writer of that version.
fn follows(key: KeyId, writer: TxnId, after: TxnId) -> Fact {
    let path = vec![Link { from: writer, to: after, relation: Relation::Wr(key) }];
    Fact { order: Before { key, first: writer, second: after }, because: Because::Inevitable { path } }
}

impl Versions<'_> {
    fn new(txns: &Transactions) -> Result<Versions<'_>, Unordered> {
        let mut writes_from = Vec::with_capacity(txns.len());
        let mut from = 0;
        for txn in txns.ids() {
            writes_from.push(from);
            from += txns.writes(txn).len().to_u32();
        }
        let (next, first) = (vec![TxnId::NONE; txns.write_count()], vec![TxnId::NONE; txns.keys()]);
        let mut versions = Versions { txns, writes_from, next, first };
        // For each write, the transaction itself if it is known which version it replaced.
        let mut follows = vec![TxnId::NONE; txns.write_count()];
        let mut is_open = false;
        for txn in txns.ids() {
            for read in txns.reads(txn) {
                let Some(own) = versions.place(txn, read.key) else { continue };
                let next = versions.next_mut(read.key, read.writer);
                let before = std::mem::replace(next, txn);
                if before != TxnId::NONE && before != txn {
                    let (key, writer) = (read.key, read.writer);
                    return Err(Unordered::LostUpdate { key, writer, one: before, other: txn });
                }
                // A transaction that reads two versions of a key follows one of them; another level excludes this.
                let known = std::mem::replace(&mut follows[own], txn);
                is_open |= known != TxnId::NONE && before != txn;
            }
        }
        for order in txns.orders() {
            let next = versions.next_mut(order.key, order.before);
            let before = std::mem::replace(next, order.after);
            is_open |= before != TxnId::NONE && before != order.after;
            if let Some(own) = versions.place(order.after, order.key) {
                is_open |= follows[own] != TxnId::NONE && before != order.after;
                follows[own] = order.after;
            }
        }
        if is_open || !versions.find_first(&follows) { Err(Unordered::Open) } else { Ok(versions) }
    }

    /// Finds the first writer of each key: the only one for which it is unknown which version it replaced, or which
    /// replaced the first state.
    fn find_first(&mut self, follows: &[TxnId]) -> bool {
        let mut heads = vec![TxnId::NONE; self.txns.keys()];
        for txn in self.txns.ids() {
            for (at, key) in self.txns.writes(txn).iter().enumerate() {
                let own = self.writes_from[txn.at()].to_usize() + at;
                let is_head = follows[own] == TxnId::NONE || self.first[key.at()] == txn;
                if is_head && std::mem::replace(&mut heads[key.at()], txn) != TxnId::NONE {
                    return false;
                }
            }
        }
        self.first = heads;
        true
    }

    /// The position of a write among all writes.
    fn place(&self, writer: TxnId, key: KeyId) -> Option<usize> {
        let at = self.txns.writes(writer).binary_search(&key).ok()?;
        Some(self.writes_from[writer.at()].to_usize() + at)
    }

    fn next_mut(&mut self, key: KeyId, writer: TxnId) -> &mut TxnId {
        let place = (writer != TxnId::NONE).then(|| self.place(writer, key).expect("a writer of the key"));
        match place {
            Some(at) => &mut self.next[at],
            None => &mut self.first[key.at()],
        }
    }

    /// The next writer of a key after another one; for the first state, the first writer.
    fn after(&self, key: KeyId, writer: TxnId) -> TxnId {
        if writer == TxnId::NONE {
            return self.first[key.at()];
        }
        self.place(writer, key).map_or(TxnId::NONE, |at| self.next[at])
    }

    fn refute(&self, level: (Axiom, Base), shape: Shape, frame: &Frame, cycle: &[u32]) -> Refutation {
        let own = shape.nodes(self.txns.len()).to_u32();
        let start = cycle.iter().position(|node| *node < own).unwrap_or(0);
        let mut nodes: Vec<u32> = cycle[start..].iter().chain(&cycle[..start]).copied().collect();
        nodes.extend(nodes.first().copied());
        let (mut links, mut facts): (Vec<Link>, Vec<Fact>) = (Vec::new(), Vec::new());
        let mut from = nodes[0];
        let mut is_real_time = false;
        for node in &nodes[1..] {
            if *node >= own {
                is_real_time = true;
                continue;
            }
            let (a, b) = (shape.txn(from), shape.txn(*node));
            if a != b {
                let is_rw = shape.width == 2 && shape.is_start(from) && !is_real_time;
                let known = (!is_rw).then(|| base::relation(self.txns, frame, a, b)).flatten();
                let relation = match (is_real_time, known) {
                    (true, _) => Relation::RealTime,
                    (false, Some(relation)) => relation,
                    (false, None) => self.overwritten(a, b, &mut facts),
                };
                links.push(Link { from: a, to: b, relation });
            }
            (from, is_real_time) = (*node, false);
        }
        Refutation::of_facts(level, facts, links)
    }

    /// The relation from the reader of a version to its next writer. Adds the facts that show that this is the next
    /// one.
    fn overwritten(&self, reader: TxnId, next: TxnId, facts: &mut Vec<Fact>) -> Relation {
        let reads = self.txns.reads(reader);
        let read = reads.iter().find(|read| self.after(read.key, read.writer) == next).expect("an arc has a reason");
        let (key, writer) = (read.key, read.writer);
        let order = Before { key, first: writer, second: next };
        let is_known = || {
            let same = |one: &crate::KnownOrder| (one.key, one.before, one.after) == (key, writer, next);
            self.txns.orders().iter().any(same) || facts.iter().any(|fact| fact.order == order)
        };
        if writer != TxnId::NONE && !is_known() {
            facts.push(follows(key, writer, next));
        }
        Relation::Rw(key, writer)
    }
}
