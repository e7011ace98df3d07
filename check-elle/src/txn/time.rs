//! The order of transactions by processes and by real time.
//!
//! In **realtime** order, an edge for each pair would be too many. Instead, the completions form a chain of gates: a
//! transaction leads to the gate of its own completion, and a gate leads to the next one and to the transactions
//! invoked between the two. So there is a path exactly from each completed transaction to each one invoked later, with
//! two edges per transaction and one per gate.
//!
//! The operations of a process are sequential, so the process order is part of real time, and follows from it if
//! invocations are recorded. If they are not, there are few or no realtime edges, and the process edges are added to
//! them. Without process edges, a level with real time would permit histories that the same level with the process
//! order forbids.

use super::columns::Txns;
use crate::cycle_spec::Suffix;
use crate::graph::{Graph, Relation};
use crate::ids::TxnId;
use history_core::OpKind;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// The process or realtime edges, while the graph is built.
pub(crate) struct TimeEdges {
    order: Suffix,
    /// For each `ok` transaction, the next transaction of its process that may have happened: it is `ok`, or ended the
    /// process. Empty if there are no process edges.
    next_of_process: Vec<TxnId>,
    /// The number of `ok` completions so far.
    oks: u32,
    /// The first gate. One gate per `ok` completion follows, in order.
    base: u32,
    gates: u32,
    /// The transactions that may have happened, grouped by the number of `ok` completions before their invocation.
    invoked_after: Groups,
}

/// Transactions in groups.
#[derive(Default)]
struct Groups {
    /// Nondecreasing; its last entry is `members.len()`.
    start: Vec<u32>,
    members: Vec<TxnId>,
}

impl TimeEdges {
    /// Creates the edges of this order. Their gates are the first nodes after the transactions.
    pub(crate) fn new<M: Copy>(txns: &Txns<M>, order: Suffix) -> TimeEdges {
        let mut edges = TimeEdges {
            order,
            next_of_process: Vec::new(),
            oks: 0,
            base: txns.len().to_u32(),
            gates: 0,
            invoked_after: Groups::default(),
        };
        if has_process_edges(txns, order) {
            edges.next_of_process = next_of_process(txns);
        }
        match order {
            Suffix::None | Suffix::Process => {}
            Suffix::Realtime => {
                edges.invoked_after = invoked_after(txns);
                edges.gates = txns.ids().filter(|txn| txns.kind(*txn) == OpKind::Ok).count().to_u32();
            }
        }
        edges
    }

    /// The node after the last gate.
    pub(crate) fn end(&self) -> u32 {
        self.base + self.gates
    }

    /// Adds the edges of the transaction that is the next `ok` completion. Returns true if they relate it to another.
    pub(crate) fn push(&mut self, graph: &mut Graph, txn: TxnId) -> bool {
        if self.order == Suffix::Realtime {
            graph.push_edge(self.base + self.oks, Relation::Realtime);
            self.oks += 1;
            // `push_gates` determines whether a transaction follows.
        }
        let next = self.next_of_process.get(txn.at()).filter(|next| **next != TxnId::NONE);
        if let Some(next) = next {
            graph.push_edge(next.at().to_u32(), Relation::Process);
        }
        next.is_some()
    }

    /// Adds the gates. Returns whether any transaction follows another.
    pub(crate) fn push_gates(&self, graph: &mut Graph) -> bool {
        let mut related = false;
        for gate in 0..self.gates {
            if gate + 1 < self.gates {
                graph.push_edge(self.base + gate + 1, Relation::Through);
            }
            for txn in self.invoked_after.of(gate + 1) {
                related = true;
                graph.push_edge(txn.at().to_u32(), Relation::Through);
            }
            graph.end_node();
        }
        related
    }
}

impl Groups {
    fn of(&self, group: u32) -> &[TxnId] {
        let group = group.to_usize();
        if group + 1 >= self.start.len() {
            return &[];
        }
        &self.members[self.start[group].to_usize()..self.start[group + 1].to_usize()]
    }
}

/// Returns true if a graph of this order has process edges. With real time, it has them only if the invocation of some
/// op of a process is unknown.
pub(crate) fn has_process_edges<M: Copy>(txns: &Txns<M>, order: Suffix) -> bool {
    let lacks_invocation = |txn| txns.is_possible(txn) && txns.oks_before(txn).is_none() && txns.process(txn).is_some();
    match order {
        Suffix::None => false,
        Suffix::Process => true,
        Suffix::Realtime => txns.ids().any(lacks_invocation),
    }
}

/// A counting sort of transactions by [`Txns::oks_before`].
fn invoked_after<M: Copy>(txns: &Txns<M>) -> Groups {
    let known = || txns.ids().filter(|txn| txns.is_possible(*txn)).filter_map(|txn| Some((txn, txns.oks_before(txn)?)));
    let groups = known().map(|(_, oks)| oks.to_usize() + 1).max().unwrap_or(0);
    let mut start = vec![0u32; groups + 1];
    for (_, oks) in known() {
        start[oks.to_usize()] += 1;
    }
    let mut total = 0;
    for count in &mut start {
        total += std::mem::replace(count, total);
    }
    let mut members = vec![TxnId::NONE; total.to_usize()];
    let mut next = start.clone();
    for (txn, oks) in known() {
        members[next[oks.to_usize()].to_usize()] = txn;
        next[oks.to_usize()] += 1;
    }
    Groups { start, members }
}

/// For each `ok` transaction, the next one of its process. A process that crashed does not continue, so its `info`
/// transaction, or the one that it never completed, is its last one.
fn next_of_process<M: Copy>(txns: &Txns<M>) -> Vec<TxnId> {
    let mut next = vec![TxnId::NONE; txns.len()];
    let mut last: HashMap<i64, TxnId> = HashMap::default();
    for txn in txns.ids().filter(|txn| txns.is_possible(*txn)) {
        let Some(process) = txns.process(txn) else { continue };
        let before = if txns.is_ok(txn) { last.insert(process, txn) } else { last.remove(&process) };
        if let Some(before) = before {
            next[before.at()] = txn;
        }
    }
    next
}
