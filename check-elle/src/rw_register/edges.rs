//! The transaction graph: ww and rw from the order of versions, wr from reads, process and realtime from the history.
//!
//! Adya, "Weak Consistency" (MIT, 1999), section 3.1 (direct conflicts). All transactions that wrote a version after v
//! follow all that read or wrote v. If these are many, as after the initial version, they form a crowd ([`Builder`]).

use super::analysis::Registers;
use super::within::Touch;
use crate::cycle_spec::Suffix;
use crate::graph::Relation;
use crate::ids::{KeyId, TxnId, VersionId};
use crate::txn::TxnGraph;
use crate::txn::builder::{Builder, CrowdId, is_worth_gates};
use history_core::hash::HashMap;

impl Registers {
    /// O(micro-ops + edges).
    pub(super) fn txn_graph(&self, order: Suffix) -> TxnGraph {
        let mut build = Build::new(self, order);
        let mut touches = self.touches.all();
        for txn in self.txns.ids() {
            let own = touches.iter().take_while(|touch| touch.txn == txn).count();
            let (own, rest) = touches.split_at(own);
            touches = rest;
            build.data_edges(txn, own);
            build.builder.end_txn(txn, self.txns.is_ok(txn));
        }
        build.builder.finish()
    }

    /// The writers of the versions directly after a version.
    fn writers_after(&self, version: VersionId) -> impl Iterator<Item = TxnId> {
        self.order.after(version).iter().filter_map(|next| self.versions.installer(*next))
    }

    /// The writers of a key, except those whose writes no other transaction could read.
    fn writers_of(&self, key: KeyId) -> impl Iterator<Item = TxnId> {
        self.touches.of_key(key).filter(|touch| touch.write().is_some()).map(|touch| touch.txn)
    }
}

struct Build<'a> {
    from: &'a Registers,
    builder: Builder,
    /// For each version that many writers follow, the crowd of these.
    crowd_of: HashMap<VersionId, CrowdId>,
    /// The crowds to which the current transaction leads, with the relation.
    entering: Vec<(Relation, CrowdId)>,
}

impl<'a> Build<'a> {
    fn new(from: &'a Registers, order: Suffix) -> Build<'a> {
        let builder = Builder::new(&from.txns, order);
        let mut build = Build { from, builder, crowd_of: HashMap::default(), entering: Vec::new() };
        let mut add = |version: VersionId, before: usize, mut members: Vec<TxnId>| {
            if is_worth_gates(before, members.len()) {
                members.sort_unstable();
                build.crowd_of.insert(version, build.builder.add_crowd(members));
            }
        };
        for (at, key) in from.versions.key.iter().enumerate() {
            let readers = from.touches.readers(key.initial).len();
            if readers > 0 {
                add(key.initial, readers, from.writers_of(KeyId::new(at)).collect());
            }
        }
        for version in (0..from.versions.version.len()).map(VersionId::new) {
            // Few versions have so many direct successors that a closer look pays off.
            if from.order.after(version).len() > 1 {
                let writers = usize::from(from.versions.installer(version).is_some());
                let before = from.touches.readers(version).len() + writers;
                add(version, before, from.writers_after(version).collect());
            }
        }
        build
    }

    fn data_edges(&mut self, txn: TxnId, touches: &[Touch]) {
        let from = self.from;
        for touch in touches {
            if let Some(version) = touch.write() {
                self.lead(txn, version, Relation::Ww);
                for reader in from.touches.readers(version) {
                    self.relate(txn, reader, Relation::Wr);
                }
            }
            if let Some(version) = touch.read() {
                self.lead(txn, version, Relation::Rw);
            }
        }
        // The strongest relations first.
        self.entering.sort_unstable();
        self.builder.enter(txn, &self.entering);
        self.entering.clear();
    }

    /// Adds edges from a transaction to the writers of the versions after `version`.
    fn lead(&mut self, txn: TxnId, version: VersionId, relation: Relation) {
        let from = self.from;
        if let Some(at) = self.crowd_of.get(&version) {
            // Crowds are entered after the stronger relations are known.
            self.entering.push((relation, *at));
        } else if from.versions.is_initial(version) {
            let key = from.versions.version[version.at()].key;
            from.writers_of(key).for_each(|writer| self.relate(txn, writer, relation));
        } else {
            from.writers_after(version).for_each(|writer| self.relate(txn, writer, relation));
        }
    }

    fn relate(&mut self, txn: TxnId, to: TxnId, relation: Relation) {
        if to != txn {
            self.builder.relate(to, relation);
        }
    }
}
