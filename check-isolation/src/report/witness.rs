//! Witnesses: the transactions of an anomaly as recorded, and sentences about the contradiction.

use super::derivation::Recorded;
use super::explain::{first, key, mop, written};
use crate::decode::{Decoded, Direct, DirectCase, Row, Settled, What};
use crate::ids::{KeyId, TxnId};
use history_core::cast::Cast as _;
use history_core::explain::{self, Explanation};
use history_core::figure::{Figure, TXNS_MAX};
use history_core::{Anomaly, Client, Datum, Witness, WitnessOp};

/// A history, and its transactions that happened.
pub(super) struct Happened<'r> {
    pub(super) run: &'r Decoded,
    pub(super) settled: &'r Settled,
}

impl Happened<'_> {
    fn row(&self, txn: TxnId) -> Row {
        self.settled.rows[txn.at()]
    }
}

impl Recorded for Happened<'_> {
    fn op(&self, txn: TxnId, name: String) -> WitnessOp {
        op(self.run, name, self.row(txn))
    }

    fn index(&self, txn: TxnId) -> u64 {
        self.run.rows.index(self.row(txn))
    }

    fn begin(&self, txn: TxnId) -> u64 {
        self.run.rows.begin(self.row(txn))
    }

    fn client(&self, txn: TxnId) -> Option<Client> {
        self.run.rows.client(self.row(txn))
    }

    fn key(&self, of: KeyId) -> Datum {
        key(self.run, of)
    }

    fn written(&self, txn: TxnId, key: KeyId) -> Datum {
        if txn == TxnId::NONE { first(self.run) } else { written(self.run, self.row(txn), key) }
    }
}

/// A transaction of a witness.
pub(crate) fn op(run: &Decoded, name: String, row: Row) -> WitnessOp {
    let rows = &run.rows;
    WitnessOp {
        name,
        index: rows.index(row),
        process: rows.client(row),
        kind: rows.kind(row),
        time_ns: rows.time_ns(row),
        value: Datum::Vector(rows.mops(row).iter().map(|one| mop(run, *one)).collect()),
    }
}

/// The figures of all witnesses that have one.
pub(super) fn figures(anomalies: &[Anomaly]) -> Vec<Figure> {
    let of_one = |anomaly: &Anomaly| {
        let witnesses = anomaly.witnesses.iter().enumerate();
        let drawn = witnesses.filter(|(_, witness)| !witness.steps.is_empty() && witness.ops.len() <= TXNS_MAX);
        drawn.map(|(at, witness)| Figure::of_cycle(&anomaly.name, at, witness)).collect::<Vec<_>>()
    };
    anomalies.iter().flat_map(of_one).collect()
}

/// A witness of an anomaly that does not depend on the order.
pub(super) fn direct(run: &Decoded, case: DirectCase) -> Witness {
    let read = run.rows.mops(case.reader)[case.mop.to_usize()];
    let mut ops = vec![op(run, explain::name(0), case.reader)];
    let other = if let What::Contradicts(number) = read.what() { longer(run, read.key, number) } else { case.other };
    if other != Row::NONE && other != case.reader {
        ops.push(op(run, explain::name(1), other));
    }
    let (shown, key) = (mop(run, read), key(run, read.key));
    let sentence = match case.what {
        Direct::G1a => format!("T1 read {shown}, which T2 wrote, but T2 failed."),
        Direct::G1b => {
            format!("T1 read {shown}, which T2 wrote, but T2 wrote key {key} again in the same transaction.")
        }
        Direct::G0 => format!(
            "T1 read {shown}: T2's elements of key {key} are not side by side in the order in which T2 appended them, \
             although T2 took effect at one instant."
        ),
        Direct::ThinAirRead => format!("T1 read {shown}, which was never written."),
        Direct::FutureRead => format!("T1 read {shown}, before it wrote it itself."),
        Direct::Internal => {
            format!("T1 read {shown}, which is not what it had last written to key {key} itself.")
        }
        Direct::IncompatibleOrder => {
            let who = if ops.len() > 1 { "T2 read" } else { "it also read" };
            format!("T1 read {shown}, and {who} a list of key {key} such that neither is a prefix of the other.")
        }
        Direct::DuplicateElements => {
            format!("T1 read {shown}, which contains an element twice, although it was appended once.")
        }
    };
    let mut explanation = Explanation::of(&ops);
    explanation.then(sentence);
    Witness::new(ops, explanation.to_string()).with_facts(vec![("key".into(), key), ("mop".into(), shown)])
}

/// The first transaction whose read of a list shows where another read contradicts it. O(micro-ops).
fn longer(run: &Decoded, key: KeyId, contradiction: u32) -> Row {
    let shared = run.contradictions[contradiction.to_usize()].shared;
    let shows = |row: &Row| {
        let mut reads = run.rows.mops(*row).iter().filter(|mop| mop.key == key);
        reads.any(|mop| matches!(mop.what(), What::Read(length) if length > shared))
    };
    run.rows.ids().find(shows).unwrap_or(Row::NONE)
}
