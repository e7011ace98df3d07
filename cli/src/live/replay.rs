//! `run.json`: the options of a run, so that it can be run again.

use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

/// The name of the file in the directory of a run.
pub(super) const FILE: &str = "run.json";
/// The version of its format.
const SCHEMA: u64 = 1;

/// Options that name files of a single run.
const DIRECTORIES: [&str; 4] = ["--directory", "--replay", "--steps", "-d"];

/// Writes the command line of a run, with the seed that it uses.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn write(directory: &Path, words: &[OsString], seed: u64) -> Result<(), String> {
    let words = without_directories(words, true);
    let mut words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    // The options for the page do not affect the run.
    words.retain(|word| word != "--keep-serving" && word != "--serve" && !word.starts_with("--serve="));
    words.extend(["--seed".to_owned(), seed.to_string()]);
    let path = directory.join(FILE);
    let text = json!({"schema": SCHEMA, "histcheck": env!("CARGO_PKG_VERSION"), "words": words});
    std::fs::write(&path, format!("{text}\n")).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Reads the command line of the run in this directory.
///
/// # Errors
///
/// If there is none.
pub(crate) fn words(directory: &Path) -> Result<Vec<OsString>, String> {
    let path = directory.join(FILE);
    let place = path.display();
    let text = std::fs::read(&path).map_err(|error| format!("--replay: cannot read {place}: {error}"))?;
    let run: Value = serde_json::from_slice(&text).map_err(|error| format!("--replay: {place}: {error}"))?;
    if run["schema"] != SCHEMA {
        return Err(format!("--replay: {place}: expected schema {SCHEMA}, found {}", run["schema"]));
    }
    let words = run["words"].as_array().and_then(|words| words.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let words = words.ok_or_else(|| format!("--replay: {place}: expected \"words\" to be an array of strings"))?;
    Ok(words.into_iter().map(OsString::from).collect())
}

/// The words without options that name directories. If not `all`, the option for the directory of the new run is kept.
pub(crate) fn without_directories(words: &[OsString], all: bool) -> Vec<OsString> {
    let mut left = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let is_kept = |name: &str| !all && (name == "-d" || name == "--directory");
        let named = DIRECTORIES.iter().find(|name| {
            let long = name.starts_with("--");
            text == **name
                || long && text.strip_prefix(**name).is_some_and(|rest| rest.starts_with('='))
                || !long && text.starts_with(**name)
        });
        match named {
            Some(name) if is_kept(name) => left.push(word.clone()),
            // The value is the next word.
            Some(name) if text == **name => _ = words.next(),
            Some(_) => {}
            None => left.push(word.clone()),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(words: &str, all: bool) -> String {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        without_directories(&words, all).iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn directories_are_left_out_in_every_spelling() {
        assert_eq!(left("--store x -d a --ops 3 --directory=b -dc --replay d", true), "--store x --ops 3");
        assert_eq!(left("--replay d -d a --replay=b --ops 3", false), "-d a --ops 3");
    }

    #[test]
    fn words_come_back_with_the_seed() {
        let directory = tempfile::tempdir().unwrap();
        write(
            directory.path(),
            &["--store".into(), "x".into(), "--serve=[::1]:1".into(), "--keep-serving".into(), "-d".into(), "y".into()],
            7,
        )
        .unwrap();
        assert_eq!(words(directory.path()).unwrap(), ["--store", "x", "--seed", "7"]);
        std::fs::write(directory.path().join(FILE), "{}").unwrap();
        let error = words(directory.path()).unwrap_err();
        assert!(error.contains("run.json: expected schema 1, found null"), "{error}");
    }
}
