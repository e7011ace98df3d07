//! Compares stats with its definition.

use crate::common::{Event, count, each_history, history, item, judge, random_history, story};
use check_jepsen::stats::Stats;
use history_core::{Checker as _, OpKind, Report, Verdict};
use proptest::prelude::*;

const ENDS: [OpKind; 3] = [OpKind::Ok, OpKind::Fail, OpKind::Info];

fn agrees(events: &[Event]) {
    let report = Stats::default().check(&history(events)).unwrap();
    let mut tested = !events.is_empty();
    for f in ["read", "write"] {
        let of = |kind: OpKind| events.iter().filter(|event| event.f == f && event.kind == kind).count() as u64;
        if events.iter().all(|event| event.f != f) {
            assert!(report.counts.iter().all(|(name, _)| !name.starts_with(f)));
            continue;
        }
        tested &= of(OpKind::Ok) > 0;
        assert_eq!(count(&report, &format!("{f}-ok-count")), of(OpKind::Ok));
        assert_eq!(count(&report, &format!("{f}-fail-count")), of(OpKind::Fail));
        assert_eq!(count(&report, &format!("{f}-info-count")), of(OpKind::Info));
        assert_eq!(count(&report, &format!("{f}-count")), of(OpKind::Invoke));
        latencies(&report, events, f);
    }
    assert_eq!(report.verdict, if tested { Verdict::Valid } else { Verdict::Unknown }, "{events:?}");
}

/// Compares latencies; an op takes a millisecond.
fn latencies(report: &Report, events: &[Event], f: &str) {
    let oks = events.iter().enumerate().filter(|(_, event)| event.f == f && event.kind == OpKind::Ok);
    let invoked = |at: usize| (0..at).rfind(|before| events[*before].process == events[at].process).unwrap();
    let mut all: Vec<u64> = oks.map(|(at, _)| 1_000 * (at - invoked(at)) as u64).collect();
    all.sort_unstable();
    for (name, permille) in [("min", 0), ("p50", 500), ("p95", 950), ("p99", 990), ("max", 1_000)] {
        let name = format!("{f}-latency-us-{name}");
        // The smallest number such that this fraction of all numbers is not above it.
        let expected = all.iter().find(|latency| {
            let below = all.iter().filter(|other| other <= latency).count();
            below * 1_000 >= permille * all.len()
        });
        let got = report.counts.iter().find(|(known, _)| *known == name).map(|(_, latency)| latency);
        assert_eq!(got, expected, "{name} of {all:?}");
    }
}

#[test]
fn every_small_history_is_counted_as_defined() {
    let menu = [item("read", 0, &ENDS), item("write", 0, &ENDS)];
    let count = each_history(&menu, 3, 6, &mut |events| agrees(events));
    assert!(count > 20_000, "{count}");
}

proptest! {
    #[test]
    fn random_histories_are_counted_as_defined(numbers in prop::collection::vec((0..4u8, any::<u8>()), 0..200)) {
        agrees(&random_history(&[item("read", 0, &ENDS), item("write", 0, &ENDS)], 4, &numbers));
    }
}

#[test]
fn what_a_person_reads() {
    let text = "
        {:process 0, :type :invoke, :f :read, :time 0} {:process 0, :type :ok, :f :read, :time 1234567}
        {:process 0, :type :invoke, :f :read, :time 0} {:process 0, :type :ok, :f :read, :time 2000000}
        {:process 0, :type :invoke, :f :read, :time 0} {:process 0, :type :fail, :f :read, :time 9}
        {:process 0, :type :invoke, :f :cas, :time 0} {:process 0, :type :fail, :f :cas, :time 9}
        {:process 0, :type :invoke, :time 5} {:process 0, :type :ok, :time 4}
        {:process :nemesis, :type :info, :f :kill}
        {:process 0, :type :invoke, :f :read, :time 0} {:process 0, :type :info, :f :read, :time 9}
        {:process 1, :type :invoke, :f :read, :time 0}
    ";
    insta::assert_snapshot!(story(&judge(&Stats::default(), &[], text)));
}
