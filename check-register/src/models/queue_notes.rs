//! Determines when the puts and takes that the states of a queue stored took effect.

use super::queue_state::{Discipline, QueueState, Source, Taken};
use super::shared::queue_op::{QueueOp, Removed};
use crate::{Moment, Settlement};
use std::collections::VecDeque;

/// The steps at which stored operations began that have not taken effect. Initial values began at step 0.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// By item, for a first-in-first-out queue.
    items: VecDeque<u64>,
    /// Puts in progress: their number, and when they began.
    flying: Vec<(u32, Began)>,
    /// Crashed puts, by value.
    puts: Vec<(i64, Began)>,
    /// Crashed takes.
    takes: VecDeque<u64>,
    /// The value that was removed last was inserted before this step.
    last: u64,
    /// By item: the earliest step before which it can have been inserted.
    earliest: VecDeque<u64>,
}

/// The step at which an operation began, and the earliest step before which it may take effect.
#[derive(Clone, Copy, Debug)]
struct Began {
    step: u64,
    earliest: u64,
}

/// Processes one step of a linearization.
pub(super) fn settle(discipline: Discipline, settlement: &mut Settlement<'_, QueueState, QueueOp>) {
    let Settlement { step, before, after, .. } = *settlement;
    let (op, moment) = (*settlement.op, settlement.moment);
    let mut notes: Notes = std::mem::take(settlement.notes());
    if step == 1 {
        notes.items = std::iter::repeat_n(0, before.len()).collect();
        notes.earliest.clone_from(&notes.items);
    }
    let began = Began { step, earliest: step };
    match (moment, op) {
        (Moment::Pend, QueueOp::Put(value)) => notes.puts.push((value, began)),
        (Moment::Pend, QueueOp::Take(_)) => notes.takes.push_back(step),
        (Moment::Begin { flight }, _) => notes.flying.push((flight, began)),
        (Moment::End { flight }, _) => {
            if let Some(at) = notes.flying.iter().position(|(other, _)| *other == flight) {
                let (_, began) = notes.flying.remove(at);
                if discipline == Discipline::Fifo {
                    notes.items.push_back(began.step);
                    notes.earliest.push_back(began.earliest);
                } else {
                    // The value can have been present all the time: only an operation that finds nothing would
                    // contradict that.
                    settlement.happened(began.earliest, began.step);
                }
            }
        }
        (Moment::Place, QueueOp::Put(_)) => {}
        (Moment::Place, QueueOp::Take(removed)) => {
            let ways: Vec<Taken> = match removed {
                Removed::Value(value) => before.take(discipline, value),
                Removed::Nothing => before.take_nothing(discipline).into_iter().collect(),
                Removed::Unknown => before.take_any(discipline),
            };
            if let Some(way) = ways.into_iter().find(|way| way.state == *after) {
                notes.take(discipline, settlement, &way);
            }
        }
        (Moment::Finish, _) => {
            for at in 0..notes.items.len() {
                notes.put(settlement, notes.items[at], notes.earliest[at]);
            }
        }
    }
    *settlement.notes() = notes;
}

impl Notes {
    /// Records when a value that is removed was inserted: as early as possible, but after the values that were removed
    /// before.
    fn put(&mut self, settlement: &mut Settlement<'_, QueueState, QueueOp>, began: u64, earliest: u64) {
        self.last = self.last.max(earliest);
        if began > 0 {
            settlement.happened(self.last, began);
        }
    }

    fn take(&mut self, discipline: Discipline, settlement: &mut Settlement<'_, QueueState, QueueOp>, way: &Taken) {
        let now = settlement.step;
        let is_fifo = discipline == Discipline::Fifo;
        if is_fifo {
            for at in 0..way.crashed {
                self.put(settlement, self.items[at], self.earliest[at]);
            }
            self.items.drain(..way.crashed);
            self.earliest.drain(..way.crashed);
        }
        match way.source {
            Source::Item(at) if is_fifo => {
                let at = at - way.crashed;
                if let (Some(began), Some(earliest)) = (self.items.remove(at), self.earliest.remove(at)) {
                    self.put(settlement, began, earliest);
                }
            }
            Source::Flying(flight) => {
                if let Some(at) = self.flying.iter().position(|(other, _)| *other == flight) {
                    let (_, began) = self.flying.remove(at);
                    if is_fifo {
                        self.put(settlement, began.step, began.earliest);
                    } else {
                        settlement.happened(began.earliest, began.step);
                    }
                }
            }
            Source::Crashed(_) | Source::Item(_) | Source::Nothing => {}
        }
        let taken = if let Source::Crashed(value) = way.source { Some(value) } else { None };
        let put = self.puts.iter().position(|(other, _)| taken == Some(*other)).map(|at| self.puts.remove(at).1);
        match put {
            Some(began) if is_fifo => self.put(settlement, began.step, began.earliest),
            _ => {}
        }
        for began in self.takes.drain(..way.crashed) {
            settlement.happened(now, began);
        }
        if let Some(began) = put.filter(|_| !is_fifo) {
            settlement.happened(now, began.step);
        }
        if way.source == Source::Nothing {
            // A value that is not in the collection now is inserted later.
            let later =
                self.flying.iter_mut().map(|(_, began)| began).chain(self.puts.iter_mut().map(|(_, began)| began));
            later.for_each(|began| began.earliest = now + 1);
        }
    }
}
