//! The definition of a level, checked for every order of the transactions.

use check_isolation::{Axiom, Base, Moment, Order, Transactions, TxnId};

type Relation = Vec<Vec<bool>>;

/// The base order of a history, as pairs.
fn base_order(txns: &Transactions, base: Base) -> Relation {
    let is_before = |a: TxnId, b: TxnId| {
        let session = txns.session(a).is_some() && txns.session(a) == txns.session(b) && a < b;
        base != Base::None && session || base == Base::RealTime && txns.end(a) < txns.begin(b)
    };
    txns.ids().map(|a| txns.ids().map(|b| is_before(a, b)).collect()).collect()
}

fn closure(mut relation: Relation) -> Relation {
    for via in 0..relation.len() {
        let behind = relation[via].clone();
        for from in relation.iter_mut().filter(|from| from[via]) {
            from.iter_mut().zip(&behind).for_each(|(to, is_behind)| *to |= is_behind);
        }
    }
    relation
}

/// The parts of the definition that do not depend on the order.
pub(crate) struct Definition<'t> {
    txns: &'t Transactions,
    axiom: Axiom,
    /// Base and reads.
    known: Relation,
    reached: Relation,
}

impl<'t> Definition<'t> {
    pub(crate) fn new(txns: &'t Transactions, axiom: Axiom, base: Base) -> Definition<'t> {
        let mut known = base_order(txns, base);
        for txn in txns.ids() {
            for read in txns.reads(txn).iter().filter(|read| read.writer != TxnId::NONE) {
                known[read.writer.at()][txn.at()] = true;
            }
        }
        let reached = closure(known.clone());
        Definition { txns, axiom, known, reached }
    }

    /// Returns true if an order, given as the position of each transaction, obeys the axiom.
    pub(crate) fn is_obeyed(&self, at: &[usize]) -> bool {
        let n = at.len();
        let extends = (0..n).all(|a| (0..n).all(|b| !self.known[a][b] || at[a] < at[b]));
        let orders = self.txns.orders().iter().all(|order| at[order.before.at()] < at[order.after.at()]);
        extends && orders && {
            let seen = self.overwrites_seen(at);
            self.txns.ids().all(|reader| self.reads_are_right(reader, at, &seen))
        }
    }

    /// Paths of base, reads and overwrites, for parallel snapshot isolation.
    fn overwrites_seen(&self, at: &[usize]) -> Relation {
        if self.axiom != Axiom::ParallelSnapshot {
            return Vec::new();
        }
        let mut steps = self.known.clone();
        for a in self.txns.ids() {
            for b in self.txns.ids() {
                steps[a.at()][b.at()] |= at[a.at()] < at[b.at()] && self.share_a_write(a, b);
            }
        }
        closure(steps)
    }

    fn share_a_write(&self, a: TxnId, b: TxnId) -> bool {
        self.txns.writes(a).iter().any(|key| self.txns.is_writer(b, *key))
    }

    fn reads_are_right(&self, reader: TxnId, at: &[usize], seen: &Relation) -> bool {
        self.txns.reads(reader).iter().enumerate().all(|(position, read)| {
            let others = self.txns.ids().filter(|other| *other != reader && *other != read.writer);
            others.filter(|other| self.txns.is_writer(*other, read.key)).all(|other| {
                !self.is_visible(other, reader, position, at, seen)
                    || read.writer != TxnId::NONE && at[other.at()] < at[read.writer.at()]
            })
        })
    }

    fn is_visible(&self, other: TxnId, reader: TxnId, position: usize, at: &[usize], seen: &Relation) -> bool {
        let (o, r) = (other.at(), reader.at());
        let prefix = || self.txns.ids().any(|via| at[o] <= at[via.at()] && self.known[via.at()][r]);
        match self.axiom {
            Axiom::ReadCommitted => false,
            Axiom::MonotonicAtomicView => self.txns.reads(reader)[..position].iter().any(|read| read.writer == other),
            Axiom::ReadAtomic => self.known[o][r],
            Axiom::Causal => self.reached[o][r],
            Axiom::Prefix => prefix(),
            Axiom::ParallelSnapshot => seen[o][r],
            Axiom::Snapshot => {
                let overwrites =
                    |via: TxnId| at[o] <= at[via.at()] && at[via.at()] < at[r] && self.share_a_write(via, reader);
                prefix() || self.txns.ids().any(overwrites)
            }
            Axiom::Serializable => at[o] < at[r],
        }
    }

    /// Returns true if some order obeys the axiom.
    pub(crate) fn holds(&self) -> bool {
        let mut at = vec![usize::MAX; self.txns.len()];
        self.holds_with(&mut at, 0)
    }

    fn holds_with(&self, at: &mut Vec<usize>, next: usize) -> bool {
        if next == at.len() {
            return self.is_obeyed(at);
        }
        for txn in 0..at.len() {
            if at[txn] == usize::MAX {
                at[txn] = next;
                if self.holds_with(at, next + 1) {
                    return true;
                }
                at[txn] = usize::MAX;
            }
        }
        false
    }

    /// Returns true if an order that was found obeys the axiom: its commits, by the definition.
    pub(crate) fn accepts(&self, order: &Order) -> bool {
        let mut at = vec![usize::MAX; self.txns.len()];
        for (position, moment) in order.moments.iter().enumerate() {
            if let Moment::Commit(txn) = moment {
                at[txn.at()] = position;
            }
        }
        at.iter().all(|at| *at != usize::MAX) && self.is_obeyed(&at)
    }
}
