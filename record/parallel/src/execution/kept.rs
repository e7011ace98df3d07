//! The memory of lists and views that an execution leaves to the next one on the same OS thread. In a program of few
//! steps, new allocations would take longer than the operations.

use super::memory::Memory;
use super::row::Row;
use super::stuck::Noting;
use super::{Outcome, Value};
use crate::op::Step;
use crate::op::thread::Thread;
use crate::scheduler::Scheduler;

/// Empty lists with capacity, and the views, which are reset when the next execution begins.
pub(crate) struct Kept {
    pub(super) noting: Noting,
    pub(super) memory: Memory,
    pub(super) threads: Vec<Thread>,
    pub(super) rows: Vec<Row>,
    pub(super) steps: Vec<Step>,
    pub(super) values: Vec<Value>,
}

impl Kept {
    /// Creates the lists for the first execution.
    pub(crate) fn new() -> Kept {
        Kept::of(Noting::new(), Memory::default())
    }

    pub(super) fn of(noting: Noting, memory: Memory) -> Kept {
        let (threads, rows, steps, values) = Default::default();
        Kept { noting, memory, threads, rows, steps, values }
    }

    /// Records whether an execution is in progress.
    pub(crate) fn set_active(&self, is_active: bool) {
        self.noting.set_active(is_active);
    }

    /// Keeps the lists of an execution that are no longer needed. Returns the execution's scheduler.
    pub(crate) fn take(&mut self, outcome: Outcome) -> Box<dyn Scheduler> {
        let Outcome { scheduler, mut threads, mut rows, mut steps, mut values, .. } = outcome;
        threads.clear();
        rows.clear();
        steps.clear();
        values.clear();
        (self.threads, self.rows, self.steps, self.values) = (threads, rows, steps, values);
        scheduler
    }
}
