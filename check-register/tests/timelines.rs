//! Timelines of recorded histories: which operations are drawn as placed.

use check_register::Linearizable;
use check_register::models::CasRegister;
use history_core::{History, Verdict};
use std::fmt::Write as _;

/// The numbers in a column of a page's data.
fn column(page: &str, name: &str) -> Vec<u32> {
    let start = page.find(&format!("\"{name}\":[")).expect("a column") + name.len() + 4;
    let (numbers, _) = page[start..].split_once(']').expect("its end");
    numbers.split(',').map(|number| number.parse().expect("a number")).collect()
}

/// For each of eight values, a crashed write of it and a crashed cas to it: whoever reads it saw one of the two, which makes
/// 2^8 ways, and with ten writes at one time too many to go through. Each value is read before a read of 99, which nobody
/// wrote, and once more behind it.
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

fn page(text: &str) -> (String, String) {
    let checker = Linearizable::<CasRegister> { max_timeline_bytes: Some(1 << 20), ..Linearizable::default() };
    let report = checker.check(&History::parse(text).unwrap()).unwrap();
    assert_eq!(report.verdict, Verdict::Invalid);
    let page = String::from_utf8(report.artifacts[0].content.clone()).unwrap();
    (page, report.anomalies[0].witnesses[0].explanation.clone())
}

const PLACED: u32 = 0;
const PENDING: u32 = 1;
const REFUSED: u32 = 2;
const AFTER: u32 = 3;

/// By status, how many of the operations that returned, and of the crashed ones.
fn drawn(page: &str) -> Vec<(bool, u32, usize)> {
    let length =
        page.find("\"length\":[").map(|start| &page[start + 10..]).and_then(|rest| rest.split_once(']')).unwrap().0;
    let returned: Vec<bool> = length.split(',').map(|length| length != "-1").collect();
    let mut all: Vec<(bool, u32)> = returned.into_iter().zip(column(page, "status")).collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).map(|same| (same[0].0, same[0].1, same.len())).collect()
}

#[test]
fn what_was_placed_is_drawn_as_placed_where_not_all_ways_can_be_counted() {
    let (page, told) = page(&ambiguous());
    // A write and a read of each value, each with a crashed operation that it saw.
    assert_eq!(
        drawn(&page),
        [(false, PLACED, 8), (false, PENDING, 8), (true, PLACED, 26), (true, REFUSED, 1), (true, AFTER, 16)]
    );
    assert!(told.contains("T1 is the first that cannot be placed."), "{told}");
    assert!(told.contains("There may be others: there were too many ways to go on to list all."), "{told}");
    assert!(!page.contains("No order is shown"));
}

#[test]
fn what_can_be_placed_is_drawn_as_placed_where_no_order_is_known() {
    // More writes at one time than the search begins with, none of them of what is read.
    let mut text = String::new();
    for kind in ["invoke", "ok"] {
        for at in 0..1_100 {
            _ = writeln!(text, "{{:process {at}, :type :{kind}, :f :write, :value {at}}}");
        }
    }
    text += "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 5000}";
    let (page, told) = page(&text);
    assert_eq!(drawn(&page), [(true, PLACED, 1_100), (true, REFUSED, 1)]);
    assert!(told.contains("T1 is the first that cannot be placed."), "{told}");
    assert!(told.contains("There were too many ways to go on to list the states it could have met."), "{told}");
    assert!(page.contains("No order is shown: there were too many ways to put these operations in one."));
}
