//! Loads a plugin in a separate process and returns its description: loading runs the plugin's code, which may never
//! return, or may end the process.
//!
//! Every plugin is first loaded there. A plugin that fails affects only that process. If histories are checked in
//! separate processes (`--timeout`, `--max-memory`), this process never loads the plugin: it uses the descriptions of
//! its checkers, and has their options verified in a separate process, too.

use crate::judge::child::{self, Ended, Ran};
use crate::judge::child_job;
use crate::judge::limits::Limits;
use crate::output::exit::Exit;
use histcheck_plugin::host::{self, Trust};
use histcheck_plugin::wire::{CheckerForm, Described};
use history_core::{
    About, Budget, Cancel, Checker, ErrorKind, HistoryError, Op, OptionError, OptionSpec, Options, Report, Run,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The first word of such a process. The next words are: the id of the parent process, whether to trust all plugins,
/// the plugin, and the checker to start.
const WORD: &str = "--only-probe";

/// The answer of such a process, in the last line that it writes.
#[derive(Serialize, Deserialize)]
enum Answer {
    Checkers(Vec<CheckerForm>),
    NotLoaded { message: String, details: Option<String> },
    Started,
    NotStarted { option: String, message: String },
}

/// A checker to start, and its options.
#[derive(Serialize, Deserialize)]
struct Start {
    at: usize,
    options: BTreeMap<String, String>,
}

/// The reason why a plugin is not loaded: the rest of a sentence that begins with the plugin's path, and details.
pub(crate) struct NotLoaded {
    pub(crate) message: String,
    pub(crate) details: Option<String>,
}

/// Answers if this process was started as a probe.
pub(crate) fn serve(words: impl IntoIterator<Item = OsString>) -> Option<Exit> {
    let words: Vec<OsString> = words.into_iter().skip(1).collect();
    let [word, parent, trust, path, rest @ ..] = &words[..] else { return None };
    if word != WORD {
        return None;
    }
    if let Some(parent) = parent.to_str().and_then(|parent| parent.parse().ok()) {
        child_job::end_with(parent);
    }
    let trust = if trust == "all" { Trust::All } else { Trust::Own };
    let start = rest.first().and_then(|start| serde_json::from_str(start.to_str()?).ok());
    let answer = answer(Path::new(path), trust, start);
    let written = serde_json::to_string(&answer).map_err(io::Error::other).and_then(|answer| {
        let mut out = io::stdout().lock();
        // A plugin may have written an incomplete line.
        write!(out, "\n{answer}\n").and_then(|()| out.flush())
    });
    Some(if written.is_ok() { Exit::OK } else { Exit::FAILED })
}

fn answer(path: &Path, trust: Trust, start: Option<Start>) -> Answer {
    let library = match host::load(path, trust) {
        Ok(library) => library,
        Err(error) => return Answer::NotLoaded { message: error.message, details: error.details },
    };
    let Some(Start { at, options: given }) = start else {
        return Answer::Checkers(library.checkers.iter().map(|checker| CheckerForm::of(&**checker)).collect());
    };
    let mut options = Options::new();
    for (name, value) in given {
        options.set(name, value);
    }
    match library.checkers.get(at).map(|checker| checker.start(&options).map(drop)) {
        Some(Err(OptionError { option, message })) => Answer::NotStarted { option, message },
        _ => Answer::Started,
    }
}

/// Loads a plugin in a separate process. Returns its checkers, which cannot check in this process.
///
/// # Errors
///
/// If the plugin cannot be loaded, or the process that loads it does not end.
pub(crate) fn ask(path: &Path, trust: Trust, limits: Limits) -> Result<Vec<Box<dyn Checker>>, NotLoaded> {
    let asked = Asked { path: path.to_owned(), trust, limits };
    let forms = match asked.ask(None)? {
        Answer::Checkers(forms) => forms,
        Answer::NotLoaded { message, details } => return Err(NotLoaded { message, details }),
        Answer::Started | Answer::NotStarted { .. } => {
            return Err(no_answer("it sent an unexpected answer"));
        }
    };
    let checker = |(at, form)| {
        let described = Described::try_from(form).map_err(|message| NotLoaded { message, details: None })?;
        Ok(Box::new(ProbedChecker { asked: asked.clone(), at, described }) as Box<dyn Checker>)
    };
    forms.into_iter().enumerate().map(checker).collect()
}

fn no_answer(details: &str) -> NotLoaded {
    let message = "ended the process that loaded it before listing its checkers, which is a bug of the plugin";
    NotLoaded { message: message.to_owned(), details: Some(details.to_owned()) }
}

/// A plugin to probe, with whom to trust and the limits.
#[derive(Clone)]
struct Asked {
    path: PathBuf,
    trust: Trust,
    limits: Limits,
}

impl Asked {
    fn ask(&self, start: Option<&Start>) -> Result<Answer, NotLoaded> {
        let failed = |error: io::Error| NotLoaded {
            message: format!("cannot be loaded in a separate process: {error}"),
            details: None,
        };
        let mut command = child::this_program().map_err(failed)?;
        let trust = if self.trust == Trust::All { "all" } else { "own" };
        command.args([WORD, &std::process::id().to_string(), trust]).arg(&self.path).stdin(Stdio::null());
        if let Some(start) = start {
            // Serialization of text and numbers cannot fail.
            command.arg(serde_json::to_string(start).unwrap_or_default());
        }
        let Ran { ended, stdout, stderr } = child::run(command, &self.limits, &Cancel::default()).map_err(failed)?;
        // Prints the plugin's output from loading, as if it had been loaded here.
        let _ = io::stderr().write_all(&stderr);
        let message = match ended {
            Ended::Time(timeout) => {
                format!("did not finish loading within {} seconds, which is a bug of the plugin", timeout.as_secs_f64())
            }
            Ended::Memory(bytes) => {
                format!("used more than {bytes} bytes of memory while loading, which is a bug of the plugin")
            }
            Ended::ByItself(status) => {
                let last = stdout.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
                return serde_json::from_slice(last).map_err(|_| no_answer(&status.to_string()));
            }
        };
        Err(NotLoaded { message, details: None })
    }
}

/// A checker of a plugin that only other processes load.
struct ProbedChecker {
    asked: Asked,
    /// The position of the checker in the plugin.
    at: usize,
    described: Described,
}

impl Checker for ProbedChecker {
    fn name(&self) -> &str {
        &self.described.name
    }

    fn summary(&self) -> &str {
        &self.described.summary
    }

    fn options(&self) -> &[OptionSpec] {
        &self.described.options
    }

    fn about(&self) -> About {
        self.described.about.clone()
    }

    /// Verifies the options. Any other error occurs again in the process that checks, and is reported there.
    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let options = options.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        match self.asked.ask(Some(&Start { at: self.at, options })) {
            Ok(Answer::NotStarted { option, message }) => Err(OptionError::new(option, message)),
            _ => Ok(Box::new(NotHere)),
        }
    }
}

/// A placeholder for a run that exists only in other processes.
struct NotHere;

impl NotHere {
    fn error() -> HistoryError {
        HistoryError::new(
            ErrorKind::Unexpected,
            "this plugin is not loaded in this process, which is a bug: please report it",
        )
    }
}

impl Run for NotHere {
    fn observe(&mut self, _: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        Err(NotHere::error())
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        Err(NotHere::error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_started_to_answer_answers() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(serve(words(&["histcheck", "-m", "x", "y", "z", "v"])), None);
        assert_eq!(serve(words(&["histcheck", WORD])), None);
    }
}
