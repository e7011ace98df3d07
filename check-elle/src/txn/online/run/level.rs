//! A level, and the results of its judge.

use super::Event;
use crate::cycle_spec::CycleExistsSpec;
use crate::txn::online::judge::{Judge, Stop, Violation};
use crate::txn::online::limits::Limits;
use crate::txn::online::witness::Witness;

/// A level with its judge. The judge is dropped when it stops.
#[derive(Debug)]
pub(super) struct Level<J> {
    pub(super) spec: CycleExistsSpec,
    pub(super) judge: Option<J>,
    /// The first violation.
    pub(super) violation: Option<Violation>,
    /// The violations that the current op proved.
    pub(super) news: Vec<Violation>,
    /// A second judge that chooses version orders where the first one does not know them.
    pub(super) witness: Option<Box<Witness<J>>>,
    /// The op at which the judge stopped for a reason other than a violation, and the reason.
    pub(super) stopped: Option<(u64, String)>,
}

impl<J: Judge> Level<J> {
    pub(super) fn new(spec: CycleExistsSpec, settings: &J::Settings) -> Level<J> {
        Level {
            spec,
            judge: Some(J::new(spec, settings, false)),
            violation: None,
            news: Vec::new(),
            witness: None,
            stopped: None,
        }
    }

    /// Passes an op of a transaction to the judge; `txn` is the transaction's number in the judge.
    pub(super) fn judge(&mut self, slot: usize, event: &Event<'_>, txn: &mut u32, limits: &Limits) {
        let Some(judge) = &mut self.judge else { return };
        let judged = event.judge(judge, *txn);
        *txn = self.take(event.facts.index, judged);
        if let Some(witness) = &mut self.witness
            && (self.judge.is_none() || !self.news.is_empty() || !witness.take(slot, event, limits))
        {
            self.witness = None;
        }
    }

    /// The judge with the most known version orders: the witness, if there is one.
    pub(super) fn best(&self) -> Option<&J> {
        self.judge.as_ref().map(|judge| self.witness.as_ref().map_or(judge, |witness| witness.judge()))
    }

    /// Ends the history.
    pub(super) fn conclude(&mut self, limits: &Limits) {
        self.judge.iter_mut().for_each(J::conclude);
        self.witness.iter_mut().for_each(|witness| witness.conclude(limits));
    }

    /// Takes the violations after which the judge continued.
    pub(super) fn collect(&mut self) {
        if let Some(judge) = &mut self.judge {
            self.news.extend(judge.take_violations());
        }
    }

    /// Returns the value of a successful step. Otherwise drops the judge and records why.
    pub(super) fn take<T: Default>(&mut self, index: u64, done: Result<T, Stop>) -> T {
        match done {
            Ok(value) => return value,
            Err(Stop::Violated(violation)) => self.news.push(violation),
            Err(Stop::Twice { .. }) => {
                self.stopped = Some((index, "a value was written to a key a second time, or may have been".to_owned()));
            }
            Err(Stop::Late) => {
                let why = "an operation's writes were recorded only in its completion, after histcheck had dropped the operation";
                self.stopped = Some((index, why.to_owned()));
            }
        }
        self.judge = None;
        T::default()
    }
}
