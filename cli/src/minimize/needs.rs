//! What a part needs, so that leaving other parts out proves nothing that was not so.
//!
//! A sub-history in which something is wrong may be wrong only because of what was left out: a read of a value whose write is
//! gone. So sub-histories are *closed*: with each part they hold what it needs. What that is depends on what operations mean.
//!
//! - **Transactions**: a read needs all writes of the version it saw, on its key; of a list, of every element in it. Then
//!   wr edges are what they were, and so is the order of versions, where it comes from reads. Where the versions of registers follow
//!   transactions, it comes from the versions that each of these begins and ends with, so of a key a transaction keeps all or nothing:
//!   without its read, `[r 0 2] [w 0 3]` would begin with 3. And where only neighbours are compared (those of a process), a transaction that
//!   begins and ends with different versions is not left out between others. So every edge of a closed sub-history is one
//!   of the whole (or follows from some), and so is every cycle.
//! - **Registers**: a read of v needs the writes of v that it may have seen; not those that ended before another write began which ended
//!   before the read began, but then one such other. In any order of the whole the write that a read saw is so
//!   in the sub-history, and no other comes between. So if the whole can be put in order, a closed sub-history can.
//! - **Values**: queues, stacks and sets treat each value apart. What is about a value needs all that changed anything about it.
//!   Without some values, an order of the rest is as good as before.
//! - **Sums**: of counters, locks and semaphores each change counts. All of them are kept, but what only reads is not.
//! - **Reads**: each read is wrong or two reads disagree, whatever else there is. They keep the writes of what they saw all the same,
//!   so that nobody wonders where it came from.
//!
//! An operation that crashed may have happened. Where nobody knows what it was about (a dequeue that never came back) it is kept.

use super::whole::{Operation, Unit, Whole};
use history_core::{OpKind, Options, Process, Value};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

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
    /// Whether it surely happened, and put its value in the place of what was there.
    decides: bool,
    /// Whether it wrote whatever was there before.
    is_blind: bool,
    value: String,
}

/// The writes of one register, in the order of their invocations.
#[derive(Default)]
struct Register {
    ended: Vec<Write>,
    /// For each of `ended` the latest end of it and those before.
    latest_ends: Vec<usize>,
    /// Those that never ended.
    open: Vec<Write>,
}

/// From what the order of versions of a key follows, beside what transactions read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VersionOrder {
    Unknown,
    /// From each transaction, or from all that are apart in time.
    OfTransactions,
    /// From transactions and the next ones of their processes.
    OfProcesses,
    /// From transactions and the next ones in an order that was given.
    Given,
}

impl VersionOrder {
    fn of(options: &Options) -> VersionOrder {
        if options.text("transaction-order").is_some() {
            VersionOrder::Given
        } else if options.flag("sequential-keys") {
            VersionOrder::OfProcesses
        } else if options.flag("linearizable-keys") || options.flag("wfr-keys") {
            VersionOrder::OfTransactions
        } else {
            VersionOrder::Unknown
        }
    }
}

/// Who needs what.
pub(super) struct Needs<'w> {
    whole: &'w Whole<'w>,
    family: Family,
    /// By key and version, or by value: those that wrote or changed it.
    writers: HashMap<String, Vec<Unit>>,
    /// By key.
    registers: HashMap<String, Register>,
    order: VersionOrder,
    /// By process and key: the first micro-ops of transactions that may end with another version than they began with.
    steps: HashMap<(i64, String), Vec<Unit>>,
    known: RefCell<HashMap<Unit, Rc<[Unit]>>>,
    /// What every sub-history has.
    pub(super) common: BTreeSet<Unit>,
}

fn is_read(f: Option<&str>) -> bool {
    matches!(f, Some("read" | "get" | "r" | "peek" | "contains"))
}

fn version(key: Value<'_>, value: Value<'_>) -> String {
    format!("{} {}", key.canonical(), value.canonical())
}

/// The versions of the micro-ops with a function; none if the value does not look so.
fn mops(value: Value<'_>, f: &str) -> Vec<String> {
    let of = |mop: Value<'_>| {
        let mut items = mop.as_seq()?.iter();
        let (name, key, value) = (items.next()?, items.next()?, items.next()?);
        (name.as_name() == Some(f) && !value.is_nil()).then(|| version(key, value))
    };
    value.as_seq().into_iter().flat_map(history_core::Seq::iter).filter_map(of).collect()
}

