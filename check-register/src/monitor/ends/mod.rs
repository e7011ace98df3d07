//! A linearization of a double-ended queue, if a few attempts find one.
//!
//! **Which values can be present together.** Let one of two present values be in front of the other. If both are
//! removed at the front, the one in front is removed first; if both are removed at the back, the other one is. If the
//! one in front is removed at the front and the other one at the back, the order of removal does not matter; the other
//! way round they cannot be removed at all. If these rules hold for each two values, the steps are those of a deque. So
//! a value is inserted only where it *fits*: where it does not certainly break a rule together with a present value.
//! Then each value can be removed when it must be, because all values outside of it can be removed by then.
//!
//! **When to do each step.** Removing a value as early as possible is never worse than later, because a removed value
//! blocks no other. The same is true of a value that can be inserted and removed at once. It remains to choose when
//! each other value is inserted: here as late as possible, but before a value beside which it would not fit. That is a
//! guess. If a value finally does not fit, it should have been inserted before one that is present: all steps since
//! then are undone, and this order is recorded.
//!
//! **Values that no operation is known to have removed** are removed after all others, at either end. If takes crashed,
//! one of these removes such a value if it is outside of a value that must be removed, or before a value is inserted
//! that encloses it.
//!
//! An order that is found is a linearization. If none is found, there may still be one: no polynomial rule is known to
//! us. Each step takes O(log n), and there are at most `STEPS_MAX` steps per operation.

mod calendar;
mod line;

use super::moments::Moments;
use calendar::Calendar;
use history_core::Budget;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use line::{Done, End, Leaves, Line};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The maximum number of steps of all attempts together, per operation.
const STEPS_MAX: u64 = 1_024;

/// The steps that remain for finding orders, of a history and all its prefixes together.
pub(super) struct Tries<'b> {
    left: Cell<u64>,
    budget: &'b Budget,
}

impl Tries<'_> {
    /// Creates the limit for a history with this number of operations.
    pub(super) fn new(operations: usize, budget: &Budget) -> Tries<'_> {
        Tries { left: Cell::new(STEPS_MAX * (operations.to_u64() + 16)), budget }
    }

    /// Uses this many steps. Returns false if none remain.
    fn spend(&self, steps: usize) -> bool {
        /// Steps between two checks of the budget.
        const LOOK: u64 = 1 << 16;
        let left = self.left.get();
        let after = left.saturating_sub(steps.to_u64());
        let is_over = left / LOOK != after / LOOK && self.budget.check(0, 0).is_err();
        self.left.set(if is_over { 0 } else { after });
        self.left.get() > 0
    }
}

/// The reason why a moment could not be completed.
enum Stop {
    /// All steps from this moment on were undone.
    Again(u32),
    GiveUp,
}

struct Walk<'m> {
    moments: &'m Moments,
    line: Line<'m>,
    /// Values whose puts were called and that were not yet inserted.
    waiting: BTreeSet<u32>,
    /// Operations that found nothing and were called, but were not yet placed.
    searching: BTreeSet<u32>,
    /// Pairs of values: the second must be inserted before the first.
    earlier: BTreeSet<(u32, u32)>,
    /// Pairs of values: a crashed take must remove the second before the first is inserted.
    gone_before: BTreeSet<(u32, u32)>,
    /// Pairs of values: the second must not be inserted before the first on a guess.
    no_earlier: BTreeSet<(u32, u32)>,
    /// By value that was inserted early on a guess: the value before which it was inserted.
    guessed_for: HashMap<u32, u32>,
    tries: &'m Tries<'m>,
}

/// A linearization, if one is found. `is_front` returns whether an operation acts at the front.
pub(super) fn order(moments: &Moments, is_front: &dyn Fn(usize) -> bool, tries: &Tries<'_>) -> Option<Vec<u32>> {
    let calendar = Calendar::new(moments);
    let mut walk = Walk {
        moments,
        line: Line::new(moments, is_front),
        waiting: BTreeSet::new(),
        searching: BTreeSet::new(),
        earlier: BTreeSet::new(),
        gone_before: BTreeSet::new(),
        no_earlier: BTreeSet::new(),
        guessed_for: HashMap::default(),
        tries,
    };
    let mut moment = 0;
    while moment <= moments.end {
        match walk.pass(moment, &calendar) {
            Ok(()) => moment += 1,
            Err(Stop::Again(from)) => moment = from,
            Err(Stop::GiveUp) => return None,
        }
    }
    Some(walk.line.ops())
}

