//! rw-register: transactions that write and read registers, no value twice.
//!
//! A read shows which version of a key a transaction observed, but not the order in which versions replaced each other.
//! That order is partial, and follows from assumptions that the user makes about the store: the [`RwRegister`]'s
//! fields. From it follow the dependencies between transactions, and from their cycles the isolation levels that the
//! history cannot have had. Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations"
//! (VLDB 2020), section 5; Adya, "Weak Consistency" (MIT, 1999).
//!
//! Each stage is a module: `run` decodes ops into columns (`mop`, `versions`), `within` examines one transaction,
//! `order` infers the order of versions from the `sources` in use, `edges` builds the graph, `crate::cycles` searches
//! it, `witnesses` explains the results.
//!
//! Time is O(n log n) in the micro-ops of one key, plus the search of components with cycles; memory is linear.

mod analysis;
mod direct;
mod edges;
mod ground;
#[cfg(feature = "exact")]
mod happened;
mod mop;
mod online;
mod order;
mod run;
mod sources;
mod total;
mod touches;
mod versions;
mod within;
mod witnesses;

use crate::anomaly::AnomalySet;
use crate::exact::{EXACT, Exact};
use crate::model::Model;
use crate::txn::expected::{self, Expected};
use crate::txn::fold::TxnRun;
use crate::txn::online::judge::Rules;
#[cfg(feature = "exact")]
use history_core::share::KnotsRun;
use history_core::share::{Share, ShareRun, Totals};
use history_core::{About, Checker, Datum, OptionError, OptionKind, OptionSpec, Options, Report, Run, VersionOrder};
use run::RwRegisterRun;
use sources::Sources;

/// The rw-register checker, with its options and assumptions.
///
/// Without assumptions, it is only known that the initial version, nil, precedes the others. Each assumption orders
/// more of them; one that contradicts the others is an anomaly, `cyclic-versions`, and is then not used.
///
/// ```
/// use check_elle::rw_register::RwRegister;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :value [[:r :x nil] [:w :x 1]]}
///     {:process 1, :type :invoke, :value [[:r :x nil] [:w :x 2]]}
///     {:process 0, :type :ok, :value [[:r :x 2] [:w :x 1]]}
///     {:process 1, :type :ok, :value [[:r :x 1] [:w :x 2]]}
/// ")?;
/// let report = RwRegister::default().check(&history)?;
/// assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G1c"]);
///
/// let report = RwRegister { wfr_keys: true, ..RwRegister::default() }.check(&history)?;
/// assert!(report.anomaly_types().any(|name| name == "cyclic-versions"));
/// assert_eq!(report.verdict, Verdict::Invalid);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent setting")]
pub struct RwRegister {
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
    /// Writes follow reads: the version of a key that a transaction reads precedes the one that it then writes.
    pub wfr_keys: bool,
    /// Each key is sequentially consistent: its versions follow the order of each process's transactions.
    pub sequential_keys: bool,
    /// Each key is linearizable: its versions follow real time.
    pub linearizable_keys: bool,
    /// The known order of transactions: the index of each one's completion, or of its invocation. Versions of keys
    /// follow it. Omitted transactions are not ordered.
    pub transaction_order: Option<Vec<u64>>,
    /// The initial value of every register: nil by default. In everything about the initial version it replaces nil,
    /// which is then an ordinary value.
    pub initial: Datum,
}

impl Default for RwRegister {
    /// Strict serializability, without assumptions.
    fn default() -> RwRegister {
        let Expected { models, anomalies, garbage_reads_allowed, witnesses_max, exact, .. } = Expected::default();
        RwRegister {
            consistency_models: models,
            anomalies,
            garbage_reads_allowed,
            witnesses_max,
            exact,
            wfr_keys: false,
            sequential_keys: false,
            linearizable_keys: false,
            transaction_order: None,
            initial: Datum::Nil,
        }
    }
}

const WFR_KEYS: OptionSpec = OptionSpec::new(
    "wfr-keys",
    OptionKind::Flag,
    "Assume that writes follow reads: a transaction that reads and then writes a key replaces the version it read.",
);

const SEQUENTIAL_KEYS: OptionSpec = OptionSpec::new(
    "sequential-keys",
    OptionKind::Flag,
    "Assume that each key is sequentially consistent: its versions follow the order of each process.",
);

const LINEARIZABLE_KEYS: OptionSpec = OptionSpec::new(
    "linearizable-keys",
    OptionKind::Flag,
    "Assume that each key is linearizable: its versions follow real time.",
);

const TRANSACTION_ORDER: OptionSpec = OptionSpec::new(
    "transaction-order",
    OptionKind::File,
    "File with the known order of transactions: the index of each one's completion (or invocation), separated by white \
           space or commas. Versions of keys follow this order. An info transaction in it is taken to have happened.",
)
.with_value_name("FILE");

/// The name and help are those of other checkers with this option: a command line explains an option once.
const INITIAL: OptionSpec =
    OptionSpec::new("initial", OptionKind::Text, "Initial state, as EDN or JSON, such as 0, [1 2] or {:x 1}.")
        .with_value_name("VALUE")
        .with_default("nil, empty, 0 or free");

