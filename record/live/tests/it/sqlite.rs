//! SQLite, with locks and without.

use crate::setup::Setup;
use history_core::Verdict;
use record_live::LiveError;
use record_live::store::{Locks, Sqlite};

#[test]
fn with_its_locks_sqlite_is_strictly_serializable() {
    for workload in ["list-append", "rw-register", "cas-register", "versioned-register", "set-full", "bank"] {
        let directory = tempfile::tempdir().unwrap();
        let store = Sqlite::create(&directory.path().join("db"), Locks::Default).unwrap();
        let ended = Setup { ops_max: 400, ..Setup::new(&store, workload) }.run(directory.path()).unwrap();
        assert_eq!(
            ended.report.verdict,
            Verdict::Valid,
            "{workload}: {:?} {:?}",
            ended.report.anomalies,
            ended.report.notes
        );
        assert!(ended.ok > 200, "{workload}: {} of {} ops", ended.ok, ended.ops);
    }
}

#[test]
fn without_locks_it_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::create(&directory.path().join("db"), Locks::None).unwrap();
    let ended = Setup { ops_max: 200_000, ..Setup::new(&store, "list-append") }.run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Invalid);
    assert!(ended.violated.is_some(), "a prefix showed it");
}

#[test]
fn a_file_that_is_there_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    std::fs::write(&path, "mine").unwrap();
    let Err(error) = Sqlite::create(&path, Locks::Default) else { panic!("it was taken") };
    assert!(matches!(&error, LiveError::Store { .. }) && error.to_string().contains("exists already"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}