impl Walk<'_> {
    /// Performs all steps of one moment.
    fn pass(&mut self, moment: u32, calendar: &Calendar) -> Result<(), Stop> {
        self.line.now = moment;
        self.waiting.extend(calendar.puts_called.at(moment));
        self.searching.extend(calendar.nothings_called.at(moment));
        self.settle();
        for value in calendar.puts_due.at(moment) {
            self.bring(*value)?;
        }
        for value in calendar.takes_due.at(moment) {
            self.bring(*value)?;
            self.take_out(*value)?;
        }
        for nothing in calendar.nothings_due.at(moment) {
            while self.searching.contains(nothing) {
                if !self.crash_take(End::Front) && !self.crash_take(End::Back) {
                    return Err(self.retreat_from_open(End::Front));
                }
                self.settle();
            }
        }
        Ok(())
    }

    /// Performs the steps that are never worse now than later.
    fn settle(&mut self) {
        loop {
            let can_leave = |end: &End| {
                let leaves = |value: u32| self.line.leaves(value).end() == Some(*end) && self.line.can_leave(value);
                self.line.last(*end).is_some_and(leaves)
            };
            if let Some(end) = [End::Front, End::Back].into_iter().find(can_leave)
                && let Some(value) = self.line.last(end)
            {
                self.line.take(value, end, false);
                continue;
            }
            if self.line.there.is_empty() {
                for at in std::mem::take(&mut self.searching) {
                    self.line.trail.push((self.line.now, Done::Nothing(at)));
                }
            }
            self.tries.spend(self.waiting.len());
            let Some(value) = self.waiting.iter().copied().find(|at| self.passes(*at)) else { return };
            self.put(value);
        }
    }

    /// Returns true if a value can be inserted and removed at once.
    fn passes(&self, at: u32) -> bool {
        let is_at_one_end = self.line.leaves(at).end() == Some(self.line.comes(at));
        self.line.can_leave(at) && (is_at_one_end || self.line.there.is_empty())
    }

    fn put(&mut self, at: u32) {
        self.waiting.remove(&at);
        self.line.put(at);
    }

    /// Inserts a value if it was not yet inserted, and before it the values that would not fit any more.
    fn bring(&mut self, at: u32) -> Result<(), Stop> {
        let mut stack = vec![at];
        while let Some(next) = stack.last().copied() {
            if !self.tries.spend(self.waiting.len() + stack.len()) {
                return Err(Stop::GiveUp);
            }
            if self.line.was_put(next) {
                stack.pop();
                continue;
            }
            let is_first = |first: &u32| !stack.contains(first) && self.goes_first(*first, next);
            if let Some(first) = self.waiting.iter().copied().find(is_first) {
                self.guessed_for.insert(first, next);
                stack.push(first);
                continue;
            }
            self.take_before(next);
            if self.line.was_put(next) {
                continue;
            }
            if self.line.fits(next) {
                self.put(next);
                self.settle();
            } else if !self.make_room(next) {
                return Err(self.retreat(next));
            }
        }
        Ok(())
    }

    /// Returns true if the waiting value `at` must or should be inserted before `next`.
    fn goes_first(&self, at: u32, next: u32) -> bool {
        let is_known = self.earlier.contains(&(next, at));
        let would = || {
            let meet = self.line.value(next).take_call >= self.line.value(at).put_ret;
            let may_precede = meet && self.line.may_follow(next, at);
            may_precede && (!self.line.may_follow(at, next) || self.would_rather_precede(at, next))
        };
        self.line.fits(at) && (is_known || !self.no_earlier.contains(&(next, at)) && would())
    }

    /// For two values that may be inserted in either order: returns true if the likely order of their removals requires
    /// `at` first.
    fn would_rather_precede(&self, at: u32, next: u32) -> bool {
        let way = |at: u32| (self.line.comes(at), self.line.leaves(at));
        let Some(end) = self.line.leaves(at).end().filter(|_| way(at) == way(next)) else { return false };
        let middle = |at: u32| u64::from(self.line.value(at).take_call) + u64::from(self.line.value(at).take_ret);
        let stays_longer = middle(at) > middle(next);
        stays_longer == (self.line.comes(at) == end)
    }

    /// Removes the values that crashed takes must remove before a value is inserted.
    fn take_before(&mut self, at: u32) {
        let end = self.line.comes(at);
        let is_last = |walk: &Self| walk.line.last(end).is_some_and(|last| walk.gone_before.contains(&(at, last)));
        while is_last(self) && self.crash_take(end) {
            self.settle();
        }
    }

    /// The first value that blocks another one and could be removed if no values were outside of it; and these values.
    fn enclosed(&mut self, at: u32) -> Option<(u32, Vec<u32>)> {
        let line = &self.line;
        self.tries.spend(line.there.len());
        let place = line.there.iter().position(|value| !line.may_follow(at, *value) && line.can_leave(*value))?;
        let value = line.there[place];
        let outside = match line.leaves(value) {
            Leaves::Front => line.there.range(..place),
            _ => line.there.range(place + 1..),
        };
        Some((value, outside.copied().collect()))
    }

    /// Removes a value that blocks another one, if all values outside of it can be removed too, those without a known
    /// take by crashed takes. Returns true if there was such a value.
    fn make_room(&mut self, at: u32) -> bool {
        let Some((value, outside)) = self.enclosed(at) else { return false };
        let Some(end) = self.line.leaves(value).end() else { return false };
        let (open, known): (Vec<u32>, Vec<u32>) =
            outside.into_iter().partition(|value| self.line.leaves(*value) == Leaves::Open);
        let can_leave = self.line.has_crashed(end, open.len()) && known.iter().all(|at| self.line.can_leave(*at));
        while can_leave && !self.line.is_gone(value) && self.crash_take(end) {
            self.settle();
        }
        self.line.is_gone(value)
    }

    /// Removes a value unless it was removed already, and before it all values outside of it.
    fn take_out(&mut self, value: u32) -> Result<(), Stop> {
        let Some(end) = self.line.leaves(value).end() else { return Ok(()) };
        while !self.line.is_gone(value) {
            if !self.crash_take(end) {
                return Err(self.retreat_from_open(end));
            }
            self.settle();
        }
        Ok(())
    }

    /// Removes the value at an end by a crashed take, if no operation is known to remove it. Returns true if it was
    /// removed.
    fn crash_take(&mut self, end: End) -> bool {
        let open = self.line.last(end).filter(|value| self.line.leaves(*value) == Leaves::Open);
        let Some(value) = open.filter(|_| self.line.has_crashed(end, 1)) else { return false };
        self.line.take(value, end, true);
        true
    }

    /// Handles a value that must be inserted and does not fit. Either it should have been inserted before a value that
    /// is present; or a value that encloses another one which could be removed now should have been inserted before
    /// that one; or some value was inserted too early, on a guess.
    fn retreat(&mut self, at: u32) -> Stop {
        let begun = self.line.value(at).put_call;
        let trail = &self.line.trail;
        let looked_at = trail.len() - trail.partition_point(|(moment, _)| *moment < begun);
        self.tries.spend(looked_at + self.line.there.len());
        if let Some(other) = self.follows(at, true) {
            self.earlier.insert((other, at));
            return self.begin_again(other);
        }
        if let Some(stop) = self.retreat_from_enclosed(at) {
            return stop;
        }
        let hinders = |other: &u32| !self.line.may_follow(at, *other) && self.line.value(*other).put_ret > begun;
        let hindering = self.line.there.iter().copied().filter(hinders).collect();
        if let Some(stop) = self.retreat_from_guess(hindering) {
            return stop;
        }
        let Some(other) = self.follows(at, false) else { return Stop::GiveUp };
        self.earlier.insert((other, at));
        self.begin_again(other)
    }

    /// Of the values that block `at` and should have been inserted after it, the one that was inserted last. If
    /// `stays`, `at` may stay beside it; otherwise `at` must have been removed by then.
    fn follows(&self, at: u32, stays: bool) -> Option<u32> {
        let value = self.line.value(at);
        let since = self.line.trail.iter().rev().take_while(|(moment, _)| *moment >= value.put_call);
        let mut puts = since.filter_map(|(moment, done)| match done {
            Done::Put(other) if !self.line.is_gone(*other) => Some((*moment, *other)),
            _ => None,
        });
        let should_follow = |(moment, other): &(u32, u32)| {
            let could = if stays { self.line.may_follow(*other, at) } else { value.take_call <= *moment };
            could && !self.line.may_follow(at, *other) && !self.earlier.contains(&(*other, at))
        };
        puts.find(should_follow).map(|(_, other)| other)
    }

    /// Handles a value that could be removed, blocks another one, and is enclosed by others. Either these should have
    /// been inserted before it; or crashed takes should have removed the values between before they were inserted; or
    /// it was inserted too early.
    fn retreat_from_enclosed(&mut self, at: u32) -> Option<Stop> {
        let (value, outside) = self.enclosed(at)?;
        let line = &self.line;
        // If values are inserted and removed at the same end, the inner one is inserted first; otherwise the outer one
        // is.
        let is_stack = line.leaves(value).end() == Some(line.comes(value));
        let swapped = outside.iter().map(|outer| if is_stack { (value, *outer) } else { (*outer, value) });
        let could_be = |(late, soon): &(u32, u32)| {
            let waited = line.value(*soon).put_call <= line.trail[line.put_at(*late)].0;
            let is_new = line.comes(*late) == line.comes(*soon) && !self.earlier.contains(&(*late, *soon));
            is_new && waited && line.may_follow(*late, *soon)
        };
        let stays = |(late, soon): &(u32, u32)| !line.can_leave(if is_stack { *soon } else { *late });
        if let Some((late, soon)) = swapped.filter(stays).find(could_be) {
            self.earlier.insert((late, soon));
            return Some(self.begin_again(late));
        }
        let stays = |outer: &u32| line.leaves(*outer) != Leaves::Open && !line.can_leave(*outer);
        let staying: Vec<u32> = outside.iter().copied().filter(stays).collect();
        let first = staying.iter().copied().min_by_key(|outer| line.put_at(*outer))?;
        let is_open = |other: &u32| line.leaves(*other) == Leaves::Open && line.put_at(*other) < line.put_at(first);
        let open = outside.into_iter().filter(is_open).map(|open| (first, open));
        let known = &self.gone_before;
        let new: Vec<(u32, u32)> = open.filter(|pair| !known.contains(pair)).collect();
        if !new.is_empty() {
            self.gone_before.extend(new);
            return Some(self.begin_again(first));
        }
        self.retreat_from_guess(staying)
    }

    /// Handles values of which one was inserted too early, on a guess: undoes the last of these guesses, so that the
    /// steps before it remain.
    fn retreat_from_guess(&mut self, of: Vec<u32>) -> Option<Stop> {
        let guesses = of.into_iter().filter_map(|guess| Some((guess, *self.guessed_for.get(&guess)?)));
        let is_new = |(guess, next): &(u32, u32)| !self.no_earlier.contains(&(*next, *guess));
        let (guess, next) = guesses.filter(is_new).max_by_key(|(guess, _)| self.line.put_at(*guess))?;
        self.no_earlier.insert((next, guess));
        Some(self.begin_again(guess))
    }

    /// Handles a value at an end that must be removed when no take is left: a crashed take at the other end should have
    /// removed it before a value was inserted behind it.
    fn retreat_from_open(&mut self, end: End) -> Stop {
        let there = &self.line.there;
        let ends = match end {
            End::Front => (there.front(), there.get(1)),
            End::Back => (there.back(), there.len().checked_sub(2).and_then(|at| there.get(at))),
        };
        let (Some(open), Some(behind)) = (ends.0.copied(), ends.1.copied()) else { return Stop::GiveUp };
        let is_behind = self.line.put_at(open) < self.line.put_at(behind) && self.line.comes(behind) == end.other();
        let is_open = self.line.leaves(open) == Leaves::Open;
        if !is_open || !is_behind || !self.gone_before.insert((behind, open)) {
            return Stop::GiveUp;
        }
        self.begin_again(behind)
    }

    /// Undoes all steps from the moment at which a value was inserted.
    fn begin_again(&mut self, at: u32) -> Stop {
        let from = self.line.trail[self.line.put_at(at)].0;
        while let Some(done) = self.line.undo(from) {
            if !self.tries.spend(1) {
                return Stop::GiveUp;
            }
            match done {
                Done::Put(at) => {
                    self.waiting.insert(at);
                    self.guessed_for.remove(&at);
                }
                Done::Nothing(at) => _ = self.searching.insert(at),
                Done::Take { .. } => {}
            }
        }
        let (values, nothings) = (&self.moments.values, &self.moments.nothings);
        self.waiting.retain(|at| values[at.to_usize()].put_call < from);
        self.searching.retain(|at| nothings[at.to_usize()].call < from);
        Stop::Again(from)
    }
}
