//! The fold: ops become operations of a model.

use super::Linearizable;
use super::decoder::{DecodedEvent, Decoder};
use super::recorded::{Recorded, TooLarge};
use super::report::{self, Counts};
use crate::engine::ids::OpId;
use crate::history::Columns;
use crate::models::Spec;
use crate::slices::Slices;
use history_core::{Budget, ErrorKind, HistoryError, NextStep, Op, OpKind, Pair, Report, Run, Searched, Verdict};
use std::ops::ControlFlow;

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
    /// The first op that cannot be read, and why.
    malformed: Option<Malformed>,
    slices: Slices,
    /// Whether the search is not to go on.
    stopped: bool,
}

/// An op that cannot be read.
struct Malformed {
    /// Where it is and why.
    place: String,
    /// Whether its operation may have begun anywhere before it, so that it may explain what was found there.
    may_be_earlier: bool,
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
            slices: Slices::default(),
            stopped: false,
        }
    }

    fn take(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        if op.kind == OpKind::Invoke && self.columns.len() == Columns::<S::Op>::OPS_MAX {
            return Err(limit(format!("more than {} operations", Columns::<S::Op>::OPS_MAX)));
        }
        let (slot, happened) = match self.decoder.decode(&mut self.checker.model, op)? {
            DecodedEvent::Called { slot, .. } => {
                let id = self.columns.call();
                self.recorded.invoke(op.process, op.index, op.time)?;
                if slot >= self.open.len() {
                    self.open.resize(slot + 1, id);
                }
                self.open[slot] = id;
                return Ok(());
            }
            DecodedEvent::Failed { slot } => {
                self.counts.fail += 1;
                (slot, None)
            }
            DecodedEvent::Crashed { slot, op } => {
                self.counts.info += 1;
                self.crashed.extend(op.map(|op| (self.open[slot], op)));
                (slot, None)
            }
            DecodedEvent::Returned { slot, op } => {
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

    /// What never completed may have happened, as what got `info` may. What only reads says nothing then. Once is
    /// enough.
    fn push_crashed(&mut self) {
        let open = self.decoder.take_in_flight();
        self.crashed.extend(open.map(|(slot, op)| (self.open[slot], op)));
        self.crashed.sort_unstable_by_key(|(id, _)| *id);
        for (id, op) in std::mem::take(&mut self.crashed) {
            if !self.checker.model.shortcuts().reads_only(&op) {
                self.columns.set(id, op);
            }
        }
    }
}

/// Why an op ends the run.
enum OpFault {
    Malformed(String),
    Error(HistoryError),
}

impl From<String> for OpFault {
    fn from(reason: String) -> OpFault {
        OpFault::Malformed(reason)
    }
}

impl From<TooLarge> for OpFault {
    fn from(_: TooLarge) -> OpFault {
        limit("the first and the last index are more than 2^32 apart".into())
    }
}

fn limit(message: String) -> OpFault {
    OpFault::Error(HistoryError::new(ErrorKind::Limit, message))
}

impl<S: Spec + Clone> Run for ObjectRun<S> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.recorded.participants.see(op) {
            return Ok(ControlFlow::Continue(()));
        }
        match self.take(op) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(OpFault::Error(error)) => Err(error),
            Err(OpFault::Malformed(reason)) => {
                let place = format!("the op at {}: {reason}.", op.place());
                let may_be_earlier = op.pair == Pair::Alone && op.kind != OpKind::Invoke;
                self.malformed = Some(Malformed { place, may_be_earlier });
                Ok(ControlFlow::Break(()))
            }
        }
    }

    fn search(&mut self, budget: &Budget, _: u32) -> Searched {
        if self.malformed.as_ref().is_some_and(|malformed| malformed.may_be_earlier) {
            return Searched::Done;
        }
        self.push_crashed();
        budget.begin("searching for a linearization");
        self.slices.take(&self.checker.model, &self.columns, self.checker.settings, budget);
        if self.slices.is_refused() && !self.decoder.has_hidden() {
            Searched::Invalid
        } else if self.slices.is_refused() || self.slices.is_done() {
            Searched::Done
        } else {
            Searched::More
        }
    }

    fn stop_search(&mut self) {
        self.stopped = true;
    }

    fn finish_before_unread(self: Box<Self>, budget: &Budget) -> Result<Option<Report>, HistoryError> {
        // A beginning that is not linearizable cannot be mended by what follows.
        Ok(Some(self.finish(budget)?).filter(|report| report.verdict == Verdict::Invalid))
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let unknown = |malformed: &Malformed| {
            let mut report = Report::new(S::NAME, Verdict::Unknown);
            report.notes.push(format!("No verdict, because of {}", malformed.place));
            report.add_next(NextStep::correct_op(&malformed.place));
            report
        };
        if let Some(malformed) = self.malformed.as_ref().filter(|malformed| malformed.may_be_earlier) {
            return Ok(unknown(malformed));
        }
        self.push_crashed();
        let ObjectRun { checker, columns, recorded, counts, decoder, malformed, mut slices, stopped, .. } = *self;
        if !stopped && !slices.is_done() {
            budget.begin("searching for a linearization");
            slices.take_all(&checker.model, &columns, checker.settings, budget);
        }
        let answer = slices.into_answer(&checker.model);
        if let Some(malformed) = malformed.as_ref().filter(|_| answer.verdict() != Verdict::Invalid) {
            return Ok(unknown(malformed));
        }
        budget.begin("explaining anomalies");
        let mut report = report::report(&checker, &columns, &recorded, (counts, &decoder), &answer, budget);
        if let Some(malformed) = malformed {
            let note = format!("The verdict covers only the ops before {}", malformed.place);
            report.is_partial = true;
            report.notes.insert(0, note);
        }
        decoder.doubt(&mut report);
        Ok(report)
    }
}
