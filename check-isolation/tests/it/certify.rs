//! Evidence is verified by the certifier, which shares no code with the solver: as a witness in which transactions are
//! identified by their rows.

use check_isolation::{KeyId, Level, Moment, Order, Recorded, Refutation, Transactions, TxnId};
use elle_certify::{Executed, Execution, Uncertified};
use history_core::{Client, Datum, OpKind, WitnessOp};

/// Transactions as if from a history: the index of each op is its row.
struct Rows<'t>(&'t Transactions);

impl Recorded for Rows<'_> {
    fn op(&self, txn: TxnId, name: String) -> WitnessOp {
        let (process, value) = (self.client(txn), Datum::Nil);
        WitnessOp { name, index: self.index(txn), process, kind: OpKind::Ok, time_ns: None, value }
    }

    fn index(&self, txn: TxnId) -> u64 {
        index(txn)
    }

    fn begin(&self, txn: TxnId) -> u64 {
        self.0.begin(txn)
    }

    fn client(&self, txn: TxnId) -> Option<Client> {
        self.0.session(txn).map(|session| Client::Number(session.into()))
    }

    fn key(&self, key: KeyId) -> Datum {
        named(key)
    }

    fn written(&self, txn: TxnId, _: KeyId) -> Datum {
        if txn == TxnId::NONE { Datum::Nil } else { Datum::from(index(txn)) }
    }
}

fn index(txn: TxnId) -> u64 {
    u64::try_from(txn.at()).unwrap()
}

fn named(key: KeyId) -> Datum {
    Datum::from(u64::try_from(key.at()).unwrap())
}

fn execution(txns: &Transactions) -> Execution {
    let executed = |txn: TxnId| Executed {
        index: index(txn),
        session: Rows(txns).client(txn),
        begin: Some(txns.begin(txn)),
        end: Some(txns.end(txn)).filter(|end| *end != u64::MAX),
        reads: txns
            .reads(txn)
            .iter()
            .map(|read| (named(read.key), (read.writer != TxnId::NONE).then(|| index(read.writer))))
            .collect(),
        writes: txns.writes(txn).iter().map(|key| named(*key)).collect(),
    };
    let orders = txns.orders().iter().map(|order| (named(order.key), index(order.before), index(order.after)));
    Execution { txns: txns.ids().map(executed).collect(), orders: orders.collect() }
}

/// Checks that a refutation proves its claim.
pub(crate) fn certify(txns: &Transactions, refutation: &Refutation) -> Result<(), Uncertified> {
    let witness = refutation.witness(&Rows(txns));
    elle_certify::derivation(&execution(txns), refutation.anomaly(), &witness)
}

/// Checks that an order explains the transactions at a level.
pub(crate) fn certify_order(txns: &Transactions, level: Level, order: &Order) -> Result<(), Uncertified> {
    let is_split = order.moments.iter().any(|moment| matches!(moment, Moment::Begin(_)));
    let line = |moment: &Moment| match moment {
        Moment::Begin(txn) => format!("begin {}\n", index(*txn)),
        Moment::Commit(txn) if is_split => format!("commit {}\n", index(*txn)),
        Moment::Commit(txn) => format!("{}\n", index(*txn)),
    };
    elle_certify::explains(&execution(txns), level.name(), &order.moments.iter().map(line).collect::<String>())
}
