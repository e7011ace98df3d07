//! A level, and what its judge has found of it.

use crate::cycle_spec::CycleExistsSpec;
use crate::txn::online::judge::{Judge, Stop, Violation};

/// A judge, until it stops.
#[derive(Debug)]
pub(super) struct Level<J> {
    pub(super) spec: CycleExistsSpec,
    pub(super) judge: Option<J>,
    /// The first one.
    pub(super) violation: Option<Violation>,
    /// Those of the op that is being judged.
    pub(super) news: Vec<Violation>,
    /// The op at which it stopped for another reason than a violation, and why.
    pub(super) stopped: Option<(u64, String)>,
}

impl<J: Judge> Level<J> {
    pub(super) fn new(spec: CycleExistsSpec, settings: &J::Settings) -> Level<J> {
        Level { spec, judge: Some(J::new(spec, settings, false)), violation: None, news: Vec::new(), stopped: None }
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
                let why = "what an operation wrote was said when it ended, and it had been given up by then";
                self.stopped = Some((index, why.to_owned()));
            }
        }
        self.judge = None;
        T::default()
    }
}
