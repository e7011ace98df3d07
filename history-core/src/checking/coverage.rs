//! Coverage: how many ops of a history a checker understood and observed, and which verdict that allows.

use crate::{NextStep, Op, Report, Verdict};
use std::fmt::Write;

/// What a checker did with an op of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpUse {
    /// Nothing: the checker does not support the op's `:f`, or its value.
    PassedOver,
    /// The checker understood the op, which alone cannot contradict anything: an invocation, a failure, a write.
    Understood,
    /// The checker understood the op and compared the result with what must hold: an `ok` read of a bank.
    Observed,
}

/// The ops that a checker expects in a history, as phrases for its notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The ops that it understands, and their values: `":add of an integer, and :read of the sum"`.
    pub ops: &'static str,
    /// What the checker observes, as a phrase that follows "no": `"ok :read"`.
    pub observation: &'static str,
}

/// The note on a history in which some invocations have no process, and the next step.
pub const NAMELESS: (&str, &str) = (
    "No verdict, because some invocations have no process: which completions are theirs is unknown, and so is which \
     operations failed, and when they began.",
    "Record the process of every op, in a field process.",
);

/// The note if a history of transactions satisfies levels with real time, but real time is only partly known.
pub const UNTIMED: &str = "Some transactions have no invocation. When they began is unknown, so of real time only the order \
                           of each process was checked for them.";

/// The note if a history of transactions satisfies levels with sessions, but not all sessions are known.
pub const SESSIONLESS: &str = "Some transactions have no process, so the order of sessions was not checked for them.";

/// Counts the ops of a history by what the checker did with them, and prevents a report of `true` without evidence.
///
/// A [`Run`](crate::Run) calls [`Coverage::count`] for each op and [`Coverage::conclude`] at the end. The rules are the
/// same for all checkers:
///
/// - The verdict is unknown if no op belongs to a client, if the checker understood none of them, or if it observed
///   none. A note says what the checker expected and what the history contains. An invalid verdict remains invalid.
/// - `passed-over-count` and `observed-count` are among the counts. A note names the functions of the ops that were
///   ignored if they are at least 1 % of the clients' ops.
///
/// O(1) per op. It allocates only for the names of ignored functions, of which it keeps 16.
///
/// ```
/// use history_core::{Budget, Checker, Coverage, Expected, HistoryError, Op, OpKind, OpUse};
/// use history_core::{OptionError, OptionSpec, Options, Reader, Report, Run, Verdict};
/// use std::ops::ControlFlow;
///
/// /// No read shows a negative number.
/// struct NeverNegative;
///
/// #[derive(Default)]
/// struct Reads {
///     negative: bool,
///     coverage: Coverage,
/// }
///
/// const EXPECTED: Expected = Expected { ops: ":read of an integer, and :write", observation: "ok :read" };
///
/// impl Checker for NeverNegative {
///     # fn name(&self) -> &str { "never-negative" }
///     # fn summary(&self) -> &str { "No read shows a negative number." }
///     # fn options(&self) -> &[OptionSpec] { &[] }
///     fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
///         Ok(Box::new(Reads::default()))
///     }
/// }
/// impl Run for Reads {
///     fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
///         let op_use = match (op.f, op.kind, op.value.as_int()) {
///             (Some("read"), OpKind::Ok, Some(value)) => {
///                 self.negative |= value < 0;
///                 OpUse::Observed
///             }
///             (Some("read"), OpKind::Ok, None) => OpUse::PassedOver,
///             (Some("read" | "write"), ..) => OpUse::Understood,
///             _ => OpUse::PassedOver,
///         };
///         self.coverage.count(op, op_use);
///         Ok(ControlFlow::Continue(()))
///     }
///     fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
///         let verdict = if self.negative { Verdict::Invalid } else { Verdict::Valid };
///         let mut report = Report::new("never-negative", verdict);
///         self.coverage.conclude(&EXPECTED, &mut report);
///         Ok(report)
///     }
/// }
///
/// let judge = |text: &str| {
///     let run = NeverNegative.start(&Options::new()).unwrap();
///     history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
/// };
/// let read = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 3}";
/// assert_eq!(judge(read).verdict, Verdict::Valid);
///
/// // A history of another workload.
/// let report = judge("{:process 0, :type :invoke, :f :acquire} {:process 0, :type :ok, :f :acquire}");
/// assert_eq!(report.verdict, Verdict::Unknown);
/// assert_eq!(
///     report.notes,
///     ["never-negative supports none of the 2 client ops. It expects :read of an integer, and :write. The \
///       history contains :acquire (2)."]
/// );
///
/// // Nothing that could contradict.
/// let report = judge("{:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1}");
/// assert_eq!(report.verdict, Verdict::Unknown);
/// assert_eq!(report.notes, ["The history contains no ok :read, so there was nothing to check."]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    clients: u64,
    passed_over: u64,
    observed: u64,
    /// Of the ignored ops: the names of the first different functions, and the number of ops of each.
    functions: Vec<(Option<Box<str>>, u64)>,
}

/// Functions whose ops are counted separately. Ops of further functions are counted as "other ops".
const FUNCTIONS_MAX: usize = 16;
/// Functions that a note names.
const NAMED_MAX: usize = 4;
/// Characters of a function's name that a note shows.
const NAME_CHARS_MAX: usize = 40;

