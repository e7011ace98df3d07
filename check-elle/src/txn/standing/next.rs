//! The next steps that would lead to a verdict, if the verdict on transactions is unknown.

use super::{Obstacle, Standing, Undecided, nearest};
use crate::exact::{Answers, Exact};
use crate::model::{Model, ModelSet};
use crate::txn::columns::Counts;
use crate::txn::expected::Expected;
use history_core::{Budget, NextStep, Spent, Verdict};

/// The next step for a history in which no read could have been wrong.
pub(crate) const RECORD_READS: &str = "Record ok transactions that read keys which other transactions write.";

/// The reasons in a report why the verdict is unknown.
pub(crate) struct Lacks<'a> {
    pub(crate) checker: &'a str,
    pub(crate) counts: Counts,
    /// The number of keys that micro-ops name.
    pub(crate) keys: usize,
    /// Whether no read could have been wrong.
    pub(crate) is_empty: bool,
    /// The index of an op whose writes are unknown, if that matters.
    pub(crate) unsaid: Option<u64>,
    /// The limit that ended the search for cycles.
    pub(crate) spent: Option<Spent>,
    pub(crate) expected: &'a Expected,
    /// The requested names that were not searched.
    pub(crate) undecided: Undecided,
    pub(crate) answers: &'a Answers,
    pub(crate) budget: &'a Budget,
}

/// The next step if an op may have written a value that a read shows.
fn say_writes(index: u64) -> NextStep {
    NextStep::new(format!(
        "Record in each invocation the micro-ops that it asks for: the op at index {index} has none."
    ))
}

impl Standing {
    /// The steps that each lead to a verdict, or to further results. Empty if the verdict is known.
    pub(crate) fn next(&self, verdict: Verdict, lacks: &Lacks<'_>) -> Vec<NextStep> {
        let mut steps = Vec::new();
        if verdict != Verdict::Unknown {
            return steps;
        }
        let clients = lacks.counts.ok + lacks.counts.fail + lacks.counts.info;
        if lacks.keys == 0 && clients > 0 {
            let what = "Record transactions as lists of micro-ops, or choose the checker of such ops with -m.";
            return vec![NextStep::option("model", what)];
        }
        if lacks.is_empty {
            return vec![NextStep::new(RECORD_READS)];
        }
        steps.extend(lacks.spent.map(NextStep::spent));
        steps.extend(lacks.unsaid.map(say_writes));
        for model in
            self.open.iter().chain(lacks.undecided.models.iter()).filter(|model| lacks.expected.models.contains(model))
        {
            steps.extend(self.of_level(model, lacks));
        }
        for anomaly in lacks.undecided.anomalies.iter() {
            let what = format!("Leave {anomaly} out of --anomalies: {} does not search for it.", lacks.checker);
            steps.push(NextStep::option("anomalies", what));
        }
        steps
    }

    fn of_level(&self, model: Model, lacks: &Lacks<'_>) -> Vec<NextStep> {
        let mut steps = Vec::new();
        let needs_order = model.is_decided_exactly() || self.is_contradicted(model);
        let can_be_exact = cfg!(feature = "exact") && needs_order && self.can_be_decided;
        if lacks.answers.why_open(model).is_some() {
            match lacks.budget.check(0, 0) {
                Err(spent) => steps.push(NextStep::spent(spent)),
                Ok(()) if lacks.expected.exact == Exact::Limited => {
                    let what = format!("Search for a commit order of {model} until it is decided: --exact full.");
                    steps.push(NextStep::option("exact", what));
                }
                Ok(()) => {}
            }
        } else if can_be_exact && lacks.expected.exact == Exact::No {
            let what = format!("Look for a commit order, which decides {model}: --exact limited.");
            steps.push(NextStep::option("exact", what));
        }
        let decided = |other: &Model| {
            *other != model && (other.is_decided() || lacks.expected.exact != Exact::No && other.is_decided_exactly())
        };
        let known = |other: &Model| decided(other) && self.known.difference(self.assumed).contains(*other);
        // Levels known to hold need no other check, unless no other level is left to request.
        let below = model.weaker().iter().filter(decided).collect::<ModelSet>();
        let above = nearest(model.stronger().iter().filter(decided).collect(), Model::weaker);
        let below = nearest(below, Model::stronger);
        let is_out = |level: &Model| {
            matches!(self.obstacle(*level), Some(Obstacle::Found(_))) || lacks.answers.violated.contains(*level)
        };
        let open = above.iter().filter(|level| !is_out(level)).chain(below.iter());
        let names: Vec<String> = open.map(|level| format!("-c {level}")).collect();
        let holds: Vec<String> = below.iter().filter(known).map(|level| level.to_string()).collect();
        if !names.is_empty() {
            let known = if holds.is_empty() { String::new() } else { format!(" ({} holds)", holds.join(", ")) };
            let what = format!("Check a level near {model} that is decided: {}{known}.", names.join(" or "));
            steps.push(NextStep::option("consistency-models", what));
        }
        steps
    }
}
