//! Ops with different keys in a field that a checker does not read.

use crate::{Datum, Op, Report};

/// Detects different values in the field `key` of ops, for checkers of one object that do not read this field.
///
/// Such a history may be of several objects, each of which has to be checked separately; the verdict on all of them
/// together means little. O(1) per op, and memory for two keys.
///
/// ```
/// use history_core::{History, Report, UnreadKeys, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :add, :value 1, :key :x} {:process 0, :type :ok, :f :add, :value 1, :key :x}
///     {:process 0, :type :invoke, :f :read, :key :y} {:process 0, :type :ok, :f :read, :value 1, :key :y}
/// ")?;
/// let mut keys = UnreadKeys::default();
/// history.ops().for_each(|op| keys.see(&op));
/// let mut report = Report::new("counter", Verdict::Valid);
/// keys.conclude(&mut report);
/// assert_eq!(
///     report.notes,
///     ["The ops have different keys in the field :key (:x and :y), and counter took them for ops on one object. \
///       --keyed checks each key separately."]
/// );
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct UnreadKeys {
    first: Option<Datum>,
    /// A key that differs from the first. Once it is found, no more keys are searched for.
    other: Option<Datum>,
}

impl UnreadKeys {
    /// Processes the next op. Ops that do not belong to clients say nothing about objects and are ignored.
    #[inline]
    pub fn see(&mut self, op: &Op<'_>) {
        if self.other.is_none() && !op.extra.is_empty() {
            self.see_fields(op);
        }
    }

    fn see_fields(&mut self, op: &Op<'_>) {
        let Some(key) = op.extra.get("key").filter(|key| !key.is_nil() && op.process.is_client()) else { return };
        match &self.first {
            None => self.first = Some(key.to_datum()),
            Some(first) => self.other = Some(key.to_datum()).filter(|key| key != first),
        }
    }

    /// Adds a note to the report if there are several keys.
    pub fn conclude(&self, report: &mut Report) {
        if let (Some(first), Some(other)) = (&self.first, &self.other) {
            report.notes.push(format!(
                "The ops have different keys in the field :key ({first} and {other}), and {} took them for ops on one \
                 object. --keyed checks each key separately.",
                report.checker
            ));
        }
    }
}
