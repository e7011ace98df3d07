//! The state of the search: arcs, reachability, and the orders of writers that follow or were assumed. All of it can be
//! reverted.
//!
//! Reachability is a clock for each node: for each chain, the number of the chain's nodes that reach it. A new arc
//! joins the clock of its source into that of its target, and continues along the arcs from there as far as clocks
//! grow. Changes above the ground level are recorded on a trail.

use super::readers::Readers;
use super::shape::Shape;
use crate::chains::{Chains, Writers};
use crate::evidence::Before;
use crate::ids::{KeyId, TxnId};
use crate::transactions::Transactions;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// The number of an absent arc, order or node.
pub(super) const NONE: u32 = u32::MAX;

/// An arc of the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) from: u32,
    pub(super) to: u32,
    next_out: u32,
    pub(super) next_in: u32,
    /// The number of the decided order that it follows from; `NONE` if it is in the history.
    pub(super) why: u32,
}

/// The reason why an order was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It was assumed.
    Guess,
    /// The first writer was visible to the read at this position among all, which observed the second.
    Visible(u32),
    /// The reverse order would close a cycle.
    Inevitable,
    /// The first replaced the version that it read, whose writer the second follows: `TxnId::NONE` is the first state.
    Replaced(TxnId),
    /// All other literals of the learned clause are false.
    Clause(u32),
}

/// An order of two writers that was decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    pub(super) order: Before,
    pub(super) level: u32,
    pub(super) reason: Reason,
    /// The number of arcs at that time.
    pub(super) arcs: u32,
    /// The time of the decision, counted in orders and lemmas.
    pub(super) moment: u64,
}

/// A contradiction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conflict {
    /// This arc closes a cycle. `why` is the decided order that it follows from.
    Arc { from: u32, to: u32, why: u32 },
    /// The reader observed the first state of the key, and the writer reaches it.
    First { reader: TxnId, writer: TxnId, key: KeyId },
    /// All literals of this learned clause are false.
    Clause(u32),
}

/// A level of assumptions: the sizes of the lists before it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    decided: usize,
    arcs: usize,
    trail: usize,
}

#[derive(Debug)]
pub(super) struct State<'t> {
    pub(super) txns: &'t Transactions,
    pub(super) shape: Shape,
    pub(super) chains: Chains,
    pub(super) writers: Writers,
    pub(super) readers: Readers,
    pub(super) nodes: usize,
    /// For each node and chain, the number of the chain's nodes that reach the node, including itself.
    clocks: Vec<u32>,
    pub(super) arcs: Vec<Arc>,
    out: Vec<u32>,
    pub(super) into: Vec<u32>,
    pub(super) decided: Vec<Decided>,
    /// The numbers of decided orders.
    pub(super) numbers: HashMap<Before, u32>,
    /// Node, chain and previous value of the clock.
    trail: Vec<(u32, u32, u32)>,
    levels: Vec<Mark>,
    /// Nodes whose clocks grew since the rules were last applied to them, in the order of ranks.
    dirty: BinaryHeap<Reverse<(u32, u32)>>,
    is_dirty: Vec<bool>,
    /// The place of each node in a topological order of the history's arcs.
    pub(super) rank: Vec<u32>,
    /// Nodes whose clocks grew by the last arc, each with its changes as a range of `deltas`.
    grown: VecDeque<(u32, Range<usize>)>,
    /// Chains and their new counts. Beyond the first node few chains grow: joining only these makes many chains
    /// affordable.
    deltas: Vec<(u32, u32)>,
    pub(super) steps: u64,
    pub(super) moment: u64,
}

