//! Which checkers understand a history: each of them processes its first ops, and is suggested if it ignores few of
//! them.
//!
//! A checker that counts the ops that it ignores ([`Coverage`](history_core::Coverage)) must also have observed an op:
//! one that could have contradicted it. A checker without such counts stops at the first op that it does not
//! understand, so any verdict but unknown shows that it understood all of them.
//!
//! A checker that understands ops of no meaning, such as one that counts all ops, understands every history, and is not
//! suggested.
//!
//! Ops that seem to have keys are checked as a whole and key by key, as with `--keyed=auto`. If a checker understands
//! as many of them key by key, that is suggested: as a whole, it would treat keys as values.

use crate::registry::Registry;
use crate::setup::guarded;
use history_core::{
    About, Batch, Budget, Checker, Decision, History, HistoryError, KeyedAuto, Op, Options, Pair, Reader, Report, Run,
    Subject, Verdict,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of ops that are examined. Some workloads read only at their end, so this must cover a whole short test.
const OPS_MAX: usize = 10_000;
/// The maximum number of states of a search: its verdict does not matter here.
const STATES_MAX: u64 = 20_000;
/// The maximum number of checkers that are suggested.
const SUGGESTED_MAX: usize = 6;
/// Ops that no checker for specific ops understands.
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
    /// Whether it understands them only if each key is checked separately (`--keyed`).
    pub keyed: bool,
    /// Ops of clients that it does not understand.
    pub passed_over: u64,
    /// What it is about.
    pub subject: Subject,
}

/// A checker that examines the first ops.
struct Look<'c> {
    checker: &'c dyn Checker,
    run: Box<dyn Run + 'c>,
    /// If it examines each key separately: whether the ops have keys, known once it ends.
    keyed: Option<Arc<AtomicBool>>,
    /// If it takes no more ops: the number of clients' ops that it received before.
    stopped_at: Option<u64>,
    /// Whether it stopped because of a violation, not at an op that it does not understand.
    is_violated: bool,
}

/// The checkers that understand the first ops of a history: those that understand most of them. A checker of
/// transactions comes first, because it finds what the rule of one workload finds, and more; then those of workloads,
/// whose rules fit fewer histories than those of objects; among them those of keyed ops, then in the order of the
/// registry.
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
    let mut looks: Vec<Look<'_>> = checkers.iter().flat_map(|checker| looks(&**checker)).collect();
    let (mut batch, mut ops, mut clients) = (Batch::new(), 0, 0);
    loop {
        let read = reader.read_batch(&mut batch);
        for op in batch.ops().take(OPS_MAX - ops) {
            looks.retain_mut(|look| look.at(&op, clients));
            clients += u64::from(op.process.is_client());
        }
        ops = (ops + batch.len()).min(OPS_MAX);
        match read {
            Err(error) if ops == 0 => return Err(error),
            Ok(true) if ops < OPS_MAX => {}
            // The text after these ops, and errors in it, do not matter here.
            _ => break,
        }
    }
    let mut found: Vec<(About, Suggestion)> = Vec::new();
    for (about, suggestion) in looks.into_iter().filter_map(|look| look.ended(clients)) {
        match found.iter_mut().find(|(_, other)| other.name == suggestion.name) {
            None => found.push((about, suggestion)),
            // The suggestion per key comes after the one as a whole, and replaces it if it is as good.
            Some((_, whole)) if suggestion.passed_over <= whole.passed_over => *whole = suggestion,
            Some(_) => {}
        }
    }
    // Understanding at least half of the ops is no coincidence. Checkers that understand fewer ops than another are
    // omitted.
    let least = found.iter().map(|(_, suggestion)| suggestion.passed_over).min().unwrap_or(0);
    found.retain(|(_, suggestion)| suggestion.passed_over == least && least <= clients / 2);
    found.sort_by_key(|(about, suggestion)| {
        let rank = match about.subject {
            Subject::Transactions => 0,
            Subject::Workload => 1,
            _ => 2,
        };
        (rank, !about.is_keyed && !suggestion.keyed)
    });
    found.truncate(SUGGESTED_MAX);
    Ok(found.into_iter().map(|(_, suggestion)| suggestion).collect())
}

