//! Loads plugins before the command line is parsed, because their options are part of the grammar.
//!
//! Each plugin is first loaded in a separate process ([`crate::line::plugins::probe`]). If histories are checked in
//! separate processes, it is loaded only there.
//!
//! Plugins come from the command line, from the variable `HISTCHECK_PLUGINS`, and from the user's plugin directory.

pub(crate) mod probe;

use crate::judge::limits::Limits;
use crate::line::{grammar, units};
use crate::output::diagnose;
use crate::output::exit::Exit;
use histcheck_front::Registry;
use histcheck_front::registry::{ProcessLimits, is_command};
use histcheck_plugin::host::{self, LoadError, Trust};
use history_core::Checker;
use probe::NotLoaded;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Libraries and directories of them, separated as in `PATH`.
const VARIABLE: &str = "HISTCHECK_PLUGINS";

/// The parts of a command line that concern plugins.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    libraries: Vec<PathBuf>,
    directories: Vec<PathBuf>,
    trust: Trust,
    debug: bool,
    /// Whether the parent process already reported all plugins that cannot be loaded.
    is_reported: bool,
    /// Whether the command uses no checkers.
    needless: bool,
    /// Libraries that the parent process could not load.
    without: Vec<PathBuf>,
    /// The limits for a history, which also apply to loading a plugin. If there are limits, other processes check
    /// histories.
    limits: Limits,
}

/// Adds the plugins' checkers. A plugin that cannot be loaded is reported and skipped. The result is `FAILED` then,
/// except for a plugin in the user's own directory.
pub(crate) fn load(checkers: &mut Registry, words: impl IntoIterator<Item = OsString>) -> Exit {
    let asked = asked(words);
    if asked.needless {
        return Exit::OK;
    }
    let mut loader = Loader {
        trust: asked.trust,
        debug: asked.debug,
        is_reported: asked.is_reported,
        limits: asked.limits,
        by_name: true,
        loaded: BTreeSet::new(),
        checkers,
        exit: Exit::OK,
    };
    let limits =
        ProcessLimits { timeout: asked.limits.timeout, bytes_max: asked.limits.bytes_max, ..ProcessLimits::default() };
    loader.checkers.limit_processes(asked.trust, limits);
    loader.loaded.extend(asked.without.iter().cloned());
    asked.libraries.iter().for_each(|path| loader.library(path));
    asked.directories.iter().for_each(|path| loader.directory(path));
    let variable = std::env::var_os(VARIABLE).unwrap_or_default();
    for path in std::env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty()) {
        if path.is_dir() { loader.directory(&path) } else { loader.library(&path) }
    }
    if let Some(own) = host::data_directory().filter(|own| own.is_dir()) {
        // The command line does not name these plugins, so an error in them must not prevent the use of others.
        loader.by_name = false;
        loader.directory(&own);
    }
    loader.exit
}

/// Finds the options for plugins without the grammar, which does not exist yet.
fn asked(words: impl IntoIterator<Item = OsString>) -> Asked {
    let mut asked = Asked::default();
    let mut words = words.into_iter().skip(1).take_while(|word| word != "--").peekable();
    let needless = ["gen", "validate", "plugin", "anomalies", "consistency-models", "completions", "man"];
    // A watch checks in this process, which loads plugins as if there were no limits.
    let is_watch = words.peek().is_some_and(|word| word == "watch");
    asked.needless = words.peek().is_some_and(|word| needless.iter().any(|command| word == command));
    while let Some(word) = words.next() {
        let (name, value) = split(&word);
        if matches!(name, "--timeout" | "--max-memory") {
            let value = value.map(OsStr::to_owned).or_else(|| words.next()).and_then(|value| value.into_string().ok());
            // An invalid value is wrong usage, which the grammar reports later.
            if is_watch {
                continue;
            }
            if name == "--timeout" {
                asked.limits.timeout = value.and_then(|time| units::time(&time).ok());
            } else {
                asked.limits.bytes_max = value.and_then(|size| units::size(&size).ok());
            }
            continue;
        }
        let list = match name {
            "--plugin" => &mut asked.libraries,
            "--plugin-dir" => &mut asked.directories,
            "--only-without" => &mut asked.without,
            "--trust" => {
                asked.trust = Trust::All;
                continue;
            }
            "--debug" => {
                asked.debug = true;
                continue;
            }
            _ => {
                asked.is_reported |= name.starts_with("--only-input=");
                continue;
            }
        };
        // A missing value is wrong usage, which the grammar reports later.
        list.extend(value.map(OsStr::to_owned).or_else(|| words.next()).map(PathBuf::from));
    }
    asked
}

