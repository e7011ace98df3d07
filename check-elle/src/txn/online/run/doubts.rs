//! What a report needs from a run: counts, and obstacles to concluding that levels hold.

use super::unsaid::Unsaid;
use super::{Level, OnlineRun};
use crate::cycle_spec::{CycleExistsSpec, Suffix};
use crate::model::Model;
use crate::txn::expected::Expected;
use crate::txn::online::judge::Judge;
use crate::txn::online::limits::{Counts, GivenUp};
use history_core::Participants;

impl<J: Judge> OnlineRun<J> {
    pub(crate) fn expected(&self) -> &Expected {
        &self.expected
    }

    pub(crate) fn interner(&self) -> &history_core::Interner {
        &self.decoder.interner
    }

    /// The number of ops by kind; an operation in flight counts as one that may have happened.
    pub(crate) fn counts(&self) -> Counts {
        Counts { info: self.counts.info + self.in_flight, ..self.counts }
    }

    pub(crate) fn unsaid(&self) -> &Unsaid {
        &self.unsaid
    }

    /// Returns true if some op has no process.
    pub(crate) fn lacks_processes(&self) -> bool {
        self.lacks_processes
    }

    pub(crate) fn violated_at(&self) -> Option<u64> {
        self.violated_at
    }

    pub(crate) fn participants(&self) -> &Participants {
        &self.participants
    }

    /// A note on the number of ops that proved a violation, if there was more than one.
    pub(super) fn further(&self) -> Option<String> {
        let (last, ..) = self.last.as_ref().filter(|_| self.violations > 1)?;
        Some(format!(
            "{} ops proved a violation, the last one at index {last}. Further cycles through the same dependencies \
             are not counted.",
            self.violations
        ))
    }

    /// Returns true if some two transactions are related, as far as is known. Otherwise there was nothing to judge.
    fn is_related(&self) -> bool {
        let has_later = self.evidence.later || self.open.iter().any(|open| open.is_there && open.follows);
        let is_timed = self.lacks_invocations != Some(true);
        self.levels.iter().any(|level| match (level.spec.suffix(), &level.judge) {
            (Suffix::Realtime, _) if is_timed && has_later => true,
            // Here gates have edges too, so edges do not show that transactions are related.
            (Suffix::Realtime, Some(judge)) if is_timed && !judge.graph().has_floors => false,
            (_, Some(judge)) => judge.graph().edges() > 0 || judge.relates_by_reads(),
            // The judge stopped because it had too many transactions or edges.
            (_, None) => true,
        })
    }

    /// The number of known reasons why the verdict cannot become `true`. It never decreases.
    pub(crate) fn obstacles(&self) -> usize {
        if self.batch.is_some() || self.violated_at.is_some() {
            return 0;
        }
        let of_level = |level: &Level<J>| {
            let (Some(judge), Some(best)) = (&level.judge, level.best()) else { return 5 };
            let lost = best.lost_key().is_some();
            let all = [judge.is_contradicted(), judge.hides_reads(), judge.reads_unsaid(), lost];
            all.into_iter().filter(|is| *is).count()
        };
        let limits = usize::from(self.given_up.open > 0) + usize::from(self.renamed > 0);
        limits + self.levels.iter().chain(&self.strict).map(of_level).sum::<usize>()
    }

    pub(crate) fn doubts(&self) -> Doubts<'_, J> {
        let strict =
            self.levels.iter().chain(&self.strict).find(|level| level.spec.model == Model::STRICT_SERIALIZABLE);
        Doubts {
            strict: strict.and_then(Level::best),
            levels: self
                .levels
                .iter()
                .map(|level| (level.spec, level.judge.as_ref(), level.stopped.as_ref()))
                .collect(),
            given_up: self.given_up,
            renamed: self.renamed,
            first_renamed: self.first_renamed.unwrap_or_default(),
            lacks_invocations: self.lacks_invocations == Some(true),
            has_read: self.evidence.read,
            is_related: self.is_related(),
        }
    }
}

/// A level with its judge, or the op from which on it was not judged and why.
pub(crate) type LevelEnd<'r, J> = (CycleExistsSpec, Option<&'r J>, Option<&'r (u64, String)>);

/// Facts that may prevent the conclusion that levels hold.
pub(crate) struct Doubts<'r, J> {
    /// Strict serializability, if it was judged to the end.
    pub(crate) strict: Option<&'r J>,
    /// The requested levels.
    pub(crate) levels: Vec<LevelEnd<'r, J>>,
    pub(crate) given_up: GivenUp,
    pub(crate) renamed: u64,
    pub(crate) first_renamed: u64,
    pub(crate) lacks_invocations: bool,
    pub(crate) has_read: bool,
    pub(crate) is_related: bool,
}
