//! Determines the checker and its options from the command line.

use super::allow;
use crate::line::usage::{COMMAND_LINE, UsageError};
use crate::line::{compat, grammar};
use clap::ArgMatches;
use histcheck_front::Registry;
use history_core::{Checker, Compose, ComposeError, OptionKind, Options};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// The named checker, or the composition of several; and whether any of them is from a plugin.
pub(super) fn checker<'c>(
    matches: &ArgMatches,
    checkers: &'c Registry,
) -> Result<(Box<dyn Checker + 'c>, bool), UsageError> {
    let models = matches.get_many::<String>("model").ok_or_else(|| no_model(matches))?;
    let mut named: Vec<Box<dyn Checker + 'c>> = Vec::new();
    let mut is_plugin = false;
    for model in models {
        let found = checkers.find(model).map_err(|error| UsageError::new(error.message).tip(error.hint))?;
        is_plugin |= found.is_plugin;
        named.push(Box::new(found.checker));
    }
    if named.len() == 1 {
        // A single checker is used without a composition.
        return named.pop().map(|checker| (checker, is_plugin)).ok_or_else(|| no_model(matches));
    }
    let composed = Compose::new(named).map_err(|error| match &error {
        ComposeError::Twice(name) => UsageError::new(format!("-m: {name} is given twice")).tip("pass it once"),
        _ => UsageError::new(format!("-m: {error}")).tip("run them one after another"),
    })?;
    Ok((Box::new(composed), is_plugin))
}

/// The summaries of the named checkers.
pub(super) fn summaries(matches: &ArgMatches, checkers: &Registry) -> BTreeMap<String, String> {
    let models = matches.get_many::<String>("model").into_iter().flatten();
    let found = models.filter_map(|model| checkers.find(model).ok());
    found.map(|found| (found.checker.name().to_owned(), found.checker.summary().to_owned())).collect()
}

/// The error for a missing `-m`. If the first argument resembles a command, suggests that command.
fn no_model(matches: &ArgMatches) -> UsageError {
    let files: Vec<&OsString> = matches.get_many("files").into_iter().flatten().collect();
    let wrong = UsageError::missing("missing -m: the checkers to run");
    if let Some(file) = files.first()
        && !Path::new(file).exists()
        && let Some(command) = nearest(
            &file.to_string_lossy(),
            grammar::command(&Registry::default()).get_subcommands().map(clap::Command::get_name),
        )
    {
        return wrong.tip(format!("did you mean the command `histcheck {command}`?"));
    }
    let file = files.first().map_or("history.edn".into(), |file| file.to_string_lossy());
    // The option has a default, so it has a value if the command has it.
    let is_report = matches.try_contains_id("max-report-bytes").unwrap_or(false);
    let directory = if is_report { " -d report" } else { "" };
    wrong.tip(format!(
        "{COMMAND_LINE}{directory} -m list-append {file}\n       `histcheck validate {file}` names the checkers that fit, \
         and `histcheck models` lists all"
    ))
}

/// The name most similar to the given one, if any is similar.
fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    const ALIKE: f64 = 0.8;
    names
        .map(|name| (strsim::jaro_winkler(given, name), name))
        .filter(|(like, _)| *like > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The given options that the checker takes, and warnings about those that it does not take.
pub(super) fn options(
    matches: &ArgMatches,
    checker: &dyn Checker,
    checkers: &Registry,
) -> Result<(Options, Vec<String>), UsageError> {
    let (mut options, mut warnings) = (Options::new(), Vec::new());
    let taken = grammar::taken(checkers);
    let takers = |name: &str| taken.iter().find(|taken| taken.spec.name == name).map_or(&[][..], |taken| &taken.by);
    let of_checkers = taken.iter().map(|taken| (taken.spec.name, taken.spec.kind));
    let of_elle_cli = compat::KNOWN.iter().map(|known| (known.name, known.kind));
    for (name, kind) in of_checkers.chain(of_elle_cli.filter(|(name, _)| takers(name).is_empty())) {
        let Some(mut value) = given(matches, name, kind)? else { continue };
        // Some tools use the last value, and others combine all values, so the warning states which rule applies.
        if kind == OptionKind::Names && matches.get_many::<String>(name).is_some_and(|given| given.len() > 1) {
            warnings.push(format!("--{name} is given more than once; the last value is used: {value}"));
        }
        if name == allow::ALLOW && allow::may_be_known(matches) {
            // The other names are known anomalies.
            value = allow::taken_by(checker, &value).join(",");
            if value.is_empty() {
                continue;
            }
        }
        let by = takers(name);
        if checker.options().iter().any(|spec| spec.name == name) {
            options.set(name, value);
        } else if grammar::PASSED_ON.contains(&name) {
            // The command line itself uses the option.
        } else if let Some(known) = compat::find(name) {
            warnings.push(format!("--{name} has no effect on {}: {}", checker.name(), known.why_not));
        } else {
            let message = format!("{} has no option --{name}", checker.name());
            return Err(UsageError::new(message).tip(format!("it is an option of {}", by.join(", "))));
        }
    }
    Ok((options, warnings))
}

/// The text of an option's value, if the option was given.
fn given(matches: &ArgMatches, name: &str, kind: OptionKind) -> Result<Option<String>, UsageError> {
    Ok(match (name, kind) {
        ("directory", _) => {
            let directory = matches.try_get_one::<OsString>(name).ok().flatten();
            directory.map(|directory| directory.to_string_lossy().into_owned())
        }
        (_, OptionKind::Flag) => matches.get_flag(name).then(|| "true".to_owned()),
        // The command line accepts these values with units.
        (grammar::MAX_PLOT_BYTES | grammar::MAX_TIMELINE_BYTES, _) => matches.get_one::<u64>(name).map(u64::to_string),
        (_, OptionKind::Integer) => matches.get_one::<i64>(name).map(i64::to_string),
        (_, OptionKind::Names) => matches.get_many::<String>(name).and_then(|mut given| given.next_back().cloned()),
        (_, OptionKind::File) => match matches.get_one::<String>(name) {
            Some(path) => {
                let text = std::fs::read_to_string(path);
                Some(text.map_err(|error| UsageError::new(format!("--{name}: cannot read {path}: {error}")))?)
            }
            None => None,
        },
        _ => matches.get_one::<String>(name).cloned(),
    })
}
