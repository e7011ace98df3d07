//! What a part needs, so that leaving other parts out proves nothing that was not so.
//!
//! A sub-history in which something is wrong may be wrong only because of what was left out: a read of a value whose write is
//! gone. So sub-histories are *closed*: with each part they hold what it needs. What that is depends on what operations mean.
//!
//! - **Transactions**: a read needs all writes of the version it saw, on its key; of a list, of every element in it. Then
//!   wr edges are what they were, and so is the order of versions, which comes from reads. Every edge of a closed sub-history is one
//!   of the whole (or, of process and realtime, follows from some), and so is every cycle.
//! - **Registers**: a read of v needs the writes of v that it may have seen; not those that ended before another write began which ended
//!   before the read began, but then that other one (the last one of its kind). In any order of the whole the write that a read saw is so
//!   in the sub-history, and no other comes between. So if the whole can be put in order, a closed sub-history can.
//! - **Values**: queues, stacks and sets treat each value apart. What is about a value needs all that changed anything about it.
//!   Without some values, an order of the rest is as good as before.
//! - **Sums**: of counters, locks and semaphores each change counts. All of them are kept, but what only reads is not.
//! - **Reads**: each read is wrong or two reads disagree, whatever else there is.

use super::whole::{Operation, Unit, Whole};
use history_core::{OpKind, Value};
use std::collections::{BTreeSet, HashMap};

/// What operations mean to a checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Parts are micro-ops.
    Transactions,
    Registers,
    /// With values that stand for themselves. Whether it is an object, whose future does not matter.
    Values {
        is_object: bool,
    },
    Sums {
        is_object: bool,
    },
    Reads,
    /// Nobody knows: a plugin's.
    Unknown,
}

impl Family {
    /// That of a checker; `None` if nothing can be left out for it, because it counts everything.
    pub(super) fn of(checker: &str) -> Option<Family> {
        Some(match checker {
            "list-append" | "rw-register" => Family::Transactions,
            "register" | "cas-register" | "multi-register" | "kv" => Family::Registers,
            "fifo-queue" | "unordered-queue" | "stack" | "linearizable-set" => Family::Values { is_object: true },
            "queue" | "total-queue" | "set" | "set-full" => Family::Values { is_object: false },
            "mutex" | "owner-mutex" | "reentrant-mutex" | "semaphore" | "linearizable-counter" => {
                Family::Sums { is_object: true }
            }
            "counter" | "versioned-register" => Family::Sums { is_object: false },
            "bank" | "long-fork" | "comments" | "sequential" | "unique-ids" => Family::Reads,
            "stats" => return None,
            _ => Family::Unknown,
        })
    }

    /// Whether what was invoked after the operation that is wrong cannot matter.
    pub(super) fn is_object(self) -> bool {
        match self {
            Family::Registers => true,
            Family::Values { is_object } | Family::Sums { is_object } => is_object,
            _ => false,
        }
    }
}

/// What one register is read or written with.
enum Access {
    /// The key, and the value; where any value may be part of what was read, none.
    Read(String, Option<String>),
    /// Whether it puts its value in the place of what was there.
    Write(String, String, bool),
}

/// A write of a register.
struct Write {
    unit: Unit,
    first: usize,
    /// Where it had surely ended.
    ended: usize,
    is_ok: bool,
    replaces: bool,
    value: String,
}

/// Who needs what.
pub(super) struct Needs<'w> {
    whole: &'w Whole<'w>,
    family: Family,
    /// By key and version, or by value: those that wrote or changed it.
    writers: HashMap<String, Vec<Unit>>,
    /// By key, in the order of their invocations.
    registers: HashMap<String, Vec<Write>>,
    /// What every sub-history has.
    pub(super) common: BTreeSet<Unit>,
}

fn is_read(f: Option<&str>) -> bool {
    matches!(f, Some("read" | "get" | "r" | "peek" | "contains"))
}

fn version(key: Value<'_>, value: Value<'_>) -> String {
    format!("{} {}", key.canonical(), value.canonical())
}

