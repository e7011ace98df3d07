//! `histcheck.toml`: profiles of options, for repeated checks.
//!
//! A profile is a table of options by their long names. The profile `default` always applies; another profile overrides
//! it, and the command line overrides both. Options that run other programs' code (plugins) are only accepted from a
//! file that the command line names: otherwise, a directory from someone else could run code.

use crate::judge::child_job::ONLY_WHILE;
use crate::line::usage::UsageError;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, ValueHint};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The name of the file in the current directory.
const FILE: &str = "histcheck.toml";
const CONFIG: &str = "config";
const PROFILE: &str = "profile";
const DEFAULT: &str = "default";
const OUTPUT: &str = "output";
/// Options that load code of others.
const RUNS_CODE: [&str; 3] = ["plugin", "plugin-dir", "trust"];
/// Options that are passed once per value. The values of other options are joined by commas.
const REPEATED: [&str; 4] = [OUTPUT, "plugin", "plugin-dir", "allow-anomalies"];
/// Options that change neither the verdict on a history nor the exit code.
const ABOUT_OUTPUT: [&str; 11] = [
    "annotations",
    "color",
    "debug",
    "directory",
    "jobs",
    "max-plot-bytes",
    "max-timeline-bytes",
    OUTPUT,
    "plot-format",
    "quiet",
    "verbose",
];
/// Commands that use no checker, so only options about reading affect them.
const WITHOUT_CHECKER: [&str; 2] = ["convert", "validate"];
const ABOUT_READING: [&str; 7] =
    ["accept-torn", "clients", "clock-error", "first-value", "format", "not-clients", "time-unit"];
/// Commands whose output contains no verdicts.
const WITHOUT_VERDICT: [&str; 4] = ["anonymize", "convert", "minimize", "validate"];

/// The options of a profile.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    path: PathBuf,
    /// The words of each option, by its long name.
    options: BTreeMap<String, Vec<OsString>>,
}

/// The arguments that choose a profile.
pub(crate) fn options() -> [Arg; 2] {
    [
        Arg::new(CONFIG)
            .long(CONFIG)
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .value_parser(clap::value_parser!(OsString))
            .hide_short_help(true)
            .help("Read options from this file [default: histcheck.toml, if it exists]"),
        Arg::new(PROFILE)
            .long(PROFILE)
            .value_name("NAME")
            .hide_short_help(true)
            .help("Use this profile of the file, in addition to its profile default"),
    ]
}

/// A command line, with the options of a profile added.
pub(crate) struct Completed {
    pub(crate) words: Vec<OsString>,
    /// A warning about options that were omitted.
    pub(crate) warning: Option<String>,
}

