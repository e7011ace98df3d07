//! The levels whose visibility does not depend on the order to be found: read committed to causal.
//!
//! The writers visible to a read are known immediately, so all orders of writers that an axiom requires are computed in
//! one pass. The level holds if and only if base, reads and required orders have no cycle: any topological order is
//! then a commit order, and every commit order is one of them. Biswas and Enea (OOPSLA 2019); Møldrup and Pavlogiannis,
//! "AWDIT" (PLDI 2025).

mod atomic;
mod backwards;
mod causal;
mod recent;

pub(crate) use backwards::Backwards;

use crate::base::{self, Frame};
use crate::csr::Csr;
use crate::evidence::{Because, Before, Fact, Link, Moment, Order, Outcome, Refutation, Relation, Undecided};
use crate::ids::TxnId;
use crate::level::{Axiom, Base};
use crate::relax;
use crate::transactions::Transactions;
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};
use std::collections::VecDeque;

/// The order of two writers that a read forces: `first` was visible to the read, which observed the write of `second`.
#[derive(Clone, Copy, Debug)]
struct Forced {
    first: TxnId,
    /// `TxnId::NONE` if the read observed the first state, which nothing precedes: then the level is violated.
    second: TxnId,
    /// The position of the read among all reads.
    read: u32,
}

/// The data that all weak levels of one base need.
struct Known<'t> {
    txns: &'t Transactions,
    base: Base,
    frame: Frame,
    /// Base, reads and known orders.
    graph: Csr,
    /// Base and reads only, if that differs.
    seen: Option<Csr>,
    order: Vec<u32>,
}

/// The minimum number of steps per transaction for relaxing sessions: there may be many rounds.
const RELAXING_STEPS_PER_TXN: u64 = 256;

/// The maximum number of sessions, including transactions without one, for which the sessions are used as chains.
const CHAINS_FEW: usize = 64;

/// Decides a level whose axiom is at most [`Axiom::Causal`]. Without a base there are many chains, and so there are
/// with sessions if clients continue under new numbers, so causal consistency is first tried with a stronger base. Then
/// it is decided with sessions as far as these hold.
pub(crate) fn decide(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget) -> Outcome {
    by_stronger_base(txns, axiom, base, budget).unwrap_or_else(|| decide_itself(txns, axiom, base, budget))
}

/// Tries causal consistency with a base of few chains: with sessions if these are few, else in real time, with as many
/// chains as concurrent clients. `None` if that does not decide the level.
pub(crate) fn by_stronger_base(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget) -> Option<Outcome> {
    if axiom != Axiom::Causal || base == Base::RealTime {
        return None;
    }
    let stronger = if has_few_sessions(txns) { Base::Session } else { Base::RealTime };
    let outcome = decide_alone(txns, axiom, stronger, budget);
    (stronger == base || matches!(outcome, Outcome::Holds(_))).then_some(outcome)
}

/// Decides a level that no stronger base decided.
pub(crate) fn decide_itself(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget) -> Outcome {
    let may_relax = budget.states_max.is_none_or(|max| max / RELAXING_STEPS_PER_TXN >= txns.len().to_u64());
    if (axiom, base) == (Axiom::Causal, Base::None) && may_relax {
        let outcome = relax::decide(
            txns,
            &[],
            |soft| stale_readers(soft, budget),
            |soft| decide_alone(soft, axiom, Base::Session, budget),
        );
        if let Some(outcome) = outcome {
            return outcome;
        }
    }
    decide_alone(txns, axiom, base, budget)
}

fn has_few_sessions(txns: &Transactions) -> bool {
    let alone = txns.ids().filter(|txn| txns.session(*txn).is_none()).take(CHAINS_FEW + 1).count();
    let sessions = txns.ids().filter_map(|txn| txns.session(txn)).max().map_or(0, |most| most.to_usize() + 1);
    alone + sessions <= CHAINS_FEW
}

/// Transactions that read an older version than one that their session makes visible to them.
pub(crate) fn stale_readers(txns: &Transactions, budget: &Budget) -> Vec<TxnId> {
    let frame = Frame::new(txns, Base::Session);
    let backwards = Backwards::new(txns, &frame);
    let Some(order) = backwards.order(&Csr::default()) else { return Vec::new() };
    let forced = causal::forced(&backwards, &frame, &order, budget).unwrap_or_default();
    // The visible version was completed later than the one that was read.
    let is_stale = |case: &&Forced| case.second == TxnId::NONE || case.first > case.second;
    forced.iter().filter(is_stale).map(|case| txns.reader(case.read.to_usize())).collect()
}

