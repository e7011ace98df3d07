//! Tests of the histories that a directory represents.

use super::*;
use std::fs::{create_dir_all, write};

/// Creates files, and the directories that contain them.
fn made(files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        let path = dir.path().join(file);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, "").unwrap();
    }
    dir
}

/// The paths found within the directory, with the error of each, if it is known.
fn found(dir: &Path) -> Vec<(String, Option<String>)> {
    let told = |input: &Input| {
        let path = Path::new(input.path()).strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
        (path, input.open_error().map(|error| error.message.clone()))
    };
    expand(dir.as_os_str()).iter().map(told).collect()
}

/// The paths of the histories found; panics if there is an error.
fn paths(dir: &Path) -> Vec<String> {
    let path = |(path, trouble): (String, Option<String>)| {
        assert_eq!(trouble, None, "{path}");
        path
    };
    found(dir).into_iter().map(path).collect()
}

#[test]
fn a_store_holds_its_tests_and_nothing_below_them_counts() {
    let dir = made(&[
        "shop/2/history.edn",
        "shop/2/results.edn",
        "shop/2/independent/7/history.edn",
        "shop/1/history.txt.gz",
        "bank/3/history.jsonl.zst",
        "bank/crashed/jepsen.log",
        "bank/binary/test.jepsen",
        "bank/no-test/notes.txt",
    ]);
    assert_eq!(paths(dir.path()), ["bank/3", "bank/binary", "bank/crashed", "shop/1", "shop/2"]);
    assert_eq!(paths(&dir.path().join("shop")), ["1", "2"]);
    assert_eq!(paths(&dir.path().join("shop/2")), [""], "one test is one history");
    let errors: Vec<_> = expand(dir.path().join("bank").as_os_str())
        .iter()
        .map(|input| input.open().err().map(|error| error.message).unwrap_or_default())
        .collect();
    assert_eq!(errors[0], "", "{errors:?}");
    assert!(errors[1].contains("only in Jepsen's binary format") && errors[2].contains("no history"), "{errors:?}");
}

#[test]
fn files_count_by_name() {
    let named = ["a.edn", "b.json", "c.jsonl", "d.ndjson", "e.edn.gz", "f.json.zst", "sub/g.jsonl.gz"];
    let others = ["a.txt", "b.svg", "edn", "c.edn.bz2", "d.gz", ".hidden.edn", ".git/h.json", "sub/README.md"];
    let dir = made(&[&named[..], &others[..]].concat());
    assert_eq!(paths(dir.path()), named);
}

#[test]
fn the_order_is_that_of_the_bytes_of_paths() {
    // Sorting by directory would put a/b.edn after a.edn.
    let dir = made(&["a/b.edn", "a.edn", "a-b.edn", "B.edn", "ä.edn", "a/c/d.edn", "z.edn"]);
    assert_eq!(paths(dir.path()), ["B.edn", "a-b.edn", "a.edn", "a/b.edn", "a/c/d.edn", "z.edn", "ä.edn"]);
}

#[test]
fn without_any_it_says_what_was_looked_for() {
    for files in [&[][..], &["notes.txt", "sub/picture.svg"]] {
        let dir = made(files);
        let found = expand(dir.path().as_os_str());
        let error = found[0].open_error().unwrap();
        assert_eq!((found.len(), found[0].path()), (1, dir.path().as_os_str()));
        assert_eq!(error.message, "no history found in this directory or below it");
        assert!(error.expected.as_ref().unwrap().contains("*.jsonl"), "{error:?}");
        assert_eq!(found[0].open().err().unwrap().message, error.message, "whoever reads it learns of it");
    }
}

#[test]
fn what_is_no_directory_is_left_to_whoever_opens_it() {
    for path in ["-", "nowhere.edn", "Cargo.toml"] {
        let found = expand(OsStr::new(path));
        assert!(found.len() == 1 && found[0].path() == path && found[0].open_error().is_none());
    }
}

