//! The data about a history after it was read: the order of versions, readers, and anomalies without cycles.

use super::direct::{self, Direct, Found};
use super::mop::{Mop, What};
use super::order::Order;
use super::sources::{Inference, Source, Sources};
use super::touches::Touches;
use super::versions::Versions;
use super::within::Findings;
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::Suffix;
use crate::graph::Relation;
use crate::ids::{KeyId, TxnId, VersionId};
use crate::model::Model;
use crate::txn::analysis::{Analysis, Named, Reason, reads_what_is_written};
use crate::txn::report::shown_first;
use crate::txn::{TxnGraph, Txns};
use history_core::cast::Cast as _;
use history_core::parallel;
use history_core::{Datum, Interner, Witness};

#[derive(Debug)]
pub(crate) struct Registers {
    interner: Interner,
    pub(super) versions: Versions,
    pub(super) txns: Txns<Mop>,
    pub(super) touches: Touches,
    pub(super) order: Order,
    pub(super) direct: Direct,
    hides_reads: bool,
    known: Known,
    /// The sources that were not requested.
    unused: Vec<Source>,
}

/// Facts about a history as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Whether each write of the history is known.
    pub(super) has_all_writes: bool,
    /// Whether other shares may show that a transaction happened.
    pub(super) is_share: bool,
    /// Whether a serial order explains the history: then no other result exists.
    pub(super) is_explained: bool,
}

impl Registers {
    pub(super) fn new(
        interner: Interner,
        versions: Versions,
        txns: Txns<Mop>,
        found: Findings,
        sources: &Sources,
        known: Known,
    ) -> Registers {
        let unused = sources.unused();
        if known.is_explained {
            let (touches, order, direct) = (Touches::default(), Order::default(), Direct::default());
            return Registers { interner, versions, txns, touches, order, direct, hides_reads: false, known, unused };
        }
        let Findings { touches, internal, hides_reads, updates, future_reads, .. } = found;
        let found = Found { internal, updates, future_reads };
        let touches = Touches::new(touches, &versions);
        let from = Inference { versions: &versions, txns: &txns, touches: &touches };
        let worth = txns.len() >= parallel::WORTH_OPS;
        let find = || direct::find(&versions, &txns, found);
        let (order, direct) = parallel::both(worth, || Order::infer(from, sources), find);
        Registers { interner, versions, txns, touches, order, direct, hides_reads, known, unused }
    }

    /// Returns true if other shares may show that a transaction happened.
    pub(super) fn is_share(&self) -> bool {
        self.known.is_share
    }

    pub(super) fn value(&self, version: VersionId) -> Datum {
        self.interner.datum(self.versions.version[version.at()].code)
    }

    /// The key and versions by which two transactions are related.
    fn meeting(&self, relation: Relation, from: TxnId, to: TxnId) -> Option<(KeyId, VersionId, VersionId)> {
        self.touches.of(from).iter().find_map(|touch| {
            let before = if relation == Relation::Rw { touch.read()? } else { touch.write()? };
            let other = self.touches.find(to, touch.key)?;
            let after = if relation == Relation::Wr { other.read()? } else { other.write()? };
            let meet = match relation {
                Relation::Wr => before == after,
                _ => self.versions.is_initial(before) || self.order.after(before).contains(&after),
            };
            meet.then_some((touch.key, before, after))
        })
    }

    /// The sources that would order some versions, if no source in use does, as a sentence.
    fn advice(&self) -> Option<String> {
        if self.known.is_explained
            || !self.order.is_trivial()
            || !self.order.cyclic.is_empty()
            || self.unordered_key().is_none()
        {
            return None;
        }
        let from = Inference { versions: &self.versions, txns: &self.txns, touches: &self.touches };
        let orders = |source: &&Source| match source {
            Source::WfrKeys => !from.wfr().is_empty(),
            Source::SequentialKeys => from.processes_order_any(),
            Source::LinearizableKeys => from.by_clock().orders_any(from),
            Source::InitialState | Source::TransactionOrder => false,
        };
        let would: Vec<String> =
            self.unused.iter().filter(orders).map(|source| format!("--{}", source.name())).collect();
        let nothing = "The version order of each key is unknown, except that the initial version comes first, so few \
            anomalies can be found.";
        Some(if would.is_empty() {
            format!("{nothing} No other option would order more versions.")
        } else {
            format!("{nothing} {} would order some versions: pass it if the store guarantees it.", would.join(" or "))
        })
    }
}

impl Analysis for Registers {
    type Mop = Mop;

    /// Reads of registers never show the order of all versions; the README explains which option orders them.
    const DOUBT_IS_OF_THIS_HISTORY: bool = false;

    const READS_SHOW_ORDER: bool = false;

    fn is_ordered(&self) -> bool {
        self.known.is_explained
    }

    fn order_depends_on_others(&self) -> bool {
        Registers::order_depends_on_others(self)
    }

    fn assumptions_hold(&self) -> bool {
        self.order.cyclic.is_empty()
    }

    fn hides_reads(&self) -> bool {
        self.hides_reads
    }

    fn txns(&self) -> &Txns<Mop> {
        &self.txns
    }

    fn keys(&self) -> usize {
        self.versions.key.len()
    }

    fn key(&self, key: KeyId) -> Datum {
        self.interner.datum(self.versions.key[key.at()].code)
    }

