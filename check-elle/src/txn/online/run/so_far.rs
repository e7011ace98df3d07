//! What was found, and whether what comes next may take it back.

use super::OnlineRun;
use crate::cycle_spec::{CycleExistsSpec, Relations};
use crate::txn::online::judge::{Judge, Violation};

/// Whether what a beginning of a history violates, the whole may obey.
pub(crate) fn is_taken_back(spec: CycleExistsSpec) -> bool {
    !spec.relations.contains(Relations::WR)
}

impl<J: Judge> OnlineRun<J> {
    /// The first violation of a level that is asked for; one that stays, if there is one.
    pub(in crate::txn::online) fn found(&self) -> Option<(CycleExistsSpec, &Violation)> {
        let found = self.levels.iter().filter_map(|level| Some((level.spec, level.violation.as_ref()?)));
        found.min_by_key(|(spec, _)| is_taken_back(*spec))
    }

    /// Whether what was found is of a beginning, and what came next may have taken it back.
    pub(in crate::txn::online) fn may_be_over(&self) -> bool {
        self.is_so_far() && self.ops > self.before_last + 1
    }

    /// Whether what was found is of the history so far, and what comes next may take it back.
    pub(in crate::txn::online) fn is_so_far(&self) -> bool {
        self.found().is_some_and(|(spec, _)| is_taken_back(spec))
    }
}
