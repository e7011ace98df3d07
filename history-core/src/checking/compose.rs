//! Several checkers in one pass over a history: each receives every op, and the worst verdict is the verdict of all.

use super::branch::{Branch, End};
use crate::error::HistoryError;
use crate::{
    About, Batch, Budget, Checker, NextStep, Op, OptionError, OptionKind, OptionSpec, Options, Report, Run, Verdict,
};
use std::fmt;
use std::ops::ControlFlow;

/// Several checkers combined into one, named after all of them: `bank,stats`.
///
/// The verdict combines those of the checkers ([`Verdict::and`]): invalid if any is invalid, else unknown if any is
/// unknown. [`Report::checkers`] has the report of each, the same as if it had run alone, in the order in which they
/// were given.
///
/// If a checker has finished early or cannot check the history, the others continue. A checker that cannot check the
/// history has the verdict unknown, and a note gives the reason; it is an error only if no checker can.
///
/// An option applies to every checker that declares it. Limits on states and bytes apply to each checker; a deadline
/// and a cancellation apply to all together.
///
/// O(1) per op in addition to the checkers, and no additional memory.
///
/// ```
/// use history_core::{
///     Budget, Checker, Compose, HistoryError, Op, OpKind, OptionError, OptionSpec, Options, Reader, Report, Run,
///     Verdict,
/// };
/// use std::ops::ControlFlow;
///
/// /// Says that no op ends in this way.
/// struct Never(&'static str, OpKind);
/// struct Found(&'static str, OpKind, Verdict);
///
/// impl Checker for Never {
///     # fn name(&self) -> &str { self.0 }
///     # fn summary(&self) -> &str { "No op ends so." }
///     # fn options(&self) -> &[OptionSpec] { &[] }
///     fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
///         Ok(Box::new(Found(self.0, self.1, Verdict::Valid)))
///     }
/// }
/// impl Run for Found {
///     fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
///         if op.kind == self.1 {
///             self.2 = Verdict::Invalid;
///         }
///         Ok(ControlFlow::Continue(()))
///     }
///     fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
///         Ok(Report::new(self.0, self.2))
///     }
/// }
///
/// let text = "{:process 0, :type :invoke, :f :w} {:process 0, :type :fail, :f :w}";
/// let both = Compose::new(vec![
///     Box::new(Never("never-info", OpKind::Info)),
///     Box::new(Never("never-fail", OpKind::Fail)),
/// ])?;
/// assert_eq!(both.name(), "never-info,never-fail");
/// let run = both.start(&Options::new())?;
/// let report = history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default())?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// let verdicts: Vec<_> = report.checkers.iter().map(|report| report.verdict).collect();
/// assert_eq!(verdicts, [Verdict::Valid, Verdict::Invalid]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compose<'c> {
    name: String,
    summary: String,
    checkers: Vec<Box<dyn Checker + 'c>>,
    /// The options of all checkers, each once, in order of first occurrence.
    options: Vec<OptionSpec>,
}

impl fmt::Debug for Compose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Compose").field(&self.name).finish()
    }
}

/// Why checkers cannot be composed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComposeError {
    /// There are no checkers.
    Nothing,
    /// Two checkers have this name, so their reports could not be distinguished.
    Twice(String),
    /// Two checkers declare this option with different meanings.
    Option {
        /// The option's name.
        option: &'static str,
        /// The checkers, and the kind of value that each expects.
        takers: [(String, OptionKind); 2],
    },
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComposeError::Nothing => f.write_str("no checker was given"),
            ComposeError::Twice(name) => write!(f, "{name} was given twice"),
            ComposeError::Option { option, takers: [(a, takes_a), (b, takes_b)] } => write!(
                f,
                "{a} and {b} cannot run together: for {a}, --{option} takes {}, and for {b} {}",
                takes_a.phrase(),
                takes_b.phrase()
            ),
        }
    }
}

impl std::error::Error for ComposeError {}

impl<'c> Compose<'c> {
    /// Combines these checkers into one. If several declare an option, its description ([`OptionSpec`]) is that of the
    /// first; each uses its own default.
    ///
    /// # Errors
    ///
    /// If there are no checkers, if two have the same name, or if two declare one option in different ways.
    pub fn new(checkers: Vec<Box<dyn Checker + 'c>>) -> Result<Compose<'c>, ComposeError> {
        let mut options: Vec<OptionSpec> = Vec::new();
        for (i, checker) in checkers.iter().enumerate() {
            if checkers[..i].iter().any(|other| other.name() == checker.name()) {
                return Err(ComposeError::Twice(checker.name().to_owned()));
            }
            for spec in checker.options() {
                match options.iter().find(|other| other.name == spec.name) {
                    None => options.push(spec.clone()),
                    Some(other) if other.kind == spec.kind => {}
                    Some(other) => {
                        let first = checkers.iter().find(|checker| declares(checker.as_ref(), spec.name));
                        let first = first.map(|checker| checker.name().to_owned()).unwrap_or_default();
                        let takers = [(first, other.kind), (checker.name().to_owned(), spec.kind)];
                        return Err(ComposeError::Option { option: spec.name, takers });
                    }
                }
            }
        }
        if checkers.is_empty() {
            return Err(ComposeError::Nothing);
        }
        let names: Vec<&str> = checkers.iter().map(|checker| checker.name()).collect();
        let name = names.join(",");
        let summary = format!("All of {} hold.", names.join(", "));
        Ok(Compose { name, summary, checkers, options })
    }
}

fn declares(checker: &dyn Checker, option: &str) -> bool {
    checker.options().iter().any(|spec| spec.name == option)
}

impl Checker for Compose<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        &self.summary
    }

    fn options(&self) -> &[OptionSpec] {
        &self.options
    }

    fn about(&self) -> About {
        let mut about = About::default();
        for checker in &self.checkers {
            let mut of = checker.about();
            about.watching.append(&mut of.watching.clone());
            about.members.append(&mut of.members);
            about.members.push((checker.name().to_owned().into(), of));
        }
        about
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        self.start_by(options, |checker, own| checker.start(own))
    }

    fn start_online(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        self.start_by(options, |checker, own| checker.start_online(own))
    }
}

