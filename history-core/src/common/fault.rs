//! What is wrong with an op that a checker cannot process.

use crate::{ErrorKind, HistoryError, NextStep, Op, Report, Verdict};

/// Why a checker cannot process an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpFault {
    /// The op cannot be decoded, for this reason. The other ops can be checked without it.
    Undecodable(String),
    /// The op cannot be decoded, and no conclusions about later ops are possible without it.
    Blocking(String),
    /// The history as a whole cannot be checked.
    Error(HistoryError),
}

impl OpFault {
    /// The fault of an op that exceeds a limit.
    #[cold]
    pub fn limit(message: impl Into<String>) -> OpFault {
        OpFault::Error(HistoryError::new(ErrorKind::Limit, message))
    }
}

impl From<HistoryError> for OpFault {
    fn from(error: HistoryError) -> OpFault {
        OpFault::Error(error)
    }
}

/// The ops of a history that a checker cannot decode: their number, and the first of them.
///
/// ```
/// use history_core::{UndecodedOps, History, Verdict};
///
/// let history = History::parse("{:process 0, :type :ok, :f :add, :value nil}")?;
/// let mut undecoded = UndecodedOps::default();
/// undecoded.push(&history.op(0), "expected an element, found nil", false);
/// assert_eq!(
///     undecoded.note(Verdict::Unknown).as_deref(),
///     Some("No verdict, because of the op at index 0 (line 1): expected an element, found nil.")
/// );
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct UndecodedOps {
    first: Option<String>,
    count: u64,
    stopped: bool,
}

impl Extend<UndecodedOps> for UndecodedOps {
    /// Adds more undecoded ops after the existing ones.
    fn extend<I: IntoIterator<Item = UndecodedOps>>(&mut self, more: I) {
        for UndecodedOps { first, count, stopped } in more {
            self.first = self.first.take().or(first);
            self.count += count;
            self.stopped |= stopped;
        }
    }
}

impl UndecodedOps {
    /// Adds an op. `stops`: whether the ops after it are not checked.
    #[cold]
    pub fn push(&mut self, op: &Op<'_>, reason: &str, stops: bool) {
        self.first.get_or_insert_with(|| format!("the op at {}: {reason}", op.place()));
        self.count += 1;
        self.stopped |= stops;
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether ops after one of them were not checked.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Returns the note for a report with this verdict on the other ops; none if all ops were decoded.
    pub fn note(&self, verdict: Verdict) -> Option<String> {
        let first = self.first.as_ref()?;
        let more = match self.count - 1 {
            0 => String::new(),
            1 => " One more op has a problem of this kind.".into(),
            more => format!(" {more} more ops have problems of this kind."),
        };
        Some(match (verdict, self.stopped) {
            (Verdict::Invalid, false) => format!("The verdict ignores {first}.{more}"),
            (Verdict::Invalid, true) => format!("The verdict covers only the ops before {first}."),
            _ => format!("No verdict, because of {first}.{more}"),
        })
    }

    /// What would give a verdict; nothing if all ops were decoded.
    pub fn next(&self) -> Option<NextStep> {
        self.first.as_deref().map(NextStep::correct_op)
    }

    /// Adds the note to a report, before the others. Unless the other ops are invalid, the verdict becomes unknown.
    pub fn conclude(&self, report: &mut Report) {
        if !self.is_empty() {
            report.is_partial = report.verdict == Verdict::Invalid;
            report.verdict = report.verdict.and(Verdict::Unknown);
            report.notes.splice(0..0, self.note(report.verdict));
            if let Some(step) = self.next() {
                report.add_next(step);
            }
        }
    }
}
