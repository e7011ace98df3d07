//! Intervals from several machines, whose clocks are not exact.

use history_core::{ErrorKind, History, HistoryError, OpKind, Reader};
use std::time::Duration;

fn read(text: &str, error_ns: u64) -> Result<History, HistoryError> {
    History::read(&mut Reader::new(text.as_bytes()).with_clock_error(Duration::from_nanos(error_ns)))
}

/// Each op as its client, `(` or `)`, and its time.
fn ops(text: &str, error_ns: u64) -> Vec<String> {
    let history = read(text, error_ns).unwrap();
    let show = |op: history_core::Op<'_>| {
        let bracket = if op.kind == OpKind::Invoke { '(' } else { ')' };
        let client = op.client_name.map_or_else(|| format!("{:?}", op.process), str::to_owned);
        format!("{}{bracket}{}", client.replace("Client(", "").replace(')', ""), op.time.unwrap())
    };
    history.ops().map(show).collect()
}

const TWO: &str = r#"{"client": 0, "call": 100, "return": 110, "input": ["write", 1]}
    {"client": 1, "call": 121, "return": 130, "input": ["read"], "output": 2}"#;

#[test]
fn operations_nearer_than_twice_the_error_overlap() {
    assert_eq!(ops(TWO, 0), ["0(100", "0)110", "1(121", "1)130"]);
    assert_eq!(ops(TWO, 5), ["0(95", "0)115", "1(116", "1)135"]);
    assert_eq!(ops(TWO, 6), ["0(94", "1(115", "0)116", "1)136"]);
}

#[test]
fn operations_of_one_client_that_overlap_then_have_clients_of_their_own() {
    let one = r#"{"client": 3, "call": 100, "return": 110, "input": ["write", 1]}
        {"client": 3, "call": 112, "return": 120, "input": ["write", 2]}
        {"client": 3, "call": 140, "return": 150, "input": ["write", 3]}"#;
    assert_eq!(ops(one, 5), ["3(95", "4(107", "3)115", "4)125", "3(135", "3)155"]);
    let named = one.replace('3', "\"w\"").replace("[\"write\", \"w\"]", "[\"write\", 3]");
    assert_eq!(ops(&named, 5), ["w(95", "w.2(107", "w)115", "w.2)125", "w(135", "w)155"]);
}

#[test]
fn what_never_returned_never_does() {
    let text = r#"{"client": 0, "call": 100, "input": ["write", 1]}
        {"client": 0, "call": 120, "return": 130, "input": ["write", 2]}"#;
    assert_eq!(ops(text, 50), ["0(50", "1(70", "1)180"]);
}

#[test]
fn only_intervals_have_it() {
    let ops = "{:process 0, :type :invoke, :f :read}";
    let error = read(ops, 1).unwrap_err();
    assert_eq!((error.kind, error.message.contains("for intervals")), (ErrorKind::Unexpected, true));
    assert_eq!(read(ops, 0).unwrap().len(), 1);
    // One client alone has one clock, so two of its operations at once are an error as ever.
    let overlap = r#"{"client": 0, "call": 1, "return": 9, "input": ["read"]} {"client": 0, "call": 5, "return": 6, "input": ["read"]}"#;
    assert!(read(overlap, 1).unwrap_err().message.contains("overlaps"));
}
