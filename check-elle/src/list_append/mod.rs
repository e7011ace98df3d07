//! list-append: transactions that append unique elements to lists, and read lists.
//!
//! A read of a list shows the order in which its elements were appended, so the order of a key's versions follows from
//! the reads alone. From it follow the dependencies between transactions, and from their cycles the isolation levels
//! that the history cannot have had. Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental
//! Observations" (VLDB 2020); Adya, "Weak Consistency" (MIT, 1999).
//!
//! Each stage is a module: `run` decodes ops into columns (`mop`, `states`), `within` examines one transaction,
//! `orders` infers version orders, `direct` finds anomalies without cycles, `edges` builds the graph, `crate::cycles`
//! searches it, `witnesses` explains the results. `online` is for histories that are still being written.
//!
//! Time is linear in the history, plus the search of components with cycles. Memory is linear in the number of
//! micro-ops and distinct elements; lists that were read many times are stored once.

mod analysis;
mod commits;
mod direct;
mod edges;
#[cfg(feature = "exact")]
mod happened;
mod mop;
mod online;
mod orders;
mod run;
mod states;
mod within;
mod witnesses;

use crate::anomaly::AnomalySet;
use crate::exact::{EXACT, Exact};
use crate::model::Model;
use crate::txn::expected::{self, Expected};
use crate::txn::fold::TxnRun;
use history_core::share::{Share, ShareRun, Totals};
use history_core::{Checker, OptionError, OptionSpec, Options, Report, Run};
use run::ListAppendRun;

/// The list-append checker, with its options.
///
/// ```
/// use check_elle::list_append::ListAppend;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :value [[:append :x 1] [:r :y nil]]}
///     {:process 1, :type :invoke, :value [[:append :y 2] [:r :x nil]]}
///     {:process 0, :type :ok, :value [[:append :x 1] [:r :y []]]}
///     {:process 1, :type :ok, :value [[:append :y 2] [:r :x []]]}
/// ")?;
/// let report = ListAppend::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G2-item"]);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListAppend {
    /// The models that the history is expected to obey.
    pub consistency_models: Vec<Model>,
    /// Anomalies that are not expected in addition to those that the models forbid.
    pub anomalies: AnomalySet,
    /// Whether a read may return a value that was never written, because the store was not empty at the start.
    pub garbage_reads_allowed: bool,
    /// The maximum number of witnesses per type of anomaly. All anomalies are counted.
    pub witnesses_max: usize,
    /// Whether levels that the search for cycles leaves open are decided by a search for a commit order.
    pub exact: Exact,
}

impl Default for ListAppend {
    /// Expects strict serializability.
    fn default() -> ListAppend {
        let Expected { models, anomalies, garbage_reads_allowed, witnesses_max, exact, .. } = Expected::default();
        ListAppend { consistency_models: models, anomalies, garbage_reads_allowed, witnesses_max, exact }
    }
}

const OPTIONS: &[OptionSpec] =
    &[expected::CONSISTENCY_MODELS, expected::ANOMALIES, expected::ALLOW, expected::MAX_WITNESSES, EXACT];

impl Checker for ListAppend {
    fn name(&self) -> &'static str {
        "list-append"
    }

    fn summary(&self) -> &'static str {
        "Isolation of transactions that append to lists and read them, up to strict serializability."
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn about(&self) -> history_core::About {
        crate::txn::about()
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let expected = self.expected().with_options(options)?;
        Ok(Box::new(TxnRun::new(ListAppendRun::new(expected))))
    }

    /// Levels that cycles decide are checked op by op. With other levels, or with anomalies by name, the run keeps the
    /// history, and checks it again whenever it has grown by an eighth. At read uncommitted, also with sessions or real
    /// time, [`Run::is_violated`] refers to the history so far: a transaction that fails later, or a list that
    /// contradicts an earlier one, can revoke it.
    ///
    /// Once the history is longer than about 100,000 ops, a report of an op-by-op check names a violated level, the op
    /// and the transactions; for all anomalies and their types, check the file.
    ///
    /// ```
    /// use check_elle::list_append::ListAppend;
    /// use history_core::{Checker, History, Options};
    ///
    /// let history = History::parse("
    ///     {:process 0, :type :invoke, :value [[:append :x 1]]}
    ///     {:process 0, :type :ok, :value [[:append :x 1]]}
    ///     {:process 1, :type :invoke, :value [[:r :x nil]]}
    ///     {:process 1, :type :ok, :value [[:r :x []]]}
    ///     {:process 0, :type :invoke, :value [[:append :x 2]]}
    /// ")?;
    /// let mut run = ListAppend::default().start_online(&Options::new()).unwrap();
    /// let mut violated = Vec::new();
    /// for op in history.ops() {
    ///     let _ = run.observe(&op)?;
    ///     violated.push(run.is_violated());
    /// }
    /// assert_eq!(violated, [false, false, false, true, true], "a stale read");
    /// # Ok::<(), history_core::HistoryError>(())
    /// ```
    fn start_online(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let expected = self.expected().with_options(options)?;
        let batch = TxnRun::new(ListAppendRun::new(expected.clone()));
        Ok(online::start(expected, batch))
    }

    fn start_share(&self, options: &Options, share: Share) -> Result<Option<Box<dyn ShareRun>>, OptionError> {
        let expected = self.expected().with_options(options)?;
        Ok(Some(Box::new(TxnRun::of_share(ListAppendRun::new(expected), share))))
    }

    fn join_shares(&self, reports: Vec<Report>, totals: &Totals) -> Option<Report> {
        crate::txn::fold::join(reports, totals)
    }
}

impl ListAppend {
    fn expected(&self) -> Expected {
        Expected {
            models: self.consistency_models.clone(),
            anomalies: self.anomalies,
            garbage_reads_allowed: self.garbage_reads_allowed,
            witnesses_max: self.witnesses_max,
            exact: self.exact,
            ..Expected::default()
        }
    }
}
