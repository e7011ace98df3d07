//! Writes histories as text: the same ops in several formats.

use super::messy::{Entry, Shown, Who};
use std::fmt::Write;

/// Writes EDN, one map on each line.
pub(crate) fn edn(ops: &[Entry]) -> String {
    let mut text = String::new();
    for (at, op) in ops.iter().enumerate() {
        let (index, time) = place(at);
        let process = match op.who {
            Who::Client(process) => format!(":process {process}, "),
            Who::Nobody => String::new(),
            Who::Nemesis => ":process :nemesis, ".into(),
        };
        let (kind, value) = (op.kind, edn_value(op));
        writeln!(text, "{{:index {index}, :time {time}, :type :{kind}, {process}:f :txn, :value {value}}}")
            .expect("strings take all");
    }
    text
}

/// Writes EDN as one vector of records, with the fields in another order, additional fields, and comments.
pub(crate) fn odd_edn(ops: &[Entry]) -> String {
    let mut text = String::from("; a history\n[");
    for (at, op) in ops.iter().enumerate() {
        let (index, time) = place(at);
        let process = match op.who {
            Who::Client(process) => format!(":process \"{process}\""),
            Who::Nobody => ":process nil".into(),
            Who::Nemesis => ":process nemesis".into(),
        };
        let value = edn_value(op)
            .replace(":append", "\"append\"")
            .replace(":r", "r")
            .replace(":w", "\"w\"")
            .replace(' ', " , ");
        let kind = op.kind;
        write!(
            text,
            "#jepsen.history.Op{{:value {value} :error [:x {{:index 7}}] {process}\n:host \"n{at}\", :type {kind:?} \
             #_:skipped :index {index} :time {time}}}"
        )
        .expect("strings take all");
    }
    text + "]"
}

/// Writes JSON Lines.
pub(crate) fn json(ops: &[Entry]) -> String {
    let mut text = String::new();
    for (at, op) in ops.iter().enumerate() {
        let (index, time) = place(at);
        let process = match op.who {
            Who::Client(process) => format!("\"process\":{process},"),
            Who::Nobody => String::new(),
            Who::Nemesis => "\"process\":\"nemesis\",".into(),
        };
        let mops: Vec<String> = op.mops.iter().map(json_mop).collect();
        let value = if op.has_value { format!("[{}]", mops.join(",")) } else { "null".into() };
        let kind = op.kind;
        writeln!(
            text,
            "{{\"index\":{index},\"time\":{time},{process}\"type\":\"{kind}\",\"f\":\"txn\",\"value\":{value}}}"
        )
        .expect("strings take all");
    }
    text
}

/// Returns an index and a time, both different from the op's position.
fn place(at: usize) -> (usize, usize) {
    (3 * at + at % 2, 1000 * at + 7)
}

fn edn_value(op: &Entry) -> String {
    let mop = |mop: &Shown| match mop {
        Shown::Append(key, element) => format!("[:append {key} {element}]"),
        Shown::Write(key, value) => format!("[:w {key} {value}]"),
        Shown::Value(key, value) => format!("[:r {key} {}]", or(*value, "nil")),
        Shown::Read(key, None) => format!("[:r {key} nil]"),
        Shown::Read(key, Some(list)) => format!("[:r {key} {}]", format!("{list:?}").replace(',', "")),
    };
    let mops: Vec<String> = op.mops.iter().map(mop).collect();
    if op.has_value { format!("[{}]", mops.join(" ")) } else { "nil".into() }
}

fn json_mop(mop: &Shown) -> String {
    match mop {
        Shown::Append(key, element) => format!("[\"append\",{key},{element}]"),
        Shown::Write(key, value) => format!("[\"w\",{key},{value}]"),
        Shown::Value(key, value) => format!("[\"r\",{key},{}]", or(*value, "null")),
        Shown::Read(key, None) => format!("[\"r\",{key},null]"),
        Shown::Read(key, Some(list)) => format!("[\"r\",{key},{list:?}]"),
    }
}

fn or(value: Option<u32>, nothing: &str) -> String {
    value.map_or(nothing.to_owned(), |value| value.to_string())
}
