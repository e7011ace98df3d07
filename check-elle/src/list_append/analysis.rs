//! The data about a complete history: version orders, readers, and the anomalies that need no cycles.

use super::commits;
use super::direct::{self, Direct};
use super::edges::Sources;
use super::mop::{Mop, What};
use super::orders::{Orders, Readers};
use super::states::States;
use super::within::Findings;
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::Suffix;
use crate::graph::Relation;
use crate::ids::{ElemId, KeyId, StateId, TxnId};
use crate::model::Model;
use crate::txn::analysis::{Analysis, Named, Reason, reads_what_is_written};
use crate::txn::report::shown_first;
use crate::txn::{TxnGraph, Txns};
use history_core::cast::Cast as _;
use history_core::figure::{Content, Figure, KeyRead};
use history_core::hash::HashMap;
use history_core::parallel;
use history_core::{Datum, Interner, Witness};

/// The maximum number of elements of one list in a report.
const SHOWN_ELEMS_MAX: usize = 4_096;

/// The approximate maximum number of elements of all lists on a page.
const PAGE_ELEMS_MAX: usize = 1_000_000;

#[derive(Debug)]
pub(crate) struct Lists {
    pub(crate) interner: Interner,
    pub(crate) states: States,
    pub(crate) txns: Txns<Mop>,
    pub(crate) orders: Orders,
    pub(crate) readers: Readers,
    pub(crate) direct: Direct,
    /// See [`commits`].
    is_ordered: bool,
    writes_known: bool,
}

/// Two versions of a key.
struct Meeting {
    key: KeyId,
    value: Option<ElemId>,
    next: Option<ElemId>,
    /// Whether the first is the empty list, and not a list of elements that were never appended.
    is_empty: bool,
}

impl Lists {
    pub(crate) fn new(
        interner: Interner,
        states: States,
        txns: Txns<Mop>,
        found: Findings,
        writes_known: bool,
    ) -> Lists {
        let worth = txns.len() >= parallel::WORTH_OPS;
        let facts = states.facts(&txns);
        let infer = || Readers::infer(&states, &txns, facts);
        let (readers, orders) = parallel::both(worth, infer, || Orders::infer(&states, &txns, facts));
        let sources = Sources { states: &states, txns: &txns, orders: &orders, readers: &readers };
        let find = || direct::find(&states, &txns, &orders, facts, found);
        let order = || !facts.is_unwritten_seen && commits::are_ordered(&sources);
        let (are_ordered, direct) = parallel::both(worth, order, find);
        // If an anomaly was found, reads may disagree, and the graph has other edges.
        let is_ordered = are_ordered && direct.types().is_empty();
        Lists { interner, states, txns, orders, readers, direct, is_ordered, writes_known }
    }

    fn sources(&self) -> Sources<'_> {
        let Lists { states, txns, orders, readers, .. } = self;
        Sources { states, txns, orders, readers }
    }

    pub(crate) fn elem(&self, elem: ElemId) -> Datum {
        self.interner.datum(self.states.elem[elem.at()].code)
    }

    pub(crate) fn list(&self, state: StateId) -> Datum {
        self.elems(&self.states.elems(state))
    }

    /// A list in a report; if it is too long to be read, only its beginning and end.
    pub(crate) fn elems(&self, elems: &[ElemId]) -> Datum {
        let datums = |elems: &[ElemId]| elems.iter().map(|elem| self.elem(*elem)).collect::<Vec<_>>();
        if elems.len() <= SHOWN_ELEMS_MAX {
            return Datum::Vector(datums(elems));
        }
        let (first, last) = (&elems[..SHOWN_ELEMS_MAX / 2], &elems[elems.len() - SHOWN_ELEMS_MAX / 2..]);
        Datum::Vector([datums(first), vec![Datum::Symbol("...".into())], datums(last)].concat())
    }

    fn meeting(&self, relation: Relation, from: TxnId, to: TxnId) -> Option<Meeting> {
        let wrote = |elem: ElemId, txn: TxnId| self.states.elem[elem.at()].writer == txn;
        match relation {
            Relation::Ww => self.txns.mops(from).iter().find_map(|mop| {
                let What::Write(elem) = mop.what() else { return None };
                let next = self.orders.after(mop.key, Some(elem)).iter().find(|next| wrote(**next, to))?;
                Some(Meeting { key: mop.key, value: Some(elem), next: Some(*next), is_empty: false })
            }),
            Relation::Wr => self.txns.mops(to).iter().find_map(|mop| {
                let What::Read(state) = mop.what() else { return None };
                let last = self.readers.version(&self.states, state).filter(|last| wrote(*last, from))?;
                Some(Meeting { key: mop.key, value: Some(last), next: None, is_empty: false })
            }),
            Relation::Rw => self.txns.mops(from).iter().find_map(|mop| {
                let What::Read(state) = mop.what() else { return None };
                let value = self.readers.version(&self.states, state);
                let next = Some(*self.orders.after(mop.key, value).iter().find(|next| wrote(**next, to))?);
                Some(Meeting { key: mop.key, value, next, is_empty: self.states.last(state).is_none() })
            }),
            Relation::Process | Relation::Realtime | Relation::Through => None,
        }
    }
}

