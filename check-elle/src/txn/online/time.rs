//! Recent transactions and those in flight, with real time and the graph of dependencies.
//!
//! With real time, gates are numbers: gate `g` follows the completions that precede the invocations after it. A
//! transaction was invoked after the gate `after`, and leads to all gates from `done` on. Its `floor` is the greatest
//! gate that leads to it. The graph has only edges between concurrent transactions. See the proof in [the
//! parent](super).
//!
//! Without real time (or with real time at a level at which not all rw edges count), every relation is an edge, and the
//! real-time gates are nodes.

mod tried;

use super::order::Order;
use crate::cycle_spec::{CycleExistsSpec, Relations, RwUse, Suffix};
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use std::collections::VecDeque;

/// A moment between completions and the invocations that follow them.
pub(crate) type Gate = u64;

/// After all gates.
pub(crate) const NEVER: Gate = Gate::MAX;

/// The number of a transaction that does not exist.
pub(crate) const NONE: u32 = u32::MAX;

/// An op, and the byte offset in the text where it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) offset: u64,
    pub(crate) index: u64,
}

/// A dependency that follows from data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dependency {
    /// ww or wr.
    Dep,
    Rw,
}

/// A transaction, or a gate if gates are nodes.
#[derive(Clone, Debug)]
pub(crate) struct Txn {
    /// The last gate before its invocation.
    pub(crate) after: Gate,
    /// The first gate that follows its completion, or the completion of a transaction that read its writes.
    pub(crate) done: Gate,
    /// The greatest gate that leads to it.
    pub(crate) floor: Gate,
    /// The index of its invocation: unique per transaction.
    pub(crate) index: u64,
    /// The earliest op that was open at its invocation.
    pub(crate) begins: At,
    pub(crate) is_open: bool,
    is_there: bool,
    process: Option<i64>,
    /// Its writes, in their order.
    pub(crate) writes: Vec<u32>,
}

/// A transaction as an end of an edge; the transaction itself may be discarded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) txn: u32,
    pub(crate) after: Gate,
    pub(crate) done: Gate,
    /// The greatest gate that leads to it, if it is discarded; 0 where the value does not matter.
    pub(crate) floor: Gate,
    pub(crate) index: u64,
}

/// A cycle: the indices of the invocations of its transactions, and the earliest op that matters to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    pub(crate) indices: Vec<u64>,
    pub(crate) begins: At,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(crate) struct Graph {
    level: CycleExistsSpec,
    /// The edges that the level adds to data dependencies.
    suffix: Suffix,
    /// Whether gates of real time are numbers.
    pub(crate) has_floors: bool,
    order: Order,
    pub(crate) txns: Vec<Txn>,
    free: Vec<u32>,
    /// The number of transactions in the graph.
    pub(crate) count: usize,
    now: Gate,
    /// Whether something completed since the last gate.
    has_completed: bool,
    /// In the order of invocation; some are no longer open.
    open: VecDeque<(u32, u64)>,
    /// The last `ok` transaction of each process.
    last_of: HashMap<i64, u32>,
    /// Transactions that completed since the last gate, if gates are nodes.
    completed: Vec<u32>,
    last_gate: u32,
    stack: Vec<u32>,
    /// Whether the graph omits a dependency that closes a cycle and keeps the cycle, instead of returning an error.
    pub(crate) keeps_going: bool,
    /// Whether a dependency was omitted.
    pub(crate) leaves_out: bool,
    pub(crate) cycles: Vec<Cycle>,
}

history_core::state!(struct At { offset, index });
history_core::state!(struct Cycle { indices, begins });
history_core::state!(struct Txn { after, done, floor, index, begins, is_open, is_there, process, writes });
history_core::state!(parts Graph {
    txns, free, count, now, has_completed, open, last_of, completed, last_gate, keeps_going, leaves_out, cycles;
    parts: order; same: level, suffix, has_floors, stack
});

