//! The histories of a command line, and how their text is read.

use super::format;
use crate::judge::child_job::ChildJob;
use crate::judge::expand::expand;
use crate::judge::input::Input;
use crate::line::common;
use crate::line::usage::UsageError;
use clap::ArgMatches;
use histcheck_front::ReadAs;
use history_core::{ClientRule, FirstValue, TimeUnit};
use std::ffi::OsString;
use std::path::Path;

pub(super) fn inputs(matches: &ArgMatches) -> Result<Vec<Input>, UsageError> {
    let files = matches.get_many::<OsString>("files").into_iter().flatten();
    inputs_of(matches, &files.collect::<Vec<_>>())
}

pub(super) fn inputs_of(matches: &ArgMatches, files: &[&OsString]) -> Result<Vec<Input>, UsageError> {
    if files.is_empty() {
        return Err(UsageError::missing("no history given").tip("pass files, or - for standard input"));
    }
    if files.iter().filter(|file| **file == "-").count() > 1 {
        return Err(UsageError::new("standard input can be read only once").tip("pass - only once"));
    }
    is_no_option_value(matches, files)?;
    if let Some(child) = ChildJob::from_matches(matches) {
        return Ok(vec![Input::new(child.path).read_as(read_as(matches))]);
    }
    let read_as = read_as(matches);
    Ok(files.iter().flat_map(|file| expand(file)).map(|input| input.read_as(read_as.clone())).collect())
}

/// Rejects a value that follows its option after a space, and would be treated as a file.
pub(super) fn is_no_option_value(matches: &ArgMatches, files: &[&OsString]) -> Result<(), UsageError> {
    let has = |name: &str| matches.try_contains_id(name).unwrap_or(false);
    let is_when = |text: &str| has("keyed") && ["yes", "no", "auto"].contains(&text);
    let is_address = |text: &str| has("serve") && common::listen(text).is_ok();
    let absent = files.iter().filter(|file| !Path::new(file).exists()).filter_map(|file| file.to_str());
    for text in absent {
        let option = if is_when(text) {
            "keyed"
        } else if is_address(text) {
            "serve"
        } else {
            continue;
        };
        return Err(UsageError::new(format!("file not found: {text}"))
            .tip(format!("write --{option}={text}, with an equals sign")));
    }
    Ok(())
}

/// How the text of histories is read.
pub(super) fn read_as(matches: &ArgMatches) -> ReadAs {
    let names = |option: &str| matches.get_many::<String>(option).into_iter().flatten().cloned();
    let clients = names("clients").fold(ClientRule::new(), ClientRule::client);
    let mut read_as = ReadAs::default();
    read_as.format = format(matches);
    read_as.accepts_torn = matches.try_get_one("accept-torn").ok().flatten().copied().unwrap_or(false);
    read_as.clients = names("not-clients").fold(clients, ClientRule::other);
    read_as.first_value = matches.get_one::<FirstValue>("first-value").copied().unwrap_or_default();
    read_as.clock_error = matches.try_get_one("clock-error").ok().flatten().copied().unwrap_or_default();
    read_as.time_unit = matches.get_one::<String>("time-unit").and_then(|name| name.parse::<TimeUnit>().ok());
    read_as
}
