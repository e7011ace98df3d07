//! The input of the engines: the calls and returns of one part of an object, in order.

pub(crate) mod visible;

use crate::engine::ids;
use crate::engine::ids::{ClassId, OpId};
use crate::{Model, Moment};
use history_core::hash::HashMap;
use visible::Visibility;

/// Represents no slot and no return.
pub(crate) const NEVER: u32 = u32::MAX;

/// A call or a return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Event(u32);

impl Event {
    pub(crate) fn call(op: usize) -> Event {
        Event(ids::number(op) << 1)
    }

    pub(crate) fn ret(op: usize) -> Event {
        Event(ids::number(op) << 1 | 1)
    }

    #[inline]
    pub(crate) fn op(self) -> usize {
        ids::index(self.0 >> 1)
    }

    #[inline]
    pub(crate) fn is_return(self) -> bool {
        self.0 & 1 == 1
    }
}

/// How the search treats operations of a class that return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The search places them in every order.
    Writes,
    /// As `Writes`, but they may also be placed after the return of an operation that states store.
    Waits,
    /// The search places them at the first instant that admits them.
    Reads,
    /// The search does not place them: states store them.
    Begins,
}

impl Kind {
    pub(crate) fn of<M: Model>(model: &M, op: &M::Op) -> Kind {
        if model.shortcuts().reads_only(op) {
            Kind::Reads
        } else if model.shortcuts().begin(&model.init(), op, 0).is_some() {
            Kind::Begins
        } else if model.shortcuts().may_wait(op) {
            Kind::Waits
        } else {
            Kind::Writes
        }
    }
}

/// An operation of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartOp {
    /// The operation's effect.
    pub(crate) class: ClassId,
    /// A number that is unique among the operations in flight at one time. For an operation that never returned: the
    /// position of its class in `Part::crashed`.
    pub(crate) slot: u32,
    /// The position of its call in `Part::events`.
    pub(crate) call: u32,
    /// The position of its return; `NEVER` if it has none.
    pub(crate) ret: u32,
}

impl PartOp {
    /// The kind of step that the operation's call or return is for a state that stores it.
    #[inline]
    pub(crate) fn moment(&self, returns: bool) -> Moment {
        match (self.is_crashed(), returns) {
            (true, _) => Moment::Pend,
            (false, false) => Moment::Begin { flight: self.slot },
            (false, true) => Moment::End { flight: self.slot },
        }
    }

    #[inline]
    pub(crate) fn is_crashed(&self) -> bool {
        self.ret == NEVER
    }
}

/// Operations of one part, numbered from 0 in the order of their calls.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) events: Vec<Event>,
    pub(crate) ops: Vec<PartOp>,
    /// For each operation, its id in the history.
    pub(crate) ids: Vec<OpId>,
    /// Slots of operations that returned are below this number.
    pub(crate) slots: u32,
    /// The classes of operations that never returned. Those of one class cannot be distinguished.
    pub(crate) crashed: Vec<ClassId>,
    /// Which operations may observe the crashed ones, and until when.
    pub(crate) visibility: Visibility,
}

impl Part {
    /// Creates a part from its events, in order. Ids increase from call to call.
    pub(crate) fn new(events: impl Iterator<Item = RawEvent>) -> Part {
        let mut part = Part::default();
        let mut free: Vec<u32> = Vec::new();
        let mut crashed_classes: HashMap<ClassId, u32> = HashMap::default();
        for event in events {
            let at = ids::number(part.events.len());
            if event.is_return {
                let op = part.find(event.id);
                part.ops[op].ret = at;
                free.push(part.ops[op].slot);
                part.events.push(Event::ret(op));
                continue;
            }
            let op = part.ops.len();
            let slot = if event.returns {
                free.pop().unwrap_or_else(|| {
                    part.slots += 1;
                    part.slots - 1
                })
            } else {
                *crashed_classes.entry(event.class).or_insert_with(|| {
                    part.crashed.push(event.class);
                    ids::number(part.crashed.len()) - 1
                })
            };
            part.ops.push(PartOp { class: event.class, slot, call: at, ret: NEVER });
            part.ids.push(event.id);
            part.events.push(Event::call(op));
        }
        part
    }

    /// Finds the operation with this id. Most operations that return were called recently, so this searches from the
    /// end in steps that double.
    fn find(&self, id: OpId) -> usize {
        let (mut end, mut step) = (self.ids.len(), 1);
        loop {
            let start = end.saturating_sub(step);
            if start == 0 || self.ids[start] <= id {
                let found = self.ids[start..end].binary_search(&id);
                return start + found.expect("an operation returns after its call");
            }
            end = start;
            step *= 2;
        }
    }
}

/// A call or a return, as recorded in the history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawEvent {
    pub(crate) id: OpId,
    pub(crate) class: ClassId,
    pub(crate) is_return: bool,
    /// Whether the operation ever returns.
    pub(crate) returns: bool,
}
