//! The values of a deque at one moment, what was done up to there, and where another value fits.

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

/// Where a value leaves; from front to back, as those who leave there can stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Leaves {
    Front,
    /// Nobody is known to have taken it.
    Open,
    Back,
}

impl Leaves {
    /// At which end that is, if it is known.
    pub(super) fn end(self) -> Option<End> {
        match self {
            Leaves::Front => Some(End::Front),
            Leaves::Open => None,
            Leaves::Back => Some(End::Back),
        }
    }
}

/// Something that was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Done {
    Put(u32),
    /// A value was taken at an end, by a crashed take or the one that is known.
    Take {
        value: u32,
        end: End,
        crashed: bool,
    },
    /// An operation found nothing, by its position.
    Nothing(u32),
}

/// The takes of the values that are there and leave at one end.
#[derive(Default)]
struct Takes {
    by_call: BTreeSet<(u32, u32)>,
    by_ret: BTreeSet<(u32, u32)>,
}

impl Takes {
    /// Whether none of them certainly leaves before this value.
    fn all_after(&self, value: &Value) -> bool {
        self.by_ret.first().is_none_or(|(ret, _)| *ret > value.take_call)
    }

    /// Whether none of them certainly leaves after this value.
    fn all_before(&self, value: &Value) -> bool {
        self.by_call.last().is_none_or(|(call, _)| *call < value.take_ret)
    }
}

/// Crashed takes at one end, in the order of their calls, of which the first ones were used.
struct Crashed {
    takes: Vec<(u32, u32)>,
    used: usize,
}

/// A deque on its way through the moments.
pub(super) struct Line<'m> {
    moments: &'m Moments,
    /// By value, where it comes in and where it leaves.
    ways: Vec<(End, Leaves)>,
    pub(super) there: VecDeque<u32>,
    fronts: Takes,
    backs: Takes,
    open: usize,
    crashed: [Crashed; 2],
    /// All that was done, with its moment.
    pub(super) trail: Vec<(u32, Done)>,
    /// By value: when it was put in, as a position on the trail; `NONE` if it was not.
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
            // What was there at the start came in at the back.
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

    /// The value that is the last at an end.
    pub(super) fn last(&self, end: End) -> Option<u32> {
        match end {
            End::Front => self.there.front().copied(),
            End::Back => self.there.back().copied(),
        }
    }

    /// Whether a value was put in; it may be gone again.
    pub(super) fn was_put(&self, at: u32) -> bool {
        self.put_at[at.to_usize()] != NONE
    }

    pub(super) fn is_gone(&self, at: u32) -> bool {
        self.is_gone[at.to_usize()]
    }

    /// When a value that is there was put in, as a position on the trail.
    pub(super) fn put_at(&self, at: u32) -> usize {
        self.put_at[at.to_usize()].to_usize()
    }

    /// Whether the known take of a value was called.
    pub(super) fn can_leave(&self, at: u32) -> bool {
        self.leaves(at) != Leaves::Open && self.value(at).take_call <= self.now
    }

    /// Whether so many crashed takes at an end were called and are not used.
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

    /// Takes the last value at an end.
    pub(super) fn take(&mut self, value: u32, end: End, crashed: bool) {
        self.pop(value, end);
        self.is_gone[value.to_usize()] = true;
        self.crashed[end.index()].used += usize::from(crashed);
        self.trail.push((self.now, Done::Take { value, end, crashed }));
    }

    /// Undoes the last thing, and says what it was, if it was done at this moment or later.
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

    /// Whether one value may be in front of another.
    fn may_stand(&self, front: u32, back: u32) -> bool {
        let (one, other) = (self.value(front), self.value(back));
        match (self.leaves(front), self.leaves(back)) {
            (Leaves::Front, Leaves::Front) => other.take_ret > one.take_call,
            (Leaves::Back, Leaves::Back) => one.take_ret > other.take_call,
            (one, other) => one <= other,
        }
    }

    /// Whether one value may be put in while another one is there.
    pub(super) fn may_follow(&self, at: u32, other: u32) -> bool {
        match self.comes(at) {
            End::Front => self.may_stand(at, other),
            End::Back => self.may_stand(other, at),
        }
    }

    /// Whether a value can be put in now, beside all that are there. Values that nobody is known to have taken hinder
    /// nobody if takes crashed.
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

    /// All operations, in the order in which things were done.
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
