//! The messages of the other process, line by line; the README describes the protocol, which is frozen.

use history_core::{Client, Datum, OpKind};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The version of the protocol.
pub(crate) const VERSION: u32 = 1;

/// The features that a checker may require of histcheck.
pub(crate) const CHECKERS_HAVE: &[&str] = &[];
/// The features that a model may require of histcheck: parts of operations that not all models use.
pub(crate) const MODELS_HAVE: &[&str] = &["process", "invoked", "fields"];

/// A line of the other process.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    /// Its description.
    Hello(Box<Hello>),
    /// A history has started; a model returns its initial state.
    Started(Started),
    /// An option was rejected.
    Refused(Refused),
    /// The states after each operation.
    States(Vec<Box<RawValue>>),
    /// The verdict on a history.
    Report(Box<ReportForm>),
    /// The history cannot be checked.
    Error(ErrorForm),
    /// The process needs more time.
    Working(serde::de::IgnoredAny),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// For a checker.
    #[serde(default)]
    pub(crate) summary: String,
    #[serde(default)]
    pub(crate) options: Vec<histcheck_plugin::wire::OptionForm>,
    #[serde(default)]
    pub(crate) anomalies: Vec<AnomalyMeaning>,
    /// For a model: its functions, those that change nothing, and those whose results could be wrong.
    #[serde(default)]
    pub(crate) ops: Vec<String>,
    #[serde(default)]
    pub(crate) reads: Vec<String>,
    #[serde(default)]
    pub(crate) shows: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Checker,
    Model,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AnomalyMeaning {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) meaning: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Started {
    /// The initial state of a model; absent for null.
    #[serde(default)]
    pub(crate) state: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refused {
    pub(crate) option: String,
    pub(crate) message: String,
}

/// The result of an operation.
#[derive(Debug)]
pub(crate) enum Stepped {
    States(Vec<Box<RawValue>>),
    Error(String),
}

impl Stepped {
    /// Parses an element of [`Said::States`].
    pub(crate) fn read(said: &RawValue) -> Result<Stepped, serde_json::Error> {
        #[derive(Deserialize)]
        struct Error {
            error: String,
        }
        // White space around a raw value is not a part of it.
        if said.get().starts_with('{') {
            serde_json::from_str(said.get()).map(|Error { error }| Stepped::Error(error))
        } else {
            serde_json::from_str(said.get()).map(Stepped::States)
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct ErrorForm {
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) index: Option<u64>,
    #[serde(default)]
    pub(crate) expected: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ReportForm {
    pub(crate) verdict: VerdictForm,
    /// The number of results that could have been wrong, which a verdict `true` requires.
    #[serde(default)]
    pub(crate) observed: Option<u64>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// The next steps, if the verdict is unknown.
    #[serde(default)]
    pub(crate) next: Vec<NextForm>,
    #[serde(default)]
    pub(crate) anomalies: Vec<AnomalyForm>,
    #[serde(default)]
    pub(crate) counts: BTreeMap<String, u64>,
}

/// A sentence, and perhaps the option that it concerns.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum NextForm {
    Sentence(String),
    Option {
        what: String,
        #[serde(default)]
        option: Option<String>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum VerdictForm {
    Known(bool),
    Word(String),
}

#[derive(Debug, Deserialize)]
pub(crate) struct AnomalyForm {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) count: Option<u64>,
    #[serde(default)]
    pub(crate) witnesses: Vec<WitnessForm>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WitnessForm {
    #[serde(default)]
    pub(crate) ops: Vec<OpForm>,
    #[serde(default)]
    pub(crate) explanation: String,
}

/// An op, in the form in which it was sent.
#[derive(Debug, Deserialize)]
pub(crate) struct OpForm {
    pub(crate) index: u64,
    #[serde(rename = "type")]
    pub(crate) kind: OpKind,
    #[serde(default)]
    pub(crate) process: Option<Client>,
    #[serde(default)]
    pub(crate) time: Option<i64>,
    #[serde(default = "nil")]
    pub(crate) value: Datum,
}

fn nil() -> Datum {
    Datum::Nil
}

impl Said {
    /// The name of the line's kind.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Said::Hello(_) => "hello",
            Said::Started(_) => "started",
            Said::Refused(_) => "refused",
            Said::States(_) => "states",
            Said::Report(_) => "report",
            Said::Error(_) => "error",
            Said::Working(_) => "working",
        }
    }
}