fn decide_alone(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget) -> Outcome {
    let frame = Frame::new(txns, base);
    match holds(txns, &frame, axiom, budget) {
        Ok(Some(outcome)) => return outcome,
        Ok(None) => {}
        Err(what) => return Outcome::Unknown(Undecided::Spent { what, decided: 0 }),
    }
    // The level does not hold. The graph is needed to find the shortest cycle.
    let graph = base::graph(txns, &frame, &[]);
    let order = graph.topological();
    if order.len() < graph.len() {
        let cycle = graph.cycle();
        return Outcome::from(Refutation::of_facts(
            (Axiom::ReadCommitted, base),
            Vec::new(),
            base::links(txns, &frame, &cycle, true),
        ));
    }
    let seen = (axiom == Axiom::Causal && !txns.orders().is_empty()).then(|| base::seen(txns, &frame));
    let known = Known { txns, base, frame, graph, seen, order };
    let backwards = Backwards::new(txns, &known.frame);
    match forced(&backwards, &known.frame, &known.order, axiom, budget) {
        Ok(forced) => known.conclude(axiom, &forced),
        Err(what) => Outcome::Unknown(Undecided::Spent { what, decided: 0 }),
    }
}

/// The orders of writers that an axiom forces, along an order of all nodes.
fn forced(
    backwards: &Backwards<'_>,
    frame: &Frame,
    order: &[u32],
    axiom: Axiom,
    budget: &Budget,
) -> Result<Vec<Forced>, Spent> {
    Ok(match axiom {
        Axiom::ReadCommitted => Vec::new(),
        Axiom::MonotonicAtomicView => atomic::monotonic(backwards.txns),
        Axiom::ReadAtomic => atomic::atomic(backwards.txns, frame),
        _ => return causal::forced(backwards, frame, order, budget),
    })
}

/// Returns the outcome if the level holds. Most levels do, and then an order suffices: no graph is built.
fn holds(txns: &Transactions, frame: &Frame, axiom: Axiom, budget: &Budget) -> Result<Option<Outcome>, Spent> {
    let backwards = Backwards::new(txns, frame);
    let Some(order) = backwards.order(&Csr::default()) else { return Ok(None) };
    let forced = forced(&backwards, frame, &order, axiom, budget)?;
    if forced.iter().any(|case| case.second == TxnId::NONE) {
        return Ok(None);
    }
    let mut place = Vec::new();
    if !forced.is_empty() {
        place.resize(order.len(), 0);
        order.iter().enumerate().for_each(|(at, node)| place[node.to_usize()] = at.to_u32());
    }
    // An order near that of completion nearly always contains the forced orders already.
    let is_there = |case: &Forced| place[case.first.at()] < place[case.second.at()];
    let order = if forced.iter().all(is_there) {
        order
    } else {
        let more = Csr::new(txns.len(), |emit| {
            for case in &forced {
                emit(case.second.at(), case.first.number());
            }
        });
        let Some(order) = backwards.order(&more) else { return Ok(None) };
        order
    };
    Ok(Some(Outcome::Holds(in_order(txns, &order))))
}

/// The transactions in an order of all nodes.
fn in_order(txns: &Transactions, order: &[u32]) -> Order {
    let commits = order.iter().filter(|node| node.to_usize() < txns.len());
    Order { moments: commits.map(|node| Moment::Commit((*node).into())).collect() }
}

