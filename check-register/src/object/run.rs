//! The fold: ops become operations of a model.

use super::Linearizable;
use super::decoder::{Decoder, Happening};
use super::recorded::{Recorded, TooLarge};
use crate::history::Columns;
use crate::ids::OpId;
use crate::judge::judge;
use crate::models::Spec;
use history_core::{Budget, ErrorKind, HistoryError, Op, OpKind, Report, Run, Verdict};
use std::ops::ControlFlow;

/// How many ops of each kind there were.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) ok: u64,
    pub(super) fail: u64,
    pub(super) info: u64,
}

/// A history of an object on its way through a checker.
pub(super) struct ObjectRun<S: Spec> {
    checker: Linearizable<S>,
    columns: Columns<S::Op>,
    recorded: Recorded,
    counts: Counts,
    decoder: Decoder<S::Op>,
    /// Operations in flight, by slot.
    open: Vec<OpId>,
    /// Those that got `info`, which may have happened.
    crashed: Vec<(OpId, S::Op)>,
    /// Why nothing can be said of this history.
    malformed: Option<String>,
}

impl<S: Spec + Clone> ObjectRun<S> {
    pub(super) fn new(checker: Linearizable<S>) -> ObjectRun<S> {
        ObjectRun {
            checker,
            columns: Columns::new(),
            recorded: Recorded::default(),
            counts: Counts::default(),
            decoder: Decoder::default(),
            open: Vec::new(),
            crashed: Vec::new(),
            malformed: None,
        }
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), Trouble> {
        if op.kind == OpKind::Invoke && self.columns.len() == Columns::<S::Op>::OPS_MAX {
            return Err(limit(format!("more than {} operations", Columns::<S::Op>::OPS_MAX)));
        }
        let (slot, happened) = match self.decoder.decode(&mut self.checker.model, op)? {
            Happening::Called { slot, .. } => {
                let id = self.columns.call();
                self.recorded.invoke(op.process, op.index, op.time)?;
                if slot >= self.open.len() {
                    self.open.resize(slot + 1, id);
                }
                self.open[slot] = id;
                return Ok(());
            }
            Happening::Failed { slot } => {
                self.counts.fail += 1;
                (slot, None)
            }
            Happening::Crashed { slot, op } => {
                self.counts.info += 1;
                self.crashed.extend(op.map(|op| (self.open[slot], op)));
                (slot, None)
            }
            Happening::Returned { slot, op } => {
                self.counts.ok += 1;
                (slot, op)
            }
        };
        let id = self.open[slot];
        self.recorded.complete(id, op.index, op.time)?;
        if let Some(happened) = happened {
            self.columns.set(id, happened);
            self.columns.ret(id);
        }
        Ok(())
    }

    /// What never completed may have happened, as what got `info` may. What only reads says nothing then.
    fn push_crashed(&mut self) {
        let open = std::mem::take(&mut self.decoder).in_flight();
        self.crashed.extend(open.map(|(slot, op)| (self.open[slot], op)));
        self.crashed.sort_unstable_by_key(|(id, _)| *id);
        for (id, op) in std::mem::take(&mut self.crashed) {
            if !self.checker.model.reads_only(&op) {
                self.columns.set(id, op);
            }
        }
    }
}

/// Why an op ends the run.
enum Trouble {
    Malformed(String),
    Error(HistoryError),
}

impl From<String> for Trouble {
    fn from(reason: String) -> Trouble {
        Trouble::Malformed(reason)
    }
}

impl From<TooLarge> for Trouble {
    fn from(_: TooLarge) -> Trouble {
        limit("the first and the last index are more than 2^32 apart".into())
    }
}

fn limit(message: String) -> Trouble {
    Trouble::Error(HistoryError::new(ErrorKind::Limit, message))
}

impl<S: Spec + Clone> Run for ObjectRun<S> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.recorded.participants.see(op) {
            return Ok(ControlFlow::Continue(()));
        }
        match self.take(op) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(Trouble::Error(error)) => Err(error),
            Err(Trouble::Malformed(reason)) => {
                let place = op.place();
                self.malformed = Some(format!("Nothing can be said of this history, because at {place} {reason}."));
                Ok(ControlFlow::Break(()))
            }
        }
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        if let Some(reason) = self.malformed {
            let mut report = Report::new(S::NAME, Verdict::Unknown);
            report.notes.push(reason);
            return Ok(report);
        }
        self.push_crashed();
        let ObjectRun { checker, columns, recorded, counts, .. } = *self;
        budget.begin("searching for a linearization");
        let answer = judge(&checker.model, &columns, checker.settings, budget);
        budget.begin("telling what was found");
        Ok(super::report::report(&checker, &columns, &recorded, counts, &answer))
    }
}
