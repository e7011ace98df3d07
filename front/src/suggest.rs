//! Which checkers understand a history: each of them looks at its first ops, and counts those that it understands and those that could
//! have contradicted it ([`Coverage`](history_core::Coverage)).
//!
//! A checker that understands ops of which it cannot know anything, such as one that counts all ops, understands every history, and is
//! not suggested.

use crate::registry::Registry;
use crate::setup::guarded;
use history_core::{Batch, Budget, Checker, History, HistoryError, KeyedAuto, Options, Reader, Run};
use std::ops::ControlFlow;

/// Ops that are looked at.
const OPS_MAX: usize = 1000;
/// States that a search may visit: what it decides is of no interest.
const STATES_MAX: u64 = 1000;
/// Checkers that are suggested.
const SUGGESTED_MAX: usize = 6;
/// Ops that nobody can understand.
const FOREIGN: &str = "{:process 0, :type :invoke, :f :histcheck.suggest/none, :value nil}
     {:process 0, :type :ok, :f :histcheck.suggest/none, :value nil}";

/// A checker that understands the first ops of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suggestion {
    /// Its name.
    pub name: String,
    /// What it checks.
    pub summary: String,
    /// Ops that could have contradicted it.
    pub observed: u64,
    /// Ops that it does not understand.
    pub passed_over: u64,
}

/// A checker while it looks.
struct Look<'c> {
    checker: &'c dyn Checker,
    run: Box<dyn Run + 'c>,
    wants_more: bool,
}

/// The checkers that understand the first ops of a history, those first that understand most of them. Those that understand equally many are
/// in the order of the registry.
///
/// ```
/// use histcheck_front::Registry;
/// use history_core::Reader;
///
/// let text = "{:process 0, :type :invoke, :f :read, :value nil} {:process 0, :type :ok, :f :read, :value nil}";
/// let suggested = histcheck_front::suggest(&Registry::default(), Reader::new(text.as_bytes()));
/// assert!(suggested.unwrap().is_empty(), "there are no checkers in this registry");
/// ```
///
/// # Errors
///
/// If the first op cannot be read.
pub fn suggest(checkers: &Registry, mut reader: Reader<'_>) -> Result<Vec<Suggestion>, HistoryError> {
    let mut looks: Vec<Look<'_>> = checkers.iter().filter_map(|checker| look(&**checker)).collect();
    let (mut batch, mut ops) = (Batch::new(), 0);
    loop {
        let read = reader.read_batch(&mut batch);
        for op in batch.ops().take(OPS_MAX - ops) {
            looks.retain_mut(|look| {
                // One that refuses an op does not understand the history.
                let flow = if look.wants_more { guarded(|| look.run.observe(&op)) } else { Ok(ControlFlow::Break(())) };
                look.wants_more = matches!(flow, Ok(ControlFlow::Continue(())));
                flow.is_ok()
            });
        }
        ops += batch.len();
        match read {
            Err(error) if ops == 0 => return Err(error),
            Ok(true) if ops < OPS_MAX => {}
            // What is behind those ops, or wrong with it, is of no interest here.
            _ => break,
        }
    }
    let mut found: Vec<Suggestion> = looks.into_iter().filter_map(Look::ended).collect();
    found.sort_by_key(|suggestion| suggestion.passed_over);
    // Half of the ops is no coincidence; less may be.
    let half = u64::try_from(ops.min(OPS_MAX) / 2).unwrap_or(u64::MAX);
    found.retain(|suggestion| suggestion.observed > 0 && suggestion.passed_over <= half);
    // What understands less than another one is only confusing.
    let least = found.first().map_or(0, |first| first.passed_over);
    found.retain(|suggestion| suggestion.passed_over == least);
    found.truncate(SUGGESTED_MAX);
    Ok(found)
}

fn look(checker: &dyn Checker) -> Option<Look<'_>> {
    let started = guarded(|| Ok(start(checker)));
    let run = started.ok()??;
    let is_foreign = understood_of(checker).is_none_or(|passed_over| passed_over > 0);
    is_foreign.then_some(Look { checker, run, wants_more: true })
}

/// Starts a checker as the command line does if nothing is asked for.
fn start(checker: &dyn Checker) -> Option<Box<dyn Run + '_>> {
    let options = Options::new();
    if checker.about().is_keyed {
        return checker.start(&options).ok();
    }
    KeyedAuto::start(checker, &options, |_| {}).ok().map(|run| Box::new(run) as Box<dyn Run>)
}

/// How many ops a checker passes over that nobody can understand.
fn understood_of(checker: &dyn Checker) -> Option<u64> {
    let history = History::parse(FOREIGN).ok()?;
    let mut run = checker.start(&Options::new()).ok()?;
    for op in history.ops() {
        if guarded(|| run.observe(&op)).is_err() {
            return Some(1);
        }
    }
    counts(run).map(|[_, passed_over]| passed_over)
}

/// The ops that were observed, and those that were passed over.
fn counts(run: Box<dyn Run + '_>) -> Option<[u64; 2]> {
    let report = guarded(|| run.finish(&Budget::default().with_states_max(STATES_MAX))).ok()?;
    let of = |name: &str| report.counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
    Some([of("observed-count")?, of("passed-over-count")?])
}

impl Look<'_> {
    fn ended(self) -> Option<Suggestion> {
        let [observed, passed_over] = counts(self.run)?;
        let (name, summary) = (self.checker.name().to_owned(), self.checker.summary().to_owned());
        Some(Suggestion { name, summary, observed, passed_over })
    }
}
