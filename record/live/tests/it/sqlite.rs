//! SQLite, with locks and without.

use crate::setup::Setup;
use history_core::Verdict;
use record_live::store::{Locks, Sqlite};
use record_live::{LiveError, Request, Seat, Stands, Store as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
fn whoever_opens_it_without_locks_tries_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::create(&directory.path().join("db"), Locks::None).unwrap();
    let timeout = Duration::from_secs(5);
    let seat = Seat { number: 0, seats: 4, node: 0, nodes: 1, process: 0, seed: 0, timeout, stands: Stands::AtNode };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (store, seat, is_over) = (&store, Seat { number, ..seat }, &is_over);
            scope.spawn(move || {
                let mut client = store.client(&seat).unwrap();
                while !is_over.load(Ordering::Relaxed) {
                    client.invoke(&Request::Write(1, 1)).unwrap();
                }
            });
        }
        let opened: Vec<_> = (0..1000).map(|_| store.client(&seat).map(drop)).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(opened.iter().all(Result::is_ok), "{:?}", opened.iter().find(|opened| opened.is_err()));
    });
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
