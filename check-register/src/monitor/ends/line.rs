//! The values in a deque at one moment, the steps that led to it, and where another value fits.

use super::Moments;
use crate::monitor::moments::Value;
use crate::monitor::sheet::NONE;
use history_core::cast::Cast as _;
use std::collections::{BTreeSet, VecDeque};

/// One of the two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Front,
    Back,
}

impl End {
    pub(super) fn of(is_front: bool) -> End {
        if is_front { End::Front } else { End::Back }
    }

    fn index(self) -> usize {
        usize::from(self == End::Back)
    }

    pub(super) fn other(self) -> End {
        End::of(self == End::Back)
    }
}

/// The end at which a value is removed, ordered from front to back: values can be in the deque in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Leaves {
    Front,
    /// No operation is known to have removed it.
    Open,
    Back,
}

impl Leaves {
    /// The end at which the value is removed, if it is known.
    pub(super) fn end(self) -> Option<End> {
        match self {
            Leaves::Front => Some(End::Front),
            Leaves::Open => None,
            Leaves::Back => Some(End::Back),
        }
    }
}

/// A step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Done {
    Put(u32),
    /// A value was removed at an end, by its known take or by a crashed one.
    Take {
        value: u32,
        end: End,
        crashed: bool,
    },
    /// An operation found nothing; this is its position.
    Nothing(u32),
}

/// The takes of the values that are present and are removed at one end.
#[derive(Default)]
struct Takes {
    by_call: BTreeSet<(u32, u32)>,
    by_ret: BTreeSet<(u32, u32)>,
}

impl Takes {
    /// Returns true if none of them is certainly removed before this value.
    fn all_after(&self, value: &Value) -> bool {
        self.by_ret.first().is_none_or(|(ret, _)| *ret > value.take_call)
    }

    /// Returns true if none of them is certainly removed after this value.
    fn all_before(&self, value: &Value) -> bool {
        self.by_call.last().is_none_or(|(call, _)| *call < value.take_ret)
    }
}

/// Crashed takes at one end, in the order of their calls, of which the first `used` were used.
struct Crashed {
    takes: Vec<(u32, u32)>,
    used: usize,
}

/// The content of a deque while moments are processed.
pub(super) struct Line<'m> {
    moments: &'m Moments,
    /// By value: the end at which it is inserted and the end at which it is removed.
    ways: Vec<(End, Leaves)>,
    pub(super) there: VecDeque<u32>,
    fronts: Takes,
    backs: Takes,
    open: usize,
    crashed: [Crashed; 2],
    /// All steps so far, each with its moment.
    pub(super) trail: Vec<(u32, Done)>,
    /// By value: its insertion, as a position on the trail; `NONE` if it was not inserted.
    put_at: Vec<u32>,
    is_gone: Vec<bool>,
    pub(super) now: u32,
}

impl<'m> Line<'m> {
    pub(super) fn new(moments: &'m Moments, is_front: &dyn Fn(usize) -> bool) -> Line<'m> {
        let values = &moments.values;
        let end = |op: u32| End::of(is_front(op.to_usize()));
        let ways = values.iter().map(|value| {
            let leaves = match value.take {
                NONE => Leaves::Open,
                take if end(take) == End::Front => Leaves::Front,
                _ => Leaves::Back,
            };
            // Initial values were inserted at the back.
            (if value.put == NONE { End::Back } else { end(value.put) }, leaves)
        });
        let crashed = [End::Front, End::Back].map(|at| {
            let takes = moments.crashed.iter().filter(|take| end(take.op) == at);
            Crashed { takes: takes.map(|take| (take.call, take.op)).collect(), used: 0 }
        });
        Line {
            moments,
            ways: ways.collect(),
            there: VecDeque::new(),
            fronts: Takes::default(),
            backs: Takes::default(),
            open: 0,
            crashed,
            trail: Vec::new(),
            put_at: vec![NONE; values.len()],
            is_gone: vec![false; values.len()],
            now: 0,
        }
    }

    pub(super) fn value(&self, at: u32) -> &'m Value {
        &self.moments.values[at.to_usize()]
    }

    pub(super) fn comes(&self, at: u32) -> End {
        self.ways[at.to_usize()].0
    }

    pub(super) fn leaves(&self, at: u32) -> Leaves {
        self.ways[at.to_usize()].1
    }

    /// The value at an end.
    pub(super) fn last(&self, end: End) -> Option<u32> {
        match end {
            End::Front => self.there.front().copied(),
            End::Back => self.there.back().copied(),
        }
    }

    /// Returns true if a value was inserted, even if it was removed again.
    pub(super) fn was_put(&self, at: u32) -> bool {
        self.put_at[at.to_usize()] != NONE
    }

    pub(super) fn is_gone(&self, at: u32) -> bool {
        self.is_gone[at.to_usize()]
    }

    /// The insertion of a value that is present, as a position on the trail.
    pub(super) fn put_at(&self, at: u32) -> usize {
        self.put_at[at.to_usize()].to_usize()
    }

    /// Returns true if the known take of a value was called.
    pub(super) fn can_leave(&self, at: u32) -> bool {
        self.leaves(at) != Leaves::Open && self.value(at).take_call <= self.now
    }

