//! The transaction graph: ww, wr and rw from version orders and reads, process and realtime from the history.
//!
//! Adya, "Weak Consistency" (MIT, 1999), section 3.1 (direct conflicts) for ww, wr and rw.
//!
//! Two relations would take an edge for each pair of many transactions, and go through gates instead:
//!
//! - **realtime**: the completions form a chain of gates. A transaction leads to the gate of its own completion, a gate to
//!   the next one and to the transactions invoked between the two. So there is a path exactly from each completed
//!   transaction to each one invoked later, with two edges a transaction and one a gate.
//! - **rw to appends nobody read**: all of those come after each read of the key's last element. They are the leaves of a
//!   tree of gates, and a reader leads into the few gates that have just the right leaves below them: all but its own
//!   appends, and those of transactions that it comes before for a stronger reason.

use super::orders::{Orders, Readers};
use super::states::States;
use super::txns::{Txns, What};
use crate::cycle_spec::Suffix;
use crate::graph::{Graph, Relation};
use crate::ids::{ElemId, KeyId, TxnId};
use history_core::OpKind;
use rustc_hash::FxHashMap;

/// Fewer edges than this from the readers of one key to its unread appends are not worth gates.
const DIRECT_EDGES_MAX: usize = 64;

/// What the graph is made from.
pub(crate) struct Sources<'a> {
    pub(crate) states: &'a States,
    pub(crate) txns: &'a Txns,
    pub(crate) orders: &'a Orders,
    pub(crate) readers: &'a Readers,
}

/// The graph, and whether it relates any two transactions at all.
#[derive(Debug, Default)]
pub(crate) struct TxnGraph {
    pub(crate) graph: Graph,
    pub(crate) is_empty: bool,
}

impl Sources<'_> {
    /// O(micro-ops + edges).
    pub(crate) fn graph(&self, order: Suffix) -> TxnGraph {
        let mut build = Build::new(self, order);
        for txn in self.txns.ids() {
            if self.txns.is_possible(txn) {
                build.data_edges(txn);
                build.session_edges(txn);
            }
            build.graph.end_node();
        }
        build.realtime_gates();
        build.unread_gates();
        let related = build.related;
        TxnGraph { graph: build.graph, is_empty: !related }
    }

    /// The writer of an element, if it is another than `txn` and may have happened.
    fn other_writer(&self, elem: ElemId, txn: TxnId) -> Option<TxnId> {
        let writer = self.states.elem[elem.at()].writer;
        (writer != TxnId::NONE && writer != txn && self.txns.is_possible(writer)).then_some(writer)
    }
}

struct Build<'a> {
    from: &'a Sources<'a>,
    order: Suffix,
    graph: Graph,
    related: bool,
    /// For each `ok` transaction the next one of its process.
    next_of_process: Vec<TxnId>,
    /// How many completed `ok` so far.
    oks: u32,
    /// The first realtime gate: one for each `ok` completion follows, in order.
    realtime_base: u32,
    /// The transactions that may have happened, by how many had completed `ok` before each was invoked.
    invoked_after: Groups,
    /// Keys whose unread appends have gates, in order, and where those begin.
    gated: Vec<(KeyId, u32)>,
    /// For each key its place in `gated`.
    gated_at: FxHashMap<KeyId, u32>,
    /// Places in `gated` of the keys whose last element the transaction at hand read.
    entering: Vec<u32>,
}

/// Transactions in groups.
#[derive(Default)]
struct Groups {
    /// Nondecreasing; its last entry is `members.len()`.
    start: Vec<u32>,
    members: Vec<TxnId>,
}

