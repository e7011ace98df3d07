//! Dependencies: compares the table in `docs/architecture.md` with the manifests.

use histcheck_tidy::manifests::{Manifest, cargo, manifests};
use std::collections::BTreeSet;

/// A row of the table.
struct Row {
    folder: String,
    name: String,
    /// The crates of this repository on which it may depend; `None` if all.
    ours: Option<BTreeSet<String>>,
    /// The other crates on which it depends; `None` if any.
    others: Option<BTreeSet<String>>,
}

fn rows() -> Vec<Row> {
    let text = histcheck_tidy::read("docs/architecture.md");
    let (_, after) = text.split_once("| folder | crate | what | may depend on | libraries |\n").expect("no table");
    let table = after.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let row = |line: &str| match &cells(line)[..] {
        [folder, name, _, ours, others] => Row {
            folder: folder.trim_matches('`').trim_end_matches('/').to_owned(),
            name: name.trim_matches('`').to_owned(),
            ours: names(ours, "all"),
            others: names(others, "any"),
        },
        _ => panic!("five cells, and not these: {line}"),
    };
    table.map(row).collect()
}

/// Parses `a, b; a remark`, `none`, or the word for no restriction.
fn names(cell: &str, whatever: &str) -> Option<BTreeSet<String>> {
    let list = cell.split(';').next().unwrap().trim();
    match list {
        "none" => Some(BTreeSet::new()),
        _ if list == whatever => None,
        _ => Some(list.split(',').map(|name| name.trim().to_owned()).collect()),
    }
}

/// All crates except packages of tests, which are in their crate's folder and have no row.
fn crates() -> impl Iterator<Item = Manifest> {
    manifests().into_iter().filter(|manifest| !manifest.folder.ends_with("/tests"))
}

#[test]
fn every_crate_has_its_row() {
    let rows: Vec<_> = rows().into_iter().map(|row| (row.folder, row.name)).collect();
    let crates: Vec<_> = crates().map(|manifest| (manifest.folder, manifest.name)).collect();
    let sorted = |mut list: Vec<(String, String)>| {
        list.sort();
        list
    };
    assert_eq!(sorted(rows), sorted(crates), "docs/architecture.md has the left ones, the repository the right ones");
}

#[test]
fn nobody_depends_on_what_the_table_does_not_allow() {
    let manifests = manifests();
    let ours: BTreeSet<_> = manifests.iter().map(|manifest| manifest.name.clone()).collect();
    for row in rows() {
        let manifest = manifests.iter().find(|manifest| manifest.name == row.name).expect(&row.name);
        let taken: BTreeSet<_> = manifest.shipped_dependencies().collect();
        if let Some(allowed) = &row.ours {
            assert!(allowed.is_subset(&ours), "{}: no such crate here: {:?}", row.name, allowed - &ours);
            let wrong = &(&taken & &ours) - allowed;
            assert!(wrong.is_empty(), "{} may not depend on {wrong:?}: see docs/architecture.md", row.name);
        }
        if let Some(listed) = &row.others {
            assert_eq!(
                &taken - &ours,
                *listed,
                "{}: it takes the left ones, docs/architecture.md has the right ones",
                row.name
            );
        }
    }
}

#[test]
fn nobody_knows_the_command_line() {
    let knows = |manifest: &Manifest| manifest.dependencies.iter().any(|dependency| dependency.name == "histcheck");
    let who: Vec<_> = manifests().into_iter().filter(knows).map(|manifest| manifest.name).collect();
    assert!(who.is_empty(), "{who:?}");
}

/// The indirect dependencies of a crate that `docs/embedding.md` lists.
fn taken_along() -> Vec<(String, [Vec<String>; 2])> {
    let text = histcheck_tidy::read("docs/embedding.md");
    let (_, after) = text.split_once("| to check | crate | dependencies |\n").expect("no table");
    let table = after.lines().skip(1).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let mut cells = line.split('|').skip(2).map(str::trim);
        let name = cells.next().unwrap().trim_matches('`').to_owned();
        let cell = cells.next().unwrap();
        let (always, by_default) = cell.split_once("; by default also ").unwrap_or((cell, ""));
        let names =
            |text: &str| text.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let mut all = [names(always), names(by_default)].concat();
        all.sort_unstable();
        (name, [names(always), all])
    };
    table.map(row).collect()
}

#[test]
fn one_checker_takes_little_along() {
    let rows = taken_along();
    let checkers = crates().map(|manifest| manifest.name).filter(|name| name.starts_with("check-"));
    assert_eq!(rows.len(), checkers.count() + 1, "docs/embedding.md: all checkers, and history-core");
    for (name, [bare, by_default]) in rows {
        for (features, told) in [(["--no-default-features"].as_slice(), &bare), (&[], &by_default)] {
            let tree = ["tree", "--offline", "--package", &name, "--edges", "normal,build", "--prefix", "none"];
            let tree = cargo(&[&tree, ["--no-dedupe", "--format", "{p} [{f}]"].as_slice(), features].concat());
            let mut taken = BTreeSet::new();
            for line in tree.lines() {
                let package = line.split(' ').next().unwrap();
                taken.insert(package);
                let (_, on) = line.rsplit_once('[').unwrap();
                let on: Vec<_> = on.trim_end_matches(']').split(',').collect();
                let is_ours = package.starts_with("check-") || package == "history-core";
                let is_spare = on.contains(&"files") || on.contains(&"parallel") && !features.is_empty();
                assert!(!is_ours || !is_spare, "{name} {features:?} takes {package} with {on:?}");
            }
            assert!(taken.remove(name.as_str()), "{tree}");
            assert_eq!(&taken.into_iter().collect::<Vec<_>>(), told, "{name} {features:?}, and docs/embedding.md");
        }
    }
}