    /// Returns true if at least `count` crashed takes at an end were called and not used.
    pub(super) fn has_crashed(&self, end: End, count: usize) -> bool {
        let crashed = &self.crashed[end.index()];
        let last = count.checked_sub(1).map(|more| crashed.takes.get(crashed.used + more));
        last.is_none_or(|last| last.is_some_and(|take| take.0 <= self.now))
    }

    fn push(&mut self, at: u32, end: End) {
        match end {
            End::Front => self.there.push_front(at),
            End::Back => self.there.push_back(at),
        }
        let value = self.value(at);
        let takes = match self.leaves(at) {
            Leaves::Front => &mut self.fronts,
            Leaves::Back => &mut self.backs,
            Leaves::Open => return self.open += 1,
        };
        takes.by_call.insert((value.take_call, at));
        takes.by_ret.insert((value.take_ret, at));
    }

    fn pop(&mut self, at: u32, end: End) {
        let popped = match end {
            End::Front => self.there.pop_front(),
            End::Back => self.there.pop_back(),
        };
        debug_assert_eq!(popped, Some(at), "it is the last at its end");
        let value = self.value(at);
        let takes = match self.leaves(at) {
            Leaves::Front => &mut self.fronts,
            Leaves::Back => &mut self.backs,
            Leaves::Open => return self.open -= 1,
        };
        takes.by_call.remove(&(value.take_call, at));
        takes.by_ret.remove(&(value.take_ret, at));
    }

    pub(super) fn put(&mut self, at: u32) {
        debug_assert!(!self.was_put(at), "each value is put in once");
        self.push(at, self.comes(at));
        self.put_at[at.to_usize()] = self.trail.len().to_u32();
        self.trail.push((self.now, Done::Put(at)));
    }

    /// Removes the value at an end.
    pub(super) fn take(&mut self, value: u32, end: End, crashed: bool) {
        self.pop(value, end);
        self.is_gone[value.to_usize()] = true;
        self.crashed[end.index()].used += usize::from(crashed);
        self.trail.push((self.now, Done::Take { value, end, crashed }));
    }

    /// Undoes the last step if it was done at this moment or later, and returns it.
    pub(super) fn undo(&mut self, from: u32) -> Option<Done> {
        let (_, done) = self.trail.pop_if(|(moment, _)| *moment >= from)?;
        match done {
            Done::Put(at) => {
                self.pop(at, self.comes(at));
                self.put_at[at.to_usize()] = NONE;
            }
            Done::Take { value, end, crashed } => {
                self.push(value, end);
                self.is_gone[value.to_usize()] = false;
                self.crashed[end.index()].used -= usize::from(crashed);
            }
            Done::Nothing(_) => {}
        }
        Some(done)
    }

    /// Returns true if one value may be in front of another.
    fn may_stand(&self, front: u32, back: u32) -> bool {
        let (one, other) = (self.value(front), self.value(back));
        match (self.leaves(front), self.leaves(back)) {
            (Leaves::Front, Leaves::Front) => other.take_ret > one.take_call,
            (Leaves::Back, Leaves::Back) => one.take_ret > other.take_call,
            (one, other) => one <= other,
        }
    }

    /// Returns true if one value may be inserted while another one is present.
    pub(super) fn may_follow(&self, at: u32, other: u32) -> bool {
        match self.comes(at) {
            End::Front => self.may_stand(at, other),
            End::Back => self.may_stand(other, at),
        }
    }

    /// Returns true if a value can be inserted now, beside all present values. If takes crashed, values that no
    /// operation is known to have removed block no other.
    pub(super) fn fits(&self, at: u32) -> bool {
        let value = self.value(at);
        let none_open = self.open == 0 || !self.moments.crashed.is_empty();
        let no_fronts = self.fronts.by_call.is_empty();
        let no_backs = self.backs.by_call.is_empty();
        match self.ways[at.to_usize()] {
            (End::Front, Leaves::Front) => self.fronts.all_after(value),
            (End::Front, Leaves::Back) => no_fronts && none_open && self.backs.all_before(value),
            (End::Back, Leaves::Back) => self.backs.all_after(value),
            (End::Back, Leaves::Front) => no_backs && none_open && self.fronts.all_before(value),
            (End::Front, Leaves::Open) => no_fronts || !self.moments.crashed.is_empty(),
            (End::Back, Leaves::Open) => no_backs || !self.moments.crashed.is_empty(),
        }
    }

    /// All operations, in the order of the steps.
    pub(super) fn ops(&self) -> Vec<u32> {
        let mut used = [0, 0];
        let op = |(_, done): &(u32, Done)| match *done {
            Done::Put(value) => self.value(value).put,
            Done::Take { end, crashed: true, .. } => {
                used[end.index()] += 1;
                self.crashed[end.index()].takes[used[end.index()] - 1].1
            }
            Done::Take { value, .. } => self.value(value).take,
            Done::Nothing(at) => self.moments.nothings[at.to_usize()].op,
        };
        self.trail.iter().map(op).filter(|op| *op != NONE).collect()
    }
}
