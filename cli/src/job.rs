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

/// The task of checking histories.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Check<'c> {
    /// The checker and its options.
    pub(crate) setup: Setup<'c>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<ResultOutput>,
    pub(crate) policy: Policy,
    /// Anomalies that do not count as failures.
    pub(crate) known: Known,
    pub(crate) verbose: bool,
    /// Whether only histories that are not valid are printed.
    pub(crate) quiet: bool,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) plots: PlotFormat,
    /// How large pictures may be.
    pub(crate) drawing: histcheck_draw::Limits,
    /// Annotations from the user's harness, for pictures.
    pub(crate) annotations: Annotations,
    pub(crate) limits: Limits,
    /// The text to search for in the logs of a test's nodes, if requested.
    pub(crate) node_logs: Option<NodeLogs>,
    /// The destination of pages, if requested.
    pub(crate) pages: Option<PageOptions>,
    /// The number of histories checked in parallel.
    pub(crate) jobs: usize,
    /// The parent's data, if another process of this program started this one for a single history.
    pub(crate) child: Option<ChildJob>,
    /// Whether the checker, or a checker that it consists of, is from a plugin.
    pub(crate) is_plugin: bool,
    /// Plugins that the child processes of this one need not try to load.
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
    /// Whether the page remains after the run, until an interrupt.
    pub(crate) stays: bool,
}

/// The task of validating histories.
pub(crate) struct Validate<'c> {
    pub(crate) inputs: Vec<Input>,
    /// The maximum number of problems listed for each rule.
    pub(crate) each_max: usize,
    pub(crate) output: OutputFormat,
    /// The checkers to suggest for a history.
    pub(crate) checkers: &'c Registry,
}

/// An output of verdicts: a format and a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultOutput {
    pub(crate) format: ResultFormat,
    pub(crate) to: ResultPlace,
}

/// The destination of verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResultPlace {
    Stdout,
    /// A file, which is replaced.
    File(PathBuf),
    /// A file that other programs write to as well; verdicts are appended.
    Append(PathBuf),
}

/// The format in which verdicts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultFormat {
    /// Each verdict as soon as it is known.
    Stream(OutputFormat),
    /// The same, as GitHub's workflow commands.
    Github,
    /// A document on all histories, written at the end.
    Document(DocumentFormat),
}

/// The format of a document on several histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentFormat {
    Junit,
    Sarif,
    Markdown,
}

/// The format of results that are written one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OutputFormat {
    Text,
    Json,
    Edn,
}

impl OutputFormat {
    /// The notation for programs; `None` for text for people.
    pub(crate) fn notation(self) -> Option<Notation> {
        match self {
            OutputFormat::Text => None,
            OutputFormat::Json => Some(Notation::Json),
            OutputFormat::Edn => Some(Notation::Edn),
        }
    }
}

/// The format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlotFormat {
    Svg,
    #[cfg(feature = "png")]
    Png,
}

/// The destination and the maximum size of pages.
#[derive(Clone, Debug)]
pub(crate) struct PageOptions {
    pub(crate) directory: PathBuf,
    /// The maximum length of a page in bytes.
    pub(crate) bytes_max: usize,
}