#[test]
fn labels_tell_tests_of_one_time_apart() {
    let dir = made(&["shop/2024/history.edn", "bank/2024/history.edn"]);
    let labels = |path: &Path| -> Vec<String> {
        expand(path.as_os_str()).iter().map(|input| input.label().unwrap().into_owned()).collect()
    };
    assert_eq!(labels(dir.path()), ["bank-2024", "shop-2024"]);
    assert_eq!(labels(&dir.path().join("shop/2024")), ["2024"]);
}

#[test]
fn what_is_too_deep_is_told() {
    let deep = |depth: usize| format!("{}h.edn", "d/".repeat(depth));
    let dir = made(&[&deep(DEPTH_MAX), &deep(DEPTH_MAX + 1), "h.edn"]);
    let found = found(dir.path());
    assert_eq!(found.len(), 3, "{found:?}");
    let (last, trouble) = &found[0];
    assert_eq!(*last, "d/".repeat(DEPTH_MAX + 1).trim_end_matches('/'));
    assert_eq!(trouble.as_deref(), Some("directories nested more than 16 deep are not searched"));
    assert_eq!((found[1].1.as_ref(), found[2].1.as_ref()), (None, None));
}

#[test]
fn too_many_are_none() {
    let dir = made(&["a.edn", "b.edn"]);
    let mut walk = Walk {
        root: dir.path(),
        found: Vec::new(),
        real: BTreeSet::new(),
        links: Vec::new(),
        hidden: 0,
        entries: ENTRIES_MAX - 2,
    };
    walk.all().unwrap();
    assert_eq!(walk.found.len(), 2);
    for _ in 2..HISTORIES_MAX {
        walk.take("c.edn".into()).unwrap();
    }
    let error = walk.take("c.edn".into()).unwrap_err();
    assert!(error.message.starts_with("more than 100000 histories"), "{}", error.message);
    let mut walk = Walk { found: Vec::new(), real: BTreeSet::new(), entries: ENTRIES_MAX - 1, ..walk };
    let error = walk.all().unwrap_err();
    assert!(error.message.starts_with("more than 1000000 files"), "{}", error.message);
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn latest_and_current_are_not_judged_twice() {
        let dir = made(&["shop/1/history.edn", "shop/2/history.edn"]);
        symlink("2", dir.path().join("shop/latest")).unwrap();
        symlink("shop/2", dir.path().join("current")).unwrap();
        symlink("shop/2/history.edn", dir.path().join("current.edn")).unwrap();
        symlink("gone", dir.path().join("latest")).unwrap();
        assert_eq!(paths(dir.path()), ["shop/1", "shop/2"]);
        assert_eq!(paths(&dir.path().join("shop/latest")), [""], "one that is named is followed");
    }

    #[test]
    fn what_is_elsewhere_is_found_by_its_link() {
        let elsewhere = made(&["9/history.edn", "x.edn"]);
        let dir = made(&["1/history.edn"]);
        symlink(elsewhere.path(), dir.path().join("big")).unwrap();
        symlink(elsewhere.path(), dir.path().join("again")).unwrap();
        symlink(elsewhere.path().join("x.edn"), dir.path().join("y.edn")).unwrap();
        symlink("nowhere", dir.path().join("z.edn")).unwrap();
        assert_eq!(paths(dir.path()), ["1", "again/9", "again/x.edn", "z.edn"]);
    }

    #[test]
    fn circles_end() {
        let dir = made(&["a/h.edn", "b/i.edn"]);
        symlink("..", dir.path().join("a/up")).unwrap();
        symlink(".", dir.path().join("a/self")).unwrap();
        symlink("../b", dir.path().join("a/b")).unwrap();
        symlink("../a", dir.path().join("b/a")).unwrap();
        symlink("/", dir.path().join("root")).unwrap();
        assert_eq!(paths(dir.path()), ["a/h.edn", "b/i.edn"]);
    }
}
