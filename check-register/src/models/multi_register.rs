//! Several registers, read and written by transactions that happen at one instant.

use super::spec::{Shows, Spec, bad_value, call, unknown_op};
use crate::{Model, Shortcuts};
use history_core::{Budget, Datum, Interner, Op, OpKind, Value};

/// Registers by key. Keys and values are codes of an [`Interner`]; each register starts with nil.
#[derive(Clone, Debug, Default)]
pub struct MultiRegister {
    values: Interner,
    initial: Vec<(i64, i64)>,
}

/// The access of a transaction to one register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegisterAccess {
    /// It found this value under the key.
    Read {
        /// The register.
        key: i64,
        /// What it held.
        value: i64,
    },
    /// It wrote this value under the key.
    Write {
        /// The register.
        key: i64,
        /// What it was given.
        value: i64,
    },
}

impl Model for MultiRegister {
    /// The registers that were written, by key.
    type State = Box<[(i64, i64)]>;
    type Op = Box<[RegisterAccess]>;
    type Next = Option<Self::State>;

    fn init(&self) -> Self::State {
        self.initial.clone().into()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, _: &Budget) -> Option<Self::State> {
        let mut registers = state.to_vec();
        for access in op {
            match *access {
                RegisterAccess::Read { key, value } => {
                    let found = registers.binary_search_by_key(&key, |(key, _)| *key);
                    if found.map_or(Interner::NIL, |at| registers[at].1) != value {
                        return None;
                    }
                }
                RegisterAccess::Write { key, value } => match registers.binary_search_by_key(&key, |(key, _)| *key) {
                    Ok(at) => registers[at].1 = value,
                    Err(at) => registers.insert(at, (key, value)),
                },
            }
        }
        Some(registers.into())
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }

    fn describe_part(&self, part: u64) -> String {
        format!("key {}", self.values.datum(part.cast_signed()))
    }

    fn describe_op(&self, op: &Self::Op) -> String {
        let datum = |code: i64| self.values.datum(code);
        let describe = |access: &RegisterAccess| match *access {
            RegisterAccess::Read { key, value } => format!("read of {} under {}", datum(value), datum(key)),
            RegisterAccess::Write { key, value } => format!("write of {} under {}", datum(value), datum(key)),
        };
        op.iter().map(describe).collect::<Vec<_>>().join(", ")
    }

    fn describe_state(&self, state: &Self::State) -> String {
        let datum = |code: i64| self.values.datum(code);
        let entries: Vec<String> =
            state.iter().map(|(key, value)| format!("{} {}", datum(*key), datum(*value))).collect();
        format!("{{{}}}", entries.join(", "))
    }
}

impl Shortcuts<Box<[(i64, i64)]>, Box<[RegisterAccess]>> for MultiRegister {
    fn part(&self, op: &Box<[RegisterAccess]>) -> Option<u64> {
        let key = |access: &RegisterAccess| match *access {
            RegisterAccess::Read { key, .. } | RegisterAccess::Write { key, .. } => key,
        };
        let first = op.first().map(key)?;
        op.iter().all(|access| key(access) == first).then(|| first.cast_unsigned())
    }

    fn may_see(&self, op: &Box<[RegisterAccess]>, other: &Box<[RegisterAccess]>) -> bool {
        // A read of a key after a transaction that wrote it, and before it is written again, finds the value of that
        // transaction. So if no operation found this value, none observed the transaction.
        op.iter().any(|access| match *access {
            RegisterAccess::Read { key, value } => other.contains(&RegisterAccess::Write { key, value }),
            RegisterAccess::Write { .. } => false,
        })
    }

    fn reads_only(&self, op: &Box<[RegisterAccess]>) -> bool {
        op.iter().all(|access| matches!(access, RegisterAccess::Read { .. }))
    }
}

