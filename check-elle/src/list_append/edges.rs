//! The transaction graph: ww, wr and rw from version orders and reads, process and realtime from the history.
//!
//! Adya, "Weak Consistency" (MIT, 1999), section 3.1 (direct conflicts) for ww, wr and rw.
//!
//! Appends that were never read come after each read of their key's last element. If they are many, they form a crowd
//! ([`Builder`]).

use super::mop::{Mop, What};
use super::orders::{Orders, Readers};
use super::states::States;
use crate::cycle_spec::Suffix;
use crate::graph::Relation;
use crate::ids::{ElemId, KeyId, TxnId};
use crate::txn::builder::{Builder, CrowdId, is_worth_gates};
use crate::txn::{TxnGraph, Txns};
use history_core::hash::HashMap;

/// The data from which the graph is built.
pub(crate) struct Sources<'a> {
    pub(crate) states: &'a States,
    pub(crate) txns: &'a Txns<Mop>,
    pub(crate) orders: &'a Orders,
    pub(crate) readers: &'a Readers,
}

impl Sources<'_> {
    /// O(micro-ops + edges).
    pub(crate) fn graph(&self, order: Suffix) -> TxnGraph {
        let mut build = Build::new(self, order);
        for txn in self.txns.ids() {
            if self.txns.is_possible(txn) {
                build.data_edges(txn);
            }
            build.builder.end_txn(txn, self.txns.is_ok(txn));
        }
        build.builder.finish()
    }

    /// The writer of an element, if it is not `txn` and may have happened.
    fn other_writer(&self, elem: ElemId, txn: TxnId) -> Option<TxnId> {
        let writer = self.states.elem[elem.at()].writer;
        (writer != TxnId::NONE && writer != txn && self.txns.is_possible(writer)).then_some(writer)
    }
}

struct Build<'a> {
    from: &'a Sources<'a>,
    builder: Builder,
    /// For each key with many unread appends, the crowd of their writers.
    crowd_of: HashMap<KeyId, CrowdId>,
    /// Crowds of the keys whose last element the current transaction read.
    entering: Vec<(Relation, CrowdId)>,
}

impl<'a> Build<'a> {
    fn new(from: &'a Sources<'a>, order: Suffix) -> Build<'a> {
        let builder = Builder::new(from.txns, order);
        let mut build = Build { from, builder, crowd_of: HashMap::default(), entering: Vec::new() };
        for key in (0..from.states.key.len()).map(KeyId::new) {
            let unread = from.orders.unread(key);
            let readers = match from.orders.last(key, from.states, from.txns) {
                Some(last) => from.readers.of(last).len(),
                None => from.readers.of_empty(key).len(),
            };
            if is_worth_gates(readers, unread.len()) {
                // Unread appends are in the order of their writers.
                let writers = unread.iter().map(|elem| from.states.elem[elem.at()].writer);
                build.crowd_of.insert(key, build.builder.add_crowd(writers.collect()));
            }
        }
        build
    }

    fn data_edges(&mut self, txn: TxnId) {
        let from = self.from;
        for mop in from.txns.mops(txn) {
            match mop.what() {
                What::Write(elem) => {
                    for next in from.orders.after(mop.key, Some(elem)) {
                        self.relate(from.other_writer(*next, txn), Relation::Ww);
                    }
                    for reader in from.readers.of(elem) {
                        self.relate((*reader != txn).then_some(*reader), Relation::Wr);
                    }
                }
                What::Read(state) => self.rw_edges(txn, mop.key, from.readers.version(from.states, state)),
                What::Unseen => {}
            }
        }
        self.builder.enter(txn, &self.entering);
        self.entering.clear();
    }

    fn rw_edges(&mut self, txn: TxnId, key: KeyId, version: Option<ElemId>) {
        let next = self.from.orders.after(key, version);
        if next.len() > 1
            && let Some(at) = self.crowd_of.get(&key)
        {
            // Crowds are entered after the stronger relations are known.
            return self.entering.push((Relation::Rw, *at));
        }
        for next in next {
            self.relate(self.from.other_writer(*next, txn), Relation::Rw);
        }
    }

    fn relate(&mut self, to: Option<TxnId>, relation: Relation) {
        if let Some(to) = to {
            self.builder.relate(to, relation);
        }
    }
}
