//! The operations in flight at one position of a history.

use super::mask::Mask;
use super::part::visible::Visibility;
use super::part::{Event, Kind, NEVER, Part};
use super::seen::Config;
use super::transitions::Transitions;
use crate::engine::ids;
use crate::engine::ids::{ClassId, StateId};
use crate::engine::steps::Next;

/// The operations in flight between two events of a part. The position can move along the events in both directions.
#[derive(Debug)]
pub(crate) struct Open<'p, const W: usize> {
    part: &'p Part,
    /// By class: how it is searched.
    kinds: &'p [Kind],
    /// By slot: the operation in flight.
    slots: Vec<InFlight<W>>,
    /// Slots of operations that may change the state, in the order of their returns.
    writes: Vec<u32>,
    /// Slots of operations that only read, in the order of their returns.
    reads: Vec<u32>,
    /// By crashed class: the number of operations that were called.
    crashed: Vec<u32>,
    /// The sum of `crashed`.
    called: u32,
    /// By crashed class whose effect does not last: the operations in flight that may observe it.
    seen_by: Vec<Mask<W>>,
    /// Crashed classes of which at least one operation was called and which still matter, in order.
    live: Vec<u32>,
    /// By crashed class: whether it is in the list of useful ones. Scratch space: all false between calls.
    marked: Vec<bool>,
    /// Crashed classes in the order in which they cease to matter.
    ends: Vec<u32>,
    /// The number of classes of `ends` that have ceased to matter.
    ended: usize,
    /// The next event.
    at: u32,
}

/// An operation in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight<const W: usize> {
    pub(crate) op: u32,
    pub(crate) class: ClassId,
    ret: u32,
    /// The slots of operations of the same class that return earlier. Equal operations can be placed in the order of
    /// their returns.
    pub(crate) before: Mask<W>,
}

