//! Simulated logs: without a bug they are valid, and each bug is found with its own type of anomaly.

use crate::certify::certify;
use check_log::Kafka;
use history_core::{Checker, History, Verdict};
use record_simulate::{Format, LogBug, Logs};

fn history(bug: LogBug, seed: u64, ops_per_txn_max: u32) -> History {
    let logs = Logs { ops: 300, seed, ops_per_txn_max, bug, nemesis: true, ..Logs::default() };
    let text = logs.simulation().unwrap().write(Vec::new(), Format::Edn).unwrap();
    History::parse(&String::from_utf8(text).unwrap()).unwrap()
}

#[test]
fn what_has_no_bug_is_valid() {
    for seed in 0..8 {
        for ops_per_txn_max in [1, 4] {
            let report = Kafka::default().check(&history(LogBug::None, seed, ops_per_txn_max)).unwrap();
            assert_eq!(report.verdict, Verdict::Valid, "seed {seed}: {:?} {:?}", report.anomalies, report.notes);
        }
    }
}

#[test]
fn every_bug_is_found_as_what_it_is() {
    let anomaly = |bug: LogBug| match bug {
        LogBug::AbortedRead => "G1a",
        LogBug::UncommittedRead => "G1c",
        LogBug::EarlyRead => "G1c-realtime",
        named => named.name(),
    };
    for bug in LogBug::ALL.into_iter().filter(|bug| *bug != LogBug::None) {
        let mut found = false;
        for seed in 0..4 {
            let history = history(bug, seed, 4);
            let report = Kafka::default().check(&history).unwrap();
            found |= report.verdict == Verdict::Invalid && report.anomaly(anomaly(bug)).is_some();
            for anomaly in &report.anomalies {
                for witness in &anomaly.witnesses {
                    certify(&history, &anomaly.name, witness)
                        .unwrap_or_else(|why| panic!("{bug}: {}: {why}", anomaly.name));
                }
            }
        }
        assert!(found, "{bug}");
    }
}
