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

    pub(crate) fn elems(&self, elems: &[ElemId]) -> Datum {
        Datum::Vector(elems.iter().map(|elem| self.elem(*elem)).collect())
    }
}
