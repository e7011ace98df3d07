//! Everything that is wrong with a history, at once.
//!
//! The syntax is the one that the readers accept, but validation continues after an error.

mod checks;
mod findings;
mod kinds;
mod mops;
mod resync;
mod rule;
mod walk;

pub use rule::{Rule, Severity};

use crate::{Format, Position, Reader, Snippet};
use std::fmt;

/// What [`validate`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Problems {
    /// How the history is written, if it could be found out.
    pub format: Option<Format>,
    /// How many ops could be read.
    pub ops: u64,
    /// What was found, in the order of the text; remarks on the history as a whole come last.
    pub list: Vec<Problem>,
    /// How much was found of each rule, what is not in `list` included; rules that found nothing are omitted.
    pub counts: Vec<(Rule, u64)>,
    /// Whether the whole text was looked at.
    pub complete: bool,
    /// The names in the [`ClientRule`](crate::ClientRule) that no process had.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub unmatched: Vec<String>,
}

/// One thing that is wrong with a history, or doubtful.
///
/// Displays as `error: line 3, column 7: what is wrong; expected what would be right`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Problem {
    /// What it offends against.
    pub rule: Rule,
    /// How bad that is.
    pub severity: Severity,
    /// What was found, as a clause.
    pub message: String,
    /// What would be right, as a phrase.
    pub expected: Option<String>,
    /// Where; absent where the whole history is meant.
    pub position: Option<Position>,
    /// The text there.
    pub snippet: Option<Snippet>,
}

impl Problems {
    /// How many problems there are of a severity, those that are not listed included.
    pub fn count(&self, severity: Severity) -> u64 {
        self.counts.iter().filter(|(rule, _)| rule.severity() == severity).map(|(_, count)| count).sum()
    }

    /// Whether checkers will take this history: there are no errors.
    pub fn is_history(&self) -> bool {
        self.count(Severity::Error) == 0
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.severity.name())?;
        if let Some(position) = self.position {
            write!(f, "{position}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(expected) = &self.expected {
            write!(f, "; expected {expected}")?;
        }
        Ok(())
    }
}

/// Reads a history to its end and says all that is wrong with it, as errors, and all that is doubtful, as warnings.
///
/// A [`Reader`] stops at the first error; this continues. After an op that cannot be read it continues with the next
/// line that begins one. Of each [`Rule`] the first `each_max` offences are listed and the others counted; reading
/// stops only when so many ops could not be read.
///
/// O(text). Memory: the ops in flight, and what was written in micro-ops, to find duplicates.
///
/// ```
/// use history_core::{Reader, Rule, validate};
///
/// let text = "
///     {:process 0, :type :invoke, :f :txn, :value [[:append 5 1] [:r 6 nil]]}
///     {:process 0, :type :ok, :f :txn, :value [[:append 5 2] [:r 6 [1]]]}
///     {:process 1, :type :ok, :f :txn, :value [[:r 6 [1]]]}
/// ";
/// let problems = validate(Reader::new(text.as_bytes()), 10);
/// let rules: Vec<Rule> = problems.list.iter().map(|problem| problem.rule).collect();
/// assert_eq!(rules, [Rule::MopMismatch, Rule::UnpairedCompletion]);
/// assert!(!problems.is_history());
/// ```
pub fn validate(reader: Reader<'_>, each_max: usize) -> Problems {
    walk::Walk::new(reader, each_max).run()
}
