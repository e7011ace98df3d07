//! The transactions of a history, as they were recorded.

use super::{Uncertified, claim};
use history_core::{Datum, History, OpKind, Pair, Process, WitnessOp};

/// All transactions, in the order of their indices.
pub(super) struct Log {
    pub(super) txns: Vec<Txn>,
}

pub(super) struct Txn {
    /// Of the completion; of the invocation, where there is no completion.
    pub(super) index: u64,
    /// The invocation's index, if that is known.
    pub(super) invoked: Option<u64>,
    pub(super) process: Option<i64>,
    /// `Info` for what was never answered.
    pub(super) kind: OpKind,
    pub(super) mops: Vec<Mop>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mop {
    Append {
        key: Datum,
        element: Datum,
    },
    /// Without a list where nobody knows what was read.
    Read {
        key: Datum,
        list: Option<Vec<Datum>>,
    },
}

impl Log {
    pub(super) fn of(history: &History) -> Result<Log, Uncertified> {
        let mut txns = Vec::new();
        // Invocations of clients without a name: nobody can say to which completion they belong.
        let mut nameless = Vec::new();
        for (at, op) in history.ops().enumerate() {
            if !op.process.is_client() {
                continue;
            }
            let partner = history.partner(at);
            let value = history.value(at);
            let process = if let Process::Client(process) = op.process { Some(process) } else { None };
            // What an invocation says of its reads is a wish.
            let wish = op.value.is_nil() || op.kind == OpKind::Invoke;
            let kind = if op.kind == OpKind::Invoke { OpKind::Info } else { op.kind };
            let mops = mops(&value.to_datum(), if wish { OpKind::Invoke } else { kind })?;
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
            let is_completed = |(key, element)| log.txns.iter().any(|other| other.appended(key, element));
            txn.appends().next().is_some() && !txn.appends().any(is_completed)
        });
        log.txns.append(&mut nameless);
        log.txns.sort_by_key(|txn| txn.index);
        Ok(log)
    }

    /// The transaction that appended an element, failed or not.
    pub(super) fn writer(&self, key: &Datum, element: &Datum) -> Result<Option<&Txn>, Uncertified> {
        let writers: Vec<&Txn> = self.txns.iter().filter(|txn| txn.appended(key, element)).collect();
        claim(writers.len() <= 1, || format!("{element} was appended to key {key} twice"))?;
        Ok(writers.first().copied())
    }

    /// The transaction of a witness's op, if the op is described as it was recorded.
    pub(super) fn described(&self, op: &WitnessOp) -> Result<&Txn, Uncertified> {
        let index = op.index;
        let txn = self.txns.iter().find(|txn| txn.index == index);
        let txn = txn.ok_or_else(|| Uncertified::new(format!("the history has no transaction with index {index}")))?;
        claim(op.process == txn.process, || format!("op {index} is not of process {:?}", op.process))?;
        let open = txn.invoked == Some(index) && op.kind == OpKind::Invoke;
        claim(op.kind == txn.kind || open, || format!("op {index} is not {}", op.kind.name()))?;
        let described = mops(&op.value, txn.kind)?;
        claim(txn.is_described_by(&described), || format!("the value of op {index} is not {}", op.value))?;
        Ok(txn)
    }
}

impl Txn {
    /// Whether it happened, or may have.
    pub(super) fn is_possible(&self) -> bool {
        matches!(self.kind, OpKind::Ok | OpKind::Info)
    }

    pub(super) fn is_ok(&self) -> bool {
        self.kind == OpKind::Ok
    }

    /// Its appends: key and element.
    pub(super) fn appends(&self) -> impl Iterator<Item = (&Datum, &Datum)> {
        self.mops.iter().filter_map(|mop| match mop {
            Mop::Append { key, element } => Some((key, element)),
            Mop::Read { .. } => None,
        })
    }

    pub(super) fn appended(&self, key: &Datum, element: &Datum) -> bool {
        self.appends().any(|append| append == (key, element))
    }

    /// The lists it is known to have read of a key; none if it failed.
    pub(super) fn reads<'a>(&'a self, key: &'a Datum) -> impl Iterator<Item = &'a [Datum]> {
        let possible = self.is_possible();
        self.mops.iter().filter_map(move |mop| match mop {
            Mop::Read { key: k, list: Some(list) } if possible && k == key => Some(&list[..]),
            _ => None,
        })
    }

    /// Whether these are its micro-ops, save that a read may be shown that says nothing.
    fn is_described_by(&self, mops: &[Mop]) -> bool {
        let same = |(own, other): (&Mop, &Mop)| match (own, other) {
            (Mop::Read { key: a, list: None }, Mop::Read { key: b, .. }) => a == b,
            (Mop::Read { key: a, .. }, Mop::Read { key: b, .. }) if !self.is_possible() => a == b,
            (own, other) => own == other,
        };
        self.mops.len() == mops.len() && self.mops.iter().zip(mops).all(same)
    }
}

/// The micro-ops in a transaction's value. Reads of nil are of the empty list if the transaction is ok, else they say
/// nothing, and nor do reads of an invocation.
fn mops(value: &Datum, kind: OpKind) -> Result<Vec<Mop>, Uncertified> {
    match value {
        Datum::Nil => Ok(Vec::new()),
        Datum::Vector(items) | Datum::List(items) => items.iter().map(|item| mop(item, kind)).collect(),
        other => Err(Uncertified::new(format!("{other} is no transaction"))),
    }
}

/// One micro-op of a transaction of this kind.
pub(super) fn mop(item: &Datum, kind: OpKind) -> Result<Mop, Uncertified> {
    let bad = || Uncertified::new(format!("{item} is no micro-op of list-append"));
    let (Datum::Vector(parts) | Datum::List(parts)) = item else { return Err(bad()) };
    let [Datum::Keyword(f) | Datum::Str(f) | Datum::Symbol(f), key, value] = &parts[..] else { return Err(bad()) };
    let key = key.clone();
    match (f.as_str(), value) {
        ("append", element) => Ok(Mop::Append { key, element: element.clone() }),
        ("r", Datum::Nil | Datum::Vector(_) | Datum::List(_)) if kind == OpKind::Invoke => {
            Ok(Mop::Read { key, list: None })
        }
        ("r", Datum::Vector(list) | Datum::List(list)) => Ok(Mop::Read { key, list: Some(list.clone()) }),
        ("r", Datum::Nil) => Ok(Mop::Read { key, list: (kind == OpKind::Ok).then(Vec::new) }),
        _ => Err(bad()),
    }
}