impl Known<'_> {
    /// The graph along whose arcs a transaction observes another.
    fn seen(&self) -> &Csr {
        self.seen.as_ref().unwrap_or(&self.graph)
    }

    fn conclude(self, axiom: Axiom, forced: &[Forced]) -> Outcome {
        if let Some(case) = forced.iter().find(|case| case.second == TxnId::NONE) {
            let cycle = self.missed(axiom, *case);
            return Outcome::from(Refutation::of_facts((axiom, self.base), Vec::new(), cycle));
        }
        let order = if forced.is_empty() {
            self.order
        } else {
            let arcs: Vec<(TxnId, TxnId)> = forced.iter().map(|case| (case.first, case.second)).collect();
            let graph = base::graph(self.txns, &self.frame, &arcs);
            let order = graph.topological();
            if order.len() < graph.len() {
                return Outcome::from(self.refute(axiom, forced, &graph.cycle()));
            }
            order
        };
        Outcome::Holds(in_order(self.txns, &order))
    }

    /// The writer was visible to the read, which observed an older version: a cycle with one rw step.
    fn missed(&self, axiom: Axiom, case: Forced) -> Vec<Link> {
        let reader = self.txns.reader(case.read.to_usize());
        let read = self.txns.all_reads()[case.read.to_usize()];
        let mut cycle = self.visible(axiom, case);
        cycle.push(Link { from: reader, to: case.first, relation: Relation::Rw(read.key, read.writer) });
        cycle
    }

    /// The path by which the writer was visible.
    fn visible(&self, axiom: Axiom, case: Forced) -> Vec<Link> {
        let (from, to) = (case.first, self.txns.reader(case.read.to_usize()));
        match self.txns.reads(to).iter().find(|read| read.writer == from) {
            Some(read) => vec![Link { from, to, relation: Relation::Wr(read.key) }],
            None if axiom == Axiom::ReadAtomic => vec![Link { from, to, relation: Relation::Session }],
            None => base::links(self.txns, &self.frame, &path(self.seen(), from, to), false),
        }
    }

    fn refute(&self, axiom: Axiom, forced: &[Forced], cycle: &[u32]) -> Refutation {
        let n = self.txns.len();
        let pairs = (0..cycle.len()).map(|at| (cycle[at], cycle[(at + 1) % cycle.len()]));
        let is_known = |from: u32, to: u32| self.graph.row(from.to_usize()).contains(&to);
        let steps: Vec<Option<Forced>> = pairs
            .map(|(from, to)| {
                let is_it = |case: &&Forced| (case.first.number(), case.second.number()) == (from, to);
                if is_known(from, to) { None } else { forced.iter().find(is_it).copied() }
            })
            .collect();
        let (mut facts, mut links): (Vec<Fact>, Vec<Link>) = (Vec::new(), Vec::new());
        // Events are never the ends of a forced order.
        let start = cycle.iter().position(|node| node.to_usize() < n).unwrap_or(0);
        let mut run = vec![cycle[start]];
        for step in 0..cycle.len() {
            let at = (start + step) % cycle.len();
            let to = cycle[(at + 1) % cycle.len()];
            let Some(case) = steps[at] else {
                run.push(to);
                continue;
            };
            links.extend(base::links(self.txns, &self.frame, &run, false));
            run = vec![to];
            let read = self.txns.all_reads()[case.read.to_usize()];
            let reader = self.txns.reader(case.read.to_usize());
            let order = Before { key: read.key, first: case.first, second: case.second };
            facts.push(Fact { order, because: Because::Visible { reader, path: self.visible(axiom, case) } });
            links.push(Link { from: case.first, to: case.second, relation: Relation::Ww(read.key) });
        }
        links.extend(base::links(self.txns, &self.frame, &run, false));
        Refutation::of_facts((axiom, self.base), facts, links).plain()
    }
}

/// A shortest path from one transaction to another.
fn path(graph: &Csr, from: TxnId, to: TxnId) -> Vec<u32> {
    let mut came_from = vec![u32::MAX; graph.len()];
    let mut waiting = VecDeque::from([from.number()]);
    while let Some(node) = waiting.pop_front() {
        if node == to.number() {
            break;
        }
        for next in graph.row(node.to_usize()) {
            if came_from[next.to_usize()] == u32::MAX && *next != from.number() {
                came_from[next.to_usize()] = node;
                waiting.push_back(*next);
            }
        }
    }
    let mut path = vec![to.number()];
    while path[path.len() - 1] != from.number() && came_from[path[path.len() - 1].to_usize()] != u32::MAX {
        path.push(came_from[path[path.len() - 1].to_usize()]);
    }
    path.reverse();
    path
}

/// Returns an error if the budget does not allow these steps or bytes.
fn check(budget: &Budget, steps: u64, bytes: usize) -> Result<(), Spent> {
    budget.check(steps, bytes.to_u64())
}
