//! What a part needs, so that leaving other parts out proves nothing that was not so.
//!
//! A sub-history in which something is wrong may be wrong only because of what was left out: a read of a value whose write is
//! gone. So sub-histories are *closed*: with each part they hold what it needs. What that is depends on what operations mean.
//!
//! - **Transactions**: a read needs all writes of the version it saw, on its key; of a list, of every element in it. Then
//!   wr edges are what they were, and so is the order of versions, where it comes from reads. Where the versions of registers follow
//!   transactions, it comes from the versions that each of these begins and ends with, so of a key a transaction keeps all or nothing:
//!   without its read, `[r 0 2] [w 0 3]` would begin with 3. And where only neighbours are compared (those of a process), a
//!   transaction that begins and ends with different versions is not left out between others. So every edge of a closed sub-history is one
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

mod registers;
mod transactions;
mod values;

use super::whole::{Unit, Whole};
use history_core::{Options, Value};
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
}
