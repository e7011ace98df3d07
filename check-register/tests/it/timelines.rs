//! Timelines of recorded histories: which operations are drawn as placed.

use check_register::Linearizable;
use check_register::models::{CasRegister, MultiRegister};
use history_core::figure::{Bar, BarStatus, Content, Timeline};
use history_core::{Budget, History, Verdict};
use std::fmt::Write as _;

/// For each of eight values, a crashed write of it and a crashed cas to it. A read of the value observed one of the
/// two, so there are 2^8 possibilities, which are too many to search with ten concurrent writes. Each value is read
/// before a read of 99, which was never written, and once more after it.
fn ambiguous() -> String {
    const VALUES: i64 = 8;
    let mut text = String::new();
    let mut process = 20;
    let mut crash = |text: &mut String, f: &str, value: &str| {
        process += 1;
        for kind in ["invoke", "info"] {
            _ = writeln!(text, "{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}");
        }
    };
    for value in 1..=VALUES {
        crash(&mut text, "write", &value.to_string());
        crash(&mut text, "cas", &format!("[0 {value}]"));
    }
    let did = |text: &mut String, f: &str, value: i64| {
        for kind in ["invoke", "ok"] {
            _ = writeln!(text, "{{:process 0, :type :{kind}, :f :{f}, :value {value}}}");
        }
    };
    let all = |text: &mut String| {
        (1..=VALUES).for_each(|value| {
            did(text, "write", 0);
            did(text, "read", value);
        });
    };
    all(&mut text);
    for kind in ["invoke", "ok"] {
        for at in 1..=10 {
            _ = writeln!(text, "{{:process {at}, :type :{kind}, :f :write, :value {}}}", 100 + at);
        }
    }
    did(&mut text, "read", 99);
    all(&mut text);
    text
}

fn timeline(text: &str) -> (Timeline, String) {
    let budget = Budget::default().with_figures(true);
    let checker = Linearizable::<CasRegister>::default();
    let mut report = checker.check_within(&History::parse(text).unwrap(), &budget).unwrap();
    assert_eq!(report.verdict, Verdict::Invalid);
    let explanation = report.anomalies[0].witnesses[0].explanation.clone();
    match report.take_figures().swap_remove(0).content {
        Content::Timeline(timeline) => (*timeline, explanation),
        other => panic!("no timeline but {other:?}"),
    }
}

/// By status: the number of operations that returned, or crashed, and have this status.
fn drawn(timeline: &Timeline) -> Vec<(bool, BarStatus, usize)> {
    let statuses = [BarStatus::Placed, BarStatus::Pending, BarStatus::Refused, BarStatus::After, BarStatus::Failed];
    let kinds = [false, true].into_iter().flat_map(|returned| statuses.map(|status| (returned, status)));
    let count = |(returned, status)| {
        let has = |bar: &&Bar| bar.end.is_some() == returned && bar.status == status;
        (returned, status, timeline.bars.iter().filter(has).count())
    };
    kinds.map(count).filter(|(_, _, count)| *count > 0).collect()
}

#[test]
fn placed_operations_are_drawn_as_placed_if_there_are_too_many_orders() {
    let (timeline, timeline_text) = timeline(&ambiguous());
    // A write and a read of each value, and a crashed operation that each read observed.
    assert_eq!(
        drawn(&timeline),
        [
            (false, BarStatus::Placed, 8),
            (false, BarStatus::Pending, 8),
            (true, BarStatus::Placed, 26),
            (true, BarStatus::Refused, 1),
            (true, BarStatus::After, 16)
        ]
    );
    assert!(timeline_text.contains("T1 is the first that cannot be placed."), "{timeline_text}");
    assert!(
        timeline_text.contains("There may be others: there are too many orders to list all states."),
        "{timeline_text}"
    );
    assert_eq!(timeline.note, None);
}

#[test]
fn operations_that_can_be_placed_are_drawn_as_placed_if_no_order_is_known() {
    // More concurrent writes than the search accepts, none of them of the value that is read.
    let mut text = String::new();
    for kind in ["invoke", "ok"] {
        for at in 0..1_100 {
            _ = writeln!(text, "{{:process {at}, :type :{kind}, :f :write, :value {at}}}");
        }
    }
    text += "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 5000}";
    let (timeline, timeline_text) = timeline(&text);
    assert_eq!(drawn(&timeline), [(true, BarStatus::Placed, 1_100), (true, BarStatus::Refused, 1)]);
    assert!(timeline_text.contains("T1 is the first that cannot be placed."), "{timeline_text}");
    assert!(
        timeline_text.contains("There are too many orders to list the states in which it could take effect."),
        "{timeline_text}"
    );
    let note = "No order is shown: there are too many orders of these operations.";
    assert_eq!(timeline.note.as_deref(), Some(note));
}

#[test]
fn a_key_with_a_slash_names_one_page_and_no_folder() {
    let mut text = String::new();
    for (process, key) in ["q", "q_.html/x"].iter().enumerate() {
        for (read, value) in [("write", 1), ("read", 2)] {
            for kind in ["invoke", "ok"] {
                _ = writeln!(
                    text,
                    "{{:process {process}, :type :{kind}, :f :txn, :value [[:{read} \"{key}\" {value}]]}}"
                );
            }
        }
    }
    let checker = Linearizable::<MultiRegister>::default();
    let budget = Budget::default().with_figures(true);
    let mut report = checker.check_within(&History::parse(&text).unwrap(), &budget).unwrap();
    let names: Vec<String> = report.take_figures().into_iter().map(|figure| figure.name).collect();
    assert_eq!(names.len(), 2, "one for each key: {names:?}");
    assert!(names.iter().all(|name| !name.contains('/')), "{names:?}");
}
