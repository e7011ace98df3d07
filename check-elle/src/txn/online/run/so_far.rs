//! The violation found, and whether later ops may revoke it.

use super::OnlineRun;
use crate::cycle_spec::{CycleExistsSpec, Relations};
use crate::txn::online::judge::{Judge, Violation};
use history_core::{HistoryError, Run as _};

/// Returns true if a whole history may satisfy this level although a prefix violates it.
pub(crate) fn is_taken_back(spec: CycleExistsSpec) -> bool {
    !spec.relations.contains(Relations::WR)
}

impl<J: Judge> OnlineRun<J> {
    /// The first violation of a requested level; a permanent one, if there is one.
    pub(in crate::txn::online) fn found(&self) -> Option<(CycleExistsSpec, &Violation)> {
        let found = self.levels.iter().filter_map(|level| Some((level.spec, level.violation.as_ref()?)));
        found.min_by_key(|(spec, _)| is_taken_back(*spec))
    }

    /// Returns true if the violation is one of a prefix, and ops that followed it may have revoked it.
    pub(in crate::txn::online) fn may_be_over(&self) -> bool {
        self.is_so_far() && self.ops > self.before_last + 1
    }

    /// Returns true if the violation is one of the history so far, and later ops may revoke it.
    pub(in crate::txn::online) fn is_so_far(&self) -> bool {
        match self.found() {
            Some((spec, _)) => is_taken_back(spec),
            None => self.violated_at.is_some() && !self.decides_early(),
        }
    }

    /// Makes the batch checker check the history so far, if a judge has encountered an op that it does not understand.
    pub(super) fn step_in(&mut self, index: u64) -> Result<(), HistoryError> {
        let Some(batch) = self.batch.as_mut().filter(|_| self.violated_at.is_none()) else { return Ok(()) };
        let has_stepped_in = self.has_stepped_in;
        self.has_stepped_in |= self.levels.iter().any(|level| level.stopped.is_some());
        let is_last = self.ops + 1 == self.sizes.batch_ops;
        if self.has_stepped_in && (!has_stepped_in || is_last) {
            batch.step_in(index)?;
        }
        if self.has_stepped_in && batch.is_violated() {
            self.violated_at = Some(index);
            self.violations += 1;
            self.before_last = self.ops;
        }
        Ok(())
    }

    /// Drops the batch checker, which has processed enough ops.
    pub(super) fn step_out(&mut self) {
        let sound = self.batch.take().and_then(|batch| batch.sound());
        for (index, _) in self.levels.iter_mut().filter_map(|level| level.stopped.as_mut()) {
            *index = sound.map_or(*index, |sound| sound + 1).max(*index);
        }
    }
}
