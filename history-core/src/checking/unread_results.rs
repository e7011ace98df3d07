//! Transactions with the outcome `ok` that do not contain all results of their reads.

use crate::{Op, OpKind};

/// Counts `ok` ops without a value whose invocations contain reads, and other ops with missing results of reads: those
/// results are not in the history.
///
/// ```
/// use history_core::{History, UnreadResults};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :txn, :value [[:r :x nil]]} {:process 0, :type :ok, :f :txn}
/// ")?;
/// let mut unread = UnreadResults::default();
/// history.ops().for_each(|op| unread.see(&op, true));
/// assert_eq!(
///     unread.note().as_deref(),
///     Some("1 ok transaction (at index 1) does not say all that it read: the rest is unknown, and was not checked.")
/// );
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct UnreadResults {
    count: u64,
    first: Option<u64>,
}

crate::state!(struct UnreadResults { count, first });

impl UnreadResults {
    /// Processes the next op. `asks`: whether its invocation contains reads, or may contain some.
    #[inline]
    pub fn see(&mut self, op: &Op<'_>, asks: bool) {
        if asks && op.kind == OpKind::Ok && op.value.is_nil() {
            self.push(op.index);
        }
    }

    /// Adds such an op, by its index.
    #[cold]
    pub fn push(&mut self, index: u64) {
        self.count += 1;
        self.first.get_or_insert(index);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The note for the report, if there is such an op.
    pub fn note(&self) -> Option<String> {
        let first = self.first?;
        Some(match self.count {
            1 => format!(
                "1 ok transaction (at index {first}) does not say all that it read: the rest is unknown, and was not checked."
            ),
            count => format!(
                "{count} ok transactions (the first at index {first}) do not say all that they read: the rest is unknown, \
                 and was not checked."
            ),
        })
    }
}
