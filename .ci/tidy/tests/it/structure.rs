//! How the tree is built: no circles of modules, folders that one can take in, and a command line that knows no checker
//! by name.

use histcheck_tidy::manifests::manifests;
use histcheck_tidy::modules::{circles, modules};
use histcheck_tidy::{files, read};
use std::collections::BTreeMap;

/// Modules in circles, by folder: a number that only falls.
const IN_CIRCLES: [(&str, usize); 8] = [
    ("check-elle", 2),
    ("check-elle/certify", 2),
    ("check-jepsen", 2),
    ("check-online", 3),
    ("check-register", 13),
    ("history-core", 4),
    ("record/parallel", 7),
    ("record/simulate", 15),
];

/// Entries of a folder of sources, at most.
const ENTRIES_MAX: usize = 16;

/// Folders that have more, and how many: numbers that only fall.
const CROWDED: [(&str, usize); 5] = [
    // A module a workload.
    ("check-jepsen/src", 23),
    ("check-online/src", 17),
    ("history-core/src", 36),
    ("record/simulate/src", 18),
    // A module an object.
    ("record/simulate/src/objects", 23),
];

/// Names of checkers and anomalies, any of which would be wrong in the command line. Those that are words of English as
/// well are distinguished by their quotes.
const NAMES: [&str; 26] = [
    "list-append",
    "rw-register",
    "versioned-register",
    "cas-register",
    "multi-register",
    "kv",
    "owner-mutex",
    "reentrant-mutex",
    "semaphore",
    "fifo-queue",
    "unordered-queue",
    "stack",
    "deque",
    "priority-queue",
    "bank",
    "counter",
    "set-full",
    "long-fork",
    "comments",
    "sequential",
    "total-queue",
    "unique-ids",
    "stats",
    "nonlinearizable",
    "G1a",
    "G2-item",
];

/// Where they may stand: in the words of the command line, in examples of its help, and where histories are made.
fn may_name(path: &str) -> bool {
    path.starts_with("cli/src/line/") || path.contains("/tests")
}

#[test]
fn modules_stand_in_no_circle() {
    let mut wrong = Vec::new();
    for manifest in manifests() {
        let found = circles(&modules(&manifest.folder));
        let count: usize = found.iter().map(Vec::len).sum();
        let allowed = IN_CIRCLES.iter().find(|(folder, _)| *folder == manifest.folder).map_or(0, |(_, count)| *count);
        if count != allowed {
            wrong.push(format!("{}: {count}, not {allowed}: {found:?}", manifest.folder));
        }
    }
    assert!(wrong.is_empty(), "modules in circles:\n{}", wrong.join("\n"));
}

#[test]
fn folders_can_be_taken_in() {
    let mut entries: BTreeMap<String, std::collections::BTreeSet<String>> = BTreeMap::new();
    for path in files(".rs").into_iter().filter(|path| path.contains("/src/")) {
        let mut parts: Vec<&str> = path.split('/').collect();
        // A module and the folder of its children are one entry.
        while let Some(name) = parts.pop() {
            let folder = parts.join("/");
            if !folder.contains("/src") && !folder.ends_with("src") {
                break;
            }
            entries.entry(folder).or_default().insert(name.trim_end_matches(".rs").to_owned());
        }
    }
    let mut wrong = Vec::new();
    for (folder, names) in entries {
        let allowed = CROWDED.iter().find(|(crowded, _)| *crowded == folder).map_or(ENTRIES_MAX, |(_, count)| *count);
        if names.len() > allowed || allowed > ENTRIES_MAX && names.len() < allowed {
            wrong.push(format!("(\"{folder}\", {})", names.len()));
        }
    }
    assert!(wrong.is_empty(), "folders with more entries than they should have, or fewer than CROWDED says: {wrong:?}");
}

#[test]
fn the_command_line_knows_no_checker_by_name() {
    for path in files(".rs").into_iter().filter(|path| path.starts_with("cli/src/") && !may_name(path)) {
        let text = read(&path);
        let code = text.split("\nmod tests").next().unwrap_or_default();
        for (at, line) in code.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let named = NAMES.iter().find(|name| code.contains(&format!("\"{name}\"")));
            assert!(named.is_none(), "{path}:{} names {named:?}: let the checker say it (Checker::about)", at + 1);
        }
    }
}

/// The lint refuses `unsafe` wherever it is not lifted.
#[test]
fn unsafe_code_stands_in_four_files() {
    let lifts = |line: &str| {
        let line = line.trim_start();
        line == "unsafe_code," || line.starts_with('#') && line.contains("(unsafe_code")
    };
    let lifted: Vec<String> = files(".rs").into_iter().filter(|path| read(path).lines().any(lifts)).collect();
    assert_eq!(
        lifted,
        [
            "bindings/c/src/exports.rs",
            "plugins/abi/src/guest.rs",
            "plugins/abi/src/host/library.rs",
            "plugins/abi/src/host/remote.rs"
        ]
    );
}
