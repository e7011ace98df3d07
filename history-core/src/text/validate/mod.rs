//! Finds all errors of a history at once.
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

/// The result of [`validate`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Problems {
    /// The format of the history, if it could be detected.
    pub format: Option<Format>,
    /// How many ops could be read.
    pub ops: u64,
    /// The problems, in the order of the text; remarks on the history as a whole come last.
    pub list: Vec<Problem>,
    /// The number of problems per rule, including those that are not in `list`; rules without problems are omitted.
    pub counts: Vec<(Rule, u64)>,
    /// Whether the whole text was checked.
    pub complete: bool,
    /// The names in the [`ClientRule`](crate::ClientRule) that no process has.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub unmatched: Vec<String>,
}

/// An error in a history, or something doubtful.
///
/// It displays as `error: line 3, column 7: what is wrong; expected what would be right`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Problem {
    /// The rule that is violated.
    pub rule: Rule,
    /// The severity of the problem.
    pub severity: Severity,
    /// What was found, as a clause.
    pub message: String,
    /// What was expected, as a phrase.
    pub expected: Option<String>,
    /// The position; absent if the problem concerns the whole history.
    pub position: Option<Position>,
    /// The text there.
    pub snippet: Option<Snippet>,
}

impl Problems {
    /// The number of problems of a severity, including those that are not listed.
    pub fn count(&self, severity: Severity) -> u64 {
        self.counts.iter().filter(|(rule, _)| rule.severity() == severity).map(|(_, count)| count).sum()
    }

    /// Whether checkers accept this history: there are no errors.
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

/// Reads a history to its end and reports all errors in it, and everything doubtful as warnings.
///
/// A [`Reader`] stops at the first error; this function continues. After an op that cannot be read it continues with
/// the next line that begins one. For each [`Rule`] the first `each_max` violations are listed and the others counted;
/// reading stops only after `each_max` ops could not be read.
///
/// O(text). Memory: the ops in flight, and the writes of micro-ops, to find duplicates.
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