impl Config {
    /// Reads the profile that a command line selects, without the grammar: the profile may name plugins, which extend
    /// the grammar.
    ///
    /// # Errors
    ///
    /// If the file or profile does not exist, or is invalid.
    pub(crate) fn read(words: &[OsString]) -> Result<Config, UsageError> {
        // A server passes all options of its checks itself. A profile in the directory where it was started is for
        // other histories.
        if value_of(words, ONLY_WHILE).is_some() {
            return Ok(Config::default());
        }
        let named = value_of(words, CONFIG).map(PathBuf::from);
        let profile = value_of(words, PROFILE).and_then(|name| name.to_str().map(str::to_owned));
        let path = named.clone().unwrap_or_else(|| PathBuf::from(FILE));
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => {
                return match profile {
                    None => Ok(Config::default()),
                    Some(name) => {
                        let message = format!("--profile {name} needs a file histcheck.toml in this directory");
                        Err(UsageError::new(message).tip("name another file with --config"))
                    }
                };
            }
            Err(error) => return Err(UsageError::new(format!("cannot read {}: {error}", path.display()))),
        };
        Config::parse(&text, &path, profile.as_deref(), named.is_some())
    }

    fn parse(text: &str, path: &Path, profile: Option<&str>, is_named: bool) -> Result<Config, UsageError> {
        let wrong = |message: String| UsageError::new(format!("{}: {message}", path.display()));
        let table: Table =
            text.parse().map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().to_owned()))?;
        if let Some(key) = table.keys().find(|key| *key != PROFILE) {
            return Err(wrong(format!("unknown table {key}: expected [profile.default] and other profiles")));
        }
        let profiles = match table.get(PROFILE) {
            Some(Value::Table(profiles)) => profiles.clone(),
            None => Table::new(),
            Some(_) => return Err(wrong("expected tables like [profile.default]".to_owned())),
        };
        let mut merged = Table::new();
        for name in [Some(DEFAULT), profile.filter(|name| *name != DEFAULT)].into_iter().flatten() {
            match profiles.get(name) {
                Some(Value::Table(options)) => merged.extend(options.clone()),
                Some(_) => return Err(wrong(format!("profile.{name}: expected a table of options"))),
                None if name == DEFAULT => {}
                None => {
                    let names: Vec<&str> = profiles.keys().map(String::as_str).collect();
                    return Err(wrong(format!("unknown profile {name}; expected one of {}", names.join(", "))));
                }
            }
        }
        let mut options = BTreeMap::new();
        for (name, value) in merged {
            let words = words_of(&name, &value).map_err(wrong)?;
            let runs = |word: &OsString| word.to_string_lossy().contains("=exec:");
            if !is_named && (RUNS_CODE.contains(&name.as_str()) || words.iter().any(runs)) {
                let message = format!("{name} runs code, so it is accepted only in a file that --config names");
                return Err(wrong(message).tip(format!("--config {}", path.display())));
            }
            options.insert(name, words);
        }
        Ok(Config { path: path.to_owned(), options })
    }

    /// The command line with the profile's options for loading plugins, and their limits.
    pub(crate) fn with_plugins(&self, words: &[OsString]) -> Vec<OsString> {
        const OF_PLUGINS: [&str; 6] = ["plugin", "plugin-dir", "trust", "debug", "timeout", "max-memory"];
        let added = OF_PLUGINS.iter().filter_map(|name| self.options.get(*name)).flatten().cloned();
        insert(words, added)
    }

    /// The command line with all options of the profile that it does not give itself, as far as its command accepts
    /// them. An option that the command does not accept is omitted if no verdict depends on it.
    ///
    /// # Errors
    ///
    /// If an option is unknown, or the command does not accept it and a verdict may depend on it.
    pub(crate) fn with_all(
        &self,
        words: &[OsString],
        grammar: &Command,
        matches: &ArgMatches,
    ) -> Result<Option<Completed>, UsageError> {
        let (command, matches) = match matches.subcommand() {
            Some((name, matches)) => (grammar.find_subcommand(name), matches),
            None => (Some(grammar), matches),
        };
        let Some(command) = command else { return Ok(None) };
        let has = |command: &Command, name: &str| command.get_arguments().any(|arg| arg.get_long() == Some(name));
        if self.options.is_empty() || !has(command, CONFIG) {
            return Ok(None);
        }
        let (mut added, mut left_out) = (Vec::new(), Vec::new());
        for (name, words) in &self.options {
            // The profile's formats are formats of verdicts.
            if name == OUTPUT && WITHOUT_VERDICT.contains(&command.get_name()) {
                continue;
            }
            let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(name)) else {
                if has(grammar, name) {
                    // An option without words is switched off.
                    let matters = if WITHOUT_CHECKER.contains(&command.get_name()) {
                        ABOUT_READING.contains(&name.as_str())
                    } else {
                        !ABOUT_OUTPUT.contains(&name.as_str())
                    };
                    if !words.is_empty() && matters {
                        left_out.push(name.as_str());
                    }
                    continue;
                }
                if grammar.get_subcommands().any(|other| has(other, name)) {
                    continue;
                }
                let message = format!("{}: unknown option {name}", self.path.display());
                return Err(UsageError::new(message).tip("use the long names of options, without dashes"));
            };
            if matches.value_source(arg.get_id().as_str()) != Some(ValueSource::CommandLine) {
                added.extend(words.iter().cloned());
            }
        }
        let warning = self.left_out(command.get_name(), &left_out)?;
        Ok(Some(Completed { words: insert(words, added), warning }))
    }

    /// A warning that a command omits these options, if there are any.
    ///
    /// # Errors
    ///
    /// If the output of the command contains verdicts.
    fn left_out(&self, command: &str, names: &[&str]) -> Result<Option<String>, UsageError> {
        if names.is_empty() {
            return Ok(None);
        }
        let message = format!("{}: histcheck {command} has no option {}", self.path.display(), names.join(", "));
        if WITHOUT_VERDICT.contains(&command) {
            return Ok(Some(format!("{message}: ignored")));
        }
        let tip = "move it to a profile that only other commands use, or pass another file with --config";
        Err(UsageError::new(message).tip(tip))
    }
}