    #[cfg(feature = "exact")]
    fn first(&self, key: KeyId) -> Datum {
        self.value(self.versions.key[key.at()].initial)
    }

    #[cfg(feature = "exact")]
    fn happened(&self) -> Option<crate::exact::Happened> {
        super::happened::happened(&self.versions, &self.txns, &self.order)
    }

    #[cfg(feature = "exact")]
    fn may_have_happened(&self) -> Option<crate::exact::Happened> {
        super::happened::may_have_happened(&self.versions, &self.txns, &self.order)
    }

    fn mop(&self, mop: Mop) -> Datum {
        let (f, value) = match mop.what() {
            What::Write(version) => ("w", self.value(version)),
            What::Read(version) => ("r", self.value(version)),
            What::Unseen if self.versions.key[mop.key.at()].left_out => return Datum::Symbol("...".into()),
            What::Unseen => ("r", Datum::Nil),
        };
        Datum::Vector(vec![Datum::keyword(f), self.key(mop.key), value])
    }

    fn graph(&self, order: Suffix) -> TxnGraph {
        self.txn_graph(order)
    }

    fn reason(&self, relation: Relation, from: Named<'_>, to: Named<'_>) -> Option<Reason> {
        let (key, before, after) = self.meeting(relation, from.txn, to.txn)?;
        let (a, b, key) = (from.name, to.name, self.key(key));
        let (value, next) = (self.value(before), self.value(after));
        if relation == Relation::Wr {
            let because = format!("{a} wrote {value} to key {key}, which {b} read");
            return Some(Reason { key, value, next_value: None, because });
        }
        let did = if relation == Relation::Ww { "set" } else { "read" };
        let because = if self.versions.is_initial(before) {
            format!("{a} read {value}, the initial version, of key {key}, which {b} set to {next}")
        } else {
            let name = |txn: TxnId| match txn {
                txn if txn == from.txn => a.to_owned(),
                txn if txn == to.txn => b.to_owned(),
                txn => format!("the op at index {}", self.txns.index(txn)),
            };
            let ground = self.ground(before, after, &self.order.in_use);
            let ground = ground.map(|ground| format!(" ({})", self.explain_ground(ground, (before, after), name)));
            let what =
                if relation == Relation::Ww { format!("{did} key {key} to") } else { format!("{did} key {key} as") };
            format!("{a} {what} {value}, and {b} set it to {next}, which came later{}", ground.unwrap_or_default())
        };
        Some(Reason { key, value, next_value: Some(next), because })
    }

    fn direct(&self) -> AnomalySet {
        let mut types = self.direct.types();
        if !self.order.cyclic.is_empty() {
            types.insert(AnomalyType::CYCLIC_VERSIONS);
        }
        types
    }

    fn direct_witnesses(&self, anomaly: AnomalyType, max: usize) -> (u64, Vec<Witness>) {
        self.witnesses(anomaly, max)
    }

    /// The absence of anomalies proves nothing unless the order of all versions is known.
    fn rests_on_order(_: Model) -> bool {
        true
    }

    fn unordered(&self, _: &[Vec<u32>]) -> Option<String> {
        if self.known.is_explained {
            return None;
        }
        if !self.direct.g1a.is_empty() || !self.direct.g1b.is_empty() {
            return Some("a transaction read a failed or intermediate write".to_owned());
        }
        let key = self.unordered_key()?;
        Some(format!("the version order of key {key} is unknown"))
    }

    fn garbage_hint(&self) -> String {
        let cases = self.direct.garbage.iter().filter_map(|(txn, at)| {
            let What::Read(version) = self.txns.mops(*txn)[at.to_usize()].what() else { return None };
            let version = self.versions.version[version.at()];
            Some((version.key, version.code))
        });
        match shown_first(cases) {
            Some(code) => {
                let value = self.interner.datum(code);
                format!(
                    "The first such value of every key is {value}. If registers contain {value} before the first \
                     write, add --initial {value}."
                )
            }
            None => {
                "If registers contain another value than nil before the first write, add --initial VALUE.".to_owned()
            }
        }
    }

    fn writes_known(&self) -> bool {
        self.known.has_all_writes
    }

    fn has_evidence(&self) -> bool {
        let reads = |mop: Mop| matches!(mop.what(), What::Read(_)).then_some(mop.key);
        reads_what_is_written(&self.txns, self.keys(), Self::writes_key, reads)
    }

    fn writes_key(mop: Mop) -> Option<KeyId> {
        matches!(mop.what(), What::Write(_)).then_some(mop.key)
    }

    fn notes(&self, is_decided: bool) -> Vec<String> {
        let mut notes: Vec<String> = if is_decided { None } else { self.advice() }.into_iter().collect();
        let dropped = self.order.cyclic.iter().filter_map(|case| case.sources.last());
        let mut dropped: Vec<&str> = dropped.map(|source| source.name()).collect();
        dropped.dedup();
        if !dropped.is_empty() {
            notes.push(format!(
                "The version order contradicts itself with {}, so this assumption was ignored: cycles that depend on \
                 it are not reported.",
                dropped.join(" and ")
            ));
        }
        if self.order.names_nothing > 0 {
            notes.push(format!(
                "Ignored {} indices in the order of transactions: each is of no transaction that may have happened, \
                 or is a repetition.",
                self.order.names_nothing
            ));
        }
        notes
    }
}