impl<'w> Needs<'w> {
    /// What the operations of a history need, as a checker with these options sees them who found this kind of anomaly.
    pub(super) fn new(whole: &'w Whole<'w>, family: Family, checker: &str, options: &Options, kind: &str) -> Needs<'w> {
        let mut needs = Needs {
            whole,
            family,
            writers: HashMap::new(),
            registers: HashMap::new(),
            order: if checker == "rw-register" { VersionOrder::of(options) } else { VersionOrder::Unknown },
            steps: HashMap::new(),
            known: RefCell::default(),
            common: BTreeSet::new(),
        };
        for unit in 0..whole.parts.len() as Unit {
            match family {
                Family::Transactions => needs.index_mop(unit),
                Family::Registers => needs.index_register(unit),
                Family::Values { .. } => needs.index_value(unit),
                Family::Sums { .. } => needs.index_sum(unit, checker),
                Family::Reads => needs.index_read(unit),
                Family::Unknown => {}
            }
        }
        match checker {
            "bank" => needs.index_bank(options, kind),
            "rw-register" => needs.index_steps(),
            _ => {}
        }
        needs
    }

    /// What a part needs, itself not among it.
    pub(super) fn of(&self, unit: Unit) -> Rc<[Unit]> {
        if let Some(known) = self.known.borrow().get(&unit) {
            return known.clone();
        }
        let mut needed = match self.family {
            Family::Transactions => self.of_mop(unit),
            Family::Registers => self.of_register(unit),
            Family::Values { .. } => self.of_value(unit),
            Family::Reads => self.of_read(unit),
            Family::Sums { .. } | Family::Unknown => Vec::new(),
        };
        needed.sort_unstable();
        needed.dedup();
        needed.retain(|other| *other != unit);
        let needed: Rc<[Unit]> = needed.into();
        self.known.borrow_mut().insert(unit, needed.clone());
        needed
    }

    /// The least closed set with these parts.
    pub(super) fn closed(&self, units: impl IntoIterator<Item = Unit>) -> BTreeSet<Unit> {
        let mut closed: BTreeSet<Unit> = self.common.clone();
        let mut open: Vec<Unit> = self.common.iter().copied().chain(units).collect();
        closed.extend(&open);
        while let Some(unit) = open.pop() {
            for needed in self.of(unit).iter() {
                if closed.insert(*needed) {
                    open.push(*needed);
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
        let mut needed = self.with_its_key(unit);
        if operation.kind(self.whole.history) != OpKind::Ok {
            return needed;
        }
        let Some(mop) = self.whole.mop(unit).and_then(Value::as_seq) else { return needed };
        let mut items = mop.iter();
        let (Some(f), Some(key), Some(value)) = (items.next(), items.next(), items.next()) else { return needed };
        if f.as_name() != Some("r") {
            return needed;
        }
        let of = |value: Value<'_>| self.writers.get(&version(key, value)).into_iter().flatten().copied();
        match value.as_seq() {
            Some(elements) => needed.extend(elements.iter().flat_map(of)),
            None => needed.extend(of(value)),
        }
        needed
    }

    /// The key of a micro-op.
    fn key(&self, unit: Unit) -> Option<String> {
        Some(self.whole.mop(unit)?.as_seq()?.iter().nth(1)?.canonical())
    }

    /// The micro-ops of the same transaction with a unit's key; itself among them.
    fn siblings(&self, unit: Unit) -> Vec<Unit> {
        let Some(key) = self.key(unit) else { return Vec::new() };
        let units = self.whole.units_of(self.whole.parts[unit as usize].operation);
        units.filter(|other| self.key(*other).as_ref() == Some(&key)).collect()
    }

    /// Where versions follow transactions: what decides with which version of a key the transaction begins and ends, and
    /// in a process the last transaction before it that did not end with the version that it began with.
    fn with_its_key(&self, unit: Unit) -> Vec<Unit> {
        if self.order == VersionOrder::Unknown {
            return Vec::new();
        }
        let mut needed = self.siblings(unit);
        if let (Some(key), Some(process)) = (self.key(unit), self.process(unit))
            && let Some(steps) = self.steps.get(&(process, key))
        {
            let operation = |unit: Unit| self.whole.parts[unit as usize].operation;
            let before = steps.partition_point(|step| operation(*step) < operation(unit));
            needed.extend(before.checked_sub(1).map(|last| steps[last]));
        }
        needed
    }

    fn process(&self, unit: Unit) -> Option<i64> {
        match self.whole.history.op(self.whole.operation_of(unit).first).process {
            Process::Client(process) => Some(process),
            _ => None,
        }
    }

    /// Finds transactions that may begin with one version of a key and end with another.
    fn index_steps(&mut self) {
        for unit in 0..self.whole.parts.len() as Unit {
            let is_ok = self.whole.operation_of(unit).kind(self.whole.history) == OpKind::Ok;
            let siblings = self.siblings(unit);
            if siblings.len() < 2 || siblings[0] != unit {
                continue;
            }
            match (self.order, self.key(unit), self.process(unit)) {
                (VersionOrder::Given, ..) => {
                    self.common.insert(unit);
                }
                (VersionOrder::OfProcesses, Some(key), Some(process)) if is_ok => {
                    self.steps.entry((process, key)).or_default().push(unit);
                }
                _ => {}
            }
        }
    }

    /// Of a bank, what says which accounts there are and what they sum to: in its reads, where that matters and is not given.
    fn index_bank(&mut self, options: &Options, kind: &str) {
        let (whole, history) = (self.whole, self.whole.history);
        let is_read = |unit: &Unit| {
            let operation = whole.operation_of(*unit);
            history.op(operation.first).f == Some("read") && operation.kind(history) == OpKind::Ok
        };
        let mut reads: Vec<Unit> = (0..whole.parts.len() as Unit).filter(is_read).collect();
        reads.sort_unstable_by_key(|unit| whole.operation_of(*unit).last());
        let balances = |unit: Unit| match whole.value(whole.operation_of(unit)) {
            Value::Map(entries) => Some(entries),
            _ => None,
        };
        let accounts = |unit: Unit| -> BTreeSet<String> {
            balances(unit).into_iter().flatten().map(|(account, _)| account.canonical()).collect()
        };
        let Some(first) = reads.first().copied() else { return };
        let known = accounts(first);
        let is_total = |unit: &Unit| {
            let is_whole =
                balances(*unit).is_some_and(|entries| entries.into_iter().all(|(_, balance)| !balance.is_nil()));
            is_whole && accounts(*unit).is_subset(&known)
        };
        let total = reads.iter().copied().find(is_total);
        match kind {
            "unexpected-key" => self.common.extend([first]),
            "wrong-total" if options.text("total-amount").is_none() => {
                self.common.extend(total);
                if total.is_none_or(|total| accounts(total) != known) {
                    self.common.insert(first);
                }
            }
            // A balance is nil, or below zero, whatever the others are.
            _ => {}
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
        let is_ok = operation.kind(self.whole.history) == OpKind::Ok;
        let returns = operation.returns(self.whole.history);
        let accesses = self.accesses(operation);
        let is_blind = !accesses.iter().any(|access| matches!(access, Access::Read(..)));
        for access in accesses {
            let Access::Write(key, value, replaces) = access else { continue };
            let ended = operation.last();
            let write = Write { unit, first: operation.first, ended, decides: is_ok && replaces, is_blind, value };
            let register = self.registers.entry(key).or_default();
            if returns {
                register.latest_ends.push(register.latest_ends.last().map_or(ended, |latest| ended.max(*latest)));
                register.ended.push(write);
            } else {
                register.open.push(write);
            }
        }
    }

    fn of_register(&self, unit: Unit) -> Vec<Unit> {
        let operation = self.whole.operation_of(unit);
        let op = self.whole.history.op(operation.first);
        // What crashed saw nothing; but whether a compare-and-set may have happened depends on what was there.
        let until = match operation.kind(self.whole.history) {
            OpKind::Ok => operation.last(),
            _ if op.f == Some("cas") => usize::MAX,
            _ => return Vec::new(),
        };
        let mut needed = Vec::new();
        for access in self.accesses(operation) {
            let Access::Read(key, value) = access else { continue };
            let Some(register) = self.registers.get(&key) else { continue };
            let began = |writes: &[Write]| writes.partition_point(|write| write.first < until);
            let ended = &register.ended[..began(&register.ended)];
            let open = &register.open[..began(&register.open)];
            let is_seen = |write: &&Write| value.as_ref().is_none_or(|value| *value == write.value);
            let may_be_seen = |last: Option<&Write>| {
                let hidden_before = last.map_or(0, |last| last.first);
                // Behind this place all had ended by then.
                let from = register.latest_ends.partition_point(|latest| *latest < hidden_before).min(ended.len());
                let writes = ended[from..].iter().filter(|write| write.ended >= hidden_before).chain(open);
                writes.filter(is_seen).map(|write| write.unit).collect::<Vec<Unit>>()
            };
            let mut deciding = ended.iter().rev().filter(|write| write.decides && write.ended < operation.first);
            let mut last = deciding.clone().next();
            let mut may = may_be_seen(last);
            // One that needs nothing itself is better, if it hides as much.
            if let Some(blind) = deciding.find(|write| write.is_blind) {
                let seen = may_be_seen(Some(blind));
                if seen == may {
                    (last, may) = (Some(blind), seen);
                }
            }
            needed.extend(last.map(|write| write.unit));
            needed.extend(may);
            // One that wrote it, so that nobody wonders where the value came from; best one that needs nothing itself.
            if value.is_some() {
                let seen = || ended.iter().rev().filter(is_seen);
                needed.extend(seen().find(|write| write.is_blind).or_else(|| seen().next()).map(|write| write.unit));
            }
        }
        needed
    }

    /// The values that an operation is about, as far as they are known.
    fn values(&self, unit: Unit) -> Vec<String> {
        let operation = self.whole.operation_of(unit);
        let f = self.whole.history.op(operation.first).f;
        let is_result = is_read(f) || matches!(f, Some("dequeue" | "pop" | "drain"));
        if is_result && operation.kind(self.whole.history) != OpKind::Ok {
            return Vec::new();
        }
        let value = self.whole.value(operation);
        match (f, value) {
            (Some("read" | "drain"), Value::Vector(all) | Value::List(all) | Value::Set(all)) => {
                all.iter().map(Value::canonical).collect()
            }
            // An object that was empty. Where there are no objects, a nil that was enqueued may have been taken.
            (_, Value::Nil) if is_result && self.family.is_object() => Vec::new(),
            _ => vec![value.canonical()],
        }
    }

    fn index_value(&mut self, unit: Unit) {
        let operation = self.whole.operation_of(unit);
        if !is_read(self.whole.history.op(operation.first).f) {
            let values = self.values(unit);
            let is_open = !operation.returns(self.whole.history);
            // It may have taken anything.
            if values.is_empty() && is_open && self.family.is_object() {
                self.common.insert(unit);
            }
            for value in values {
                self.writers.entry(value).or_default().push(unit);
            }
        }
    }

    fn index_read(&mut self, unit: Unit) {
        let operation = self.whole.operation_of(unit);
        if is_read(self.whole.history.op(operation.first).f) {
            return;
        }
        let value = self.whole.value(operation);
        let mut versions = mops(value, "w");
        if versions.is_empty() {
            versions.push(value.canonical());
        }
        for version in versions {
            self.writers.entry(version).or_default().push(unit);
        }
    }

    fn of_read(&self, unit: Unit) -> Vec<Unit> {
        let operation = self.whole.operation_of(unit);
        let is_ok = operation.kind(self.whole.history) == OpKind::Ok;
        if !is_ok || !is_read(self.whole.history.op(operation.first).f) {
            return Vec::new();
        }
        let value = self.whole.value(operation);
        let mut versions = mops(value, "r");
        if versions.is_empty()
            && let Value::Vector(all) | Value::List(all) | Value::Set(all) = value
        {
            versions.extend(all.iter().map(Value::canonical));
        }
        versions.iter().filter_map(|version| self.writers.get(version)).flatten().copied().collect()
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
