//! A violation in a prefix is one of the whole: no later op removes it. Tested by brute force on small histories.

use history_core::{Budget, Checker, HistoryError, Options, Reader, Report, Verdict};
use std::fmt::Write as _;

/// A transaction of a small history: its micro-ops, and its outcome.
#[derive(Clone, Copy)]
struct Txn {
    mops: &'static [&'static str],
    end: &'static str,
}

/// Transactions over the lists 1 and 2. Each appends a unique element, which replaces `#`; the results of reads are
/// arbitrary.
const LISTS: &[&[&str]] = &[
    &[r#"["append",1,#]"#],
    &[r#"["append",1,#]"#, r#"["append",2,#]"#],
    &[r#"["r",1,[]]"#, r#"["append",2,#]"#],
    &[r#"["r",2,[]]"#, r#"["append",1,#]"#],
    &[r#"["r",1,[1]]"#],
    &[r#"["r",1,[2,1]]"#],
    &[r#"["r",1,[1,2]]"#, r#"["r",2,[]]"#],
    &[r#"["r",2,[1]]"#, r#"["r",1,[]]"#],
];

/// The same over registers.
const REGISTERS: &[&[&str]] = &[
    &[r#"["w",1,#]"#],
    &[r#"["w",1,#]"#, r#"["w",2,#]"#],
    &[r#"["r",1,null]"#, r#"["w",2,#]"#],
    &[r#"["r",2,null]"#, r#"["w",1,#]"#],
    &[r#"["r",1,1]"#, r#"["w",1,#]"#],
    &[r#"["r",1,2]"#],
    &[r#"["r",2,1]"#, r#"["r",1,null]"#],
    &[r#"["r",1,1]"#, r#"["r",2,2]"#],
];

/// Two processes and three transactions: the process of each, and whether the next one begins before it has ended.
const SCHEDULES: &[&[(usize, bool)]] = &[
    &[(0, true), (0, false), (1, true), (1, false), (2, true), (2, false)],
    &[(0, true), (1, true), (0, false), (1, false), (2, true), (2, false)],
    &[(0, true), (1, true), (1, false), (2, true), (2, false), (0, false)],
    &[(0, true), (1, true), (2, true), (2, false), (1, false), (0, false)],
];

/// The lines of a history. Transactions that have not ended are in flight, as at the end of a prefix.
fn lines(txns: [Txn; 3], schedule: &[(usize, bool)]) -> Vec<String> {
    let line = |(index, (txn, begins)): (usize, &(usize, bool))| {
        let mops = txns[*txn].mops.join(",").replace('#', &(txn + 1).to_string());
        let kind = if *begins { "invoke" } else { txns[*txn].end };
        format!(r#"{{"index":{index},"type":"{kind}","process":{txn},"f":"txn","value":[{mops}]}}"#)
    };
    schedule.iter().enumerate().map(line).collect()
}

/// Returns true if a transaction returns a value before the write of it was invoked. This cannot be recorded, because
/// each value is used only once. A later write would explain the read where real time does not count.
fn foresees(txns: [Txn; 3], schedule: &[(usize, bool)]) -> bool {
    let place = |of: (usize, bool)| schedule.iter().position(|step| *step == of);
    txns.iter().enumerate().filter(|(_, txn)| txn.end == "ok").any(|(at, txn)| {
        let reads = txn.mops.iter().filter(|mop| mop.starts_with(r#"["r""#));
        let values = reads.flat_map(|mop| mop[6..].chars().filter_map(|c| c.to_digit(10)));
        values.into_iter().any(|value| {
            let writer = usize::try_from(value).unwrap_or_default().saturating_sub(1);
            place((writer, true)) > place((at, false))
        })
    })
}

fn judge(checker: &dyn Checker, level: &str, lines: &[String]) -> Result<Report, HistoryError> {
    let mut text = String::new();
    for line in lines {
        _ = writeln!(text, "{line}");
    }
    let options = Options::new().with("consistency-models", level);
    let run = checker.start(&options).expect("the checker takes the level");
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default())
}

/// Checks all histories. Returns how many prefixes were invalid.
fn look(name: &str, txns: &[&'static [&'static str]], level: &str) -> usize {
    let checker = crate::setup::checker(name);
    let ends = ["ok", "fail", "info"];
    let all: Vec<Txn> = txns.iter().flat_map(|mops| ends.map(|end| Txn { mops, end })).collect();
    let mut invalid = 0;
    // One of the three transactions always succeeds, because failures alone show nothing. Every third combination is
    // used, to keep the number of histories small.
    for (at, first) in all.iter().enumerate().filter(|(_, txn)| txn.end == "ok") {
        for (to, second) in all.iter().enumerate() {
            for third in all.iter().skip((at + to) % 3).step_by(3) {
                for schedule in SCHEDULES {
                    if foresees([*first, *second, *third], schedule) {
                        continue;
                    }
                    let lines = lines([*first, *second, *third], schedule);
                    let verdict =
                        |upto: usize| judge(&*checker, level, &lines[..upto]).map(|report| report.verdict).ok();
                    let prefixes: Vec<_> = (1..=lines.len()).map(verdict).collect();
                    let Some(broken) = prefixes.iter().position(|verdict| *verdict == Some(Verdict::Invalid)) else {
                        continue;
                    };
                    invalid += 1;
                    let later = &prefixes[broken..];
                    assert!(
                        later.iter().all(|verdict| *verdict == Some(Verdict::Invalid)),
                        "{name} at {level}: {prefixes:?}\n{}",
                        lines.join("\n")
                    );
                }
            }
        }
    }
    invalid
}

#[test]
fn no_later_op_takes_back_what_a_prefix_of_lists_shows() {
    for level in ["strict-serializable", "serializable", "snapshot-isolation", "read-committed"] {
        let invalid = look("list-append", LISTS, level);
        assert!(invalid > 20, "{level}: only {invalid}");
    }
}

#[test]
fn no_later_op_takes_back_what_a_prefix_of_registers_shows() {
    for level in ["strict-serializable", "serializable", "snapshot-isolation", "read-committed"] {
        let invalid = look("rw-register", REGISTERS, level);
        assert!(invalid > 20, "{level}: only {invalid}");
    }
}
