//! The task, as plain data: the result of parsing a command line, for the modules that execute it.

use crate::judge::child_job::ChildJob;
use crate::judge::input::Input;
use crate::judge::limits::Limits;
use crate::judge::node_logs::NodeLogs;
use crate::output::known::Known;
use crate::output::policy::Policy;
use histcheck_draw::bands::Annotations;
use histcheck_front::result::Notation;
use histcheck_front::{Registry, Setup};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Histories to be checked.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Check<'c> {
    /// The checker and its options.
    pub(crate) setup: Setup<'c>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<ResultOutput>,
    pub(crate) policy: Policy,
    /// Anomalies that fail nothing.
    pub(crate) known: Known,
    pub(crate) verbose: bool,
    /// Whether only what is not valid is printed.
    pub(crate) quiet: bool,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) plots: PlotFormat,
    /// How large pictures may be.
    pub(crate) drawing: histcheck_draw::Limits,
    /// What the user's own harness saw, for pictures.
    pub(crate) annotations: Annotations,
    pub(crate) limits: Limits,
    /// What to search in the logs of the nodes of a test, if anything.
    pub(crate) node_logs: Option<NodeLogs>,
    /// Where pages go, if there are to be any.
    pub(crate) pages: Option<PageOptions>,
    /// The number of histories checked in parallel.
    pub(crate) jobs: usize,
    /// The parent's data, if this process was started for one history.
    pub(crate) child: Option<ChildJob>,
    /// Whether the checker, or one of those it consists of, is a plugin's.
    pub(crate) is_plugin: bool,
    /// Plugins that processes of this one's need not try to load.
    pub(crate) refused: &'c [PathBuf],
    /// Whether the history is still being written.
    pub(crate) is_live: bool,
    /// The descriptions of the checkers, by their names.
    pub(crate) summaries: BTreeMap<String, String>,
    /// Warnings about the given options.
    pub(crate) warnings: Vec<String>,
}

/// The address of a page that shows a run in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageAt {
    pub(crate) listen: SocketAddr,
    /// Whether it remains after the run, until an interrupt.
    pub(crate) stays: bool,
}

/// Histories to validate.
pub(crate) struct Validate<'c> {
    pub(crate) inputs: Vec<Input>,
    /// Problems of each rule to be listed.
    pub(crate) each_max: usize,
    pub(crate) output: OutputFormat,
    /// Those that may understand a history.
    pub(crate) checkers: &'c Registry,
}

/// Verdicts in a format, and where they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultOutput {
    pub(crate) format: ResultFormat,
    pub(crate) to: ResultPlace,
}

/// Where verdicts go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResultPlace {
    Stdout,
    /// A file of their own.
    File(PathBuf),
    /// The end of a file that others write to as well.
    Append(PathBuf),
}

/// How the verdicts on histories are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultFormat {
    /// As they become known.
    Stream(OutputFormat),
    /// The same, as commands of GitHub's workflows.
    Github,
    /// All together in the end.
    Document(DocumentFormat),
}

/// How a document on several histories is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentFormat {
    Junit,
    Sarif,
    Markdown,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OutputFormat {
    Text,
    Json,
    Edn,
}

impl OutputFormat {
    /// How programs read it; nothing if people do.
    pub(crate) fn notation(self) -> Option<Notation> {
        match self {
            OutputFormat::Text => None,
            OutputFormat::Json => Some(Notation::Json),
            OutputFormat::Edn => Some(Notation::Edn),
        }
    }
}

/// How pictures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlotFormat {
    Svg,
    #[cfg(feature = "png")]
    Png,
}

/// Where pages go, and how large they may be.
#[derive(Clone, Debug)]
pub(crate) struct PageOptions {
    pub(crate) directory: PathBuf,
    /// Bytes of a page.
    pub(crate) bytes_max: usize,
}
