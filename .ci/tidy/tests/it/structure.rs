//! The structure of the tree: no cycles of modules, folders of limited size, and a command line without names of
//! checkers.

use histcheck_tidy::manifests::manifests;
use histcheck_tidy::modules::{circles, modules};
use histcheck_tidy::{code, files, read};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of entries in a folder of sources.
const ENTRIES_MAX: usize = 16;

/// The quoted text after each occurrence of `before`, up to the tests of a file.
fn quoted_after(text: &str, before: &str) -> Vec<String> {
    let code = text.split("\nmod tests").next().unwrap_or_default();
    let quoted = code.split(before).skip(1).filter_map(|after| after.split('"').next());
    quoted.map(str::to_owned).collect()
}

/// Names that only checkers and the grammar of the command line may contain: all built-in checkers, from the table that
/// must contain every checker; all anomalies and consistency levels of transactions; all options.
fn names() -> BTreeSet<String> {
    let checkers = quoted_after(&read("cli/tests/it/vacuous.rs"), "    row(\"");
    let mut all: BTreeSet<String> =
        checkers.iter().filter_map(|name| name.split(' ').next()).map(str::to_owned).collect();
    for path in files(".rs") {
        let text = read(&path);
        if path.starts_with("check-elle/src/anomaly/") || path.starts_with("check-elle/src/model/") {
            all.extend(quoted_after(&text, "\"").into_iter().step_by(2));
        }
        if path.starts_with("check-") && path.contains("/src/") {
            let joined = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( \"", "(\"");
            all.extend(quoted_after(&joined, "OptionSpec::new(\""));
            // An anomaly, and its summary.
            let pairs = joined.split("(\"").filter_map(|after| after.split_once("\", \""));
            let is_told = |summary: &str| summary.starts_with(|c: char| c.is_ascii_uppercase());
            all.extend(pairs.filter(|(_, summary)| is_told(summary)).map(|(name, _)| name.to_owned()));
        }
    }
    // Removes a name that a field of reports on histories of keys has, too, and the sentences of these tables.
    all.remove("key-count");
    all.retain(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') && name.len() > 1);
    all
}

/// Files that may contain them: the options of the command line, examples in its help, and generators of histories.
fn may_name(path: &str) -> bool {
    path.starts_with("cli/src/line/") || path.contains("/tests")
}

#[test]
fn modules_stand_in_no_circle() {
    let mut wrong = Vec::new();
    for manifest in manifests() {
        let found = circles(&modules(&manifest.folder));
        if !found.is_empty() {
            wrong.push(format!("{}: {found:?}", manifest.folder));
        }
    }
    assert!(wrong.is_empty(), "modules in circles:\n{}", wrong.join("\n"));
}

#[test]
fn folders_can_be_taken_in() {
    let mut entries: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files(".rs").into_iter().filter(|path| path.contains("/src/")) {
        let mut parts: Vec<&str> = path.split('/').collect();
        // A module and the folder of its children count as one entry.
        while let Some(name) = parts.pop() {
            let folder = parts.join("/");
            if !folder.contains("/src") && !folder.ends_with("src") {
                break;
            }
            entries.entry(folder).or_default().insert(name.trim_end_matches(".rs").to_owned());
        }
    }
    entries.retain(|_, names| names.len() > ENTRIES_MAX);
    let wrong: Vec<String> = entries.iter().map(|(folder, names)| format!("{folder}: {}", names.len())).collect();
    assert!(wrong.is_empty(), "folders with more than {ENTRIES_MAX} entries: {wrong:?}");
}

#[test]
fn the_command_line_knows_no_checker_by_name() {
    let names = names();
    for known in ["list-append", "counter", "G2-item", "PL-2", "max-witnesses", "lost-write"] {
        assert!(names.contains(known), "the tables hold {known} in another form: {names:?}");
    }
    for path in files(".rs").into_iter().filter(|path| path.starts_with("cli/src/") && !may_name(path)) {
        let text = read(&path);
        let code = text.split("\nmod tests").next().unwrap_or_default();
        for (at, line) in code.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let named = code.split('"').skip(1).step_by(2).find(|literal| names.contains(*literal));
            assert!(named.is_none(), "{path}:{} names {named:?}: let the checker say it (Checker::about)", at + 1);
        }
    }
}

/// Characters that are invisible or reorder text are listed only once.
#[test]
fn hidden_characters_stand_in_one_table() {
    let is_hidden = |code: u32| {
        matches!(code, 0xad | 0x61c | 0x180b..=0x180f | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f)
            || matches!(code, 0xfe00..=0xfe0f | 0xe0000..=0xe0fff)
    };
    for path in files(".rs").into_iter().filter(|path| path.contains("/src/") && !path.contains("/tests")) {
        if path == "history-core/src/visible.rs" {
            continue;
        }
        for (at, line) in code(&read(&path)).lines().enumerate() {
            let escapes = line.split("\\u{").skip(1).filter_map(|after| after.split('}').next());
            let written = escapes.filter_map(|code| u32::from_str_radix(code, 16).ok());
            let found = written.chain(line.chars().map(u32::from)).find(|code| is_hidden(*code));
            assert!(found.is_none(), "{path}:{} has {found:x?}: history_core::visible knows it", at + 1);
        }
    }
}

/// The lint forbids `unsafe` wherever it is not explicitly allowed.
#[test]
fn unsafe_code_stands_where_others_call_and_are_called() {
    let lifts = |line: &str| {
        let line = line.trim_start();
        line == "unsafe_code," || line.starts_with('#') && line.contains("(unsafe_code")
    };
    let lifted: Vec<String> = files(".rs").into_iter().filter(|path| read(path).lines().any(lifts)).collect();
    assert_eq!(
        lifted,
        [
            "bindings/c/src/exports.rs",
            "bindings/c/tests/it/calls.rs",
            "plugins/abi/src/guest.rs",
            "plugins/abi/src/host/library.rs",
            "plugins/abi/src/host/remote.rs"
        ]
    );
}
