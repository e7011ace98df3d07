//! Decodes the transactions of a history and of a witness, by the rules of a workload.

use super::log::{Log, Mop, Txn};
use super::workload::Workload;
use super::{Uncertified, claim};
use history_core::{Client, Datum, History, OpKind, Pair, Witness, WitnessOp};

impl Log {
    /// The transactions of a history.
    pub(super) fn of(history: &History, workload: &dyn Workload) -> Result<Log, Uncertified> {
        let mut txns = Vec::new();
        // Invocations of clients without a name: their completions are unknown.
        let mut nameless = Vec::new();
        for (at, op) in history.ops().enumerate() {
            if !op.process.is_client() {
                continue;
            }
            let partner = history.partner(at);
            let value = history.value(at);
            let process = Client::of(&op);
            // An invocation does not contain the results of its reads.
            let wish = op.value.is_nil() || op.kind == OpKind::Invoke;
            let kind = if op.kind == OpKind::Invoke { OpKind::Info } else { op.kind };
            let mops = mops(&value.to_datum(), if wish { OpKind::Invoke } else { kind }, workload)?;
            let invoked = partner.map(|partner| history.op(partner).index);
            let txn = Txn { index: op.index, invoked, process, kind, mops };
            match (op.kind, op.pair, partner) {
                (OpKind::Invoke, _, Some(_)) => {}
                (OpKind::Invoke, Pair::Alone, None) => nameless.push(txn),
                (OpKind::Invoke, _, None) => txns.push(Txn { invoked: Some(op.index), ..txn }),
                _ => txns.push(txn),
            }
        }
        let mut log = Log { txns };
        nameless.retain(|txn| {
            let is_completed = |(key, value)| log.txns.iter().any(|other| other.wrote(key, value));
            txn.writes().next().is_some() && !txn.writes().any(is_completed)
        });
        log.txns.append(&mut nameless);
        log.txns.sort_by_key(|txn| txn.index);
        Ok(log)
    }

    /// The transactions that a witness names, if it describes them as recorded.
    pub(super) fn all_described(&self, witness: &Witness, workload: &dyn Workload) -> Result<Vec<&Txn>, Uncertified> {
        witness.ops.iter().map(|op| self.described(op, workload)).collect()
    }

    /// The transaction of a witness's op, if the op is described as recorded.
    fn described(&self, op: &WitnessOp, workload: &dyn Workload) -> Result<&Txn, Uncertified> {
        let index = op.index;
        let txn = self.txns.iter().find(|txn| txn.index == index);
        let txn = txn.ok_or_else(|| Uncertified::new(format!("the history has no transaction with index {index}")))?;
        claim(op.process == txn.process, || format!("op {index} is not of process {:?}", op.process))?;
        let open = txn.invoked == Some(index) && op.kind == OpKind::Invoke;
        claim(op.kind == txn.kind || open, || format!("op {index} is not {}", op.kind.name()))?;
        let described = mops(&op.value, txn.kind, workload)?;
        claim(txn.is_described_by(&described), || format!("the value of op {index} is not {}", op.value))?;
        Ok(txn)
    }
}

/// The micro-ops in a transaction's value.
fn mops(value: &Datum, kind: OpKind, workload: &dyn Workload) -> Result<Vec<Mop>, Uncertified> {
    match value {
        Datum::Nil => Ok(Vec::new()),
        Datum::Vector(items) | Datum::List(items) => items.iter().map(|item| workload.mop(item, kind)).collect(),
        other => Err(Uncertified::new(format!("{other} is not a transaction"))),
    }
}
