//! The recorded ops of the transactions that happened, for witnesses.

use super::Happened;
use crate::ids::{KeyId, TxnId};
use crate::txn::analysis::Analysis;
use crate::txn::explain;
use check_isolation::Recorded;
use history_core::{Client, Datum, WitnessOp};

/// An analysis, and those of its transactions that happened.
pub(super) struct AsRecorded<'a, A> {
    pub(super) analysis: &'a A,
    pub(super) happened: &'a Happened,
}

impl<A: Analysis> AsRecorded<'_, A> {
    fn txn(&self, txn: check_isolation::TxnId) -> TxnId {
        self.happened.rows[txn.at()]
    }
}

impl<A: Analysis> Recorded for AsRecorded<'_, A> {
    fn op(&self, txn: check_isolation::TxnId, name: String) -> WitnessOp {
        explain::op(self.analysis, name, self.txn(txn))
    }

    fn index(&self, txn: check_isolation::TxnId) -> u64 {
        self.analysis.txns().index(self.txn(txn))
    }

    fn begin(&self, txn: check_isolation::TxnId) -> u64 {
        self.analysis.txns().invoked(self.txn(txn)).unwrap_or(0)
    }

    fn client(&self, txn: check_isolation::TxnId) -> Option<Client> {
        self.analysis.txns().client(self.txn(txn))
    }

    fn key(&self, key: check_isolation::KeyId) -> Datum {
        self.analysis.key(KeyId::new(key.at()))
    }

    fn written(&self, txn: check_isolation::TxnId, key: check_isolation::KeyId) -> Datum {
        let key = KeyId::new(key.at());
        if txn == check_isolation::TxnId::NONE {
            return self.analysis.first(key);
        }
        let mops = self.analysis.txns().mops(self.txn(txn));
        let last = mops.iter().rfind(|mop| A::writes_key(**mop) == Some(key));
        match last.map(|mop| self.analysis.mop(*mop)) {
            Some(Datum::Vector(mut parts)) => parts.pop().unwrap_or(Datum::Nil),
            _ => Datum::Nil,
        }
    }
}
