//! Why a level is not known to hold: at the end of a history, or from some op on whatever follows.

use super::judge::Judge;
use super::run::{Doubts, OnlineRun};
use crate::cycle_spec::RwUse;
use crate::exact;
use crate::model::Model;
use crate::txn::standing::{CONTRADICTION, follows_reads};
use history_core::Interner;

/// The suggested next step if too little of the history was kept.
pub(super) const CHECK_THE_FILE: &str =
    "Check the file when it is complete, without watch: that keeps all of the history.";

/// Why a level is not known to hold.
pub(super) enum Doubt<'r> {
    Because(String),
    /// The level was not judged from this op on.
    Stopped(&'r (u64, String)),
    /// The order of this key's versions is unknown.
    Unordered(i64),
}

impl Doubt<'_> {
    pub(super) fn clause(&self, interner: &Interner) -> String {
        match self {
            Doubt::Because(why) => why.clone(),
            Doubt::Stopped((index, why)) => format!("from the op at index {index} on it was not checked: {why}"),
            Doubt::Unordered(key) => format!(
                "the order of the versions of key {} is not known from what was kept; check the file to decide it",
                interner.datum(*key)
            ),
        }
    }
}

/// Returns why a level is not known to hold, or `None`. `unordered` finds a key whose version order is unknown.
pub(super) fn why_open<'r, J: Judge>(
    model: Model,
    doubts: &Doubts<'r, J>,
    unordered: impl Fn(&J) -> Option<i64>,
) -> Option<Doubt<'r>> {
    let judging = doubts.levels.iter().find(|(spec, ..)| spec.model == model || spec.model.weaker().contains(model));
    let Some((spec, judge, stopped)) = judging else { return Some(Doubt::Because("it was not checked".to_owned())) };
    let is_internal = exact::forbids_internal(model) && judge.is_some_and(J::is_contradicted);
    if is_internal || follows_reads(model) && judge.is_some_and(J::hides_reads) {
        return Some(Doubt::Because(format!("{CONTRADICTION}, and possible orders were not searched")));
    }
    let strict = doubts.strict.map(|strict| why_strict_open(strict, doubts, &unordered));
    let own = judge.filter(|judge| !judge.graph().has_floors).map(&unordered);
    // A strict-serializable history satisfies every level.
    if matches!(strict, Some(None)) || matches!(own, Some(None)) {
        return None;
    }
    // If cycles with adjacent rw edges are forbidden, the order of writes that no transaction read may matter.
    if let Some(Some(key)) = own.filter(|_| spec.rw == RwUse::Free || strict.is_none()) {
        return Some(Doubt::Unordered(key));
    }
    strict.flatten().or_else(|| {
        Some(match stopped {
            Some(stopped) => Doubt::Stopped(stopped),
            None if doubts.lacks_invocations => Doubt::Because(
                "ops have no invocations, so strict serializability, which would prove it, is not known".to_owned(),
            ),
            None => {
                Doubt::Because("the history is not strict-serializable, and its cycles were not searched".to_owned())
            }
        })
    })
}

/// Returns why strict serializability is not known to hold, if it was judged to the end.
fn why_strict_open<'r, J: Judge>(
    strict: &J,
    doubts: &Doubts<'r, J>,
    unordered: impl Fn(&J) -> Option<i64>,
) -> Option<Doubt<'r>> {
    if doubts.renamed > 0 {
        return Some(Doubt::Because(format!(
            "from the op at index {} on, keys were named again after they had been dropped to keep memory bounded ({} \
             times), so what was known of them was not used",
            doubts.first_renamed, doubts.renamed
        )));
    }
    if let Some(first) = doubts.given_up.first_open {
        return Some(Doubt::Because(format!(
            "operations stayed open for so long that too many transactions would have had to be kept; the reads of {} \
             of them (the first one is at index {first}) were compared with version orders only",
            doubts.given_up.open
        )));
    }
    unordered(strict).map(Doubt::Unordered)
}

impl<J: Judge> OnlineRun<J> {
    /// Updates `doubt` if a new obstacle to the verdict `true` is known.
    pub(super) fn look_for_doubt(&mut self, index: u64) {
        let known = self.obstacles();
        if known > std::mem::replace(&mut self.known_obstacles, known) {
            self.doubt = self.why_in_doubt(index);
        }
    }

    /// Returns why the verdict cannot become `true`, although no violation was found.
    fn why_in_doubt(&self, index: u64) -> Option<String> {
        let doubts = self.doubts();
        let open = |model: &Model| Some((*model, why_open(*model, &doubts, J::lost_key)?));
        let open: Vec<(Model, Doubt<'_>)> = self.expected().models.iter().filter_map(open).collect();
        let reads_unsaid = doubts.levels.iter().any(|(_, judge, _)| judge.is_some_and(J::reads_unsaid));
        if reads_unsaid && open.is_empty() {
            return self.unsaid().why().map(|why| format!("the verdict will not be true. {why}"));
        }
        let (_, why) = open.first()?;
        let models: Vec<&str> = open.iter().map(|(model, _)| model.name()).collect();
        let hold = if models.len() == 1 { "holds" } else { "hold" };
        let is_over = doubts.levels.iter().all(|(_, judge, _)| judge.is_none());
        let unless = if is_over { "" } else { " unless a violation is found" };
        Some(format!(
            "whether {} {hold} will stay unknown{unless} (certain since the op at index {index}): {}",
            models.join(", "),
            why.clause(self.interner())
        ))
    }
}
