//! Limits on numbers that may only fall: casts between integers, long functions, files that nothing uses.

use histcheck_tidy::manifests::manifests;
use histcheck_tidy::modules::is_test;
use histcheck_tidy::{code, files, read, root};
use std::collections::BTreeMap;

/// The number of casts with `as` between numbers, by folder of a crate, without those in its module `ids`: use `From`
/// or `TryFrom`, or a function of that module. A crate that is not listed has none.
const CASTS: [(&str, usize); 15] = [
    ("check-elle", 17),
    ("check-jepsen", 2),
    ("check-online", 1),
    ("check-register", 33),
    ("cli", 2),
    ("draw", 2),
    ("front", 1),
    ("fuzz/targets", 3),
    ("history-core", 11),
    ("plugins/abi", 3),
    // The cast is in a constant.
    ("record/live", 1),
    ("record/parallel", 1),
    ("record/parallel/bench", 3),
    ("record/simulate", 12),
    // The casts compute shares of counts.
    ("serve", 2),
];

/// The maximum number of lines of a function, from its signature to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

/// Files with longer functions, and the number of lines of the longest one.
const LONG_FUNCTIONS: [(&str, usize); 0] = [];

/// Files that no other file names, and their users.
const USED_BY_OTHERS: [&str; 0] = [];

const NUMBERS: [&str; 14] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"];

/// The casts in a line of code.
fn casts(line: &str) -> usize {
    let kind = |after: &str| {
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        NUMBERS.contains(&&after[..end])
    };
    line.match_indices(" as ").filter(|(at, as_)| kind(&line[at + as_.len()..])).count()
}

#[test]
fn casts_only_become_fewer() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for manifest in manifests() {
        let source = format!("{}/src/", manifest.folder);
        for path in files(".rs").into_iter().filter(|path| path.starts_with(&source) && !path.ends_with("/src/ids.rs"))
        {
            let module: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if !is_test(&module) {
                let count: usize = code(&read(&path)).lines().map(casts).sum();
                *found.entry(manifest.folder.clone()).or_default() += count;
            }
        }
    }
    let allowed: BTreeMap<String, usize> = CASTS.iter().map(|(folder, count)| ((*folder).to_owned(), *count)).collect();
    found.retain(|folder, count| *count > 0 || allowed.contains_key(folder));
    let wrong: Vec<String> = found
        .iter()
        .filter(|(folder, count)| allowed.get(*folder) != Some(count))
        .map(|(folder, count)| format!("(\"{folder}\", {count}),"))
        .collect();
    assert!(wrong.is_empty(), "CASTS has other numbers; if one has fallen, write it there:\n{}", wrong.join("\n"));
}

/// The functions of a text: the line of each signature, and the number of lines.
fn functions(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    // The lines and columns of functions that are not closed yet.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        // rustfmt closes a function in the column in which it begins.
        if line.trim_end() == format!("{}}}", " ".repeat(indent))
            && let Some((from, _)) = open.pop_if(|(_, column)| *column == indent)
        {
            found.push((from, at - from + 1));
        }
        let words = line.split("fn ").next().unwrap_or_default().trim();
        let is_signature = line.contains("fn ")
            && words
                .split_whitespace()
                .all(|word| ["const", "async", "unsafe", "extern", "\"C\""].contains(&word) || word.starts_with("pub"));
        if is_signature && !line.ends_with(';') && !line.ends_with('}') {
            open.push((at, indent));
        }
    }
    found
}

#[test]
fn functions_can_be_taken_in() {
    let mut wrong = Vec::new();
    for path in files(".rs").into_iter().filter(|path| path.contains("/src/") && !path.contains("/frozen/")) {
        let longest = functions(&read(&path)).into_iter().map(|(_, lines)| lines).max().unwrap_or(0);
        let listed = LONG_FUNCTIONS.iter().find(|(long, _)| *long == path).map(|(_, lines)| *lines);
        if longest > FUNCTION_LINES_MAX && listed != Some(longest) || longest <= FUNCTION_LINES_MAX && listed.is_some()
        {
            wrong.push(format!("(\"{path}\", {longest}),"));
        }
    }
    assert!(
        wrong.is_empty(),
        "functions of more than {FUNCTION_LINES_MAX} lines, or fewer than LONG_FUNCTIONS says:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_end_of_a_function_is_found() {
    let text = "impl A {\n    pub(crate) fn b(\n        c: D,\n    ) {\n        if e {\n        }\n    }\n}\nfn f();\nfn g() {\n}\n";
    assert_eq!(functions(text), [(1, 6), (9, 2)]);
}

/// Returns true if Cargo finds a file by its path.
fn is_found_by_cargo(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_root = ["main.rs", "lib.rs", "mod.rs", "build.rs"].contains(&name);
    let parent = path.rsplit('/').nth(1).unwrap_or_default();
    is_root || ["tests", "examples", "benches", "bin", "fuzz_targets"].contains(&parent)
}

#[test]
fn every_source_is_part_of_something() {
    let all = files(".rs");
    let texts: Vec<String> = all.iter().map(read).collect();
    let manifests: Vec<String> = files("Cargo.toml").iter().map(read).collect();
    // For each file, the text after the last `mod` of each line that declares a module.
    let modules: Vec<Vec<String>> = texts.iter().map(|text| text.lines().filter_map(module).collect()).collect();
    for path in all.iter().filter(|path| !is_found_by_cargo(path) && !USED_BY_OTHERS.contains(&path.as_str())) {
        let (folder, name) = path.rsplit_once('/').unwrap();
        // The parent is `mod.rs`, the root of a target, or a file with the folder's name.
        let is_named = all.iter().zip(&modules).any(|(other, modules)| {
            let is_near =
                other.rsplit_once('/').is_some_and(|(above, _)| above == folder) || *other == format!("{folder}.rs");
            is_near && modules.iter().any(|module| module == name.trim_end_matches(".rs"))
        });
        // A manifest or an attribute may contain its path.
        let ending = format!("/{name}\"");
        let is_listed = || manifests.iter().chain(&texts).any(|text| text.contains(&ending));
        assert!(is_named || is_listed(), "nothing uses {path}");
    }
}

/// The module that a line declares.
fn module(line: &str) -> Option<String> {
    let line = line.trim().trim_end_matches([';', '{', ' ']);
    let (before, name) = line.rsplit_once("mod ")?;
    (before.is_empty() || before.ends_with(' ')).then(|| name.replace("r#", ""))
}

#[test]
fn every_fixture_and_snapshot_is_named() {
    let texts: Vec<String> = [".rs", ".md", ".toml", ".sh", "run", "package", "release"]
        .iter()
        .flat_map(|ending| files(ending))
        .map(read)
        .collect();
    for ending in [".edn", ".jsonl", ".json", ".txt", ".svg", ".html"] {
        for path in files(ending).into_iter().filter(|path| path.contains("/tests/") || path.contains("/examples/")) {
            let name = path.rsplit('/').next().unwrap();
            let stem = name.split('.').next().unwrap();
            let folder = path.rsplit('/').nth(1).unwrap();
            let is_named = texts
                .iter()
                .any(|text| text.contains(name) || text.contains(stem) || text.contains(&format!("\"{folder}\"")));
            assert!(is_named, "nothing names {path} (from {})", root().display());
        }
    }
}
