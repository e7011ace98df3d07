//! What a part needs, so that leaving other parts out proves nothing that was not so.
//!
//! An anomaly in a sub-history may be caused only by what was omitted: a read of a value whose write was removed. So
//! sub-histories are *closed*: they contain each part together with what it needs. What that is depends on the meaning
//! of operations.
//!
//! - **Transactions**: a read needs all writes of the version it saw, on its key; of a list, of every element in it.
//!   Then wr edges are what they were, and so is the order of versions, where it comes from reads. Where the versions
//!   of registers follow transactions, it comes from the versions that each of these begins and ends with, so of a key
//!   a transaction keeps all or nothing: without its read, `[r 0 2] [w 0 3]` would begin with 3. And where only
//!   neighbours are compared (those of a process), a transaction that begins and ends with different versions is not
//!   left out between others. So every edge of a closed sub-history is one of the whole (or follows from some), and so
//!   is every cycle.
//! - **Registers**: a read of v needs the writes of v that it may have seen; not those that ended before another write
//!   began which ended before the read began, but then one such other. In any order of the whole the write that a read
//!   saw is so in the sub-history, and no other comes between. So if the whole can be put in order, a closed
//!   sub-history can.
//! - **Values**: queues, stacks and sets treat each value apart. What is about a value needs all that changed anything
//!   about it. Without some values, an order of the rest is as good as before.
//! - **Sums**: of counters, locks and semaphores each change counts. All of them are kept, but what only reads is not.
//! - **Reads**: each read is wrong or two reads disagree, independently of the rest. They nevertheless keep the writes
//!   of the values they returned, so that the origin of these is visible.
//!
//! An operation that crashed may have happened. Where it is unknown what it was about (a dequeue that never came back)
//! it is kept.

mod registers;
mod transactions;
mod values;

use super::whole::{Unit, Whole};
use history_core::{Options, Parts, Reduction, Value, VersionOrder};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

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

/// What relates the versions of a key in addition to what transactions read, if anything does: the first of the options
/// that is set.
fn version_order(reduction: &Reduction, options: &Options) -> Option<VersionOrder> {
    let is_set = |option: &str| options.text(option).is_some() && options.text(option) != Some("false");
    reduction.version_orders.iter().find(|(option, _)| is_set(option)).map(|(_, order)| *order)
}

/// Which parts need which.
pub(super) struct Needs<'w> {
    whole: &'w Whole<'w>,
    reduction: &'w Reduction,
    /// By key and version, or by value: those that wrote or changed it.
    writers: HashMap<String, Vec<Unit>>,
    /// By key.
    registers: HashMap<String, Register>,
    order: Option<VersionOrder>,
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
                // Where all count nothing is omitted, and of other parts nothing is known.
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

    /// What a part needs, itself not among it.
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