/// Inserts options before those of the user: after the program's name, and after the command if there is one.
fn insert(words: &[OsString], added: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let is_command = words.get(1).is_some_and(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let mut words = words.to_vec();
    let at = words.len().min(if is_command { 2 } else { 1 });
    words.splice(at..at, added);
    words
}

/// The words of an option; empty if it is switched off.
fn words_of(name: &str, value: &Value) -> Result<Vec<OsString>, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        _ => Err(format!("{name}: expected true, false, a number, a string or an array of these")),
    };
    if [CONFIG, PROFILE].contains(&name) {
        return Err(format!("{name} is not allowed in a profile"));
    }
    let word = |text: String| OsString::from(format!("--{name}={text}"));
    Ok(match value {
        Value::Boolean(true) => vec![format!("--{name}").into()],
        Value::Boolean(false) => Vec::new(),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().map(text).collect::<Result<_, _>>()?;
            if REPEATED.contains(&name) { texts.into_iter().map(word).collect() } else { vec![word(texts.join(","))] }
        }
        value => vec![word(text(value)?)],
    })
}

/// The last value of `--name VALUE` or `--name=VALUE`.
fn value_of(words: &[OsString], name: &str) -> Option<OsString> {
    let long = format!("--{name}");
    let mut words = words.iter().skip(1).take_while(|word| *word != "--");
    let mut found = None;
    while let Some(word) = words.next() {
        if *word == *long {
            found = words.next().cloned();
        } else if let Some(value) = word.to_str().and_then(|word| word.strip_prefix(&long)?.strip_prefix('=')) {
            found = Some(OsStr::new(value).to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [profile.default]
        model = ["list-append", "stats"]
        timeout = "5m"
        verbose = true

        [profile.ci]
        verbose = false
        output = ["junit=out.xml", "json=out.json"]
        timeout = 60
    "#;

    fn words(texts: &[&str]) -> Vec<OsString> {
        texts.iter().map(OsString::from).collect()
    }

    fn of(text: &str, profile: Option<&str>, is_named: bool) -> Result<Vec<OsString>, String> {
        let config = Config::parse(text, Path::new("h.toml"), profile, is_named);
        let all = |config: Config| config.options.into_values().flatten().collect();
        config.map(all).map_err(|error| error.into_clap(&mut Command::new("h")).to_string())
    }

    #[test]
    fn a_profile_stands_on_the_default_one() {
        assert_eq!(of(TEXT, None, false).unwrap(), words(&["--model=list-append,stats", "--timeout=5m", "--verbose"]));
        let ci = ["--model=list-append,stats", "--output=junit=out.xml", "--output=json=out.json", "--timeout=60"];
        assert_eq!(of(TEXT, Some("ci"), false).unwrap(), words(&ci));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_file() {
        for (text, profile, what) in [
            (TEXT, Some("no"), "h.toml: unknown profile no; expected one of ci, default"),
            ("[profiles.a]", None, "h.toml: unknown table profiles"),
            ("[profile]\ndefault = 3", None, "h.toml: profile.default: expected a table"),
            ("[profile.default]\nmodel = {a = 1}", None, "h.toml: model: expected true, false"),
            ("[profile.default]\nprofile = \"x\"", None, "h.toml: profile is not allowed in a profile"),
            ("[profile.default\n", None, "h.toml: TOML parse error at line 1"),
        ] {
            let error = of(text, profile, true).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_that_nobody_named_runs_nothing() {
        for text in ["plugin = \"x.so\"", "plugin-dir = \".\"", "trust = true", "spec = \"exec:./model\""] {
            let text = format!("[profile.default]\n{text}");
            let error = of(&text, None, false).unwrap_err();
            assert!(error.contains("is accepted only in a file that --config names"), "{error}");
            of(&text, None, true).unwrap();
        }
    }

    #[test]
    fn the_command_line_comes_last() {
        let added = || words(&["--a"]);
        assert_eq!(insert(&words(&["h", "-m", "x"]), added()), words(&["h", "--a", "-m", "x"]));
        assert_eq!(insert(&words(&["h", "watch", "f"]), added()), words(&["h", "watch", "--a", "f"]));
        assert_eq!(
            value_of(&words(&["h", "--config", "x", "--config=y", "--", "--config", "z"]), CONFIG),
            Some("y".into())
        );
    }
}
