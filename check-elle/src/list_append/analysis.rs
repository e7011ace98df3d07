//! All that is known of a history once it was read: version orders, readers, and the anomalies that need no cycles.

use super::direct::{self, Direct};
use super::edges::{Sources, TxnGraph};
use super::orders::{Orders, Readers};
use super::states::States;
use super::txns::Txns;
use super::within::Findings;
use crate::cycle_spec::Suffix;
use crate::ids::{ElemId, KeyId, StateId};
use crate::intern::Interner;
use history_core::Datum;

/// Elements of one list that a report shows, at the most.
const SHOWN_ELEMS_MAX: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) interner: Interner,
    pub(crate) states: States,
    pub(crate) txns: Txns,
    pub(crate) orders: Orders,
    pub(crate) readers: Readers,
    pub(crate) direct: Direct,
}

impl Analysis {
    pub(crate) fn new(interner: Interner, states: States, txns: Txns, found: Findings) -> Analysis {
        let orders = Orders::infer(&states, &txns);
        let readers = Readers::infer(&states, &txns);
        let direct = direct::find(&states, &txns, &orders, found);
        Analysis { interner, states, txns, orders, readers, direct }
    }

    pub(crate) fn graph(&self, order: Suffix) -> TxnGraph {
        let Analysis { states, txns, orders, readers, .. } = self;
        Sources { states, txns, orders, readers }.graph(order)
    }

    pub(crate) fn key(&self, key: KeyId) -> Datum {
        self.interner.datum(self.states.key[key.at()].code)
    }

    pub(crate) fn elem(&self, elem: ElemId) -> Datum {
        self.interner.datum(self.states.elem[elem.at()].code)
    }

    pub(crate) fn list(&self, state: StateId) -> Datum {
        self.elems(&self.states.elems(state))
    }

    /// A list as it is shown: of one too long to be read, the beginning and the end.
    pub(crate) fn elems(&self, elems: &[ElemId]) -> Datum {
        let datums = |elems: &[ElemId]| elems.iter().map(|elem| self.elem(*elem)).collect::<Vec<_>>();
        if elems.len() <= SHOWN_ELEMS_MAX {
            return Datum::Vector(datums(elems));
        }
        let (first, last) = (&elems[..SHOWN_ELEMS_MAX / 2], &elems[elems.len() - SHOWN_ELEMS_MAX / 2..]);
        Datum::Vector([datums(first), vec![Datum::Symbol("...".into())], datums(last)].concat())
    }
}
