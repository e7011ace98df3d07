//! list-append: transactions that append unique elements to lists, and read lists.
//!
//! A read of a list shows the order in which its elements were appended, so the order of a key's versions follows from the
//! reads alone. From it follow the dependencies between transactions, and from their cycles the isolation levels that the
//! history cannot have had. Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations"
//! (VLDB 2020); Adya, "Weak Consistency" (MIT, 1999).
//!
//! Each stage is a module: `run` decodes ops into columns (`txns`, `states`), `within` looks at one transaction,
//! `orders` infers version orders, `direct` finds what needs no cycles, `edges` makes the graph, `crate::cycles`
//! searches it, `explain` and `report` say what was found.
//!
//! Time is linear in the history, plus the search of components that hold cycles. Memory is linear in the number of
//! micro-ops and distinct elements; lists that were read many times are kept once.

mod analysis;
mod direct;
mod edges;
mod explain;
mod orders;
mod report;
mod run;
mod states;
mod txns;
mod within;

use crate::anomaly::{AnomalySet, AnomalyType};
use crate::model::Model;
use history_core::{Budget, Checker, History, HistoryError, OptionError, OptionKind, OptionSpec, Options, Report, Run};

/// The list-append checker and what is asked of it.
///
/// ```
/// use check_elle::list_append::{self, ListAppend};
/// use history_core::{History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :value [[:append :x 1] [:r :y nil]]}
///     {:process 1, :type :invoke, :value [[:append :y 2] [:r :x nil]]}
///     {:process 0, :type :ok, :value [[:append :x 1] [:r :y []]]}
///     {:process 1, :type :ok, :value [[:append :y 2] [:r :x []]]}
/// ")?;
/// let report = list_append::check(&history, &ListAppend::default())?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G2-item"]);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListAppend {
    /// The models that the history is expected to obey.
    pub consistency_models: Vec<Model>,
    /// Anomalies that are not expected beside those that the models forbid.
    pub anomalies: AnomalySet,
    /// Witnesses given for each type of anomaly, at the most. All are counted.
    pub witnesses_max: usize,
}

impl Default for ListAppend {
    /// Expects strict serializability.
    fn default() -> ListAppend {
        ListAppend {
            consistency_models: vec![Model::STRICT_SERIALIZABLE],
            anomalies: AnomalySet::EMPTY,
            witnesses_max: 8,
        }
    }
}

/// Checks a history that is in memory.
///
/// # Errors
///
/// If the history is too large to be judged.
pub fn check(history: &History, options: &ListAppend) -> Result<Report, HistoryError> {
    let mut run = Box::new(run::ListAppendRun::new(options.clone()));
    for op in history.ops() {
        if run.observe(&op)?.is_break() {
            break;
        }
    }
    run.finish(&Budget::default())
}

const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "consistency-models",
        kind: OptionKind::Names,
        value_name: "MODELS",
        default: "strict-serializable",
        help: "Models that the history is expected to obey, with commas between them. `histcheck consistency-models` \
               lists them.",
    },
    OptionSpec {
        name: "anomalies",
        kind: OptionKind::Names,
        value_name: "TYPES",
        default: "",
        help: "Anomalies that must not be there either, with commas between them. `histcheck anomalies` lists them.",
    },
    OptionSpec {
        name: "max-witnesses",
        kind: OptionKind::Integer,
        value_name: "N",
        default: "8",
        help: "How many examples of each type of anomaly to report. All are counted.",
    },
];

impl Checker for ListAppend {
    fn name(&self) -> &'static str {
        "list-append"
    }

    fn summary(&self) -> &'static str {
        "Transactions of appends to lists and reads of them: isolation levels up to strict serializability."
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(run::ListAppendRun::new(self.with_options(options)?)))
    }
}

impl ListAppend {
    /// These settings, but for those that are given by name.
    fn with_options(&self, options: &Options) -> Result<ListAppend, OptionError> {
        let mut settings = self.clone();
        if options.text("consistency-models").is_some() {
            let names = options.names("consistency-models");
            if names.is_empty() {
                // As from a shell's unset variable; with no model every history would be valid.
                return Err(OptionError::new("consistency-models", "it names no model; leave it out, or name one"));
            }
            let models = names.into_iter().map(Model::from_name);
            settings.consistency_models =
                models.collect::<Result<_, _>>().map_err(|e| OptionError::new("consistency-models", e.to_string()))?;
        }
        if options.text("anomalies").is_some() {
            let anomalies = options.names("anomalies").into_iter().map(AnomalyType::from_name);
            settings.anomalies =
                anomalies.collect::<Result<_, _>>().map_err(|e| OptionError::new("anomalies", e.to_string()))?;
        }
        if let Some(max) = options.integer("max-witnesses")? {
            settings.witnesses_max =
                usize::try_from(max).map_err(|_| OptionError::new("max-witnesses", format!("{max} is less than 0")))?;
        }
        Ok(settings)
    }
}