impl Graph {
    /// With real time at a level at which all edges count, gates are numbers. If a history `lacks_invocations`, the
    /// order of processes replaces real time.
    pub(crate) fn new(level: CycleExistsSpec, lacks_invocations: bool) -> Graph {
        let suffix = match level.suffix() {
            Suffix::Realtime if lacks_invocations => Suffix::Process,
            suffix => suffix,
        };
        Graph {
            level,
            suffix,
            has_floors: suffix == Suffix::Realtime && level.rw == RwUse::Free,
            order: Order::default(),
            txns: Vec::new(),
            free: Vec::new(),
            count: 0,
            now: 0,
            has_completed: false,
            open: VecDeque::new(),
            last_of: HashMap::default(),
            completed: Vec::new(),
            last_gate: NONE,
            stack: Vec::new(),
            keeps_going: false,
            leaves_out: false,
            cycles: Vec::new(),
        }
    }

    pub(crate) fn edges(&self) -> usize {
        self.order.edges()
    }

    /// Returns true if real time is known and the level uses it.
    pub(crate) fn has_real_time(&self) -> bool {
        self.suffix == Suffix::Realtime
    }

    pub(crate) fn counts_rw(&self) -> bool {
        self.level.rw != RwUse::None
    }

    /// Returns true if transactions that no edge orders can be placed in any order that agrees with the edges.
    pub(crate) fn may_order_freely(&self) -> bool {
        self.level.rw != RwUse::OneHop
    }

    pub(crate) fn counts_wr(&self) -> bool {
        self.level.relations.contains(Relations::WR)
    }

    /// Begins a transaction.
    pub(crate) fn begin(&mut self, process: Option<i64>, at: At) -> Result<u32, Cycle> {
        if std::mem::take(&mut self.has_completed) {
            self.now += 1;
            self.end_gate()?;
        }
        let txn = self.insert(at);
        self.open.push_back((txn, at.index));
        self.txns[txn.to_usize()].is_open = true;
        self.txns[txn.to_usize()].process = process;
        self.txns[txn.to_usize()].begins = self.earliest_open().map_or(at, |open| self.at(open).begins.min(at));
        if self.last_gate != NONE {
            self.lead(self.last_gate, txn, Dependency::Dep)?;
        }
        if self.suffix == Suffix::Process
            && let Some(before) = process.and_then(|process| self.last_of.get(&process).copied())
        {
            self.lead(before, txn, Dependency::Dep)?;
        }
        Ok(txn)
    }

    /// Adds a node for the gate, if gates are nodes.
    fn end_gate(&mut self) -> Result<(), Cycle> {
        if self.has_floors || self.suffix != Suffix::Realtime {
            return Ok(());
        }
        let gate = self.insert(At { offset: u64::MAX, index: u64::MAX });
        let mut before = std::mem::take(&mut self.completed);
        before.extend(Some(self.last_gate).filter(|gate| *gate != NONE));
        for txn in before {
            self.lead(txn, gate, Dependency::Dep)?;
        }
        self.last_gate = gate;
        Ok(())
    }

    fn insert(&mut self, at: At) -> u32 {
        let txn = self.free.pop().unwrap_or_else(|| {
            let new = Txn {
                after: 0,
                done: 0,
                floor: 0,
                index: 0,
                begins: At::default(),
                is_open: false,
                is_there: false,
                process: None,
                writes: Vec::new(),
            };
            self.txns.push(new);
            (self.txns.len() - 1).to_u32()
        });
        let writes = std::mem::take(&mut self.txns[txn.to_usize()].writes);
        debug_assert!(writes.is_empty());
        self.txns[txn.to_usize()] = Txn {
            after: self.now,
            done: NEVER,
            floor: self.now,
            index: at.index,
            begins: at,
            is_open: false,
            is_there: true,
            process: None,
            writes,
        };
        let doubled = self.doubled();
        for node in txn << doubled..(txn + 1) << doubled {
            self.order.insert(node);
        }
        self.count += 1;
        txn
    }

    /// The number of nodes of a transaction is two to this power.
    fn doubled(&self) -> u32 {
        u32::from(self.level.rw == RwUse::OneHop)
    }

    pub(crate) fn at(&self, txn: u32) -> &Txn {
        &self.txns[txn.to_usize()]
    }

    pub(crate) fn end(&self, txn: u32) -> End {
        let Txn { after, done, floor, index, .. } = *self.at(txn);
        End { txn, after, done, floor, index }
    }

    /// The process of a transaction.
    pub(crate) fn process(&self, txn: u32) -> Option<i64> {
        self.at(txn).process
    }

