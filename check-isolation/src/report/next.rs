//! The next steps that would decide a level that is open.

use super::names;
use crate::level::{Axiom, Level};
use history_core::{Budget, NextStep};

/// The steps for one level: a higher limit for the resource that ran out, and nearby levels that are decided.
pub(super) fn steps(level: Level, budget: &Budget) -> Vec<NextStep> {
    let mut steps: Vec<NextStep> = budget.check(0, 0).err().map(NextStep::spent).into_iter().collect();
    let decided = |other: &Level| other.decided_by().is_some() && *other != level;
    // Levels up to causal need no search.
    let is_fast = |other: &Level| other.decided_by().is_some_and(|(axiom, _)| axiom <= Axiom::Causal);
    let searched = level.decided_by().is_some();
    let below: Vec<Level> = level.weaker().iter().filter(decided).filter(|other| !searched || is_fast(other)).collect();
    let above: Vec<Level> =
        Level::all().filter(|other| !searched && decided(other) && other.is_at_least(level)).collect();
    let nearest_below = below.iter().filter(|one| !below.iter().any(|other| other != *one && other.is_at_least(**one)));
    let nearest_above = above.iter().filter(|one| !above.iter().any(|other| other != *one && one.is_at_least(*other)));
    let near: Vec<String> =
        names(nearest_above.chain(nearest_below).copied()).iter().map(|name| format!("-c {name}")).collect();
    if !near.is_empty() {
        let what = format!("Check a level near {level} that is decided: {}.", near.join(" or "));
        steps.push(NextStep::option("consistency-models", what));
    }
    steps
}
