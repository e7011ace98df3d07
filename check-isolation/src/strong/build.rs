//! Builds the graph that follows from the history alone: base, reads, known orders, and the fact that readers of a
//! first state precede all writers.
//!
//! A first state adds one node per key, which its readers precede and its writers follow: this is linear, whereas pairs
//! would be quadratic. If a transaction is one node and itself replaces the first state that it read, it is between the
//! two, and a second node precedes the other writers in its place.

use super::shape::Shape;
use super::state::State;
use crate::base::Frame;
use crate::chains::Chains;
use crate::csr::Csr;
use crate::ids::{KeyId, TxnId};
use crate::transactions::Transactions;
use history_core::cast::Cast as _;

/// The meaning of the nodes after those of transactions.
#[derive(Debug)]
pub(super) struct Helpers {
    /// The number of real-time events, which come first.
    pub(super) events: usize,
    /// For each further node, the key of its first state.
    pub(super) keys: Vec<KeyId>,
}

/// The arcs of a level's graph.
struct Build<'t> {
    txns: &'t Transactions,
    shape: Shape,
    arcs: Vec<(u32, u32)>,
    helpers: Helpers,
}

/// The initial state, the helpers, and a cycle of the graph if there is one.
pub(super) fn build<'t>(
    txns: &'t Transactions,
    shape: Shape,
    frame: &Frame,
    chains: Chains,
) -> (State<'t>, Helpers, Option<Vec<u32>>) {
    let helpers = Helpers { events: frame.events, keys: Vec::new() };
    let mut build = Build { txns, shape, arcs: Vec::new(), helpers };
    build.add_base(frame);
    build.add_reads();
    if shape.has_rw_arcs() {
        build.add_first_states();
    }
    let nodes = shape.nodes(txns.len()) + build.helpers.events + build.helpers.keys.len();
    let graph = Csr::new(nodes, |emit| build.arcs.iter().for_each(|(from, to)| emit(from.to_usize(), *to)));
    let order = graph.topological();
    let cycle = (order.len() < nodes).then(|| graph.cycle());
    let mut state = State::new(txns, shape, chains, nodes);
    for (from, to) in build.arcs {
        state.push_known(from, to);
    }
    if cycle.is_none() {
        state.compute_clocks(&order);
    }
    (state, build.helpers, cycle)
}

/// The arcs of base, reads and known orders.
pub(super) fn known_arcs(txns: &Transactions, shape: Shape, frame: &Frame) -> Vec<(u32, u32)> {
    let helpers = Helpers { events: frame.events, keys: Vec::new() };
    let mut build = Build { txns, shape, arcs: Vec::new(), helpers };
    build.add_base(frame);
    build.add_reads();
    build.arcs
}

impl Build<'_> {
    fn add_base(&mut self, frame: &Frame) {
        let shape = self.shape;
        let events = shape.nodes(self.txns.len()).to_u32();
        for txn in self.txns.ids() {
            if shape.width == 2 {
                self.arcs.push((shape.start(txn), shape.commit(txn)));
            }
            let next = frame.next[txn.at()];
            if next != TxnId::NONE {
                self.arcs.push((shape.commit(txn), shape.start(next)));
            }
            if frame.ends_at[txn.at()] != u32::MAX {
                self.arcs.push((shape.commit(txn), events + frame.ends_at[txn.at()]));
            }
            if frame.begins_at[txn.at()] != u32::MAX {
                self.arcs.push((events + frame.begins_at[txn.at()], shape.start(txn)));
            }
        }
        for event in 1..frame.events.to_u32() {
            self.arcs.push((events + event - 1, events + event));
        }
    }

    fn add_reads(&mut self) {
        let shape = self.shape;
        for txn in self.txns.ids() {
            let mut last = TxnId::NONE;
            for read in self.txns.reads(txn).iter().filter(|read| read.writer != TxnId::NONE) {
                if std::mem::replace(&mut last, read.writer) != read.writer {
                    self.arcs.push((shape.commit(read.writer), shape.start(txn)));
                }
            }
        }
        for order in self.txns.orders() {
            self.arcs.push((shape.commit(order.before), shape.overwrites_at(order.after)));
        }
    }

    fn helper(&mut self, key: KeyId) -> u32 {
        self.helpers.keys.push(key);
        (self.shape.nodes(self.txns.len()) + self.helpers.events + self.helpers.keys.len() - 1).to_u32()
    }

    fn add_first_states(&mut self) {
        let readers = Csr::new(self.txns.keys(), |emit| {
            for txn in self.txns.ids() {
                let firsts = self.txns.reads(txn).iter().filter(|read| read.writer == TxnId::NONE);
                firsts.for_each(|read| emit(read.key.at(), txn.number()));
            }
        });
        let writers = Csr::new(self.txns.keys(), |emit| {
            for txn in self.txns.ids() {
                self.txns.writes(txn).iter().for_each(|key| emit(key.at(), txn.number()));
            }
        });
        let is_needed = |key: &usize| !readers.row(*key).is_empty() && !writers.row(*key).is_empty();
        for key in (0..self.txns.keys()).filter(is_needed) {
            self.add_first_state(KeyId::new(key), readers.row(key), writers.row(key));
        }
    }

    fn add_first_state(&mut self, key: KeyId, readers: &[u32], writers: &[u32]) {
        let (txns, shape) = (self.txns, self.shape);
        let before = self.helper(key);
        if shape.width == 2 {
            self.arcs.extend(readers.iter().map(|reader| (shape.start((*reader).into()), before)));
            self.arcs.extend(writers.iter().map(|writer| (before, shape.commit((*writer).into()))));
            return;
        }
        let has_read =
            |writer: TxnId| txns.reads(writer).iter().any(|read| (read.key, read.writer) == (key, TxnId::NONE));
        let behind = self.helper(key);
        self.arcs.push((before, behind));
        for reader in readers.iter().filter(|reader| !txns.is_writer((**reader).into(), key)) {
            self.arcs.push((*reader, before));
        }
        let mut updaters = Vec::new();
        for writer in writers {
            if has_read((*writer).into()) {
                self.arcs.extend([(before, *writer), (*writer, behind)]);
                updaters.push(*writer);
            } else {
                self.arcs.push((behind, *writer));
            }
        }
        // Two transactions that replaced the first state precede each other.
        if let [first, second, ..] = updaters[..] {
            for (from, to) in [(first, second), (second, first)] {
                let between = self.helper(key);
                self.arcs.extend([(from, between), (between, to)]);
            }
        }
    }
}
