//! Addresses in object stores, and the histories that they represent.

use crate::judge::expand::is_named_like_one;
use crate::line::usage::UsageError;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

/// The objects at an address: a single object, all matches of a pattern, or the histories below a directory (the
/// address ends in a slash).
///
/// # Errors
///
/// If the store cannot be listed, or there are no objects.
pub(super) fn objects(address: &str) -> Result<Vec<OsString>, UsageError> {
    let special = address.find(['*', '?', '[']);
    let is_one = match special {
        None => !address.ends_with('/'),
        // The key of an object may contain these characters, as may the name of a file.
        Some(_) => histcheck_scale::is_object(address),
    };
    if is_one {
        return Ok(vec![address.into()]);
    }
    let failed = |why: String| UsageError::new(format!("{address}: {why}"));
    let pattern = special.map(|_| glob::Pattern::new(address)).transpose();
    let pattern = pattern.map_err(|error| failed(error.to_string()))?;
    let known = special.map_or(address, |at| &address[..at]);
    let below = histcheck_scale::objects_below(known).map_err(|error| failed(format!("listing failed: {error}")))?;
    let found = match pattern {
        Some(pattern) => matched(&pattern, below),
        None => histories(below),
    };
    match found.is_empty() {
        true if special.is_some() => Err(UsageError::new(format!("no object matches {address}"))),
        true => Err(failed("no object below it is named *.edn, *.json, *.jsonl or *.ndjson".to_owned())
            .tip("the names may also end in .gz or .zst; to check another object, pass its full address")),
        false => Ok(found.into_iter().map(OsString::from).collect()),
    }
}

/// The names that match. A `*` does not match a slash, as in a shell.
fn matched(pattern: &glob::Pattern, mut all: Vec<String>) -> Vec<String> {
    let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
    all.retain(|found| pattern.matches_with(found, options));
    all
}

/// The names of histories. For a Jepsen test (`history.edn` and the files beside or below it), only its history.
fn histories(all: Vec<String>) -> Vec<String> {
    let is_history = |name: &str| name.split('.').next() == Some("history") && is_named_like_one(OsStr::new(name));
    let split = |address: &str| address.rsplit_once('/').map(|(at, name)| (at.to_owned(), name.to_owned()));
    let parts = all.iter().filter_map(|address| split(address)).filter(|(_, name)| is_history(name));
    let tests: BTreeSet<String> = parts.map(|(directory, _)| directory).collect();
    let is_in_test = |directory: &str| {
        directory.match_indices('/').map(|(at, _)| &directory[..at]).chain([directory]).any(|at| tests.contains(at))
    };
    let is_one = |address: &String| {
        split(address).is_some_and(|(directory, name)| {
            let is_test = tests.contains(&directory);
            is_test && is_history(&name) || !is_in_test(&directory) && is_named_like_one(OsStr::new(&name))
        })
    };
    all.into_iter().filter(is_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[&str]) -> Vec<String> {
        histories(all.iter().map(|one| (*one).to_owned()).collect())
    }

    #[test]
    fn names_say_which_objects_are_histories() {
        let all =
            ["s3://b/a.edn", "s3://b/b.jsonl.gz", "s3://b/c.txt", "s3://b/d", "s3://b/e/f.ndjson.zst", "s3://b/g.edn/"];
        assert_eq!(of(&all), ["s3://b/a.edn", "s3://b/b.jsonl.gz", "s3://b/e/f.ndjson.zst"]);
    }

    #[test]
    fn a_test_of_jepsens_is_one_history() {
        let all = [
            "gs://b/store/t/1/history.edn",
            "gs://b/store/t/1/independent/3/history.edn.bak",
            "gs://b/store/t/1/independent/3/results.edn",
            "gs://b/store/t/1/results.edn",
            "gs://b/store/t/2/history.jsonl.gz",
            "gs://b/store/t/results.edn",
        ];
        let expected =
            ["gs://b/store/t/1/history.edn", "gs://b/store/t/2/history.jsonl.gz", "gs://b/store/t/results.edn"];
        assert_eq!(of(&all), expected);
    }

    #[test]
    fn a_star_matches_no_slash() {
        let all = ["s3://b/r/1.jsonl", "s3://b/r/2/3.jsonl"].map(str::to_owned).to_vec();
        let of = |pattern: &str| matched(&glob::Pattern::new(pattern).unwrap(), all.clone());
        assert_eq!(of("s3://b/r/*.jsonl"), ["s3://b/r/1.jsonl"]);
        assert_eq!(of("s3://b/r/*/*.jsonl"), ["s3://b/r/2/3.jsonl"]);
        assert_eq!(of("s3://b/**/*.jsonl"), all);
        assert!(of("s3://b/R/*.jsonl").is_empty(), "keys differ in case");
    }

    #[test]
    fn an_address_of_one_object_is_not_asked_for() {
        assert!(objects("s3://bucket/history.edn").is_ok_and(|found| found == ["s3://bucket/history.edn"]));
    }
}
