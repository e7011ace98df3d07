//! Data passed as JSON: it may grow, because each side ignores unknown fields.
//!
//! Values are passed as EDN text within it, because JSON has no keywords, sets and symbols.

mod figure;
mod forms;
mod report;

use history_core::{
    About, Budget, Cancel, Checker, ErrorKind, HistoryError, OptionError, OptionKind, OptionSpec, Position, Snippet,
};
pub use report::ReportForm;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The description of a plugin.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Description {
    /// The version of the interface that it was built with.
    pub interface: (u32, u32),
    /// What of that it cannot do without ([`crate::interface::HAS`]).
    #[serde(default)]
    pub needs: Vec<String>,
    /// Its checkers.
    pub checkers: Vec<CheckerForm>,
}

/// A checker.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct CheckerForm {
    /// As `-m` takes it.
    pub name: String,
    /// What it decides.
    #[serde(default)]
    pub summary: String,
    /// What it takes.
    #[serde(default)]
    pub options: Vec<OptionForm>,
    /// Its description: an [`About`]; a reader that does not understand it assumes nothing.
    #[serde(default)]
    pub about: serde_json::Value,
}

/// A checker of another library or process, as far as it is known here.
#[derive(Clone, Debug)]
pub struct Described {
    /// As `-m` takes it.
    pub name: String,
    /// What it decides.
    pub summary: String,
    /// What it takes.
    pub options: Vec<OptionSpec>,
    /// Its description.
    pub about: About,
}

/// The maximum number of options of one checker.
const OPTIONS_MAX: usize = 1000;
/// The maximum length of a name in bytes.
const NAME_BYTES_MAX: usize = 64;
/// The maximum length of a text about an option in bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;

impl CheckerForm {
    /// Describes a checker.
    pub fn of(checker: &dyn Checker) -> CheckerForm {
        let option = |spec: &OptionSpec| OptionForm {
            name: spec.name.to_owned(),
            kind: kind_name(spec.kind).to_owned(),
            value_name: spec.value_name.to_owned(),
            default: spec.default.to_owned(),
            help: spec.help.to_owned(),
        };
        CheckerForm {
            name: checker.name().to_owned(),
            summary: checker.summary().to_owned(),
            options: checker.options().iter().map(option).collect(),
            about: serde_json::to_value(checker.about()).unwrap_or_default(),
        }
    }
}

impl TryFrom<CheckerForm> for Described {
    type Error = String;

    /// # Errors
    ///
    /// If the description is invalid: the rest of a sentence that begins with the library's path.
    fn try_from(form: CheckerForm) -> Result<Described, String> {
        let CheckerForm { name, summary, options, about } = form;
        if !is_name(&name) {
            return Err(format!("has a checker with the name {name:?}: a name has letters, digits, - _ . and +"));
        }
        if options.len() > OPTIONS_MAX {
            return Err(format!("has a checker, {name}, with more than {OPTIONS_MAX} options"));
        }
        let mut specs: Vec<OptionSpec> = Vec::new();
        for option in options {
            let OptionForm { name: option, kind, value_name, default, help } = option;
            if !is_name(&option) || specs.iter().any(|spec| spec.name == option) {
                return Err(format!(
                    "has a checker, {name}, whose option {option:?} has a name that is not valid or not unique"
                ));
            }
            let Some(kind) = kind_of(&kind) else {
                return Err(format!("has a checker, {name}, whose option --{option} has the unknown type {kind:?}"));
            };
            if [&value_name, &default, &help].iter().any(|text| text.len() > TEXT_BYTES_MAX) {
                return Err(format!(
                    "has a checker, {name}, with a text about --{option} of more than {TEXT_BYTES_MAX} bytes"
                ));
            }
            let value_name = if value_name.is_empty() { "VALUE" } else { &value_name };
            let spec = OptionSpec::new(keep(&option), kind, keep(&help));
            specs.push(spec.with_value_name(keep(value_name)).with_default(keep(&default)));
        }
        Ok(Described { name, summary, options: specs, about: serde_json::from_value(about).unwrap_or_default() })
    }
}

/// Keeps a text permanently, as [`OptionSpec`] requires: a library is never unloaded either. Equal texts are kept once,
/// so a plugin that is loaded again takes no more memory.
fn keep(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let text: &'static str = text.to_owned().leak();
    kept.insert(text);
    text
}