impl<'t> State<'t> {
    /// A state without arcs for `nodes` nodes.
    pub(super) fn new(txns: &'t Transactions, shape: Shape, chains: Chains, nodes: usize) -> State<'t> {
        let (writers, readers) = (Writers::new(txns, &chains), Readers::new(txns, &chains));
        let clocks = vec![0; nodes * chains.count];
        State {
            txns,
            shape,
            chains,
            writers,
            readers,
            nodes,
            clocks,
            arcs: Vec::new(),
            out: vec![NONE; nodes],
            into: vec![NONE; nodes],
            decided: Vec::new(),
            numbers: HashMap::default(),
            trail: Vec::new(),
            levels: Vec::new(),
            dirty: BinaryHeap::new(),
            is_dirty: vec![false; nodes],
            rank: vec![0; nodes],
            grown: VecDeque::new(),
            deltas: Vec::new(),
            steps: 0,
            moment: 0,
        }
    }

    /// The number of bytes of the clocks for this number of nodes and chains.
    pub(super) fn clock_bytes(nodes: usize, chains: usize) -> usize {
        nodes.saturating_mul(chains).saturating_mul(size_of::<u32>())
    }

    /// Adds an arc of the history, before clocks are computed.
    pub(super) fn push_known(&mut self, from: u32, to: u32) {
        self.push_arc(from, to, NONE);
    }

    fn push_arc(&mut self, from: u32, to: u32, why: u32) {
        let id = self.arcs.len().to_u32();
        let arc = Arc { from, to, next_out: self.out[from.to_usize()], next_in: self.into[to.to_usize()], why };
        self.arcs.push(arc);
        self.out[from.to_usize()] = id;
        self.into[to.to_usize()] = id;
    }

    /// The targets of the arcs from a node.
    pub(super) fn successors(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut at = self.out[node.to_usize()];
        std::iter::from_fn(move || {
            let arc = self.arcs.get(at.to_usize())?;
            at = arc.next_out;
            Some(arc.to)
        })
    }

    /// Computes all clocks along a topological order of all nodes.
    pub(super) fn compute_clocks(&mut self, order: &[u32]) {
        let k = self.chains.count;
        for (rank, node) in order.iter().enumerate() {
            self.rank[node.to_usize()] = rank.to_u32();
            if let Some((chain, at)) = self.place(*node) {
                self.clocks[node.to_usize() * k + chain.to_usize()] = at + 1;
            }
            let mut arc = self.out[node.to_usize()];
            while arc != NONE {
                let Arc { to, next_out, .. } = self.arcs[arc.to_usize()];
                for chain in 0..k {
                    let own = self.clocks[node.to_usize() * k + chain];
                    let next = &mut self.clocks[to.to_usize() * k + chain];
                    *next = (*next).max(own);
                }
                arc = next_out;
            }
        }
        for node in 0..self.shape.nodes(self.txns.len()).to_u32() {
            self.touch(node);
        }
    }

    /// The chain of a node and its position there, if it is a transaction's node.
    #[inline]
    fn place(&self, node: u32) -> Option<(u32, u32)> {
        let txn = self.shape.txn(node).at();
        let chain = self.chains.of.get(txn)?;
        Some((*chain, self.chains.at[txn] * self.shape.width + node % self.shape.width))
    }

    /// The number of a chain's nodes that reach a node, including itself.
    #[inline]
    pub(super) fn clock(&self, node: u32, chain: u32) -> u32 {
        self.clocks[node.to_usize() * self.chains.count + chain.to_usize()]
    }

    /// Returns true if a path leads from a transaction's node to another node, or they are the same.
    #[inline]
    pub(super) fn reaches(&self, from: u32, to: u32) -> bool {
        match self.place(from) {
            Some((chain, at)) => self.clock(to, chain) > at,
            None => false,
        }
    }

    /// The current level of assumptions: 0 without any.
    pub(super) fn level(&self) -> u32 {
        self.levels.len().to_u32()
    }

    /// Begins a level of assumptions.
    pub(super) fn push_level(&mut self) {
        let mark = Mark { decided: self.decided.len(), arcs: self.arcs.len(), trail: self.trail.len() };
        self.levels.push(mark);
    }

    /// Reverts all changes above a level.
    pub(super) fn backtrack(&mut self, level: u32) {
        let Some(mark) = self.levels.get(level.to_usize()).copied() else { return };
        self.levels.truncate(level.to_usize());
        let k = self.chains.count;
        for (node, chain, old) in self.trail.drain(mark.trail..).rev() {
            self.clocks[node.to_usize() * k + chain.to_usize()] = old;
        }
        for arc in self.arcs.drain(mark.arcs..).rev() {
            self.out[arc.from.to_usize()] = arc.next_out;
            self.into[arc.to.to_usize()] = arc.next_in;
        }
        for decided in self.decided.drain(mark.decided..) {
            self.numbers.remove(&decided.order);
        }
        // Each level was begun when no work was pending below it.
        for Reverse((_, node)) in self.dirty.drain() {
            self.is_dirty[node.to_usize()] = false;
        }
        self.grown.clear();
    }

    #[inline]
    fn touch(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_dirty[node.to_usize()], true) {
            self.dirty.push(Reverse((self.rank[node.to_usize()], node)));
        }
    }