/// Starts a run on the history as a whole, and one per key. Returns none for a checker that understands all ops.
fn looks(checker: &dyn Checker) -> Vec<Look<'_>> {
    if passed_over_of_foreign(checker) == Some(0) {
        return Vec::new();
    }
    let whole = guarded(|| Ok(checker.start(&Options::new()).ok())).ok().flatten();
    let mut looks = Vec::from_iter(whole.map(|run| Look::new(checker, run, None)));
    if !checker.about().is_keyed {
        let keyed = Arc::<AtomicBool>::default();
        let decided = Arc::clone(&keyed);
        let decide = move |decision: &Decision| {
            decided.store(matches!(decision, Decision::Keyed { .. }), Ordering::Relaxed);
        };
        let split = guarded(|| Ok(KeyedAuto::start(checker, &Options::new(), decide).ok())).ok().flatten();
        looks.extend(split.map(|run| Look::new(checker, Box::new(run), Some(keyed))));
    }
    looks
}

/// The number of foreign ops that a checker passes over; `None` if it cannot process them.
fn passed_over_of_foreign(checker: &dyn Checker) -> Option<u64> {
    let history = History::parse(FOREIGN).ok()?;
    let mut run = checker.start(&Options::new()).ok()?;
    for op in history.ops() {
        let _ = guarded(|| run.observe(&op)).ok()?;
    }
    Understood::of(&finish(run)?).map(|understood| understood.passed_over)
}

fn finish(run: Box<dyn Run + '_>) -> Option<Report> {
    guarded(|| run.finish(&Budget::default().with_states_max(STATES_MAX))).ok()
}

/// The ops that a checker understood.
struct Understood {
    /// Whether an op was observed that could have contradicted the checker.
    is_observed: bool,
    passed_over: u64,
}

impl Understood {
    /// Returns `None` if the checker understood too little to count ops.
    fn of(report: &Report) -> Option<Understood> {
        let of = |name: &str| report.counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
        match of("observed-count") {
            Some(observed) => Some(Understood { is_observed: observed > 0, passed_over: of("passed-over-count")? }),
            None => (report.verdict != Verdict::Unknown).then_some(Understood { is_observed: true, passed_over: 0 }),
        }
    }
}

impl<'c> Look<'c> {
    fn new(checker: &'c dyn Checker, run: Box<dyn Run + 'c>, keyed: Option<Arc<AtomicBool>>) -> Look<'c> {
        Look { checker, run, keyed, stopped_at: None, is_violated: false }
    }

    /// Observes the next op, after `clients` ops of clients. Returns whether the checker may understand the history.
    fn at(&mut self, op: &Op<'_>, clients: u64) -> bool {
        if self.stopped_at.is_some() {
            return true;
        }
        let flow = guarded(|| self.run.observe(op));
        if matches!(flow, Ok(ControlFlow::Break(()))) {
            // If the op is a completion, the operation that is not understood began with an earlier op.
            self.stopped_at = Some(clients.saturating_sub(u64::from(matches!(op.pair, Pair::Completes { .. }))));
            self.is_violated = self.run.is_violated();
        }
        // A checker that rejects an op does not understand the history.
        flow.is_ok()
    }

    fn ended(self, clients: u64) -> Option<(About, Suggestion)> {
        // Ops after the one at which it stopped are not understood either.
        let left = self.stopped_at.filter(|_| !self.is_violated).map_or(0, |at| clients - at);
        let understood = Understood::of(&finish(self.run)?).filter(|understood| understood.is_observed)?;
        let checker = self.checker;
        let (name, summary) = (checker.name().to_owned(), checker.summary().to_owned());
        let keyed = self.keyed.is_some();
        // Without keys, this run has the same result as the run on the whole history.
        if self.keyed.is_some_and(|has_keys| !has_keys.load(Ordering::Relaxed)) {
            return None;
        }
        let (about, passed_over) = (checker.about(), understood.passed_over + left);
        let subject = about.subject;
        Some((about, Suggestion { name, summary, keyed, passed_over, subject }))
    }
}

#[cfg(all(test, feature = "elle", feature = "isolation", feature = "register", feature = "jepsen", feature = "log"))]
mod tests {
    use super::*;