/// Returns true if this is valid as a name on a command line.
fn is_name(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(is_good)
}

/// An option of a checker.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct OptionForm {
    /// Without dashes.
    pub name: String,
    /// See [`kind_name`].
    pub kind: String,
    /// What represents its value.
    #[serde(default)]
    pub value_name: String,
    /// In words.
    #[serde(default)]
    pub default: String,
    /// A sentence.
    #[serde(default)]
    pub help: String,
}

/// An answer, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Answer<T> {
    /// The answer.
    Answer(T),
    /// The reason.
    Refusal(Refusal),
}

/// Why there is no answer.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The history cannot be checked.
    History(Box<ErrorForm>),
    /// An option is not valid.
    Option {
        /// Its name.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// It panicked, with this message.
    Panic(String),
    /// The host requested what the interface does not permit.
    Misuse(String),
}

/// A [`HistoryError`].
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct ErrorForm {
    kind: String,
    message: String,
    #[serde(default)]
    expected: Option<String>,
    #[serde(default)]
    position: Option<Position>,
    #[serde(default)]
    snippet: Option<Snippet>,
}

/// A [`Budget`], but for its flag.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Limits {
    #[serde(default)]
    states_max: Option<u64>,
    #[serde(default)]
    bytes_max: Option<u64>,
    #[serde(default)]
    time_left_ns: Option<u64>,
    #[serde(default)]
    figures: bool,
}

/// The name of an option's kind.
pub fn kind_name(kind: OptionKind) -> &'static str {
    match kind {
        OptionKind::Flag => "flag",
        OptionKind::Integer => "integer",
        OptionKind::Names => "names",
        OptionKind::File => "file",
        _ => "text",
    }
}

/// The kind of option of this name.
pub fn kind_of(name: &str) -> Option<OptionKind> {
    [OptionKind::Flag, OptionKind::Integer, OptionKind::Text, OptionKind::Names, OptionKind::File]
        .into_iter()
        .find(|kind| kind_name(*kind) == name)
}

const ERROR_KINDS: [(ErrorKind, &str); 6] = [
    (ErrorKind::Io, "io"),
    (ErrorKind::Syntax, "syntax"),
    (ErrorKind::NotAnOp, "not-an-op"),
    (ErrorKind::Pairing, "pairing"),
    (ErrorKind::Unexpected, "unexpected"),
    (ErrorKind::Limit, "limit"),
];

impl From<HistoryError> for Refusal {
    fn from(error: HistoryError) -> Refusal {
        let HistoryError { kind, message, expected, position, snippet, .. } = error;
        let kind = ERROR_KINDS.iter().find(|(known, _)| *known == kind).map_or("unexpected", |(_, name)| name);
        let snippet = snippet.map(|snippet| *snippet);
        Refusal::History(Box::new(ErrorForm { kind: kind.to_owned(), message, expected, position, snippet }))
    }
}

impl From<OptionError> for Refusal {
    fn from(error: OptionError) -> Refusal {
        Refusal::Option { name: error.option, message: error.message }
    }
}

impl From<ErrorForm> for HistoryError {
    fn from(form: ErrorForm) -> HistoryError {
        let kind =
            ERROR_KINDS.iter().find(|(_, name)| *name == form.kind).map_or(ErrorKind::Unexpected, |(kind, _)| *kind);
        let mut error = HistoryError::new(kind, form.message);
        (error.expected, error.position, error.snippet) = (form.expected, form.position, form.snippet.map(Box::new));
        error
    }
}

impl Limits {
    /// What of a budget can be written.
    pub fn of(budget: &Budget) -> Limits {
        let left = budget.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        Limits {
            states_max: budget.states_max,
            bytes_max: budget.bytes_max,
            time_left_ns: left.map(|left| left.as_nanos().try_into().unwrap_or(u64::MAX)),
            figures: budget.figures,
        }
    }

    /// The budget on the other side.
    pub fn budget(&self, cancel: Cancel) -> Budget {
        let deadline = self.time_left_ns.and_then(|left| Instant::now().checked_add(Duration::from_nanos(left)));
        let mut budget = Budget::default().with_cancel(cancel).with_figures(self.figures);
        (budget.states_max, budget.bytes_max, budget.deadline) = (self.states_max, self.bytes_max, deadline);
        budget
    }
}
