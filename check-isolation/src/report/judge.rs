//! The levels to decide, in which order: results that others imply are not decided again.

use super::explain;
use crate::decide::decide;
use crate::decode::{Decoded, Settled};
use crate::evidence::{Order, Outcome, Refutation, Undecided};
use crate::level::{Axiom, Base, Level, Levels};
use history_core::{Artifact, Budget};

/// The levels of a history.
#[derive(Debug)]
pub(super) struct Judgement {
    /// Levels that hold.
    pub(super) holds: Levels,
    /// Levels that do not.
    pub(super) violated: Levels,
    /// The decided levels with their outcomes.
    decided: Vec<(Level, Outcome)>,
}

impl Judgement {
    /// Decides these levels, or all.
    pub(super) fn new(settled: &Settled, levels: &[Level], budget: &Budget) -> Judgement {
        let mut judgement = Judgement { holds: Levels::default(), violated: Levels::default(), decided: Vec::new() };
        if !settled.direct.is_empty() {
            let weakest = Level::of(Axiom::ReadCommitted, Base::None).expect("a level");
            judgement.violate(weakest);
            return judgement;
        }
        let wanted: Vec<Level> =
            if levels.is_empty() { in_good_order() } else { levels.iter().flat_map(|level| needed(*level)).collect() };
        for level in wanted {
            judgement.decide(settled, level, budget);
        }
        judgement
    }

    /// Drops the results that levels hold, because ops are missing that might violate them.
    pub(super) fn keep_violations(&mut self) {
        self.holds = Levels::default();
        self.decided.retain(|(_, outcome)| matches!(outcome, Outcome::Violated(_)));
    }

    fn decide(&mut self, settled: &Settled, level: Level, budget: &Budget) {
        let is_done = self.decided.iter().any(|(other, _)| *other == level);
        if is_done || self.holds.has(level) || self.violated.has(level) || level.decided_by().is_none() {
            return;
        }
        budget.begin("deciding levels");
        let outcome = decide(&settled.txns, level, budget);
        match &outcome {
            Outcome::Holds(_) => self.hold(level),
            Outcome::Violated(refutation) => {
                self.violate(level);
                if let Some(weaker) = Level::of(refutation.axiom, refutation.base) {
                    self.violate(weaker);
                }
            }
            Outcome::Unknown(_) => {}
        }
        self.decided.push((level, outcome));
    }

    fn hold(&mut self, level: Level) {
        for weaker in level.weaker().iter() {
            self.holds.insert(weaker);
        }
        Judgement::same(level).for_each(|same| self.holds.insert(same));
    }

    fn violate(&mut self, level: Level) {
        let same: Vec<Level> = Judgement::same(level).chain([level]).collect();
        for stronger in Level::all().filter(|stronger| same.iter().any(|same| stronger.is_at_least(*same))) {
            self.violated.insert(stronger);
        }
    }

    /// Other names of the axiom and base of a level.
    fn same(level: Level) -> impl Iterator<Item = Level> + use<> {
        Level::all().filter(move |other| other.decided_by().is_some() && other.decided_by() == level.decided_by())
    }

    /// The derivations found, without duplicates: one that several levels share is reported for the weakest.
    pub(super) fn refutations(&self) -> Vec<&Refutation> {
        let mut all: Vec<&Refutation> = Vec::new();
        for (_, outcome) in &self.decided {
            let Outcome::Violated(refutation) = outcome else { continue };
            match all.iter_mut().find(|other| other.has_the_steps_of(refutation)) {
                Some(other) if other.axiom.is_at_least(refutation.axiom) && other.base >= refutation.base => {
                    *other = refutation;
                }
                Some(_) => {}
                None => all.push(refutation),
            }
        }
        all
    }

    /// Why a level is open, as a sentence.
    pub(super) fn why_open(&self, level: Level) -> String {
        if let Some(because) = level.undecided_because() {
            return format!(
                "{level} is not decided: {because}. No level that implies it was found to hold, and none that it implies to be violated."
            );
        }
        let outcome = self.decided.iter().find(|(other, _)| *other == level).map(|(_, outcome)| outcome);
        match outcome {
            Some(Outcome::Unknown(Undecided::Spent { what, decided })) => format!(
                "{level} is not decided: {}. By then {decided} orders of two writers were known to follow from the history alone.",
                what.because()
            ),
            _ => format!("{level} is not decided."),
        }
    }

    fn accepted(&self) -> impl Iterator<Item = (Level, &Order)> {
        self.decided.iter().filter_map(|(level, outcome)| match outcome {
            Outcome::Holds(order) => Some((*level, order)),
            _ => None,
        })
    }

    /// The orders that explain levels, as files.
    pub(super) fn orders(&self, run: &Decoded, settled: &Settled) -> Vec<Artifact> {
        let file = |(level, order): (Level, &Order)| Artifact {
            path: format!("{level}-order.txt"),
            content: explain::order(run, settled, order, usize::MAX).join("\n").into_bytes(),
        };
        self.accepted().map(file).collect()
    }

    /// The first parts of these orders, as notes.
    pub(super) fn order_notes(&self, run: &Decoded, settled: &Settled) -> Vec<String> {
        const SHOWN_MAX: usize = 200;
        let note = |(level, order): (Level, &Order)| {
            let mut shown = explain::order(run, settled, order, SHOWN_MAX);
            if order.moments.len() > SHOWN_MAX {
                shown.push(format!("{} more", order.moments.len() - SHOWN_MAX));
            }
            format!("{level} holds in this order, by indices of ops: {}.", shown.join(", "))
        };
        self.accepted().map(note).collect()
    }
}

/// All decidable levels, in an order that saves work: first the strongest, since if it holds all do; then those that
/// take linear time, weakest first, since if one is violated so are all above; then the others, strongest first.
fn in_good_order() -> Vec<Level> {
    let decided = |level: &Level| level.decided_by();
    let mut all: Vec<Level> = Level::all().filter(|level| decided(level).is_some()).collect();
    let first = all.remove(0);
    let is_weak = |level: &Level| decided(level).is_some_and(|(axiom, _)| axiom <= Axiom::Causal);
    let (mut weak, strong): (Vec<Level>, Vec<Level>) = all.into_iter().partition(is_weak);
    weak.sort_by_key(|level| decided(level).map(|(axiom, base)| (base, axiom)));
    [first].into_iter().chain(weak).chain(strong).collect()
}

/// The levels to decide for one: itself or, if it has no axiom, those around it, the nearest first.
fn needed(level: Level) -> Vec<Level> {
    if level.decided_by().is_some() {
        return vec![level];
    }
    let decided = |level: &Level| level.decided_by().is_some();
    let below: Vec<Level> = level.weaker().iter().filter(decided).collect();
    let above: Vec<Level> = Level::all().filter(|other| decided(other) && other.is_at_least(level)).collect();
    let nearest_above = above.iter().filter(|one| !above.iter().any(|other| other != *one && one.is_at_least(*other)));
    let nearest_below = below.iter().filter(|one| !below.iter().any(|other| other != *one && other.is_at_least(**one)));
    nearest_below.chain(nearest_above).copied().collect()
}
