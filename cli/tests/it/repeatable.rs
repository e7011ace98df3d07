//! Equal inputs give equal reports and files, byte for byte. Each process has a random hash key, so several runs test
//! several orders of the content of hash maps.

use crate::{histcheck, stdout};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The number of times that each history is checked.
const RUNS: usize = 4;

/// The generated histories, and how they are checked.
const CASES: [(&str, &str); 17] = [
    ("list-append --txns 400 --bug lost-update", "list-append"),
    ("list-append --txns 400 --bug read-uncommitted", "list-append -c serializable"),
    ("rw-register --txns 400 --bug lost-update", "rw-register --wfr-keys --linearizable-keys --sequential-keys"),
    ("rw-register --txns 400 --bug read-uncommitted", "rw-register -c serializable"),
    ("cas-register --ops 400 --bug stale-read", "cas-register"),
    ("cas-register --keyed --keys 20 --ops 2000 --bug stale-read", "cas-register --keyed"),
    ("register --ops 400 --info-rate 0.1", "register"),
    ("fifo-queue --ops 400 --info-rate 0.1", "fifo-queue"),
    ("kv --keys 10 --ops 600 --bug stale-read --info-rate 0.05", "kv"),
    ("versioned-register --keyed --keys 20 --ops 2000 --bug stale-read", "versioned-register --keyed"),
    ("bank --ops 400 --bug read-skew", "bank,stats"),
    ("set-full --ops 400 --bug lost-element", "set-full"),
    ("queue --ops 400 --bug duplicate-element", "queue,total-queue"),
    ("unique-ids --ops 400 --bug repeated-id", "unique-ids"),
    ("long-fork --ops 400 --bug read-skew", "long-fork --general"),
    ("comments --ops 400 --bug read-skew", "comments"),
    ("sequential --ops 400 --bug read-skew", "sequential"),
];

/// All files below a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.insert(path.display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn reports_and_files_are_the_same_under_every_hash_key() {
    for (generated, checker) in CASES {
        let folder = tempfile::tempdir().unwrap();
        histcheck(&format!("gen {generated} -o history.edn")).current_dir(folder.path()).assert().code(0);
        let run = || {
            let words = format!("-m {checker} --output json -d out history.edn");
            let report = stdout(&histcheck(&words).current_dir(folder.path()).assert());
            let files = files(&folder.path().join("out"));
            fs::remove_dir_all(folder.path().join("out")).unwrap();
            (report, files)
        };
        let (report, files) = run();
        assert!(report.contains("\"valid\":"), "{checker}: {report}");
        for _ in 1..RUNS {
            let (again, files_again) = run();
            assert_eq!(again, report, "{checker} of {generated}");
            assert!(files_again == files, "files of {checker} of {generated}");
        }
    }
}
