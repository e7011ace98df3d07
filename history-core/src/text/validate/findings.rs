//! The problems found so far: for each rule the first few, and their number.

use super::{Problem, Rule, Severity};
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::{Position, Snippet};
use std::collections::BTreeMap;

/// Collects problems.
pub(super) struct Findings {
    each_max: usize,
    list: Vec<Problem>,
    counts: BTreeMap<Rule, u64>,
}

/// The text of a problem.
pub(super) struct Remark {
    pub(super) message: String,
    pub(super) expected: Option<String>,
}

impl Remark {
    pub(super) fn new(message: impl Into<String>) -> Remark {
        Remark { message: message.into(), expected: None }
    }

    pub(super) fn expected(mut self, expected: impl Into<String>) -> Remark {
        self.expected = Some(expected.into());
        self
    }
}

impl Findings {
    pub(super) fn new(each_max: usize) -> Findings {
        Findings { each_max, list: Vec::new(), counts: BTreeMap::new() }
    }

    /// Counts a violation of a rule, and lists it if there is room. `remark` is called only then; `text` is the block
    /// that contains the position, and where it begins.
    pub(super) fn add(
        &mut self,
        rule: Rule,
        position: Option<Position>,
        text: (&str, u64),
        remark: impl FnOnce() -> Remark,
    ) {
        if !self.count(rule) {
            return;
        }
        let Remark { message, expected } = remark();
        let snippet = position.and_then(|position| Snippet::of(text.0.as_bytes(), text.1, position));
        self.list.push(Problem { rule, severity: rule.severity(), message, expected, position, snippet });
    }

    /// Counts an error of a reader, and lists it if there is room.
    pub(super) fn add_error(&mut self, error: HistoryError, text: &str, starts_at: u64) {
        let error = error.with_source(text.as_bytes(), starts_at);
        let rule = match error.kind {
            ErrorKind::Io => Rule::Unreadable,
            ErrorKind::Limit => Rule::Limit,
            ErrorKind::NotAnOp => Rule::NotAnOp,
            _ => Rule::Syntax,
        };
        if self.count(rule) {
            let HistoryError { message, expected, position, snippet, .. } = error;
            let snippet = snippet.map(|snippet| *snippet);
            self.list.push(Problem { rule, severity: rule.severity(), message, expected, position, snippet });
        }
    }

    /// Counts a violation of a rule. Returns whether to list it.
    fn count(&mut self, rule: Rule) -> bool {
        let count = self.counts.entry(rule).or_default();
        *count += 1;
        *count <= self.each_max.to_u64()
    }

    /// Returns true if some violation was an error.
    pub(super) fn has_errors(&self) -> bool {
        self.counts.keys().any(|rule| rule.severity() == Severity::Error)
    }

    /// The number of violations of a rule.
    pub(super) fn of(&self, rule: Rule) -> u64 {
        self.counts.get(&rule).copied().unwrap_or_default()
    }

    /// All problems, in the order of the text, and the counts.
    pub(super) fn finish(mut self) -> (Vec<Problem>, Vec<(Rule, u64)>) {
        self.list.sort_by_key(|problem| problem.position.map_or(u64::MAX, |position| position.offset));
        (self.list, self.counts.into_iter().collect())
    }
}
