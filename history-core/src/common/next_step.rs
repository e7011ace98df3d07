//! The next step: what to change if a verdict is unknown, so that the next check gives a verdict.

use crate::{Report, Spent, Verdict};
use std::borrow::Cow;

/// What would give a verdict if it is unknown: an option, another consistency level, or a change of the recording.
///
/// ```
/// use history_core::{NextStep, Report, Spent, Verdict};
///
/// let mut report = Report::new("set", Verdict::Unknown);
/// report.add_next(NextStep::spent(Spent::Time));
/// assert_eq!(report.next[0].option.as_deref(), Some("timeout"));
/// assert_eq!(report.next[0].what, "Allow more time: a greater --timeout, or none.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct NextStep {
    /// What to do, as a sentence.
    pub what: Cow<'static, str>,
    /// The option to add, change or omit, without dashes: `"timeout"`. None if the recording is to change.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub option: Option<Cow<'static, str>>,
}

impl NextStep {
    /// A change of the recording, as a sentence.
    pub fn new(what: impl Into<Cow<'static, str>>) -> NextStep {
        NextStep { what: what.into(), option: None }
    }

    /// A change of an option, given without dashes. The sentence names it with dashes.
    pub fn option(option: impl Into<Cow<'static, str>>, what: impl Into<Cow<'static, str>>) -> NextStep {
        NextStep { what: what.into(), option: Some(option.into()) }
    }

    /// The next step if a part of the [`Budget`](crate::Budget) is exhausted.
    pub fn spent(spent: Spent) -> NextStep {
        match spent {
            Spent::Time => NextStep::option("timeout", "Allow more time: a greater --timeout, or none."),
            Spent::Bytes => NextStep::option("max-memory", "Allow more memory: a greater --max-memory, or none."),
            Spent::Cancelled => NextStep::new("Check again, without interrupting it."),
            Spent::States => NextStep::new("Allow more states of the search."),
        }
    }

    /// The next step if an op cannot be decoded: `"the op at index 4 (line 5)"`, optionally followed by a colon and the
    /// reason.
    pub fn correct_op(op: &str) -> NextStep {
        let op = op.split_once(": ").map_or(op, |(op, _)| op);
        NextStep::option(
            "model",
            format!("Correct {op} where it was recorded, or choose the checker of such ops with -m."),
        )
    }

    /// The next step if nothing was observed: what to record, as the phrase of
    /// [`Expected::observation`](crate::Expected::observation) that follows "no": `"ok :read"`.
    ///
    /// ```
    /// let step = history_core::NextStep::record("ok :read of a value, nor ok :cas");
    /// assert_eq!(step.what, "Record an ok :read of a value or ok :cas.");
    /// ```
    pub fn record(observation: &str) -> NextStep {
        NextStep::new(format!("Record an {observation}.").replace(", nor ", " or "))
    }
}

impl Report {
    /// Adds a step, unless the report already has it or the verdict is known.
    pub fn add_next(&mut self, step: NextStep) {
        if self.verdict == Verdict::Unknown && !self.next.contains(&step) {
            self.next.push(step);
        }
    }
}
