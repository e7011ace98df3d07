//! Shrinks a program together with the schedule of its failure, so that the same bug remains.
//!
//! The schedule is data. When a command is removed, its steps are removed from the schedule as well; the remaining
//! schedule is tried first, then all schedules with few preemptions, up to a limit. Two branches become one if the bug
//! does not need both, and the first commands of a branch become part of the prefix if they need not run concurrently
//! with others. When no more reduction is possible, schedules with fewer preemptions are tried. The result is minimal
//! in this sense: after the removal of any one command to which no other refers, no schedule that was tried shows a bug
//! of the same kind; nor does any with fewer preemptions that was tried for the result.

use super::ParallelModel;
use super::draw::{Drawn, Part};
use super::program::makes_sense;
use super::run::{Found, Runner};
use super::steps;
use crate::Schedule;
use crate::ids::small;
use crate::scheduler::{Exhaustive, Replay};

/// The number of preemptions of the schedules that are tried for a smaller program.
const PREEMPTIONS_MAX: usize = 2;

/// The maximum number of simplifications of one command.
const SIMPLIFICATIONS_MAX: usize = 64;

/// The state of a shrinking run.
pub(crate) struct Shrinking<'a, M: ParallelModel> {
    pub(crate) runner: &'a mut Runner<M>,
    pub(crate) drawn: Drawn<M::Command>,
    pub(crate) found: Box<Found<M::Response>>,
    /// The maximum number of executions for each program that is tried.
    pub(crate) executions_max: u64,
}

impl<M: ParallelModel> Shrinking<'_, M> {
    pub(crate) fn shrink(mut self) -> (Drawn<M::Command>, Box<Found<M::Response>>) {
        loop {
            let removed = self.remove_commands();
            let joined = self.join_branches() | self.move_commands();
            let simplified = self.simplify_commands();
            if !removed && !joined && !simplified {
                break;
            }
        }
        self.remove_preemptions();
        (self.drawn, self.found)
    }

    /// Returns true if the current program fails in the same way under the schedule `hint` or one with few preemptions.
    fn fails(&mut self, hint: &Schedule) -> bool {
        let program = self.drawn.program(&*self.runner.model);
        if program.is_empty() || !makes_sense(&*self.runner.model, &program) {
            return false;
        }
        self.runner.set_program(program);
        if self.try_scheduler(Box::new(Replay::as_far_as_possible(hint))) {
            return true;
        }
        let picks = self.found.failure.picks();
        (0..=PREEMPTIONS_MAX).any(|bound| self.try_bound(bound, picks))
    }

    fn try_bound(&mut self, preemptions: usize, picks: usize) -> bool {
        let scheduler = Exhaustive::new().preemptions_max(small(preemptions)).picks_max(small(picks));
        self.try_scheduler(Box::new(scheduler.executions_max(self.executions_max)))
    }

    fn try_scheduler(&mut self, scheduler: Box<dyn crate::scheduler::Scheduler>) -> bool {
        match self.runner.explore(scheduler) {
            Err(found) if found.failure.cause.is_like(&self.found.failure.cause) => {
                self.found = found;
                true
            }
            _ => false,
        }
    }

    /// Removes commands one by one, starting with the last one. Returns true if any was removed.
    fn remove_commands(&mut self) -> bool {
        let mut is_smaller = false;
        for slot in (0..self.drawn.len()).rev().filter(|slot| self.drawn.is_kept(*slot)).collect::<Vec<_>>() {
            let hint = self.schedule_without(slot);
            self.drawn.keep(slot, false);
            if self.fails(&hint) {
                is_smaller = true;
            } else {
                self.drawn.keep(slot, true);
            }
        }
        self.runner.set_program(self.drawn.program(&*self.runner.model));
        is_smaller
    }

    /// Joins two branches, if there are more than two. Returns true if any were joined.
    fn join_branches(&mut self) -> bool {
        let mut is_smaller = false;
        let mut branches = self.drawn.branches();
        for branch in branches.clone().into_iter().rev() {
            let from = self.drawn.kept_in(Part::Branch(branch));
            let mut others = branches.iter().filter(|other| **other != branch);
            if branches.len() > 2 && others.any(|into| self.try_parts(&from, Part::Branch(*into))) {
                branches.retain(|other| *other != branch);
                is_smaller = true;
            }
        }
        is_smaller
    }

    /// Moves commands from the beginning of branches to the end of the prefix. Returns true if any was moved.
    fn move_commands(&mut self) -> bool {
        let mut is_smaller = false;
        for branch in self.drawn.branches() {
            for slot in self.drawn.kept_in(Part::Branch(branch)) {
                if !self.try_parts(&[slot], Part::Prefix) {
                    break;
                }
                is_smaller = true;
            }
        }
        is_smaller
    }

    /// Moves commands to another part if the program then still fails. Returns true if they were moved.
    fn try_parts(&mut self, slots: &[usize], part: Part) -> bool {
        let before: Vec<Part> = slots.iter().map(|slot| self.drawn.part(*slot)).collect();
        for slot in slots {
            self.drawn.put_in(*slot, part);
        }
        let hint = Schedule::in_full(&self.found.failure.steps);
        let fails = self.fails(&hint);
        if !fails {
            slots.iter().zip(before).for_each(|(slot, part)| self.drawn.put_in(*slot, part));
            self.runner.set_program(self.drawn.program(&*self.runner.model));
        }
        fails
    }

    fn schedule_without(&self, slot: usize) -> Schedule {
        let Found { failure, lanes, .. } = &*self.found;
        let (branch, number, len) = self.drawn.program(&*self.runner.model).place(self.drawn.position(slot));
        if branch.is_some_and(|branch| branch >= lanes.threads.len()) {
            return Schedule::in_full(&failure.steps);
        }
        steps::without_command(&failure.steps, lanes, branch, number, len == 1)
    }

    /// Simplifies commands one by one. Returns true if any was simplified.
    fn simplify_commands(&mut self) -> bool {
        let mut is_simpler = false;
        for slot in 0..self.drawn.len() {
            if !self.drawn.is_kept(slot) {
                continue;
            }
            let mut best = self.drawn.value(slot);
            let mut is_simplifying = true;
            for _ in 0..SIMPLIFICATIONS_MAX {
                if !self.drawn.move_slot(slot, is_simplifying) {
                    break;
                }
                let hint = Schedule::in_full(&self.found.failure.steps);
                is_simplifying = self.fails(&hint);
                let value = self.drawn.value(slot);
                if is_simplifying && value != best {
                    is_simpler = true;
                    best = value;
                    self.drawn.settle(slot);
                }
            }
            self.drawn.put_back(slot, best);
        }
        self.runner.set_program(self.drawn.program(&*self.runner.model));
        is_simpler
    }

    /// Searches for a schedule with as few preemptions as possible, and among those for a schedule with as few picks as
    /// possible.
    fn remove_preemptions(&mut self) {
        self.runner.set_program(self.drawn.program(&*self.runner.model));
        let picks = self.found.failure.picks();
        (0..self.found.failure.preemptions()).any(|preemptions| self.try_bound(preemptions, picks));
        let preemptions = self.found.failure.preemptions();
        (0..self.found.failure.picks()).any(|picks| self.try_bound(preemptions, picks));
    }
}
