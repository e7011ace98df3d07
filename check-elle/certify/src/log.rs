//! The transactions of a history, as recorded.

use super::{Uncertified, claim};
use history_core::{Client, Datum, OpKind};

/// All transactions, in the order of their indices.
pub(super) struct Log {
    pub(super) txns: Vec<Txn>,
}

pub(super) struct Txn {
    /// The index of the completion, or of the invocation if there is no completion.
    pub(super) index: u64,
    /// The index of the invocation, if it is known.
    pub(super) invoked: Option<u64>,
    pub(super) process: Option<Client>,
    /// `Info` if there is no completion.
    pub(super) kind: OpKind,
    pub(super) mops: Vec<Mop>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mop {
    Write {
        key: Datum,
        value: Datum,
    },
    /// The value that the client read, as a vector if it is a list; `None` if unknown.
    Read {
        key: Datum,
        seen: Option<Datum>,
    },
}

impl Log {
    /// The transaction that wrote a value, failed or not.
    pub(super) fn writer(&self, key: &Datum, value: &Datum) -> Result<Option<&Txn>, Uncertified> {
        let writers: Vec<&Txn> = self.txns.iter().filter(|txn| txn.wrote(key, value)).collect();
        claim(writers.len() <= 1, || format!("{value} was appended to key {key} twice"))?;
        Ok(writers.first().copied())
    }

    /// The transactions that happened or may have happened, each with its position.
    pub(super) fn possible(&self) -> impl Iterator<Item = (usize, &Txn)> {
        self.txns.iter().enumerate().filter(|(_, txn)| txn.is_possible())
    }
}

impl Txn {
    /// Returns true if the transaction happened or may have happened.
    pub(super) fn is_possible(&self) -> bool {
        matches!(self.kind, OpKind::Ok | OpKind::Info)
    }

    pub(super) fn is_ok(&self) -> bool {
        self.kind == OpKind::Ok
    }

    /// Its writes: keys and values.
    pub(super) fn writes(&self) -> impl Iterator<Item = (&Datum, &Datum)> {
        self.mops.iter().filter_map(|mop| match mop {
            Mop::Write { key, value } => Some((key, value)),
            Mop::Read { .. } => None,
        })
    }

    pub(super) fn wrote(&self, key: &Datum, value: &Datum) -> bool {
        self.writes().any(|write| write == (key, value))
    }

    /// Returns true if it precedes another one in the order of their process: that of its ok transactions, and of the
    /// one that may have happened and ended the process.
    pub(super) fn is_before_in_process(&self, other: &Txn) -> bool {
        self.is_ok()
            && other.is_possible()
            && self.process.is_some()
            && self.process == other.process
            && self.index < other.index
    }

    /// Returns true if it ended before another one began: by their indices, or because a process is sequential.
    pub(super) fn is_before_in_time(&self, other: &Txn) -> bool {
        self.is_before_in_realtime(other) || self.is_before_in_process(other)
    }

    /// Returns true if it is known to have ended when another one was invoked.
    pub(super) fn is_before_in_realtime(&self, other: &Txn) -> bool {
        self.is_ok() && other.invoked.is_some_and(|invoked| self.index < invoked)
    }

    /// Returns true if these are its micro-ops. A read without a recorded result may have any result in them.
    pub(super) fn is_described_by(&self, mops: &[Mop]) -> bool {
        let same = |(own, other): (&Mop, &Mop)| match (own, other) {
            (Mop::Read { key: a, seen: None }, Mop::Read { key: b, .. }) => a == b,
            (Mop::Read { key: a, .. }, Mop::Read { key: b, .. }) if !self.is_possible() => a == b,
            (own, other) => own == other,
        };
        self.mops.len() == mops.len() && self.mops.iter().zip(mops).all(same)
    }
}

impl Mop {
    pub(super) fn key(&self) -> &Datum {
        let (Mop::Write { key, .. } | Mop::Read { key, .. }) = self;
        key
    }

    /// Returns true if the micro-op is on this key.
    pub(super) fn is_of(&self, key: &Datum) -> bool {
        self.key() == key
    }

    pub(super) fn is_write(&self) -> bool {
        matches!(self, Mop::Write { .. })
    }
}

/// A micro-op's function, key and value.
pub(super) fn parts(mop: &Datum) -> Option<(&str, &Datum, &Datum)> {
    let (Datum::Vector(parts) | Datum::List(parts)) = mop else { return None };
    let [Datum::Keyword(f) | Datum::Str(f) | Datum::Symbol(f), key, value] = &parts[..] else { return None };
    Some((f.as_str(), key, value))
}
