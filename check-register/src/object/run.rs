//! The fold: converts ops into operations of a model.

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

/// The check of one history of an object.
pub(super) struct ObjectRun<S: Spec> {
    checker: Linearizable<S>,
    columns: Columns<S::Op>,
    recorded: Recorded,
    counts: Counts,
    decoder: Decoder<S::Op>,
    /// Operations in flight, by slot.
    open: Vec<OpId>,
    /// Operations that ended with `info`, which may have happened.
    crashed: Vec<(OpId, S::Op)>,
    /// The first op that cannot be read, and why.
    malformed: Option<Malformed>,
    slices: Slices,
    /// Whether the search must not continue.
    stopped: bool,
    /// Whether the ops since the first operation that does not record what it changed are omitted.
    is_cut: bool,
}

/// An op that cannot be read.
struct Malformed {
    /// The position of the op, and the reason.
    place: String,
    /// Whether its operation may have begun anywhere before it, so that it may explain earlier results.
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
            is_cut: false,
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

    /// Sets the effects of operations that never completed or ended with `info`: they may have happened. Those that
    /// only read have no effect. A second call does nothing.
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

    /// Prepares the search: if an operation cannot be decoded, only a violation before it counts.
    fn prepare(&mut self) {
        self.push_crashed();
        if self.decoder.undecoded().is_some() {
            self.cut();
        }
    }

    /// Omits, of each part, the ops since the first operation that does not record what it changed. This operation took
    /// effect after its invocation, so it explains nothing that had returned by then, and may explain everything else.
    /// Returns true if ops were omitted.
    fn cut(&mut self) -> bool {
        let Some(first) = self.decoder.first_hidden().filter(|_| !self.is_cut) else { return false };
        let shortcuts = self.checker.model.shortcuts();
        // Such an operation hides only its part of the object, if that is known.
        let first_of = |at: usize| {
            let part = self.columns.op(OpId::new(at)).and_then(|op| shortcuts.part(op));
            part.map_or(first, |part| self.decoder.first_hidden_of(part).unwrap_or(u64::MAX))
        };
        let first: Vec<u64> = (0..self.columns.len()).map(first_of).collect();
        let recorded = &self.recorded;
        self.columns.cut(
            |id| recorded.invoked(id.at()) < first[id.at()],
            |id| recorded.completed(id.at()).is_some_and(|completed| completed < first[id.at()]),
            |op| shortcuts.reads_only(op),
        );
        self.slices = Slices::default();
        self.is_cut = true;
        true
    }

    /// The report on a history that cannot be checked because of an op.
    fn unknown(place: &str) -> Report {
        let mut report = Report::new(S::NAME, Verdict::Unknown);
        report.notes.push(format!("No verdict, because of {place}"));
        report.add_next(NextStep::correct_op(place));
        report
    }
}

/// The reason why an op ends the run.
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
        self.prepare();
        budget.begin("searching for a linearization");
        self.slices.take(&self.checker.model, &self.columns, self.checker.settings, budget);
        if self.slices.is_refused() && self.cut() {
            self.slices.take(&self.checker.model, &self.columns, self.checker.settings, budget);
        }
        if self.slices.is_refused() {
            Searched::Invalid
        } else if self.slices.is_done() {
            Searched::Done
        } else {
            Searched::More
        }
    }

    fn stop_search(&mut self) {
        self.stopped = true;
    }

    fn finish_before_unread(self: Box<Self>, budget: &Budget) -> Result<Option<Report>, HistoryError> {
        // If a prefix is not linearizable, neither is the whole history.
        Ok(Some(self.finish(budget)?).filter(|report| report.verdict == Verdict::Invalid))
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        if let Some(malformed) = self.malformed.as_ref().filter(|malformed| malformed.may_be_earlier) {
            return Ok(Self::unknown(&malformed.place));
        }
        self.prepare();
        while !self.stopped && !self.slices.is_done() {
            budget.begin("searching for a linearization");
            self.slices.take_all(&self.checker.model, &self.columns, self.checker.settings, budget);
            if !self.slices.is_refused() || !self.cut() {
                break;
            }
        }
        let ObjectRun { checker, columns, recorded, counts, decoder, malformed, slices, is_cut, .. } = *self;
        let answer = slices.into_answer(&checker.model);
        if answer.verdict() != Verdict::Invalid {
            let place = decoder.undecoded().or(malformed.as_ref().map(|malformed| malformed.place.as_str()));
            if let Some(place) = place {
                return Ok(Self::unknown(place));
            }
        }
        budget.begin("explaining anomalies");
        let mut report = report::report(&checker, &columns, &recorded, (counts, &decoder), &answer, budget);
        let of_malformed =
            || malformed.map(|malformed| format!("The verdict covers only the ops before {}", malformed.place));
        match (answer.verdict(), is_cut) {
            (Verdict::Invalid, true) => note_first(&mut report, decoder.note_on_earlier(&checker.model)),
            (_, true) => decoder.doubt(&mut report),
            (_, false) => note_first(&mut report, of_malformed()),
        }
        Ok(report)
    }
}

/// Inserts a note that the verdict covers only a part of the history, before all other notes.
fn note_first(report: &mut Report, note: Option<String>) {
    report.is_partial |= note.is_some();
    report.notes.splice(0..0, note);
}