    /// The next node to apply rules to.
    pub(super) fn pop_dirty(&mut self) -> Option<u32> {
        let Reverse((_, node)) = self.dirty.pop()?;
        self.is_dirty[node.to_usize()] = false;
        Some(node)
    }

    /// Adds an arc that follows from a decided order, unless it is implied already.
    pub(super) fn add_arc(&mut self, from: u32, to: u32, why: u32) -> Result<(), Conflict> {
        if self.reaches(from, to) {
            return Ok(());
        }
        if self.reaches(to, from) {
            return Err(Conflict::Arc { from, to, why });
        }
        self.push_arc(from, to, why);
        self.deltas.clear();
        self.join(from, to);
        while let Some((node, delta)) = self.grown.pop_front() {
            let mut arc = self.out[node.to_usize()];
            while arc != NONE {
                let Arc { to, next_out, .. } = self.arcs[arc.to_usize()];
                self.join_delta(&delta, to);
                arc = next_out;
            }
        }
        Ok(())
    }

    /// Joins the whole clock of a node into that of another.
    fn join(&mut self, from: u32, to: u32) {
        let k = self.chains.count;
        self.steps += k.to_u64();
        let (from_at, to_at) = (from.to_usize() * k, to.to_usize() * k);
        for chain in 0..k {
            let (own, old) = (self.clocks[from_at + chain], self.clocks[to_at + chain]);
            if own > old {
                self.raise(to, chain.to_u32(), own);
            }
        }
        self.note_growth(to, 0);
    }

    /// Joins the changes of a preceding node's clock into that of another.
    fn join_delta(&mut self, delta: &Range<usize>, to: u32) {
        self.steps += delta.len().to_u64();
        let (before, to_at) = (self.deltas.len(), to.to_usize() * self.chains.count);
        for at in delta.clone() {
            let (chain, own) = self.deltas[at];
            if own > self.clocks[to_at + chain.to_usize()] {
                self.raise(to, chain, own);
            }
        }
        self.note_growth(to, before);
    }

    #[inline]
    fn raise(&mut self, node: u32, chain: u32, count: u32) {
        let clock = &mut self.clocks[node.to_usize() * self.chains.count + chain.to_usize()];
        let old = std::mem::replace(clock, count);
        if !self.levels.is_empty() {
            self.trail.push((node, chain, old));
        }
        self.deltas.push((chain, count));
    }

    /// Records that the clock of a node grew, by the changes from `before` on, so that it and its successors are
    /// examined.
    fn note_growth(&mut self, node: u32, before: usize) {
        if self.deltas.len() > before {
            if node.to_usize() < self.shape.nodes(self.txns.len()) {
                self.touch(node);
            }
            self.grown.push_back((node, before..self.deltas.len()));
        }
    }

    /// Decides an order of two writers, and adds the arcs that follow.
    pub(super) fn assert(&mut self, order: Before, reason: Reason) -> Result<(), Conflict> {
        if self.numbers.contains_key(&order) {
            return Ok(());
        }
        let number = self.decided.len().to_u32();
        self.moment += 1;
        let (level, arcs) = (self.level(), self.arcs.len().to_u32());
        self.decided.push(Decided { order, level, reason, arcs, moment: self.moment });
        self.numbers.insert(order, number);
        let Before { key, first, second } = order;
        let (from, to) = (self.shape.commit(first), self.shape.overwrites_at(second));
        self.add_arc(from, to, number)?;
        let overwriter = self.shape.commit(second);
        let count = self.readers.last(self.txns, first, key).len();
        for at in 0..count {
            let reader = TxnId::from(self.readers.last(self.txns, first, key)[at]);
            if reader == second {
                continue;
            }
            let reader = self.shape.start(reader);
            if self.shape.has_rw_arcs() {
                self.add_arc(reader, overwriter, number)?;
            } else if self.reaches(overwriter, reader) {
                return Err(Conflict::Arc { from: reader, to: overwriter, why: number });
            }
        }
        Ok(())
    }

    /// Returns true if the order of two writers is decided, or follows.
    pub(super) fn is_settled(&self, order: Before) -> bool {
        let shape = self.shape;
        let is_before = |a: TxnId, b: TxnId| self.reaches(shape.commit(a), shape.overwrites_at(b));
        is_before(order.first, order.second) || is_before(order.second, order.first)
    }
}

/// The reverse order.
pub(super) fn reverse(order: Before) -> Before {
    Before { key: order.key, first: order.second, second: order.first }
}