impl<'p, const W: usize> Open<'p, W> {
    /// The state before the first event: no operation is in flight.
    pub(crate) fn new(part: &'p Part, kinds: &'p [Kind]) -> Open<'p, W> {
        let empty = InFlight { op: 0, class: ClassId::new(0), ret: NEVER, before: Mask::EMPTY };
        Open {
            part,
            kinds,
            slots: vec![empty; ids::index(part.slots)],
            writes: Vec::new(),
            reads: Vec::new(),
            crashed: vec![0; part.crashed.len()],
            called: 0,
            seen_by: vec![Mask::EMPTY; part.crashed.len()],
            live: Vec::new(),
            marked: vec![false; part.crashed.len()],
            ends: {
                let mut ends: Vec<u32> = (0..ids::number(part.crashed.len())).collect();
                ends.sort_by_key(|class| part.visibility.until[ids::index(*class)]);
                ends
            },
            ended: 0,
            at: 0,
        }
    }

    /// The event from which on a crashed class no longer matters.
    fn until(&self, class: u32) -> u32 {
        self.part.visibility.until[ids::index(class)]
    }

    fn revive(&mut self, class: u32) {
        if self.crashed[ids::index(class)] > 0
            && self.until(class) > self.at
            && let Err(place) = self.live.binary_search(&class)
        {
            self.live.insert(place, class);
        }
    }

    fn bury(&mut self, class: u32) {
        if let Ok(place) = self.live.binary_search(&class) {
            self.live.remove(place);
        }
    }

    /// Moves forward over an event. Returns the slot of a read if one was called.
    #[inline]
    pub(crate) fn forward(&mut self, event: Event) -> Option<u32> {
        self.at += 1;
        while let Some(class) = self.ends.get(self.ended).copied()
            && self.until(class) <= self.at
        {
            self.bury(class);
            self.ended += 1;
        }
        if event.is_return() {
            self.close(event.op());
            return None;
        }
        self.open(event.op())
    }

    /// Moves back over an event.
    pub(crate) fn backward(&mut self, event: Event) {
        self.at -= 1;
        while let Some(before) = self.ended.checked_sub(1)
            && self.until(self.ends[before]) > self.at
        {
            self.ended = before;
            self.revive(self.ends[before]);
        }
        let op = &self.part.ops[event.op()];
        if event.is_return() {
            self.open(event.op());
        } else if op.is_crashed() && self.part.visibility.pends[ids::index(op.slot)] {
            // The operation was never counted.
        } else if op.is_crashed() {
            self.crashed[ids::index(op.slot)] -= 1;
            self.called -= 1;
            if self.crashed[ids::index(op.slot)] == 0 {
                self.bury(op.slot);
            }
        } else {
            self.close(event.op());
        }
    }

    fn open(&mut self, op: usize) -> Option<u32> {
        let this = &self.part.ops[op];
        let slot = this.slot;
        if this.is_crashed() {
            if self.part.visibility.pends[ids::index(slot)] {
                return None;
            }
            self.crashed[ids::index(slot)] += 1;
            self.called += 1;
            self.revive(slot);
            return None;
        }
        if self.kinds[this.class.at()] == Kind::Begins {
            return None;
        }
        let mut entry = InFlight { op: ids::number(op), class: this.class, ret: this.ret, before: Mask::EMPTY };
        let is_read = self.kinds[this.class.at()] == Kind::Reads;
        let list = if is_read { &mut self.reads } else { &mut self.writes };
        let mut at = list.len();
        for (i, other_slot) in list.iter().enumerate() {
            let other = &mut self.slots[ids::index(*other_slot)];
            if other.ret > entry.ret {
                at = at.min(i);
            }
            if !is_read && other.class == entry.class {
                if other.ret < entry.ret {
                    entry.before.set(*other_slot);
                } else {
                    other.before.set(slot);
                }
            }
        }
        list.insert(at, slot);
        self.slots[ids::index(slot)] = entry;
        for class in self.part.visibility.seen(entry.class) {
            self.seen_by[ids::index(*class)].set(slot);
        }
        is_read.then_some(slot)
    }

    fn close(&mut self, op: usize) {
        let slot = self.part.ops[op].slot;
        let is_read = self.kinds[self.part.ops[op].class.at()] == Kind::Reads;
        let list = if is_read { &mut self.reads } else { &mut self.writes };
        if let Some(at) = list.iter().position(|other| *other == slot) {
            list.remove(at);
        }
        if !is_read {
            for other in list {
                self.slots[ids::index(*other)].before.clear(slot);
            }
        }
        for class in self.part.visibility.seen(self.part.ops[op].class) {
            self.seen_by[ids::index(*class)].clear(slot);
        }
    }

    /// Slots of operations in flight that only read, in the order of their returns.
    #[inline]
    pub(crate) fn reads(&self) -> &[u32] {
        &self.reads
    }

    /// The operation in a slot.
    #[inline]
    pub(crate) fn at(&self, slot: u32) -> &InFlight<W> {
        &self.slots[ids::index(slot)]
    }

    /// Returns true if an operation of a crashed class was called and the class still matters.
    #[inline]
    pub(crate) fn any_crashed(&self) -> bool {
        !self.live.is_empty()
    }

    /// Collects the crashed classes that may be useful to a configuration, in order.
    ///
    /// An effect that does not last is useful only to operations that observe it before the state changes again: an
    /// operation in flight that was not placed and that the state does not admit as it is, or another crashed operation
    /// that is itself useful. Any other use of it can be omitted.
    pub(crate) fn useful(&mut self, transitions: &mut Transitions<'_>, config: &Config<W>, into: &mut Vec<u32>) {
        into.clear();
        let Visibility { lasts, chain, .. } = &self.part.visibility;
        let mut content = config.mask;
        for slot in &self.writes {
            if !content.has(*slot) && self.admits(transitions, config.state, *slot) {
                content.set(*slot);
            }
        }
        let wanted = |class: &u32| lasts[ids::index(*class)] || !content.has_all(self.seen_by[ids::index(*class)]);
        into.extend(self.live.iter().copied().filter(wanted));
        if into.is_empty() {
            return;
        }
        for class in into.iter() {
            self.marked[ids::index(*class)] = true;
        }
        let mut next = 0;
        while next < into.len() && into.len() < self.live.len() {
            for other in &chain[ids::index(into[next])] {
                let is_live = self.crashed[ids::index(*other)] > 0 && self.until(*other) > self.at;
                if is_live && !std::mem::replace(&mut self.marked[ids::index(*other)], true) {
                    into.push(*other);
                }
            }
            next += 1;
        }
        for class in into.iter() {
            self.marked[ids::index(*class)] = false;
        }
        into.sort_unstable();
    }

    /// The number of operations of a crashed class that were called.
    #[inline]
    pub(crate) fn called(&self, class: u32) -> u32 {
        self.crashed[ids::index(class)]
    }

    /// The number of crashed operations that were called.
    #[inline]
    pub(crate) fn called_in_all(&self) -> u32 {
        self.called
    }

    /// The number of crashed classes that no longer matter.
    #[inline]
    pub(crate) fn ended(&self) -> usize {
        self.ended
    }

    /// Returns true if a crashed class still matters.
    #[inline]
    pub(crate) fn matters(&self, class: u32) -> bool {
        self.until(class) > self.at
    }

    /// Returns true if states store the operation that this event calls, or stored it and need its return.
    #[inline]
    pub(crate) fn is_remembered(&self, event: Event) -> bool {
        let op = &self.part.ops[event.op()];
        if op.is_crashed() {
            self.part.visibility.pends[ids::index(op.slot)] && self.until(op.slot) > self.at
        } else {
            self.kinds[op.class.at()] == Kind::Begins
        }
    }

    /// Returns true if some operation in flight that was not placed may have to be placed before the return of an
    /// operation that states store.
    pub(crate) fn is_any_hurried(&self, config: &Config<W>) -> bool {
        let waits = |slot: u32| self.kinds[self.slots[ids::index(slot)].class.at()] == Kind::Waits;
        self.any_crashed()
            || self.reads.iter().any(|slot| !config.mask.has(*slot))
            || self.writes.iter().any(|slot| !config.mask.has(*slot) && !waits(*slot))
    }

    /// Slots of operations in flight that are placed in every order. This includes operations that only read if their
    /// result may depend on pending operations.
    #[inline]
    pub(crate) fn placeable(&self) -> impl Iterator<Item = u32> {
        let reads: &[u32] = if self.part.visibility.any_pends { &self.reads } else { &[] };
        self.writes.iter().chain(reads).copied()
    }

    /// Slots of all operations in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = u32> {
        self.writes.iter().chain(&self.reads).copied()
    }

    /// Returns true if a state admits the read in this slot and does not change.
    #[inline]
    pub(crate) fn finds(&self, transitions: &mut Transitions<'_>, state: StateId, slot: u32) -> bool {
        match transitions.next(state, self.at(slot).class) {
            Next::Nowhere => false,
            Next::One(next) => next == state || !self.part.visibility.any_pends,
            Next::Many { .. } => !self.part.visibility.any_pends,
        }
    }

    /// Returns true if a state admits the operation in this slot.
    #[inline]
    pub(crate) fn admits(&self, transitions: &mut Transitions<'_>, state: StateId, slot: u32) -> bool {
        transitions.next(state, self.at(slot).class) != Next::Nowhere
    }
}