impl Analysis for Lists {
    type Mop = Mop;

    /// Only appends that were never read, by two transactions of one cycle, are unordered.
    const DOUBT_IS_OF_THIS_HISTORY: bool = true;

    fn txns(&self) -> &Txns<Mop> {
        &self.txns
    }

    fn keys(&self) -> usize {
        self.states.key.len()
    }

    fn key(&self, key: KeyId) -> Datum {
        self.interner.datum(self.states.key[key.at()].code)
    }

    #[cfg(feature = "exact")]
    fn first(&self, _: KeyId) -> Datum {
        Datum::Vector(Vec::new())
    }

    #[cfg(feature = "exact")]
    fn happened(&self) -> Option<crate::exact::Happened> {
        super::happened::happened(&self.states, &self.txns, &self.orders)
    }

    fn mop(&self, mop: Mop) -> Datum {
        let (f, value) = match mop.what() {
            What::Write(elem) => ("append", self.elem(elem)),
            What::Read(state) => ("r", self.list(state)),
            What::Unseen if self.states.key[mop.key.at()].left_out => return Datum::Symbol("...".into()),
            What::Unseen => ("r", Datum::Nil),
        };
        Datum::Vector(vec![Datum::keyword(f), self.key(mop.key), value])
    }

    fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    fn graph(&self, order: Suffix) -> TxnGraph {
        self.sources().graph(order)
    }

    fn reason(&self, relation: Relation, from: Named<'_>, to: Named<'_>) -> Option<Reason> {
        let Meeting { key, value, next, is_empty } = self.meeting(relation, from.txn, to.txn)?;
        let show = |elem: Option<ElemId>| elem.map_or(Datum::Nil, |elem| self.elem(elem));
        let (a, b, key) = (from.name, to.name, self.key(key));
        let (before, after) = (show(value), show(next));
        let because = match relation {
            Relation::Ww => format!("{b} appended {after} after {a} appended {before} to {key}"),
            Relation::Wr => format!("{b} observed {a}'s append of {before} to key {key}"),
            _ if is_empty => format!("{a} observed the initial (empty) state of {key}, to which {b} appended {after}"),
            _ => format!("{a} did not observe {b}'s append of {after} to {key}"),
        };
        let next_value = (relation != Relation::Wr).then_some(after);
        Some(Reason { key, value: before, next_value, because })
    }

    fn direct(&self) -> AnomalySet {
        self.direct.types()
    }

    fn direct_witnesses(&self, anomaly: AnomalyType, max: usize) -> (u64, Vec<Witness>) {
        self.witnesses(anomaly, max)
    }

    /// Appends that were never read can be placed in the order of an acyclic graph. If the graph has cycles, but none
    /// of a forbidden type, placing the appends may create one of that type.
    fn rests_on_order(model: Model) -> bool {
        let prohibited = model.prohibited();
        prohibited.contains(AnomalyType::G_SINGLE_ITEM) && !prohibited.contains(AnomalyType::G2_ITEM)
    }

