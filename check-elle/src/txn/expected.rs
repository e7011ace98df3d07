//! The expected consistency levels, and the number of results to report: the options of all transaction checkers.

use crate::anomaly::{AnomalySet, AnomalyType};
use crate::exact::{EXACT, Exact};
use crate::model::{Model, ModelSet};
use history_core::{OptionError, OptionKind, OptionSpec, Options};

/// The default number of witnesses per type of anomaly.
pub(crate) const WITNESSES_MAX: usize = 8;

#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// The models that the history is expected to obey.
    pub(crate) models: Vec<Model>,
    /// Forbidden anomalies in addition to those that the models forbid.
    pub(crate) anomalies: AnomalySet,
    /// Whether a read may return a value that was never written.
    pub(crate) garbage_reads_allowed: bool,
    pub(crate) witnesses_max: usize,
    /// Whether levels that cycles leave open are decided exactly.
    pub(crate) exact: Exact,
    /// The models that a violated history can be known to violate.
    pub(crate) certain: ModelSet,
}

pub(crate) const CONSISTENCY_MODELS: OptionSpec = OptionSpec::new(
    "consistency-models",
    OptionKind::Names,
    "Consistency levels that the history must satisfy, comma-separated. `histcheck consistency-models` lists them.",
)
.with_value_name("LEVELS")
.with_default("strict-serializable");

pub(crate) const ANOMALIES: OptionSpec = OptionSpec::new(
    "anomalies",
    OptionKind::Names,
    "Anomalies to forbid in addition, comma-separated. `histcheck anomalies` lists them.",
)
.with_value_name("TYPES");

pub(crate) const ALLOW: OptionSpec = OptionSpec::new(
    "allow",
    OptionKind::Names,
    "Allow garbage-read (reads of values that were never written), for a store that was not empty at the start.",
)
.with_value_name("TYPES");

pub(crate) const MAX_WITNESSES: OptionSpec = OptionSpec::new(
    "max-witnesses",
    OptionKind::Integer,
    "Number of witnesses to report per type of anomaly. All anomalies are counted.",
)
.with_value_name("N")
.with_default("8");

impl Default for Expected {
    /// Strict serializability.
    fn default() -> Expected {
        Expected {
            models: vec![Model::STRICT_SERIALIZABLE],
            anomalies: AnomalySet::EMPTY,
            garbage_reads_allowed: false,
            witnesses_max: WITNESSES_MAX,
            exact: Exact::default(),
            certain: ModelSet::ALL,
        }
    }
}

impl Expected {
    /// Applies the options given by name.
    pub(crate) fn with_options(mut self, options: &Options) -> Result<Expected, OptionError> {
        if options.text(CONSISTENCY_MODELS.name).is_some() {
            let wrong = |message: String| OptionError::new(CONSISTENCY_MODELS.name, message);
            let names = options.names(CONSISTENCY_MODELS.name);
            if names.is_empty() {
                // For example from an unset shell variable. Without a model every history would be valid.
                return Err(wrong("it has no consistency level; pass one, or omit the option".to_owned()));
            }
            let models = names.into_iter().map(str::parse::<Model>);
            self.models = models.collect::<Result<_, _>>().map_err(|e| wrong(e.to_string()))?;
        }
        if options.text(ANOMALIES.name).is_some() {
            let anomalies = options.names(ANOMALIES.name).into_iter().map(str::parse::<AnomalyType>);
            let anomalies = anomalies.collect::<Result<_, _>>();
            self.anomalies = anomalies.map_err(|e| OptionError::new(ANOMALIES.name, e.to_string()))?;
        }
        for name in options.names(ALLOW.name) {
            if name.parse::<AnomalyType>() != Ok(AnomalyType::GARBAGE_READ) {
                return Err(OptionError::new(
                    ALLOW.name,
                    format!("{name} cannot be allowed: only garbage-read can be"),
                ));
            }
            self.garbage_reads_allowed = true;
        }
        if self.garbage_reads_allowed && self.anomalies.contains(AnomalyType::GARBAGE_READ) {
            let message = format!("garbage-read is also passed to --{}", ANOMALIES.name);
            return Err(OptionError::new(ALLOW.name, message));
        }
        if let Some(max) = options.size(MAX_WITNESSES.name)? {
            self.witnesses_max = max;
        }
        if let Some(how) = options.text(EXACT.name) {
            self.exact = Exact::parse(how)?;
        }
        Ok(self)
    }
}