impl<'w> Needs<'w> {
    pub(super) fn new(whole: &'w Whole<'w>, family: Family, checker: &str) -> Needs<'w> {
        let mut needs =
            Needs { whole, family, writers: HashMap::new(), registers: HashMap::new(), common: BTreeSet::new() };
        for unit in 0..whole.parts.len() as Unit {
            match family {
                Family::Transactions => needs.index_mop(unit),
                Family::Registers => needs.index_register(unit),
                Family::Values { .. } => needs.index_value(unit),
                Family::Sums { .. } => needs.index_sum(unit, checker),
                Family::Reads | Family::Unknown => {}
            }
        }
        if checker == "bank" {
            // It says what the total is.
            let is_read = |unit: &Unit| {
                let operation = whole.operation_of(*unit);
                whole.history.op(operation.first).f == Some("read") && operation.kind(whole.history) == OpKind::Ok
            };
            let by_end = |unit: &Unit| whole.operation_of(*unit).last();
            needs.common.extend((0..whole.parts.len() as Unit).filter(is_read).min_by_key(by_end));
        }
        needs
    }

    /// What a part needs, itself not among it.
    pub(super) fn of(&self, unit: Unit) -> Vec<Unit> {
        let mut needed = match self.family {
            Family::Transactions => self.of_mop(unit),
            Family::Registers => self.of_register(unit),
            Family::Values { .. } => self.of_value(unit),
            Family::Sums { .. } | Family::Reads | Family::Unknown => Vec::new(),
        };
        needed.sort_unstable();
        needed.dedup();
        needed.retain(|other| *other != unit);
        needed
    }

    /// The least closed set with these parts.
    pub(super) fn closed(&self, units: impl IntoIterator<Item = Unit>) -> BTreeSet<Unit> {
        let mut closed: BTreeSet<Unit> = self.common.clone();
        let mut open: Vec<Unit> = self.common.iter().copied().chain(units).collect();
        closed.extend(&open);
        while let Some(unit) = open.pop() {
            for needed in self.of(unit) {
                if closed.insert(needed) {
                    open.push(needed);
                }
            }
        }
        closed
    }

    fn index_mop(&mut self, unit: Unit) {
        let Some(mop) = self.whole.mop(unit).and_then(Value::as_seq) else { return };
        let mut items = mop.iter();
        let (Some(f), Some(key), Some(value)) = (items.next(), items.next(), items.next()) else { return };
        if matches!(f.as_name(), Some("append" | "w")) {
            self.writers.entry(version(key, value)).or_default().push(unit);
        }
    }

    fn of_mop(&self, unit: Unit) -> Vec<Unit> {
        let operation = self.whole.operation_of(unit);
        if operation.kind(self.whole.history) != OpKind::Ok {
            return Vec::new();
        }
        let Some(mop) = self.whole.mop(unit).and_then(Value::as_seq) else { return Vec::new() };
        let mut items = mop.iter();
        let (Some(f), Some(key), Some(value)) = (items.next(), items.next(), items.next()) else { return Vec::new() };
        if f.as_name() != Some("r") {
            return Vec::new();
        }
        let of = |value: Value<'_>| self.writers.get(&version(key, value)).into_iter().flatten().copied();
        match value.as_seq() {
            Some(elements) => elements.iter().flat_map(of).collect(),
            None => of(value).collect(),
        }
    }

    /// What an operation on registers read and wrote.
    fn accesses(&self, operation: &Operation) -> Vec<Access> {
        let (whole, op) = (self.whole, self.whole.history.op(operation.first));
        let is_ok = operation.kind(whole.history) == OpKind::Ok;
        let value = whole.value(operation);
        let one = String::new;
        match op.f {
            Some("read") => vec![Access::Read(one(), Some(value.canonical()))],
            Some("write") => vec![Access::Write(one(), value.canonical(), true)],
            Some("cas") => match value.as_seq().map(|values| values.iter().collect::<Vec<_>>()).as_deref() {
                Some([old, new]) => {
                    let written = Access::Write(one(), new.canonical(), true);
                    vec![Access::Read(one(), Some(old.canonical())), written]
                }
                _ => Vec::new(),
            },
            Some("txn") => {
                let access = |mop: Value<'_>| {
                    let mut items = mop.as_seq()?.iter();
                    let (f, key, value) = (items.next()?, items.next()?.canonical(), items.next()?);
                    match f.as_name()? {
                        "read" | "r" if is_ok => Some(Access::Read(key, Some(value.canonical()))),
                        "write" | "w" => Some(Access::Write(key, value.canonical(), true)),
                        _ => None,
                    }
                };
                value.as_seq().into_iter().flat_map(history_core::Seq::iter).filter_map(access).collect()
            }
            f => {
                let key = op.extra.get("key").map(Value::canonical).unwrap_or_default();
                match f {
                    Some("get") => vec![Access::Read(key, None)],
                    Some("put") => vec![Access::Write(key, value.canonical(), true)],
                    Some("append") => vec![Access::Write(key, value.canonical(), false)],
                    _ => Vec::new(),
                }
            }
        }
    }

    fn index_register(&mut self, unit: Unit) {
        let operation = self.whole.operation_of(unit);
        let kind = operation.kind(self.whole.history);
        let ended = if operation.returns(self.whole.history) { operation.last() } else { usize::MAX };
        for access in self.accesses(operation) {
            if let Access::Write(key, value, replaces) = access {
                let is_ok = kind == OpKind::Ok;
                let write = Write { unit, first: operation.first, ended, is_ok, replaces, value };
                self.registers.entry(key).or_default().push(write);
            }
        }
    }

    fn of_register(&self, unit: Unit) -> Vec<Unit> {
        let operation = self.whole.operation_of(unit);
        if operation.kind(self.whole.history) != OpKind::Ok {
            return Vec::new();
        }
        let mut needed = Vec::new();
        for access in self.accesses(operation) {
            let Access::Read(key, value) = access else { continue };
            let writes = self.registers.get(&key).map(Vec::as_slice).unwrap_or_default();
            // Those that began before the read ended.
            let before = &writes[..writes.partition_point(|write| write.first < operation.last())];
            let surely = |write: &&Write| write.is_ok && write.replaces && write.ended < operation.first;
            let last = before.iter().filter(surely).max_by_key(|write| write.first);
            let is_seen = |write: &&Write| value.as_ref().is_none_or(|value| *value == write.value);
            needed.extend(last.map(|write| write.unit));
            let hidden = |write: &&Write| last.is_some_and(|last| write.ended < last.first);
            needed.extend(before.iter().filter(is_seen).filter(|write| !hidden(write)).map(|write| write.unit));
            // One that wrote it, so that nobody wonders where the value came from.
            if value.is_some() {
                needed.extend(before.iter().filter(is_seen).next_back().map(|write| write.unit));
            }
        }
        needed
    }

    /// The values that an operation is about.
    fn values(&self, unit: Unit) -> Vec<String> {
        let operation = self.whole.operation_of(unit);
        let f = self.whole.history.op(operation.first).f;
        let value = self.whole.value(operation);
        match (f, value) {
            (_, Value::Nil) => Vec::new(),
            (Some("read" | "drain"), Value::Vector(all) | Value::List(all) | Value::Set(all)) => {
                all.iter().map(Value::canonical).collect()
            }
            _ => vec![value.canonical()],
        }
    }

    fn index_value(&mut self, unit: Unit) {
        let operation = self.whole.operation_of(unit);
        if !is_read(self.whole.history.op(operation.first).f) {
            for value in self.values(unit) {
                self.writers.entry(value).or_default().push(unit);
            }
        }
    }

    fn of_value(&self, unit: Unit) -> Vec<Unit> {
        let of = |value: String| self.writers.get(&value).into_iter().flatten().copied().collect::<Vec<_>>();
        self.values(unit).into_iter().flat_map(of).collect()
    }

    fn index_sum(&mut self, unit: Unit, checker: &str) {
        let operation = self.whole.operation_of(unit);
        let op = self.whole.history.op(operation.first);
        // A write that failed and is seen all the same is one of the things that a versioned register looks for.
        let counts = operation.kind(self.whole.history) != OpKind::Fail || checker == "versioned-register";
        if counts && !is_read(op.f) {
            self.common.insert(unit);
        }
    }
}
