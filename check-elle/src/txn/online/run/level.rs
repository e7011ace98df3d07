//! A level, and the results of its judge.

use super::Event;
use crate::cycle_spec::CycleExistsSpec;
use crate::txn::online::judge::{Judge, Stop, Violation};
use crate::txn::online::limits::Limits;
use crate::txn::online::witness::Witness;

/// A judge, until it stops.
#[derive(Debug)]
pub(super) struct Level<J> {
    pub(super) spec: CycleExistsSpec,
    pub(super) judge: Option<J>,
    /// The first one.
    pub(super) violation: Option<Violation>,
    /// Those of the op that is being judged.
    pub(super) news: Vec<Violation>,
    /// A judge beside it that chooses where it does not know.
    pub(super) witness: Option<Box<Witness<J>>>,
    /// The op at which it stopped for another reason than a violation, and why.
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

    /// Takes an op of a transaction, which has a number with the judge.
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

    /// The judge that knows most of what keeps the level from being known to hold.
    pub(super) fn best(&self) -> Option<&J> {
        self.judge.as_ref().map(|judge| self.witness.as_ref().map_or(judge, |witness| witness.judge()))
    }

    /// No op comes any more.
    pub(super) fn conclude(&mut self, limits: &Limits) {
        self.judge.iter_mut().for_each(J::conclude);
        self.witness.iter_mut().for_each(|witness| witness.conclude(limits));
    }

    /// Takes the violations after which the judge went on.
    pub(super) fn collect(&mut self) {
        if let Some(judge) = &mut self.judge {
            self.news.extend(judge.take_violations());
        }
    }

    /// Goes on if this is no reason to stop.
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