/// Splits `--name=value`. A word that is not valid text is no option of this program, except for invalid text in its
/// value.
fn split(word: &OsStr) -> (&str, Option<&OsStr>) {
    let bytes = word.as_encoded_bytes();
    for name in ["--plugin", "--plugin-dir", "--only-without", "--timeout", "--max-memory"] {
        if bytes.starts_with(name.as_bytes()) && bytes.get(name.len()) == Some(&b'=') {
            #[cfg(unix)]
            {
                use std::os::unix::ffi::OsStrExt;
                return (name, Some(OsStr::from_bytes(&bytes[name.len() + 1..])));
            }
            #[cfg(not(unix))]
            return (name, word.to_str().map(|word| OsStr::new(&word[name.len() + 1..])));
        }
    }
    (word.to_str().unwrap_or_default(), None)
}

struct Loader<'r> {
    trust: Trust,
    debug: bool,
    is_reported: bool,
    limits: Limits,
    /// Whether the plugins being loaded were named, so that a failure to load one is an error.
    by_name: bool,
    /// The loaded plugins, so that none is loaded twice.
    loaded: BTreeSet<PathBuf>,
    checkers: &'r mut Registry,
    exit: Exit,
}

impl Loader<'_> {
    fn library(&mut self, path: &Path) {
        if let Some(command) = path.to_str().filter(|path| is_command(path)) {
            return self.process(path, command);
        }
        let canonical = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if !self.loaded.insert(canonical.clone()) {
            return;
        }
        match self.checkers_of(path) {
            Ok(checkers) => {
                if let Err(error) = self.checkers.add(path, checkers, &grammar::own_names()) {
                    self.report(&error.message);
                }
            }
            Err(why) => {
                self.checkers.refuse(canonical);
                self.failed(&format!("plugin {} {}", path.display(), why.message), why.details.as_deref());
            }
        }
    }

    /// Adds a checker that is another program. It is not loaded into this process.
    fn process(&mut self, path: &Path, command: &str) {
        if !self.loaded.insert(path.to_owned()) {
            return;
        }
        let Limits { timeout, bytes_max } = self.limits;
        let limits = ProcessLimits { timeout, bytes_max, ..ProcessLimits::default() };
        if let Err(error) = self.checkers.load_process(command, self.trust, limits, &grammar::own_names()) {
            self.checkers.refuse(path.to_owned());
            self.report(&format!("plugin {}", error.message));
        }
    }

    fn checkers_of(&self, path: &Path) -> Result<Vec<Box<dyn Checker>>, NotLoaded> {
        // If the parent process has already reported failures, no probe is needed.
        if !self.is_reported {
            let known = probe::ask(path, self.trust, self.limits)?;
            // If other processes check histories, this process need not load the plugin.
            if self.limits.are_any() {
                return Ok(known);
            }
        }
        let loaded = host::load(path, self.trust).map(|library| library.checkers);
        loaded.map_err(|LoadError { message, details, .. }| NotLoaded { message, details })
    }

    fn directory(&mut self, path: &Path) {
        match host::libraries_in(path, self.trust) {
            Ok(libraries) if libraries.is_empty() && self.by_name && !self.is_reported => {
                let (extension, path) = (std::env::consts::DLL_EXTENSION, path.display());
                diagnose::warning(&format!("no plugin in {path}: no file there ends in .{extension}"));
            }
            Ok(libraries) => libraries.iter().for_each(|library| self.library(library)),
            Err(error) => self.failed(&format!("plugin directory {error}"), error.details.as_deref()),
        }
    }

    fn failed(&mut self, message: &str, details: Option<&str>) {
        let mut message = message.to_owned();
        if let (true, Some(details)) = (self.debug, details) {
            message += "\n";
            message += details;
        }
        self.report(&message);
    }

    fn report(&mut self, why: &str) {
        match (self.is_reported, self.by_name) {
            (true, _) => {}
            (false, true) => diagnose::error(why),
            (false, false) => diagnose::warning(why),
        }
        if self.by_name {
            self.exit = Exit::FAILED;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(words: &str) -> Asked {
        asked(words.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_are_found_wherever_they_stand() {
        let words =
            "histcheck -m x --plugin a.so --trust f.edn --plugin=b.so --plugin-dir d --plugin-dir=e -- --plugin c.so";
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let (libraries, directories) = (paths(&["a.so", "b.so"]), paths(&["d", "e"]));
        assert_eq!(of(words), Asked { libraries, directories, trust: Trust::All, ..Asked::default() });
        assert_eq!(of("histcheck models --debug --plugin"), Asked { debug: true, ..Asked::default() });
        let limits = Limits { timeout: Some(Duration::from_millis(500)), bytes_max: Some(7) };
        assert_eq!(of("histcheck --timeout .5 --max-memory=7"), Asked { limits, ..Asked::default() });
        assert_eq!(of("histcheck watch --timeout .5 --max-memory=7"), Asked::default());
        assert!(of("histcheck gen list-append").needless);
        assert!(!of("histcheck -m gen gen").needless);
    }
}
