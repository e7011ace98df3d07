//! Decides levels one after another, and derives what each result implies for others.

use super::levels::{around, axiom_of, broken_by, implied_by};
use super::recorded::AsRecorded;
use super::{Answers, Exact, Happened, Prepared};
use crate::model::{self, Model, ModelSet};
use crate::txn::analysis::Analysis;
use crate::txn::expected::Expected;
use check_isolation::{Axiom, Base, Level, Outcome, Refutation, Undecided};
use history_core::cast::Cast as _;
use history_core::{Anomaly, Budget};

/// The minimum number of steps for any history: a fraction of a second.
const STEPS_MIN: u64 = 20_000_000;
/// The number of steps per micro-op of a larger history.
const STEPS_PER_MOP: u64 = 16;
/// The number of bytes available to any history, and per micro-op.
const BYTES_MIN: u64 = 64 << 20;
const BYTES_PER_MOP: u64 = 200;

/// The level that allows predicate reads to miss more than its axiom does.
const REPEATABLE_READ: Model = model::named("repeatable-read");

const PARTLY_SEEN: &str = "a predicate read saw a part of a transaction and missed another part, and the definition \
    does not say whether one read may do so";
const MISSED_BY_PREDICATES: &str = "there is no serial order, and it is unknown whether there is one without what \
    predicate reads missed, which the level allows";

/// Decides these levels, for transactions that are `prepared` or taken from the analysis. At most `witnesses_max`
/// witnesses per type of anomaly are returned.
pub(crate) fn decide<A: Analysis>(
    analysis: &A,
    prepared: Prepared,
    asked: ModelSet,
    expected: &Expected,
    budget: &Budget,
) -> Answers {
    let mut answers = Answers::default();
    let exact = expected.exact;
    if exact == Exact::No || asked.is_empty() {
        return answers;
    }
    budget.begin("looking for a commit order");
    let happened = match prepared {
        Prepared::Nothing => analysis.happened().map(Box::new),
        Prepared::Transactions(happened) => happened,
    };
    let Some(happened) = happened else { return answers };
    let levels = if happened.contradicts_itself { answers.contradict(&happened, asked) } else { asked };
    if levels.is_empty() {
        return answers;
    }
    let budget = limited(budget, exact, analysis.txns().all_mops().len());
    let mut refutations: Vec<Refutation> = Vec::new();
    let allowing = if happened.has_predicates { REPEATABLE_READ.into() } else { ModelSet::EMPTY };
    for level in levels.iter().flat_map(around) {
        let known = answers.holds.union(answers.violated);
        let Some((axiom, base)) = axiom_of(level).filter(|_| !known.contains(level)) else { continue };
        let name = Level::of(axiom, base).expect("a level of the table");
        let txns = happened.all_reads.as_ref().unwrap_or(&happened.txns);
        let strict = check_isolation::decide(txns, name, &budget);
        // Only this axiom concerns the order of a transaction's reads.
        let lenient = happened.lenient.as_ref().filter(|_| axiom == Axiom::MonotonicAtomicView);
        let outcome = match (strict, lenient) {
            (Outcome::Violated(_), Some(lenient)) => match check_isolation::decide(lenient, name, &budget) {
                Outcome::Holds(_) => {
                    answers.ambiguous.push((level, PARTLY_SEEN));
                    continue;
                }
                outcome => outcome,
            },
            (outcome, _) => outcome,
        };
        match outcome {
            // Only cycles of items rule out this level.
            Outcome::Violated(_) if allowing.contains(level) => answers.ambiguous.push((level, MISSED_BY_PREDICATES)),
            Outcome::Holds(_) => answers.holds = answers.holds.union(implied_by(axiom, base)),
            Outcome::Violated(refutation) => {
                answers.violated = answers.violated.union(broken_by(refutation.axiom, refutation.base));
                answers.violated = answers.violated.difference(allowing);
                debug_assert!(answers.violated.contains(level), "{level}: {refutation:?}");
                refutations.push(*refutation);
            }
            Outcome::Unknown(why) => answers.open.push((level, because(why, exact))),
        }
    }
    let is_complete = !happened.contradicts_itself || asked.is_subset(answers.violated.union(answers.holds));
    answers.is_complete = is_complete && answers.open.is_empty() && answers.ambiguous.is_empty();
    answers.anomalies = anomalies(&AsRecorded { analysis, happened: &happened }, &refutations, expected.witnesses_max);
    answers
}

impl Answers {
    /// Handles a read that contradicts an earlier write of its own transaction. Returns the levels that must still be
    /// decided.
    ///
    /// Elle's table permits this at read committed, which forbids only cycles of the base and of wr edges. If there is
    /// no such cycle, an order that agrees with all these edges is also an order of versions, and has no cycle of
    /// writes either. So such a read counts there as a read of another transaction's write.
    fn contradict(&mut self, happened: &Happened, asked: ModelSet) -> ModelSet {
        let violated = broken_by(Axiom::MonotonicAtomicView, Base::None);
        if !asked.is_disjoint(violated) {
            self.contradicts_itself = true;
            self.violated = violated;
        }
        self.is_complete = asked.is_subset(violated) && self.contradicts_itself;
        let allows = |model: &Model| axiom_of(*model).is_some_and(|(axiom, _)| axiom == Axiom::ReadCommitted);
        let open = if happened.all_reads.is_some() { asked.difference(violated) } else { ModelSet::EMPTY };
        // A stronger level without an axiom is ruled out with these.
        open.iter().flat_map(around).filter(allows).collect()
    }
}

/// The budget with limits in proportion to the history.
pub(super) fn limited(budget: &Budget, exact: Exact, mops: usize) -> Budget {
    let mut budget = budget.clone();
    if exact == Exact::Limited {
        let lower = |limit: &mut Option<u64>, max: u64| *limit = Some(limit.map_or(max, |own| own.min(max)));
        lower(&mut budget.states_max, STEPS_MIN.max(STEPS_PER_MOP * mops.to_u64()));
        lower(&mut budget.bytes_max, BYTES_MIN.max(BYTES_PER_MOP * mops.to_u64()));
    }
    budget
}

/// Why a level is open, as a clause, and the next step if the steps were too few.
fn because(why: Undecided, exact: Exact) -> String {
    match why {
        Undecided::Spent { what, decided } => {
            let spent = format!("{}, when {decided} orders of two writers were known", what.because());
            if exact == Exact::Limited {
                format!("{spent}. --exact full takes as many steps as it needs")
            } else {
                spent
            }
        }
        Undecided::NoAxiom => "it has no axiom".to_owned(),
    }
}

fn anomalies<A: Analysis>(recorded: &AsRecorded<'_, A>, refutations: &[Refutation], max: usize) -> Vec<Anomaly> {
    let mut anomalies: Vec<Anomaly> = Vec::new();
    for refutation in refutations {
        let name = refutation.anomaly();
        let at = anomalies.iter().position(|anomaly| anomaly.name == name).unwrap_or_else(|| {
            anomalies.push(Anomaly { name: name.into(), count: 0, witnesses: Vec::new() });
            anomalies.len() - 1
        });
        anomalies[at].count += 1;
        if anomalies[at].witnesses.len() < max {
            anomalies[at].witnesses.push(refutation.witness(recorded));
        }
    }
    anomalies
}
