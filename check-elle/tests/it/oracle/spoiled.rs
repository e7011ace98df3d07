//! Histories with one undecodable op, and the rest of them: the other ops, without the keys that the op names.

use super::against::checker;
use super::choices::Choices;
use super::messy::{Entry, Shown, Who};
use super::{Judgement, Question, judge, lattice, text};
use history_core::{History, Report, Verdict};

/// How an op is made undecodable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Its completion has another write than its invocation.
    OtherWrite,
    /// One of its micro-ops is of an unknown kind.
    OtherMop,
    /// One of its reads has no key.
    OtherRead,
    /// Its completion is not a list of micro-ops, but its invocation is.
    Whole,
    /// It failed, and one micro-op of its invocation is of an unknown kind.
    FailedInvocation,
    /// It failed, and its completion is not a list of micro-ops.
    FailedCompletion,
}

impl How {
    pub(crate) const ALL: &[How] =
        &[How::OtherWrite, How::OtherMop, How::OtherRead, How::Whole, How::FailedInvocation, How::FailedCompletion];

    /// Returns true if the operation had no effect.
    fn has_failed(self) -> bool {
        matches!(self, How::FailedInvocation | How::FailedCompletion)
    }
}

/// A value that no other op writes.
const OTHER: u32 = 777;

/// Makes one suitable op undecodable, if there is one; returns the text, and the ops that remain.
pub(crate) fn spoil(choices: &mut Choices, ops: &[Entry], how: How) -> Option<(String, Vec<Entry>)> {
    let mut fit = Vec::new();
    for (end, op) in ops.iter().enumerate() {
        let begin = ops[..end].iter().rposition(|other| other.who == op.who && other.kind == "invoke");
        let is_client = matches!(op.who, Who::Client(_));
        let writes = op.mops.iter().any(|mop| matches!(mop, Shown::Append(..) | Shown::Write(..)));
        let kinds: &[&str] = if how.has_failed() { &["fail"] } else { &["ok", "info"] };
        let is_fit = is_client && kinds.contains(&op.kind) && op.has_value && writes;
        let needs_invocation = matches!(how, How::Whole | How::FailedInvocation | How::FailedCompletion);
        if let Some(begin) = begin.filter(|begin| is_fit && (!needs_invocation || ops[*begin].has_value)) {
            fit.push((begin, end));
        }
    }
    if fit.is_empty() {
        return None;
    }
    let (begin, end) = choices.of(&fit);
    let mut spoiled = ops.to_vec();
    if how == How::OtherWrite {
        let write = spoiled[end].mops.iter_mut().find(|mop| matches!(mop, Shown::Append(..) | Shown::Write(..)));
        if let Some(Shown::Append(_, value) | Shown::Write(_, value)) = write {
            *value = OTHER;
        }
    }
    let mut lines: Vec<String> = text::edn(&spoiled).lines().map(str::to_owned).collect();
    let (at, with) = match how {
        How::OtherWrite => (end, ""),
        How::OtherMop => (end, "[:increment 0 1] "),
        How::OtherRead => (end, "[:r] "),
        How::Whole | How::FailedCompletion => (end, "{}"),
        How::FailedInvocation => (begin, "[:increment 0 1] "),
    };
    let from = lines[at].find(":value [").expect("it has a value") + ":value [".len();
    if with == "{}" {
        lines[at].replace_range(from - 1.., "{0 1}}");
    } else {
        lines[at].insert_str(from, with);
    }
    let mut rest = ops.to_vec();
    if how.has_failed() {
        // The value of a failed completion may be missing.
        rest[end].has_value &= how != How::FailedCompletion;
        return Some((lines.join("\n"), rest));
    }
    rest.remove(end);
    rest.remove(begin);
    leave_out(&mut rest, &ops[end].mops.iter().map(Shown::key).collect::<Vec<_>>());
    Some((lines.join("\n"), rest))
}

/// Removes some keys from all ops.
pub(crate) fn leave_out(ops: &mut [Entry], keys: &[usize]) {
    for op in ops {
        op.mops.retain(|mop| !keys.contains(&mop.key()));
    }
}

/// Compares the verdict on a history with an undecodable op with the verdict on the rest; returns true if it is
/// invalid.
///
/// # Errors
///
/// The difference between the two.
pub(crate) fn compare(text: &str, rest: &[Entry], how: How, question: &Question<'_>) -> Result<bool, String> {
    let report = checker(&History::parse(text).map_err(|error| format!("{error}\n{text}"))?, question);
    let rest = text::edn(rest);
    let left = History::parse(&rest).ok().and_then(|left| judge(&left, question).ok());
    if let Some(left) = left.as_ref().filter(|_| how.has_failed()) {
        return beside_failed(&report, left, text);
    }
    let left = left.filter(|left| left.verdict == Verdict::Invalid);
    let mut types = left.map(|left| left.anomaly_types).unwrap_or_default();
    if how == How::OtherMop {
        // The op may have written any value.
        let certain = |name: &&str| ["internal", "incompatible-order"].contains(name);
        let is_certain = types.iter().any(certain);
        types.retain(|name| is_certain && (certain(name) || *name == "empty-transaction-graph"));
    }
    let expected = if types.is_empty() { Verdict::Unknown } else { Verdict::Invalid };
    let got = report.anomaly_types().map(lattice::name).collect();
    if (expected, &types) != (report.verdict, &got) {
        return Err(format!(
            "{expected:?} {types:?} is left, not {:?} {got:?}\n{text}\nof which is left\n{rest}",
            report.verdict
        ));
    }
    let says = if expected == Verdict::Invalid { "Part of this history was ignored" } else { "No verdict, because" };
    match report.notes.first() {
        Some(note) if note.starts_with(says) => Ok(expected == Verdict::Invalid),
        other => Err(format!("{other:?} does not begin with {says}\n{text}")),
    }
}

/// Compares the verdict on a history with an undecodable failed op with the verdict on the rest.
fn beside_failed(report: &Report, left: &Judgement, text: &str) -> Result<bool, String> {
    let got = report.anomaly_types().map(lattice::name).collect();
    if (left.verdict, &left.anomaly_types) != (report.verdict, &got) {
        return Err(format!("{:?} {:?} is left, not {report:?}\n{text}", left.verdict, left.anomaly_types));
    }
    let is_counted = report.counts.iter().any(|(name, count)| name == "passed-over-count" && *count == 1);
    if is_counted && report.notes.iter().any(|note| note.contains("because the operation failed")) {
        return Ok(report.verdict == Verdict::Invalid);
    }
    Err(format!("nothing is said of what was ignored: {report:?}\n{text}"))
}
