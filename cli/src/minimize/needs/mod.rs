//! Determines which other parts a part needs, so that omitting the rest creates no new anomaly.
//!
//! An anomaly in a sub-history may be caused by the omission itself: for example, a read of a value whose write was
//! removed. So sub-histories are *closed*: they contain each part together with the parts that it needs. These depend
//! on the meaning of operations.
//!
//! - **Transactions**: a read needs all writes of the version that it saw, on its key; a read of a list needs the
//!   writes of every element. Then wr edges are unchanged, and so is the order of versions, if it comes from reads. If
//!   the version order of registers follows transactions, it comes from the versions with which each transaction begins
//!   and ends. From each transaction, all micro-ops on a key are then kept, or none: without its read,
//!   `[r 0 2] [w 0 3]` would begin with 3. And if only neighbours are compared (those of a process), a transaction that
//!   begins and ends with different versions is not omitted between others. So every edge of a closed sub-history is an
//!   edge of the whole (or follows from some), and so is every cycle.
//! - **Registers**: a read of v needs the writes of v that it may have seen. It does not need those that ended before
//!   another write began which ended before the read began; instead, it needs one such other write. In any order of the
//!   whole, the write that a read saw is in the sub-history, and no other write comes between them. So if the whole has
//!   a valid order, a closed sub-history has one, too.
//! - **Values**: queues, stacks and sets treat each value separately. An operation on a value needs all operations that
//!   changed this value. Without some values, an order of the rest is as valid as before.
//! - **Sums**: for counters, locks and semaphores each change matters. All of them are kept; reads may be omitted.
//! - **Reads**: an anomaly is one wrong read or two reads that disagree, independently of the rest. Reads nevertheless
//!   need the writes of the values that they returned, so that the origin of these is visible.
//!
//! An operation that crashed may have happened. If its value is unknown (a dequeue without a completion), it is kept.

mod registers;
mod transactions;
mod values;

use super::whole::{Unit, Whole};
use history_core::{Options, Parts, Reduction, Value, VersionOrder};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// A read or write of a register.
enum Access {
    /// The key and the value of a read; no value if it may be any value.
    Read(String, Option<String>),
    /// The key and the value of a write, and whether the value replaces the previous one.
    Write(String, String, bool),
}

/// A write of a register.
struct Write {
    unit: Unit,
    first: usize,
    /// The position by which it had certainly ended.
    ended: usize,
    /// Whether it certainly happened, and replaced the previous value.
    decides: bool,
    /// Whether it does not depend on the previous value.
    is_blind: bool,
    value: String,
}

/// The writes of one register, in the order of their invocations.
#[derive(Default)]
struct Register {
    ended: Vec<Write>,
    /// For each of `ended`, the latest end of it and of those before it.
    latest_ends: Vec<usize>,
    /// The writes that never ended.
    open: Vec<Write>,
}

/// The rule that orders the versions of a key in addition to the reads of transactions, if there is one: that of the
/// first option that is set.
fn version_order(reduction: &Reduction, options: &Options) -> Option<VersionOrder> {
    let is_set = |option: &str| options.text(option).is_some() && options.text(option) != Some("false");
    reduction.version_orders.iter().find(|(option, _)| is_set(option)).map(|(_, order)| *order)
}

/// The relation between parts: which part needs which others.
pub(super) struct Needs<'w> {
    whole: &'w Whole<'w>,
    reduction: &'w Reduction,
    /// The parts that wrote or changed each value, by key and version, or by value.
    writers: HashMap<String, Vec<Unit>>,
    /// The registers by key.
    registers: HashMap<String, Register>,
    order: Option<VersionOrder>,
    /// The first micro-ops of transactions that may change the version of a key, by process and key.
    steps: HashMap<(i64, String), Vec<Unit>>,
    known: RefCell<HashMap<Unit, Rc<[Unit]>>>,
    /// The parts that every sub-history contains.
    pub(super) common: BTreeSet<Unit>,
}

fn is_read(f: Option<&str>) -> bool {
    matches!(f, Some("read" | "get" | "r" | "peek" | "contains"))
}

fn version(key: Value<'_>, value: Value<'_>) -> String {
    format!("{} {}", key.canonical(), value.canonical())
}

/// The versions of the micro-ops with a function; empty if the value has another form.
fn mops(value: Value<'_>, f: &str) -> Vec<String> {
    let of = |mop: Value<'_>| {
        let mut items = mop.as_seq()?.iter();
        let (name, key, value) = (items.next()?, items.next()?, items.next()?);
        (name.as_name() == Some(f) && !value.is_nil()).then(|| version(key, value))
    };
    value.as_seq().into_iter().flat_map(history_core::Seq::iter).filter_map(of).collect()
}

impl<'w> Needs<'w> {
    /// Computes the needs of a history's operations, for a checker with these options that found this type of anomaly.
    pub(super) fn new(whole: &'w Whole<'w>, reduction: &'w Reduction, options: &Options, kind: &str) -> Needs<'w> {
        let mut needs = Needs {
            whole,
            reduction,
            writers: HashMap::new(),
            registers: HashMap::new(),
            order: version_order(reduction, options),
            steps: HashMap::new(),
            known: RefCell::default(),
            common: BTreeSet::new(),
        };
        for unit in 0..whole.parts.len() as Unit {
            match reduction.parts {
                Parts::Transactions => needs.index_mop(unit),
                Parts::Registers => needs.index_register(unit),
                Parts::Values => needs.index_value(unit),
                Parts::Sums => needs.index_sum(unit),
                Parts::Reads => needs.index_read(unit),
                // If all operations count, none is omitted. Other kinds of parts have no known needs.
                _ => {}
            }
        }
        for kept in reduction.kept_reads.iter().filter(|kept| kept.anomaly == kind) {
            if kept.unless.as_ref().is_none_or(|option| options.text(option).is_none()) {
                needs.keep_reads(kept.which);
            }
        }
        if needs.order.is_some() {
            needs.index_steps();
        }
        needs
    }

    /// The parts that a part needs, without itself.
    pub(super) fn of(&self, unit: Unit) -> Rc<[Unit]> {
        if let Some(known) = self.known.borrow().get(&unit) {
            return known.clone();
        }
        let mut needed = match self.reduction.parts {
            Parts::Transactions => self.of_mop(unit),
            Parts::Registers => self.of_register(unit),
            Parts::Values => self.of_value(unit),
            Parts::Reads => self.of_read(unit),
            _ => Vec::new(),
        };
        needed.sort_unstable();
        needed.dedup();
        needed.retain(|other| *other != unit);
        let needed: Rc<[Unit]> = needed.into();
        self.known.borrow_mut().insert(unit, needed.clone());
        needed
    }

    /// The smallest closed set that contains these parts.
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