impl<'a> Build<'a> {
    fn new(from: &'a Sources<'a>, order: Suffix) -> Build<'a> {
        let txns = from.txns;
        let mut build = Build {
            from,
            order,
            graph: Graph::new(txns.len()),
            related: false,
            next_of_process: Vec::new(),
            oks: 0,
            realtime_base: txns.len() as u32,
            invoked_after: Groups::default(),
            gated: Vec::new(),
            gated_at: FxHashMap::default(),
            entering: Vec::new(),
        };
        let mut gates = txns.len() as u32;
        match order {
            Suffix::None => {}
            Suffix::Process => build.next_of_process = next_of_process(txns),
            Suffix::Realtime => {
                build.invoked_after = invoked_after(txns);
                gates += txns.ids().filter(|txn| txns.kind(*txn) == OpKind::Ok).count() as u32;
            }
        }
        for key in (0..from.states.key.len()).map(KeyId::new) {
            let unread = from.orders.unread(key).len();
            if unread < 2 {
                continue;
            }
            let readers = match from.orders.of(key).last() {
                Some(last) => from.readers.of(*last).len(),
                None => from.readers.of_empty(key).len(),
            };
            if readers * unread > DIRECT_EDGES_MAX.max(2 * (readers + unread)) {
                build.gated_at.insert(key, build.gated.len() as u32);
                build.gated.push((key, gates));
                gates += unread as u32 - 1;
            }
        }
        build
    }

    fn data_edges(&mut self, txn: TxnId) {
        let from = self.from;
        for mop in from.txns.mops(txn) {
            match mop.what() {
                What::Append(elem) => {
                    if from.orders.holds(elem) {
                        for next in from.orders.after(mop.key, Some(elem)) {
                            self.relate(from.other_writer(*next, txn), Relation::Ww);
                        }
                    }
                    for reader in from.readers.of(elem) {
                        self.relate((*reader != txn).then_some(*reader), Relation::Wr);
                    }
                }
                What::Read(state) => self.rw_edges(txn, mop.key, from.states.last(state)),
                What::Unseen => {}
            }
        }
        if !self.entering.is_empty() {
            self.enter_gates(txn);
        }
    }

    fn rw_edges(&mut self, txn: TxnId, key: KeyId, last: Option<ElemId>) {
        let next = self.from.orders.after(key, last);
        if next.len() > 1
            && let Some(at) = self.gated_at.get(&key)
        {
            // When the stronger relations are known.
            return self.entering.push(*at);
        }
        for next in next {
            self.relate(self.from.other_writer(*next, txn), Relation::Rw);
        }
    }

    fn relate(&mut self, to: Option<TxnId>, relation: Relation) {
        if let Some(to) = to {
            self.related = true;
            self.graph.push_edge(to.at() as u32, relation);
        }
    }

    /// Leads a reader to the unread appends of the keys whose last element it read, but not where it already leads by ww or
    /// wr, nor to itself.
    fn enter_gates(&mut self, txn: TxnId) {
        let stronger = |relation| matches!(relation, Relation::Ww | Relation::Wr);
        let open = self.graph.open_edges().filter(|(_, relation)| stronger(*relation));
        let mut excluded: Vec<TxnId> = open.map(|(to, _)| TxnId::new(to as usize)).chain([txn]).collect();
        excluded.sort_unstable();
        excluded.dedup();
        let mut entering = std::mem::take(&mut self.entering);
        for at in &entering {
            let (key, base) = self.gated[*at as usize];
            let unread = self.from.orders.unread(key);
            let writer = |elem: &ElemId| self.from.states.elem[elem.at()].writer;
            // They are in the order of their writers, so each writer's stand together.
            debug_assert!(unread.is_sorted_by_key(writer));
            let mut from = 0;
            for other in &excluded {
                let own = unread.partition_point(|elem| writer(elem) < *other);
                let end = unread.partition_point(|elem| writer(elem) <= *other);
                if own < end {
                    self.cover(unread, base, from..own);
                    from = end;
                }
            }
            self.cover(unread, base, from..unread.len());
        }
        entering.clear();
        self.entering = entering;
    }

    /// Leads to a range of the leaves of a key's tree by way of as few nodes as have just these leaves below them.
    ///
    /// The tree of `n` leaves is laid out as a heap: leaf `i` is node `n + i`, and node `k` has the children `2k` and
    /// `2k + 1`.
    fn cover(&mut self, unread: &[ElemId], base: u32, range: std::ops::Range<usize>) {
        let n = unread.len();
        self.related |= !range.is_empty();
        let (mut left, mut right) = (range.start + n, range.end + n);
        while left < right {
            if left % 2 == 1 {
                self.graph.push_edge(self.tree_node(unread, base, left), Relation::Rw);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                self.graph.push_edge(self.tree_node(unread, base, right), Relation::Rw);
            }
            left /= 2;
            right /= 2;
        }
    }

    /// The graph's node for a node of a key's tree: a writer for a leaf, a gate for any other.
    fn tree_node(&self, unread: &[ElemId], base: u32, node: usize) -> u32 {
        match node.checked_sub(unread.len()) {
            Some(leaf) => self.from.states.elem[unread[leaf].at()].writer.at() as u32,
            None => base + node as u32 - 1,
        }
    }

    fn session_edges(&mut self, txn: TxnId) {
        if self.from.txns.kind(txn) != OpKind::Ok {
            return;
        }
        match self.order {
            Suffix::None => {}
            Suffix::Process => {
                let next = self.next_of_process[txn.at()];
                self.relate((next != TxnId::NONE).then_some(next), Relation::Process);
            }
            Suffix::Realtime => {
                self.graph.push_edge(self.realtime_base + self.oks, Relation::Realtime);
                self.oks += 1;
            }
        }
    }

    fn realtime_gates(&mut self) {
        if self.order != Suffix::Realtime {
            return;
        }
        for gate in 0..self.oks {
            if gate + 1 < self.oks {
                self.graph.push_edge(self.realtime_base + gate + 1, Relation::Through);
            }
            for txn in self.invoked_after.of(gate + 1) {
                self.related = true;
                self.graph.push_edge(txn.at() as u32, Relation::Through);
            }
            self.graph.end_node();
        }
    }

    fn unread_gates(&mut self) {
        for (key, base) in std::mem::take(&mut self.gated) {
            let unread = self.from.orders.unread(key);
            for node in 1..unread.len() {
                for child in [2 * node, 2 * node + 1] {
                    self.graph.push_edge(self.tree_node(unread, base, child), Relation::Through);
                }
                self.graph.end_node();
            }
        }
    }
}