impl Spec for MultiRegister {
    const NAME: &'static str = "multi-register";
    const SUMMARY: &'static str = "Linearizability of several registers, read and written by transactions.";
    const OPS: &'static str = ":txn [[:read key value] [:write key value] ...]";
    const SHOWN: &'static str = "ok :txn that read a value";
    const INITIAL: &'static str = "a map from key to value; all nil if not given";
    const PARTS: history_core::Parts = history_core::Parts::Registers;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        let Value::Map(entries) = value else { return Err(format!("expected a map from key to value, found {value}")) };
        self.initial = entries.iter().map(|(key, value)| (self.values.code(key), self.values.code(value))).collect();
        self.initial.sort_unstable();
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&Self::Op>) -> Result<Option<Self::Op>, String> {
        if op.f.is_some_and(|f| f != "txn") {
            return Err(unknown_op::<Self>(op));
        }
        let items = match (op.value, invoked) {
            (Value::Nil, Some(invoked)) => return Ok(Some(invoked.clone())),
            (Value::Nil, None) => return Ok(None),
            (value, _) => {
                value.as_seq().ok_or_else(|| bad_value(op, "a list of [:read key value] and [:write key value]"))?
            }
        };
        let mut accesses = Vec::with_capacity(items.len());
        for item in items {
            let bad = || bad_value(op, "a list of [:read key value] and [:write key value]");
            let mut parts = item.as_seq().ok_or_else(bad)?.iter();
            let (Some(f), Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return Err(bad());
            };
            let (key, value) = (self.values.code(key), self.values.code(value));
            match f.as_name() {
                Some("read" | "r") if op.kind != OpKind::Ok || value == Interner::NIL => {}
                Some("read" | "r") => accesses.push(RegisterAccess::Read { key, value }),
                Some("write" | "w") => accesses.push(RegisterAccess::Write { key, value }),
                _ => return Err(bad()),
            }
        }
        Ok((!accesses.is_empty()).then(|| accesses.into()))
    }

    fn places(&mut self, op: &Op<'_>) -> Option<Vec<(i64, bool)>> {
        let place = |access: Value<'_>| {
            let mut parts = access.as_seq()?.iter();
            let is_write = matches!(parts.next()?.as_name(), Some("write" | "w"));
            Some((self.values.code(parts.next()?), is_write))
        };
        Some(op.value.as_seq()?.iter().filter_map(place).collect())
    }

    fn hides(&self, invocation: &Op<'_>) -> bool {
        invocation.value.is_nil()
    }

    fn contradicts(invoked: Option<&Self::Op>, done: Option<&Self::Op>) -> bool {
        fn writes(op: Option<&[RegisterAccess]>) -> impl Iterator<Item = &RegisterAccess> {
            op.into_iter().flatten().filter(|access| matches!(access, RegisterAccess::Write { .. }))
        }
        writes(invoked.map(AsRef::as_ref)).ne(writes(done.map(AsRef::as_ref)))
    }

    fn shows(&self, op: &Op<'_>, done: Option<&Self::Op>) -> Shows {
        let mut accesses = done.into_iter().flatten();
        let shows = accesses.any(|access| matches!(access, RegisterAccess::Read { .. }));
        // Reads of nil are not decoded.
        let accesses = op.value.as_seq().map_or(0, history_core::Seq::len);
        match (shows, accesses > done.map_or(0, |done| done.len())) {
            (true, true) => Shows::Part,
            (true, false) => Shows::Something,
            (false, true) => Shows::Nil,
            (false, false) => Shows::Nothing,
        }
    }

    fn fills(&self, op: &Self::Op) -> bool {
        op.iter().any(|access| matches!(access, RegisterAccess::Write { value, .. } if *value != Interner::NIL))
    }

    fn datum(&self, op: &Self::Op) -> Datum {
        let access = |access: &RegisterAccess| {
            let (f, key, value) = match *access {
                RegisterAccess::Read { key, value } => ("read", key, value),
                RegisterAccess::Write { key, value } => ("write", key, value),
            };
            Datum::Vector(vec![Datum::keyword(f), self.values.datum(key), self.values.datum(value)])
        };
        call("txn", Datum::Vector(op.iter().map(access).collect()))
    }
}