impl Coverage {
    /// The coverage of a checker that counts ops itself and ignores none: the number of ops of clients, and how many of
    /// them it observed.
    #[must_use]
    pub fn of_counts(clients: u64, observed: u64) -> Coverage {
        Coverage { clients, observed, ..Coverage::default() }
    }

    /// Counts the next op. A checker need not understand ops that do not belong to clients, so they are not counted.
    #[inline]
    pub fn count(&mut self, op: &Op<'_>, op_use: OpUse) {
        if !op.process.is_client() {
            return;
        }
        self.clients += 1;
        match op_use {
            OpUse::PassedOver => self.pass_over(op.f),
            OpUse::Understood => {}
            OpUse::Observed => self.observed += 1,
        }
    }

    /// Counts so many ops of clients, all of which it understood, and so many of these observed.
    pub fn add_understood(&mut self, clients: u64, observed: u64) {
        self.clients += clients;
        self.observed += observed;
    }

    fn pass_over(&mut self, f: Option<&str>) {
        self.passed_over += 1;
        if let Some((_, count)) = self.functions.iter_mut().find(|(name, _)| name.as_deref() == f) {
            *count += 1;
        } else if self.functions.len() < FUNCTIONS_MAX {
            self.functions.push((f.map(Box::from), 1));
        }
    }

    /// Adds only the counts to a report: for a report on a history that has not ended
    /// ([`Run::violation`](crate::Run::violation)).
    pub fn add_counts(&self, report: &mut Report) {
        report.counts.push((PASSED_OVER.into(), self.passed_over));
        report.counts.push((OBSERVED.into(), self.observed));
    }

    /// Ends the history: adds counts and notes to the checker's report, and changes a valid verdict without evidence to
    /// unknown.
    pub fn conclude(&self, expected: &Expected, report: &mut Report) {
        if let Some((note, next)) = self.why_nothing_is_known(expected, report) {
            report.verdict = Verdict::Unknown;
            report.notes.push(note);
            report.add_next(next);
        } else if self.passed_over > 0 && self.passed_over >= self.clients.div_ceil(100) {
            report.notes.push(format!(
                "{} ignored {} of {} client ops, because of their :f or value: {}. It expects {}.",
                report.checker,
                self.passed_over,
                self.clients,
                self.functions(),
                expected.ops
            ));
        }
        if report.verdict != Verdict::Unknown {
            report.next.clear();
        }
        debug_assert!(
            report.verdict != Verdict::Valid || self.observed > 0,
            "true, and no result could have been wrong"
        );
        self.add_counts(report);
    }

    /// Why the verdict is unknown because of the content of the history, if it is, and what would change it.
    fn why_nothing_is_known(&self, expected: &Expected, report: &Report) -> Option<(String, NextStep)> {
        let (checker, Expected { ops, observation }) = (&report.checker, expected);
        if report.verdict == Verdict::Invalid {
            return None;
        }
        if self.clients == 0 {
            let note = format!(
                "The history contains no op of a client, so there was nothing to check. {checker} expects {ops}."
            );
            return Some((note, NextStep::new(format!("Record the ops of clients: {ops}."))));
        }
        if self.passed_over == self.clients {
            let note = format!(
                "{checker} supports none of the {} client ops. It expects {ops}. The history contains {}.",
                self.clients,
                self.functions()
            );
            let what =
                format!("Choose the checker of such ops with -m; `histcheck models` lists them. Or record {ops}.");
            return Some((note, NextStep::option("model", what)));
        }
        // A verdict that is unknown for another reason already has a note that explains it.
        let is_explained = report.verdict == Verdict::Unknown && !report.notes.is_empty();
        (self.observed == 0 && !is_explained)
            .then(|| format!("The history contains no {observation}, so there was nothing to check."))
            .map(|note| (note, NextStep::record(observation)))
    }

    /// The functions that were ignored, the most frequent first: `:txn (30), :cas (2) and 5 other ops`.
    fn functions(&self) -> String {
        let mut sorted: Vec<_> = self.functions.iter().collect();
        sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut text = String::new();
        let mut rest = self.passed_over;
        for (name, count) in sorted.into_iter().take(NAMED_MAX) {
            rest -= count;
            let comma = if text.is_empty() { "" } else { ", " };
            _ = match name {
                Some(name) => write!(text, "{comma}:{} ({count})", shown(name)),
                None => write!(text, "{comma}ops without :f ({count})"),
            };
        }
        if rest > 0 {
            _ = write!(text, " and {rest} other ops");
        }
        text
    }
}

fn shown(name: &str) -> String {
    let beginning: String = name.chars().take(NAME_CHARS_MAX).collect();
    let dots = if beginning.len() < name.len() { "..." } else { "" };
    format!("{}{dots}", beginning.escape_debug())
}

const PASSED_OVER: &str = "passed-over-count";
const OBSERVED: &str = "observed-count";

/// Returns true if a verdict is unknown only because the history has nothing to observe. If ops were ignored, some of
/// them might have been observed.
pub(crate) fn is_unobserved(report: &Report) -> bool {
    let is_zero = |name: &str| report.counts.iter().any(|(known, count)| known == name && *count == 0);
    report.verdict == Verdict::Unknown && is_zero(PASSED_OVER) && is_zero(OBSERVED)
}