impl Compose<'_> {
    /// Starts a run of each checker with its own options.
    fn start_by(
        &self,
        options: &Options,
        start: impl Fn(&dyn Checker, &Options) -> Result<Box<dyn Run>, OptionError>,
    ) -> Result<Box<dyn Run>, OptionError> {
        let mut branches = Vec::with_capacity(self.checkers.len());
        for checker in &self.checkers {
            let mut own = Options::new();
            for (name, value) in options.iter().filter(|(name, _)| declares(checker.as_ref(), name)) {
                own.set(name, value);
            }
            branches.push((checker.name().to_owned(), Branch::new(start(checker.as_ref(), &own)?)));
        }
        Ok(Box::new(ComposeRun { name: self.name.clone(), going_on: branches.len(), branches }))
    }
}

/// The processing of one history by several checkers.
struct ComposeRun {
    name: String,
    branches: Vec<(String, Branch<'static>)>,
    /// The number of runs that have not ended.
    going_on: usize,
}

impl ComposeRun {
    /// The first error, if there is no result.
    #[cold]
    fn error(&self) -> Option<HistoryError> {
        let mut first: Option<HistoryError> = None;
        for (name, branch) in &self.branches {
            let error = branch.error()?;
            let offset = |error: &HistoryError| error.position.map(|position| position.offset);
            if first.as_ref().is_none_or(|first| offset(error) < offset(first)) {
                first = Some(named(name, error.clone()));
            }
        }
        first
    }
}

impl Run for ComposeRun {
    #[inline]
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        for (_, branch) in &mut self.branches {
            if !branch.has_ended() {
                branch.feed(op);
                self.going_on -= usize::from(branch.has_ended());
            }
        }
        if self.going_on > 0 {
            return Ok(ControlFlow::Continue(()));
        }
        self.error().map_or(Ok(ControlFlow::Break(())), Err)
    }

    fn observe_batch(&mut self, batch: &Batch) -> Result<ControlFlow<()>, HistoryError> {
        for (_, branch) in &mut self.branches {
            if !branch.has_ended() {
                branch.feed_batch(batch);
                self.going_on -= usize::from(branch.has_ended());
            }
        }
        if self.going_on > 0 {
            return Ok(ControlFlow::Continue(()));
        }
        self.error().map_or(Ok(ControlFlow::Break(())), Err)
    }

    fn limit(&mut self, budget: &Budget) {
        self.branches.iter_mut().for_each(|(_, branch)| branch.limit(budget));
    }

    fn is_violated(&self) -> bool {
        self.branches.iter().any(|(_, branch)| branch.is_violated())
    }

    fn growth(&self) -> Option<String> {
        let all: Vec<String> = self.branches.iter().filter_map(|(_, branch)| branch.growth()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn doubt(&self) -> Option<String> {
        self.branches.iter().find_map(|(_, branch)| branch.doubt())
    }

    fn violation(&self) -> Option<Report> {
        let checkers: Vec<Report> = self.branches.iter().filter_map(|(_, branch)| branch.violation()).collect();
        let found = Report::new(self.name.clone(), Verdict::Invalid);
        (!checkers.is_empty()).then_some(Report { checkers, ..found })
    }

    fn finish_before_unread(self: Box<Self>, budget: &Budget) -> Result<Option<Report>, HistoryError> {
        let mut all = Report::new(self.name, Verdict::Unknown);
        for (name, branch) in self.branches {
            let report = branch.finish_before_unread(budget).unwrap_or_default();
            let report = report.unwrap_or_else(|| Report::new(name, Verdict::Unknown));
            all.verdict = all.verdict.and(report.verdict);
            all.checkers.push(report);
        }
        Ok((all.verdict == Verdict::Invalid).then_some(all))
    }

    fn finish_early(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.finish_at(budget, End::Early)
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.finish_at(budget, End::Whole)
    }
}

impl ComposeRun {
    fn finish_at(self, budget: &Budget, end: End) -> Result<Report, HistoryError> {
        let mut all = Report::new(self.name, Verdict::Valid);
        let mut failed = None;
        let mut judged = false;
        for (name, branch) in self.branches {
            let report = match branch.finish(budget, end) {
                Ok(report) => {
                    judged = true;
                    report
                }
                Err(error) => {
                    let mut report = Report::new(name.clone(), Verdict::Unknown);
                    report.notes.push(format!("{name} cannot check this history: {error}."));
                    let what = format!("Correct what {name} cannot check, or leave {name} out of -m.");
                    report.add_next(NextStep::option("model", what));
                    failed.get_or_insert_with(|| named(&name, error));
                    report
                }
            };
            all.verdict = all.verdict.and(report.verdict);
            all.checkers.push(report);
        }
        match failed {
            Some(error) if !judged => Err(error),
            _ => Ok(all),
        }
    }
}

#[cold]
fn named(name: &str, mut error: HistoryError) -> HistoryError {
    error.message = format!("{name}: {}", error.message);
    error
}
