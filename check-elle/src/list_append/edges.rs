//! The transaction graph: ww, wr and rw from version orders and reads, process and realtime from the history.
//!
//! Adya, "Weak Consistency" (MIT, 1999), section 3.1 (direct conflicts) for ww, wr and rw.
//!
//! Appends that nobody read come after each read of their key's last element: they are a [`Crowd`] where they are many.

use super::mop::{Mop, What};
use super::orders::{Orders, Readers};
use super::states::States;
use crate::cycle_spec::Suffix;
use crate::graph::{Graph, Relation};
use crate::ids::{ElemId, KeyId, TxnId};
use crate::txn::crowd::{self, Crowd};
use crate::txn::time::TimeEdges;
use crate::txn::{TxnGraph, Txns};
use rustc_hash::FxHashMap;

/// What the graph is made from.
pub(crate) struct Sources<'a> {
    pub(crate) states: &'a States,
    pub(crate) txns: &'a Txns<Mop>,
    pub(crate) orders: &'a Orders,
    pub(crate) readers: &'a Readers,
}

impl Sources<'_> {
    /// O(micro-ops + edges).
    pub(crate) fn graph(&self, order: Suffix) -> TxnGraph {
        let mut time = TimeEdges::new(self.txns, order);
        let mut build = Build::new(self, time.end());
        for txn in self.txns.ids() {
            if self.txns.is_possible(txn) {
                build.data_edges(txn);
            }
            if self.txns.is_ok(txn) {
                build.related |= time.push(&mut build.graph, txn);
            }
            build.graph.end_node();
        }
        build.related |= time.push_gates(&mut build.graph);
        for at in 0..build.crowds.len() {
            let (members, base) = &build.crowds[at];
            Crowd::new(members, *base).push_gates(&mut build.graph);
        }
        TxnGraph { graph: build.graph, is_empty: !build.related }
    }

    /// The writer of an element, if it is another than `txn` and may have happened.
    fn other_writer(&self, elem: ElemId, txn: TxnId) -> Option<TxnId> {
        let writer = self.states.elem[elem.at()].writer;
        (writer != TxnId::NONE && writer != txn && self.txns.is_possible(writer)).then_some(writer)
    }
}

struct Build<'a> {
    from: &'a Sources<'a>,
    graph: Graph,
    related: bool,
    /// The writers of unread appends that have gates, for each such key, and where the gates begin.
    crowds: Vec<(Vec<TxnId>, u32)>,
    /// For each such key its place in `crowds`.
    crowd_of: FxHashMap<KeyId, u32>,
    /// Places in `crowds` of the keys whose last element the transaction at hand read.
    entering: Vec<u32>,
}

impl<'a> Build<'a> {
    /// The gates of crowds begin at `gates`.
    fn new(from: &'a Sources<'a>, mut gates: u32) -> Build<'a> {
        let mut build = Build {
            from,
            graph: Graph::new(from.txns.len()),
            related: false,
            crowds: Vec::new(),
            crowd_of: FxHashMap::default(),
            entering: Vec::new(),
        };
        for key in (0..from.states.key.len()).map(KeyId::new) {
            let unread = from.orders.unread(key);
            let readers = match from.orders.of(key).last() {
                Some(last) => from.readers.of(*last).len(),
                None => from.readers.of_empty(key).len(),
            };
            if crowd::is_worth_gates(readers, unread.len()) {
                build.crowd_of.insert(key, build.crowds.len() as u32);
                // Unread appends are in the order of their writers.
                let writers = unread.iter().map(|elem| from.states.elem[elem.at()].writer);
                build.crowds.push((writers.collect(), gates));
                gates += crowd::gates(unread.len());
            }
        }
        build
    }

    fn data_edges(&mut self, txn: TxnId) {
        let from = self.from;
        for mop in from.txns.mops(txn) {
            match mop.what() {
                What::Write(elem) => {
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
            self.enter_crowds(txn);
        }
    }

    fn rw_edges(&mut self, txn: TxnId, key: KeyId, last: Option<ElemId>) {
        let next = self.from.orders.after(key, last);
        if next.len() > 1
            && let Some(at) = self.crowd_of.get(&key)
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

    fn enter_crowds(&mut self, txn: TxnId) {
        let excluded = crowd::excluded(&self.graph, txn, Relation::Rw);
        for at in &self.entering {
            let (members, base) = &self.crowds[*at as usize];
            self.related |= Crowd::new(members, *base).enter(&mut self.graph, Relation::Rw, &excluded);
        }
        self.entering.clear();
    }
}