    /// Appends by transactions of different components can be placed in the order of the components: this closes no
    /// cycle.
    fn unordered(&self, components: &[Vec<u32>]) -> Option<String> {
        let nodes = components.iter().enumerate().flat_map(|(at, nodes)| nodes.iter().map(move |node| (*node, at)));
        let component: HashMap<u32, usize> = nodes.collect();
        let together = |key: &KeyId| {
            let writers = self.orders.unread(*key).iter().map(|elem| self.states.elem[elem.at()].writer);
            let mut found: Vec<(usize, TxnId)> =
                writers.filter_map(|txn| Some((*component.get(&(txn.at().to_u32()))?, txn))).collect();
            found.sort_unstable();
            found.dedup();
            found.windows(2).any(|pair| pair[0].0 == pair[1].0)
        };
        let mut keys = (0..self.states.key.len()).map(KeyId::new);
        let key = if component.is_empty() { None } else { keys.find(together) }?;
        Some(format!("the order of the appends to key {} that were never read is unknown", self.key(key)))
    }

    fn garbage_hint(&self) -> String {
        let cases = self.direct.garbage.iter().map(|(_, _, elem)| self.states.elem[elem.at()]);
        match shown_first(cases.map(|elem| (elem.key, elem.code))) {
            Some(code) => format!("The first such element of every key is {}.", self.interner.datum(code)),
            None => String::new(),
        }
    }

    fn writes_known(&self) -> bool {
        self.writes_known
    }

    fn has_evidence(&self) -> bool {
        let reads = |mop: Mop| matches!(mop.what(), What::Read(_)).then_some(mop.key);
        reads_what_is_written(&self.txns, self.keys(), Self::writes_key, reads)
    }

    fn writes_key(mop: Mop) -> Option<KeyId> {
        matches!(mop.what(), What::Write(_)).then_some(mop.key)
    }

    fn notes(&self, _: bool) -> Vec<String> {
        let keys: Vec<String> =
            self.direct.incompatible.iter().take(8).map(|(key, _)| self.key(*key).to_string()).collect();
        if keys.is_empty() {
            return Vec::new();
        }
        let total = self.direct.incompatible.len();
        let more = if total > keys.len() { format!(" and {} more", total - keys.len()) } else { String::new() };
        vec![format!(
            "Reads of key {}{more} do not agree on one version order. The search for cycles used only what all of \
             them imply: the order of their common prefix, and that all other elements come after it.",
            keys.join(", ")
        )]
    }

    /// `incompatible-order/KEY`: all reads of a key whose reads disagree.
    fn figures(&self, shown: AnomalySet, max: usize) -> Vec<Figure> {
        if !shown.contains(AnomalyType::INCOMPATIBLE_ORDER) {
            return Vec::new();
        }
        let keys = self.direct.incompatible.iter().take(max);
        keys.map(|(key, disagreeing)| {
            let (key, (reads, count)) = (self.key(*key), self.reads_of(*key, disagreeing));
            let left = count - reads.len();
            let title =
                if left > 0 { format!("This page omits {left} more reads of this key.") } else { String::new() };
            let name = format!("incompatible-order/{}", key.to_string().replace('/', "_"));
            Figure { name, content: Content::Reads { title, key, reads } }
        })
        .collect()
    }
}

impl Lists {
    /// The reads of a key, two that disagree first, and their number. If there are very many or long ones, only the
    /// first.
    fn reads_of(&self, key: KeyId, disagreeing: &[(TxnId, u32); 2]) -> (Vec<KeyRead>, usize) {
        let (mut reads, mut count, mut elems) = (Vec::new(), 0, 0);
        let mut add = |txn: TxnId, state: StateId| {
            let list: Vec<Datum> = self.states.elems(state).into_iter().map(|elem| self.elem(elem)).collect();
            elems += list.len();
            let (index, process, kind) = (self.txns.index(txn), self.txns.client(txn), self.txns.kind(txn));
            reads.push(KeyRead { index, process, kind, list });
            elems <= PAGE_ELEMS_MAX
        };
        let mut more = true;
        for (txn, at) in disagreeing {
            if let What::Read(state) = self.txns.mops(*txn)[at.to_usize()].what() {
                more = add(*txn, state);
            }
        }
        for txn in self.txns.ids() {
            for (at, mop) in self.txns.mops(txn).iter().enumerate() {
                let What::Read(state) = mop.what() else { continue };
                if mop.key != key {
                    continue;
                }
                count += 1;
                if more && !disagreeing.contains(&(txn, at.to_u32())) {
                    more = add(txn, state);
                }
            }
        }
        (reads, count)
    }
}