const OPTIONS: &[OptionSpec] = &[
    expected::CONSISTENCY_MODELS,
    expected::ANOMALIES,
    expected::ALLOW,
    expected::MAX_WITNESSES,
    EXACT,
    WFR_KEYS,
    SEQUENTIAL_KEYS,
    LINEARIZABLE_KEYS,
    TRANSACTION_ORDER,
    INITIAL,
];

impl Checker for RwRegister {
    fn name(&self) -> &'static str {
        "rw-register"
    }

    fn summary(&self) -> &'static str {
        "Isolation of transactions that write and read registers, up to strict serializability."
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn about(&self) -> About {
        let mut about = crate::txn::about();
        about.reduction.version_orders = vec![
            (TRANSACTION_ORDER.name.into(), VersionOrder::Given),
            (SEQUENTIAL_KEYS.name.into(), VersionOrder::Processes),
            (LINEARIZABLE_KEYS.name.into(), VersionOrder::Transactions),
            (WFR_KEYS.name.into(), VersionOrder::Transactions),
        ];
        about
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let (settings, expected) = self.with_options(options)?;
        Ok(Box::new(TxnRun::new(RwRegisterRun::new(expected, settings.sources(), &settings.initial))))
    }

    /// Levels from read committed up are checked op by op, as by list-append. Memory is bounded at strict
    /// serializability, with [`RwRegister::linearizable_keys`]: otherwise any version may be read at any time, and
    /// reaching a limit makes the verdict unknown. At levels that cycles do not decide, at read uncommitted, also with
    /// sessions or real time, and with anomalies by name, the run keeps the history, and checks it again whenever it
    /// has grown by an eighth; at read uncommitted, [`Run::is_violated`] refers to the history so far. With an order of
    /// transactions, the run reports nothing before the end.
    fn start_online(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let (settings, expected) = self.with_options(options)?;
        let batch = TxnRun::new(RwRegisterRun::new(expected.clone(), settings.sources(), &settings.initial));
        if settings.transaction_order.is_some() {
            return Ok(Box::new(batch));
        }
        let assumed = online::Assumed {
            rules: Rules::of(&expected),
            initial: settings.initial,
            initial_code: 0,
            wfr_keys: settings.wfr_keys,
            sequential_keys: settings.sequential_keys,
            linearizable_keys: settings.linearizable_keys,
        };
        Ok(online::start(expected, assumed, batch))
    }

    /// None with an order of transactions, because it orders transactions across all keys. None without the search for
    /// a commit order either: another share may show that a write happened that is unknown here, so this share would
    /// lack dependencies.
    fn start_share(&self, options: &Options, share: Share) -> Result<Option<Box<dyn ShareRun>>, OptionError> {
        let (settings, expected) = self.with_options(options)?;
        if settings.transaction_order.is_some() || expected.exact == Exact::No {
            return Ok(None);
        }
        let run = RwRegisterRun::new(expected, settings.sources(), &settings.initial).of_share(share.is_part());
        Ok(Some(Box::new(TxnRun::of_share(run, share))))
    }

    fn join_shares(&self, reports: Vec<Report>, totals: &Totals) -> Option<Report> {
        crate::txn::fold::join(reports, totals)
    }

    #[cfg(feature = "exact")]
    fn start_knots(&self, options: &Options, count: usize) -> Result<Option<Box<dyn KnotsRun>>, OptionError> {
        let (settings, expected) = self.with_options(options)?;
        let exact = expected.exact;
        let run = |_| RwRegisterRun::new(expected.clone(), Sources::default(), &settings.initial);
        let sets: Vec<_> = (0..count).map(run).map(TxnRun::new).collect();
        Ok((exact != Exact::No).then(|| Box::new(happened::knots::Knots::new(sets, exact)) as Box<dyn KnotsRun>))
    }
}

impl RwRegister {
    /// The same, with the options given by name.
    fn with_options(&self, options: &Options) -> Result<(RwRegister, Expected), OptionError> {
        let mut settings = self.clone();
        settings.wfr_keys |= options.flag(WFR_KEYS.name);
        settings.sequential_keys |= options.flag(SEQUENTIAL_KEYS.name);
        settings.linearizable_keys |= options.flag(LINEARIZABLE_KEYS.name);
        if let Some(text) = options.text(TRANSACTION_ORDER.name) {
            let order = indices(text).map_err(|message| OptionError::new(TRANSACTION_ORDER.name, message))?;
            settings.transaction_order = Some(order);
        }
        if let Some(text) = options.text(INITIAL.name) {
            let wrong = || OptionError::new(INITIAL.name, format!("expected an EDN or JSON value, found {text}"));
            settings.initial = Datum::parse(text).ok_or_else(wrong)?;
        }
        let expected = self.expected().with_options(options)?;
        Ok((settings, expected))
    }

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

    fn sources(&self) -> Sources {
        Sources {
            transaction_order: self.transaction_order.clone(),
            wfr_keys: self.wfr_keys,
            sequential_keys: self.sequential_keys,
            linearizable_keys: self.linearizable_keys,
        }
    }
}

/// The numbers in a text, separated by white space, commas or brackets.
fn indices(text: &str) -> Result<Vec<u64>, String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '(' | ')'));
    let words = words.filter(|word| !word.is_empty());
    words
        .map(|word| word.parse().map_err(|_| format!("expected the index of an op, a number from 0 on, found {word}")))
        .collect()
}