    /// All transactions in the graph.
    pub(crate) fn all(&self) -> impl Iterator<Item = u32> {
        (0..self.txns.len().to_u32()).filter(|txn| self.txns[txn.to_usize()].is_there)
    }

    /// The transaction that has been open for the longest time.
    pub(crate) fn earliest_open(&mut self) -> Option<u32> {
        while let Some((txn, index)) = self.open.front().copied() {
            let at = self.at(txn);
            if at.is_there && at.is_open && at.index == index {
                return Some(txn);
            }
            self.open.pop_front();
        }
        None
    }

    /// The transactions that are open, or that may be concurrent with an open one.
    pub(crate) fn late(&mut self) -> Vec<u32> {
        let horizon = self.horizon();
        let is_late = |txn: &u32| {
            let txn = self.at(*txn);
            // The keys of a crashed transaction may have been dropped.
            txn.is_open || txn.done > horizon && (txn.done != NEVER || !txn.writes.is_empty())
        };
        self.all().filter(is_late).collect()
    }

    /// These transactions, without duplicates, with the first gates that they lead to.
    pub(crate) fn gates(&self, mut txns: Vec<u32>) -> Vec<(Gate, u32)> {
        txns.sort_unstable();
        txns.dedup();
        txns.into_iter().map(|txn| (self.at(txn).done, txn)).collect()
    }

    /// The gate that every open and every later transaction follows.
    pub(crate) fn horizon(&mut self) -> Gate {
        match self.earliest_open() {
            Some(txn) => self.at(txn).after,
            None => self.now + Gate::from(self.has_completed),
        }
    }

    /// The next gate.
    pub(crate) fn next(&self) -> Gate {
        self.now + 1
    }

    /// Ends a transaction that happened.
    pub(crate) fn complete(&mut self, txn: u32) {
        let next = self.next();
        self.has_completed = true;
        let at = &mut self.txns[txn.to_usize()];
        at.is_open = false;
        at.done = at.done.min(next);
        if let Some(process) = at.process.filter(|_| self.suffix == Suffix::Process) {
            self.last_of.insert(process, txn);
        }
        if !self.has_floors && self.suffix == Suffix::Realtime {
            self.completed.push(txn);
        }
    }

    /// Ends a transaction that may have happened, and its process.
    pub(crate) fn crash(&mut self, txn: u32) {
        self.txns[txn.to_usize()].is_open = false;
        if let Some(process) = self.txns[txn.to_usize()].process.take() {
            self.last_of.remove(&process);
        }
    }

    /// Removes a transaction.
    pub(crate) fn remove(&mut self, txn: u32) {
        self.remove_all(&[txn]);
    }

    /// Removes distinct transactions.
    pub(crate) fn remove_all(&mut self, txns: &[u32]) {
        let doubled = self.doubled();
        self.order.remove_all(txns.iter().flat_map(|txn| txn << doubled..(txn + 1) << doubled));
        for txn in txns {
            let at = &mut self.txns[txn.to_usize()];
            debug_assert!(at.is_there);
            (at.is_there, at.is_open) = (false, false);
            at.writes.clear();
            at.writes.shrink_to(8);
        }
        self.free.extend_from_slice(txns);
        self.count -= txns.len();
    }

    /// Records that a transaction that completes now has read a write of `txn`.
    pub(crate) fn show(&mut self, txn: u32) {
        let next = self.next();
        let at = &mut self.txns[txn.to_usize()];
        at.done = at.done.min(next);
    }

    /// Records that a write of `txn` was read, first by a transaction that led to this gate; `txn` is in flight.
    pub(crate) fn show_at(&mut self, txn: u32, gate: Gate) -> Result<(), Cycle> {
        let at = &mut self.txns[txn.to_usize()];
        at.done = at.done.min(gate);
        if self.has_floors && at.done <= at.after {
            return Err(Cycle { indices: vec![at.index], begins: at.begins });
        }
        Ok(())
    }

    /// Adds a dependency. If it closes a cycle and the graph keeps going, the dependency is omitted, so the others stay
    /// acyclic. Floors that it has raised by then belong to an existing dependency, so they only show further cycles.
    pub(crate) fn relate(&mut self, from: End, to: End, kind: Dependency) -> Result<(), Cycle> {
        match self.add(from, to, kind) {
            Err(cycle) if self.keeps_going => {
                self.leaves_out = true;
                self.cycles.push(cycle);
                Ok(())
            }
            added => added,
        }
    }

