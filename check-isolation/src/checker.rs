//! The checker, its options, and its description.

use crate::decode::{IsolationRun, Prefixes, Settings};
use crate::level::Level;
use crate::report;
use crate::timestamps;
use history_core::{
    About, AboutAnomaly, AboutLevel, Checker, Datum, OptionError, OptionKind, OptionSpec, Options, Parts, Run, Subject,
};

/// The checker `isolation`: which levels a history of transactions on registers or lists satisfies, decided exactly.
///
/// ```
/// use check_isolation::Isolation;
/// use history_core::{Checker, History, Verdict};
///
/// // The order in which 1 and 2 were written is unknown; neither order explains both reads of process 2.
/// let history = History::parse("
///     {:process 0, :type :ok, :value [[:w :x 1]]}
///     {:process 1, :type :ok, :value [[:r :x 1] [:w :x 2]]}
///     {:process 2, :type :ok, :value [[:r :x 2]]}
///     {:process 2, :type :ok, :value [[:r :x 1]]}
/// ")?;
/// let report = Isolation::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.not, ["strong-session-causal-cerone"]);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Isolation {
    /// The levels that the history is expected to satisfy. If there are none, all levels are decided, and strict
    /// serializability is expected.
    pub consistency_models: Vec<Level>,
    /// The initial value of every register: nil by default.
    pub initial: Datum,
    /// The maximum number of witnesses per type of anomaly.
    pub witnesses_max: usize,
    /// Whether the report contains the order that explains each level that was found to hold.
    pub explain_valid: bool,
    /// Whether to check against the store's timestamps, the fields `start-ts` and `commit-ts` of completions: do these
    /// times explain the reads?
    pub timestamps: bool,
    /// Whether no value is written to a key twice. Then violations are certain while the history is still being
    /// written: [`Checker::start_online`] reports them, and with `timestamps` [`Checker::start`] does, too.
    pub distinct_values: bool,
}

impl Default for Isolation {
    fn default() -> Isolation {
        Isolation {
            consistency_models: Vec::new(),
            initial: Datum::Nil,
            witnesses_max: 8,
            explain_valid: false,
            timestamps: false,
            distinct_values: false,
        }
    }
}

/// The names and help are those of other checkers with these options: a command line explains an option once.
const CONSISTENCY_MODELS: OptionSpec = OptionSpec::new(
    "consistency-models",
    OptionKind::Names,
    "Consistency levels that the history must satisfy, comma-separated. `histcheck consistency-models` lists them.",
)
.with_value_name("LEVELS")
.with_default("strict-serializable");

const MAX_WITNESSES: OptionSpec = OptionSpec::new(
    "max-witnesses",
    OptionKind::Integer,
    "Number of witnesses to report per type of anomaly. All anomalies are counted.",
)
.with_value_name("N")
.with_default("8");

const INITIAL: OptionSpec =
    OptionSpec::new("initial", OptionKind::Text, "Initial state, as EDN or JSON, such as 0, [1 2] or {:x 1}.")
        .with_value_name("VALUE")
        .with_default("nil, empty, 0 or free");

const EXPLAIN_VALID: OptionSpec = OptionSpec::new(
    "explain-valid",
    OptionKind::Flag,
    "Report the commit order that explains each consistency level that holds.",
);

const TIMESTAMPS: OptionSpec = OptionSpec::new(
    "timestamps",
    OptionKind::Flag,
    "Check the history by the store's timestamps, the fields start-ts and commit-ts of completions.",
);

const DISTINCT_VALUES: OptionSpec = OptionSpec::new(
    "distinct-values",
    OptionKind::Flag,
    "No value is written to a key twice, so violations are certain while the history is being written. `histcheck watch` \
     sets it.",
);

const OPTIONS: &[OptionSpec] =
    &[CONSISTENCY_MODELS, MAX_WITNESSES, INITIAL, EXPLAIN_VALID, TIMESTAMPS, DISTINCT_VALUES];

impl Checker for Isolation {
    fn name(&self) -> &'static str {
        report::NAME
    }

    fn summary(&self) -> &'static str {
        "Isolation levels of transactions on registers or lists, decided exactly, without knowing the order of versions."
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn about(&self) -> About {
        let mut about = About::new(Subject::Transactions).with_parts(Parts::Transactions);
        about.watching = vec![(DISTINCT_VALUES.name.into(), "true".into())];
        let anomalies = report::ANOMALIES.iter().chain(timestamps::ANOMALIES);
        about.anomalies = anomalies.map(|(name, summary)| AboutAnomaly::new(*name, *summary)).collect();
        for anomaly in &mut about.anomalies {
            anomaly.is_cycle = anomaly.name.starts_with('G') && !["G1a", "G1b"].contains(&&*anomaly.name);
        }
        about.levels = Level::all().map(about_level).collect();
        about
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(IsolationRun::new(self.settings(options)?)))
    }

    fn start_online(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let settings = self.settings(options)?;
        let is_judged_early = settings.distinct_values && !settings.timestamps;
        Ok(if is_judged_early { Box::new(Prefixes::new(settings)) } else { Box::new(IsolationRun::new(settings)) })
    }
}

impl Isolation {
    /// The settings, with the options applied.
    fn settings(&self, options: &Options) -> Result<Settings, OptionError> {
        let mut settings = Settings {
            levels: self.consistency_models.clone(),
            initial: self.initial.clone(),
            witnesses_max: self.witnesses_max,
            explain_valid: self.explain_valid || options.flag(EXPLAIN_VALID.name),
            timestamps: self.timestamps || options.flag(TIMESTAMPS.name),
            distinct_values: self.distinct_values || options.flag(DISTINCT_VALUES.name),
        };
        if options.text(CONSISTENCY_MODELS.name).is_some() {
            let wrong = |message: String| OptionError::new(CONSISTENCY_MODELS.name, message);
            let names = options.names(CONSISTENCY_MODELS.name);
            if names.is_empty() {
                return Err(wrong("it names no model; leave it out, or name one".to_owned()));
            }
            let levels = names.into_iter().map(str::parse::<Level>).collect::<Result<_, _>>();
            settings.levels = levels.map_err(|error| wrong(error.to_string()))?;
        }
        if let Some(max) = options.size(MAX_WITNESSES.name)? {
            settings.witnesses_max = max;
        }
        if let Some(text) = options.text(INITIAL.name) {
            let wrong = || OptionError::new(INITIAL.name, format!("{text} is neither an EDN nor a JSON value"));
            settings.initial = Datum::parse(text).ok_or_else(wrong)?;
        }
        Ok(settings)
    }
}

fn about_level(level: Level) -> AboutLevel {
    let mut about = AboutLevel::new(level.name(), level.summary());
    about.aliases = level.aliases().iter().map(|alias| (*alias).into()).collect();
    about.implies = level.implies().map(|weaker| weaker.name().into()).collect();
    about.is_decided = level.decided_by().is_some();
    about.because =
        level.undecided_because().unwrap_or("every order that its axiom allows is tried, or ruled out").into();
    about
}
