//! The messages of the other side, line by line; the README has the protocol, which is frozen.

use history_core::{Client, Datum, OpKind};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The version of the protocol.
pub(crate) const VERSION: u32 = 1;

/// What a checker may need of this side.
pub(crate) const CHECKERS_HAVE: &[&str] = &[];
/// What a model may need of this side: parts of operations that not all models look at.
pub(crate) const MODELS_HAVE: &[&str] = &["process", "invoked", "fields"];

/// A line of the other side.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    /// What it is.
    Hello(Box<Hello>),
    /// It begins a history; a model returns its state.
    Started(Started),
    /// It does not take an option.
    Refused(Refused),
    /// The states that each operation leads to.
    States(Vec<Box<RawValue>>),
    /// The verdict on a history.
    Report(Box<ReportForm>),
    /// The history cannot be checked.
    Error(ErrorForm),
    /// It needs more time.
    Working(serde::de::IgnoredAny),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// Of a checker.
    #[serde(default)]
    pub(crate) summary: String,
    #[serde(default)]
    pub(crate) options: Vec<histcheck_plugin::wire::OptionForm>,
    #[serde(default)]
    pub(crate) anomalies: Vec<AnomalyMeaning>,
    /// Of a model: the functions that it has, those that change nothing, and those whose results say something.
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
    /// A model's state at the start; absent for null.
    #[serde(default)]
    pub(crate) state: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refused {
    pub(crate) option: String,
    pub(crate) message: String,
}

/// Where an operation leads to.
#[derive(Debug)]
pub(crate) enum Stepped {
    States(Vec<Box<RawValue>>),
    Error(String),
}

impl Stepped {
    /// Reads one of [`Said::States`].
    pub(crate) fn read(said: &RawValue) -> Result<Stepped, serde_json::Error> {
        #[derive(Deserialize)]
        struct Error {
            error: String,
        }
        // White space around it is not part of it.
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
    /// Results that could have been wrong, which `true` rests on.
    #[serde(default)]
    pub(crate) observed: Option<u64>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// What would give an answer, if the verdict is unknown.
    #[serde(default)]
    pub(crate) next: Vec<NextForm>,
    #[serde(default)]
    pub(crate) anomalies: Vec<AnomalyForm>,
    #[serde(default)]
    pub(crate) counts: BTreeMap<String, u64>,
}

/// A sentence, and perhaps the option that it is about.
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

/// An op, as it was sent.
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
    /// The name of the line.
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