    /// A function with its value at the invocation and at the completion.
    type Row = (&'static str, &'static str, &'static str);

    /// The names of the suggested checkers, followed by `--keyed` if they need it.
    fn names(history: &str) -> Vec<String> {
        let suggested = suggest(&Registry::built_in(), Reader::new(history.as_bytes())).unwrap();
        let keyed = |one: &Suggestion| if one.keyed { " --keyed" } else { "" };
        suggested.iter().map(|one| format!("{}{}", one.name, keyed(one))).collect()
    }

    /// A history of ops by one process.
    fn history(ops: &[Row]) -> String {
        let op = |kind: &str, f: &str, value: &str| format!("{{:process 0, :type {kind}, :f {f}, :value {value}}}\n");
        ops.iter().map(|(f, asked, answer)| op(":invoke", f, asked) + &op(":ok", f, answer)).collect()
    }

    #[test]
    fn the_checker_of_each_workload_comes_first() {
        let append = (":txn", "[[:append :x 1]]", "[[:append :x 1]]");
        let rows: [(&[Row], &[&str]); 12] = [
            (&[append, (":txn", "[[:r :x nil]]", "[[:r :x [1]]]")], &["list-append", "isolation"]),
            // The verdict is false, which shows that the ops were understood.
            (&[append, (":txn", "[[:r :x nil]]", "[[:r :x [2]]]")], &["list-append", "isolation"]),
            (
                &[(":txn", "[[:w 1 1] [:w 2 1]]", "[[:w 1 1] [:w 2 1]]"), (":txn", "[[:r 1 nil]]", "[[:r 1 1]]")],
                &["rw-register", "closed-predicate", "isolation", "multi-register"],
            ),
            (&[(":write", "1", "1"), (":cas", "[1 2]", "[1 2]"), (":read", "nil", "2")], &["cas-register"]),
            (&[(":write", "1", "1"), (":read", "nil", "1")], &["register", "cas-register"]),
            (
                &[(":write", "[7 1]", "[7 1]"), (":read", "[7 nil]", "[7 1]")],
                &["register --keyed", "cas-register --keyed", "linearizable-register"],
            ),
            (&[(":add", "1", "1"), (":read", "nil", "[1]")], &["set-full", "set", "linearizable-set"]),
            (&[(":add", "1", "1"), (":read", "nil", "1")], &["counter", "linearizable-counter"]),
            (
                &[
                    (":transfer", "{:from 0, :to 1, :amount 2}", "{:from 0, :to 1, :amount 2}"),
                    (":read", "nil", "{0 8, 1 12}"),
                ],
                &["bank"],
            ),
            (
                &[(":send", "[[:send 1 5]]", "[[:send 1 [0 5]]]"), (":poll", "[[:poll]]", "[[:poll {1 [[0 5]]}]]")],
                &["kafka"],
            ),
            (
                &[(":enqueue", "1", "1"), (":dequeue", "nil", "1")],
                &["queue", "total-queue", "fifo-queue", "unordered-queue"],
            ),
            (
                &[(":acquire", "nil", "nil"), (":release", "nil", "nil")],
                &["mutex", "owner-mutex", "reentrant-mutex", "semaphore"],
            ),
        ];
        for (ops, expected) in rows {
            assert_eq!(names(&history(ops)), expected, "{ops:?}");
        }
    }

    #[test]
    fn a_read_behind_a_thousand_ops_is_seen() {
        let mut ops = vec![(":add", "1", "1"); 2000];
        assert_eq!(names(&history(&ops)), [""; 0], "nothing was observed");
        ops.push((":read", "nil", "[1]"));
        assert_eq!(names(&history(&ops)), ["set-full", "set", "linearizable-set"]);
    }

    #[test]
    fn a_few_foreign_ops_do_no_harm_and_many_do() {
        let (bank, other) = ((":read", "nil", "{0 8, 1 12}"), (":reboot", "nil", "nil"));
        assert_eq!(names(&history(&[bank, bank, other]))[0], "bank");
        assert_eq!(names(&history(&[bank, other, other])), [""; 0]);
        let nemesis = "{:process :nemesis, :type :info, :f :kill}\n".repeat(99);
        assert_eq!(names(&(nemesis.clone() + &history(&[bank, other, other]))), [""; 0], "only clients' ops count");
        assert_eq!(names(&(nemesis + &history(&[bank])))[0], "bank");
    }

    #[test]
    fn nothing_is_suggested_for_ops_that_no_checker_understands() {
        assert_eq!(names(&history(&[(":reboot", "nil", "nil"), (":vote", "3", "3")])), [""; 0]);
        assert_eq!(names("{:process :nemesis, :type :info, :f :kill}"), [""; 0]);
        let error = suggest(&Registry::built_in(), Reader::new(&b"{:process 0 :type :nope}"[..])).unwrap_err();
        assert!(error.to_string().contains(":nope"), "{error}");
    }
}