impl Groups {
    fn of(&self, group: u32) -> &[TxnId] {
        let group = group as usize;
        if group + 1 >= self.start.len() {
            return &[];
        }
        &self.members[self.start[group] as usize..self.start[group + 1] as usize]
    }
}

/// A counting sort of transactions by [`Txns::oks_before`].
fn invoked_after(txns: &Txns) -> Groups {
    let known = || txns.ids().filter(|txn| txns.is_possible(*txn)).filter_map(|txn| Some((txn, txns.oks_before(txn)?)));
    let groups = known().map(|(_, oks)| oks as usize + 1).max().unwrap_or(0);
    let mut start = vec![0u32; groups + 1];
    for (_, oks) in known() {
        start[oks as usize] += 1;
    }
    let mut total = 0;
    for count in &mut start {
        total += std::mem::replace(count, total);
    }
    let mut members = vec![TxnId::NONE; total as usize];
    let mut next = start.clone();
    for (txn, oks) in known() {
        members[next[oks as usize] as usize] = txn;
        next[oks as usize] += 1;
    }
    Groups { start, members }
}

fn next_of_process(txns: &Txns) -> Vec<TxnId> {
    let mut next = vec![TxnId::NONE; txns.len()];
    let mut last: FxHashMap<i64, TxnId> = FxHashMap::default();
    for txn in txns.ids().filter(|txn| txns.kind(*txn) == OpKind::Ok) {
        let Some(process) = txns.process(txn) else { continue };
        if let Some(before) = last.insert(process, txn) {
            next[before.at()] = txn;
        }
    }
    next
}
