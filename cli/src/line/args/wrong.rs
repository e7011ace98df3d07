//! Improves error messages for wrong usage with hints at frequent mistakes.

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use histcheck_front::Registry;
use histcheck_front::options::CONSISTENCY_LEVELS;
use history_core::Checker;

/// Returns the error with a hint if a frequent mistake is recognized. Hints never name hidden arguments.
pub(super) fn better(mut error: Error, checkers: &Registry) -> Error {
    let text = |error: &Error, kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let (argument, value) = (text(&error, ContextKind::InvalidArg), text(&error, ContextKind::InvalidValue));
    let tip = match error.kind() {
        ErrorKind::InvalidValue if argument.starts_with("--model") => level(&value, checkers).map(|level| {
            let by: Vec<&str> = checkers_of_levels(checkers);
            let checker = by.first().copied().unwrap_or("list-append");
            format!("{value} is a consistency level, not a checker: -m {checker} -c {level}")
        }),
        ErrorKind::ValueValidation if argument.starts_with("--total-amount") => {
            const FORMATS: [&str; 7] = ["text", "json", "edn", "junit", "sarif", "github", "markdown"];
            let name = value.split('=').next().unwrap_or_default();
            FORMATS
                .contains(&name)
                .then(|| format!("-o is --total-amount, as in elle-cli; for an output format, use --output {value}"))
        }
        ErrorKind::ValueValidation => number(&error),
        ErrorKind::UnknownArgument if ["--allow-anomalies", "--baseline"].contains(&&*argument) => {
            error.remove(ContextKind::SuggestedArg);
            Some(format!("this command has no known anomalies: check the file with `histcheck -m` and {argument}"))
        }
        ErrorKind::UnknownArgument => {
            forget_hidden(&mut error, checkers);
            None
        }
        _ => None,
    };
    if let Some(tip) = tip {
        // The similar names of checkers that clap suggests are wrong for a level.
        error.remove(ContextKind::SuggestedValue);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The expected value if a number is invalid.
fn number(error: &Error) -> Option<String> {
    let why = std::error::Error::source(error)?.to_string();
    if why.contains("invalid digit") || why.contains("empty string") {
        return Some("pass a whole number".to_owned());
    }
    // clap shows a range without an upper limit with the greatest number.
    let least = why.split_once(" is not in ")?.1.strip_suffix(&format!("..{}", u64::MAX))?;
    Some(format!("pass a whole number, {least} or more"))
}

/// Removes a hint at an argument that the help does not show.
fn forget_hidden(error: &mut Error, checkers: &Registry) {
    let Some(ContextValue::String(suggested)) = error.get(ContextKind::SuggestedArg) else { return };
    let name = suggested.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default();
    fn shows(command: &Command, name: &str) -> bool {
        command.get_arguments().any(|arg| arg.get_long() == Some(name) && !arg.is_hide_set())
            || command.get_subcommands().any(|command| shows(command, name))
    }
    if !shows(&crate::line::grammar::command(checkers), name) {
        error.remove(ContextKind::SuggestedArg);
    }
}

/// The canonical name of a level, if the value is its name or alias.
fn level(value: &str, checkers: &Registry) -> Option<String> {
    let value = value.trim_start_matches(':');
    let is_meant = |name: &str| name.eq_ignore_ascii_case(value);
    let levels = checkers.levels();
    let level =
        levels.iter().find(|level| is_meant(&level.name) || level.aliases.iter().any(|alias| is_meant(alias)))?;
    Some(level.name.to_string())
}

fn checkers_of_levels(checkers: &Registry) -> Vec<&str> {
    let all = checkers.iter().map(std::convert::AsRef::as_ref);
    let takes = |checker: &&dyn Checker| checker.options().iter().any(|option| option.name == CONSISTENCY_LEVELS);
    all.filter(takes).map(Checker::name).collect()
}
