//! Other orders of registers that lie on cycles between the orders of shares ([`KnotsRun`]).
//!
//! Each set is checked as a separate history, whose registers initially have the values that its transactions read from
//! others. Values that others read from it are read again at its end, by one transaction.

use super::super::mop::{Mop, What};
use super::super::run::RwRegisterRun;
use super::super::versions::Versions;
use super::{external, of_those};
use crate::exact::{Exact, is_strict};
use crate::ids::{KeyId, TxnId, VersionId};
use crate::txn::Txns;
use crate::txn::fold::{TxnRun, Workload as _};
use check_isolation::{NewTxn, Transactions};
use history_core::hash::HashMap;
use history_core::keyed_parts::place_of;
use history_core::share::KnotsRun;
use history_core::{Budget, HistoryError, Op, OpKind, Run as _, Seq, Value};

/// A key and a value, as hashes.
type Written = (u64, u64);

pub(crate) struct Knots {
    sets: Vec<TxnRun<RwRegisterRun>>,
    /// The reads of each set's writes by other sets.
    read: Vec<Vec<Mop>>,
    /// The set of each write.
    written: HashMap<Written, usize>,
    /// Whether some invocation lacks its micro-ops, or two sets write the same value.
    is_unclear: bool,
    exact: Exact,
}

impl Knots {
    pub(crate) fn new(sets: Vec<TxnRun<RwRegisterRun>>, exact: Exact) -> Knots {
        let read = vec![Vec::new(); sets.len()];
        Knots { sets, read, written: HashMap::default(), is_unclear: false, exact }
    }

    /// Records the writes of an invocation: a value is read only after its write was invoked.
    fn note_writes(&mut self, set: usize, op: &Op<'_>) {
        self.is_unclear |= op.value.is_nil();
        for [_, key, value] in mops(op).filter(|[f, ..]| f.as_name() == Some("w")) {
            let other = self.written.insert((place_of(key), place_of(value)), set);
            self.is_unclear |= other.is_some_and(|other| other != set);
        }
    }

    fn note_reads(&mut self, set: Option<usize>, op: &Op<'_>) {
        for [f, key, value] in mops(op).filter(|[f, ..]| f.as_name() == Some("r")) {
            let written = self.written.get(&(place_of(key), place_of(value))).copied();
            if let Some(at) = written.filter(|at| Some(*at) != set) {
                let f = f.as_name().unwrap_or_default();
                self.read[at].extend(self.sets[at].workload().decode(op.kind, f.as_bytes(), key, value));
            }
        }
    }
}

/// The micro-ops of an op, with all of their parts.
fn mops<'o>(op: &Op<'o>) -> impl Iterator<Item = [Value<'o>; 3]> + use<'o> {
    let all = op.value.as_seq().into_iter().flatten();
    all.filter_map(|mop| mop.as_seq().and_then(Seq::as_array))
}

impl KnotsRun for Knots {
    fn observe(&mut self, set: Option<usize>, op: &Op<'_>) -> Result<(), HistoryError> {
        if let Some(set) = set {
            self.sets[set].observe(op).map(|_| ())?;
            if op.kind == OpKind::Invoke {
                self.note_writes(set, op);
            }
        }
        if op.kind == OpKind::Ok && !self.written.is_empty() {
            self.note_reads(set, op);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Vec<bool> {
        let Knots { sets, read, exact, is_unclear, .. } = *self;
        let has_order = |(set, read): (TxnRun<RwRegisterRun>, Vec<Mop>)| {
            let known = set.known(budget)?;
            is_strict(&knot(&known.versions, &known.txns, &read)?, exact, budget)
        };
        sets.into_iter().zip(read).map(|set| !is_unclear && has_order(set).is_some()).collect()
    }
}

/// A part of a history, all of whose transactions happened. They may read one version of each key from before the part;
/// `read` are the versions that others read from it, each the last of its key. `None` if this is impossible.
///
/// A transaction without a completion may follow the reader of these versions: no transaction observed it, so it may as
/// well follow the whole history. The sources are not needed, because real time or a serial order implies all their
/// edges.
fn knot(versions: &Versions, txns: &Txns<Mop>, read: &[Mop]) -> Option<Transactions> {
    let mut before = vec![VersionId::NONE; versions.key.len()];
    let look = |txn: TxnId, key: KeyId, version: VersionId| {
        let is_outside = versions.is_initial(version) || versions.version[version.at()].writer == TxnId::NONE;
        if !is_outside {
            return external(versions, txn, key, version);
        }
        let first = std::mem::replace(&mut before[key.at()], version);
        (first == VersionId::NONE || first == version).then_some((key, None))
    };
    let mut happened = of_those(versions, txns, |txn| txns.is_possible(txn), false, look)?;
    let mut reads = Vec::new();
    for mop in read {
        let What::Read(version) = mop.what() else { return None };
        let (key, writer) = external(versions, TxnId::NONE, mop.key, version)?;
        reads.push(happened.read(key, writer)?);
    }
    reads.sort_unstable_by_key(|read| (read.key, read.writer));
    reads.dedup();
    happened.txns.push(&NewTxn { begin: Some(u64::MAX - 1), reads: &reads, ..NewTxn::default() });
    (!happened.contradicts_itself).then_some(happened.txns)
}
