//! The options of the checker.

/// The kafka checker: append-only logs under concurrent producers and consumers.
///
/// ```
/// use check_log::Kafka;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :send, :value [[:send :x 7] [:send :x 8]]}
///     {:process 0, :type :ok,     :f :send, :value [[:send :x [0 7]] [:send :x [1 8]]]}
///     {:process 1, :type :invoke, :f :poll, :value [[:poll]]}
///     {:process 1, :type :ok,     :f :poll, :value [[:poll {:x [[1 8]]}]]}
/// ")?;
/// let report = Kafka::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["lost-write", "unseen"]);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
pub struct Kafka {
    /// Whether consumers may subscribe, so that keys move between them: a poll may then skip or repeat messages between
    /// the last message of the previous poll and its own first message.
    pub subscribes: bool,
    /// Whether the order of a log orders the ops that sent its messages (ww dependencies). Sends of transactions are
    /// not isolated, so cycles of these are allowed.
    pub ww_deps: bool,
    /// Whether to show every anomaly with its witness, not only the first or the worst.
    pub all_errors: bool,
    /// Whether the history was cut short, so that acknowledged messages that no client polled yet are not a violation.
    pub cut_short: bool,
}