    fn add(&mut self, from: End, to: End, kind: Dependency) -> Result<(), Cycle> {
        if from.txn == to.txn && from.txn != NONE || from.index == to.index {
            return Ok(());
        }
        if !self.has_floors {
            return self.lead(from.txn, to.txn, kind);
        }
        if from.done <= to.after {
            return Ok(());
        }
        if to.done <= from.after {
            return Err(self.cycle([from, to], &[]));
        }
        self.raise(from, to)?;
        if from.txn == NONE || to.txn == NONE {
            return Ok(());
        }
        self.order.add(from.txn, to.txn).map_err(|path| self.cycle([from, to], &path))
    }

    /// Adds an edge between nodes, as far as the level uses edges of this kind.
    fn lead(&mut self, from: u32, to: u32, kind: Dependency) -> Result<(), Cycle> {
        let edges = match (self.level.rw, kind) {
            (RwUse::None, Dependency::Rw) => [None, None],
            (RwUse::None, Dependency::Dep) | (RwUse::Free, _) => [Some((from, to)), None],
            (RwUse::OneHop, Dependency::Dep) => [Some((2 * from, 2 * to)), Some((2 * from, 2 * to + 1))],
            (RwUse::OneHop, Dependency::Rw) => [Some((2 * from + 1, 2 * to)), None],
        };
        for (a, b) in edges.into_iter().flatten() {
            self.order.add(a, b).map_err(|path| {
                let doubled = self.doubled();
                let path: Vec<u32> = path.into_iter().map(|node| node >> doubled).collect();
                self.cycle([self.end(from), self.end(to)], &path)
            })?;
        }
        Ok(())
    }

    /// Raises the floor of `to`, and of all that it leads to, to the floor of `from`.
    fn raise(&mut self, from: End, to: End) -> Result<(), Cycle> {
        let floor = if from.txn == NONE { from.floor } else { self.at(from.txn).floor };
        if floor >= to.done {
            return Err(self.cycle([from, to], &[]));
        }
        if to.txn == NONE {
            return Ok(());
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push(to.txn);
        let mut cycle = None;
        while let Some(txn) = stack.pop() {
            let at = &mut self.txns[txn.to_usize()];
            if at.floor >= floor {
                continue;
            }
            if floor >= at.done {
                cycle = Some(self.cycle([from, to], &[txn]));
                break;
            }
            at.floor = floor;
            stack.extend_from_slice(self.order.out(txn));
        }
        self.stack = stack;
        cycle.map_or(Ok(()), Err)
    }

    fn cycle(&self, ends: [End; 2], path: &[u32]) -> Cycle {
        let there = path.iter().chain(ends.iter().map(|end| &end.txn)).filter(|txn| **txn != NONE);
        let begins = there.clone().map(|txn| self.at(*txn).begins).min();
        let there = there.map(|txn| self.at(*txn).index);
        let mut indices: Vec<u64> = there.chain(ends.map(|end| end.index)).filter(|index| *index != u64::MAX).collect();
        indices.sort_unstable();
        indices.dedup();
        Cycle { indices, begins: begins.unwrap_or_default() }
    }

    /// Stops waiting for a transaction: it counts as one that may have happened.
    pub(crate) fn give_up(&mut self, txn: u32) {
        self.txns[txn.to_usize()].is_open = false;
    }

    /// Sets `keep` for each transaction in `from`, and for all that it leads to by way of transactions that were
    /// invoked before it was done. `from` is in descending order of the gates at which its transactions were done.
    pub(crate) fn each_within(&mut self, from: &[(Gate, u32)], keep: &mut [bool]) {
        let mut stack = std::mem::take(&mut self.stack);
        for (done, txn) in from {
            stack.push(*txn);
            keep[txn.to_usize()] = true;
            while let Some(txn) = stack.pop() {
                for next in self.order.out(txn) {
                    if self.at(*next).after < *done && !std::mem::replace(&mut keep[next.to_usize()], true) {
                        stack.push(*next);
                    }
                }
            }
        }
        self.stack = stack;
    }
}
