//! Tests the README's table of differences: each of its histories has the verdict in the table.

use check_jepsen::bank::Bank;
use check_jepsen::comments::Comments;
use check_jepsen::counter::Counter;
use check_jepsen::long_fork::LongFork;
use check_jepsen::queue::Queue;
use check_jepsen::sequential::Sequential;
use check_jepsen::set::Set;
use check_jepsen::set_full::SetFull;
use check_jepsen::stats::Stats;
use check_jepsen::total_queue::TotalQueue;
use check_jepsen::unique_ids::UniqueIds;
use history_core::Verdict::{Invalid, Unknown, Valid};
use history_core::{Checker, Verdict};
use std::fmt::Write;

/// The text of a history in the README's short form: `0i add 3` is the invocation of `(add 3)` by process 0. Unless the
/// history is of completions only, those without an invocation get one just before, with the same value for additions.
fn long(short: &[&str], completions_only: bool) -> String {
    let (mut text, mut open) = (String::new(), Vec::new());
    for op in short {
        let (who, what) = op.split_once(' ').unwrap();
        let (process, kind) = who.split_at(1);
        let (f, value) = what.split_once(' ').unwrap_or((what, "nil"));
        let mut write = |kind: &str, value: &str| {
            _ = writeln!(text, "{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}");
        };
        if kind == "i" {
            open.push(process);
            write("invoke", value);
            continue;
        }
        let end = if kind == "f" { "fail" } else { "ok" };
        match open.iter().position(|known| *known == process) {
            Some(at) => _ = open.remove(at),
            None if completions_only => {}
            None => write("invoke", if matches!(f, "add" | "enqueue" | "write") { value } else { "nil" }),
        }
        write(end, value);
    }
    text
}

/// The checker, the history, and the verdict.
type Row<'a> = (&'a dyn Checker, &'a [&'a str], Verdict);

#[test]
fn each_history_of_the_table_is_judged_as_it_says() {
    let (bank, set, queue, total_queue) = (Bank::default(), Set::default(), Queue::default(), TotalQueue::default());
    let (set_full, linearizable) = (SetFull::default(), SetFull { linearizable: true });
    let (comments, long_fork) = (Comments::default(), LongFork::default());
    let general = LongFork { general: true, ..long_fork };
    let rows: &[Row<'_>] = &[
        (&bank, &["0o read {\"0\" 5}", "0o read {0 5}"], Valid),
        (&bank, &["0o read {0 5, 1 5}", "0o read {0 10}"], Valid),
        (&bank, &["0o read {0 nil}"], Invalid),
        (&bank, &["0o read nil"], Unknown),
        (&Counter::default(), &["0i add -1", "1i read", "1o read -1"], Valid),
        (&Counter::default(), &["0i add 1", "0o add 9"], Unknown),
        (&set, &["0i add 3", "0o add nil", "0o read #{3}"], Valid),
        (&set, &["0i add nil", "0o add 3", "0o read #{3}"], Valid),
        (&set_full, &["0i add nil", "0o add 3", "0o read #{3}"], Valid),
        (&queue, &["0i enqueue nil", "1o dequeue 3", "0o enqueue 3"], Valid),
        (&total_queue, &["0i enqueue nil", "1o dequeue 3", "0o enqueue 3"], Valid),
        (&set, &["0i add 3", "0o add 4"], Unknown),
        (&set_full, &["0i add 3", "0o add 4"], Unknown),
        (&total_queue, &["0i enqueue 3", "0o enqueue 4"], Unknown),
        (&set_full, &["0o add 1", "0o read [1]", "0o read [1 1]"], Invalid),
        (&set_full, &["0o add 1", "0o read []", "0o add 1"], Invalid),
        (&set_full, &["0o add 1", "0o read nil"], Unknown),
        (&linearizable, &["0o add 1", "1i read", "1o read []", "1o read [1]"], Invalid),
        (&set_full, &["0o add 1", "1i read", "1o read []", "1o read [1]"], Valid),
        (&long_fork, &["0o read [[:r 0 1] [:r 1 1]]", "0o read [[:r 0 2] [:r 1 nil]]"], Unknown),
        (&general, &["0o read [[:r 0 1] [:r 1 1]]", "0o read [[:r 0 2] [:r 1 nil]]"], Valid),
        (&general, &["0o read [[:r 0 1] [:r 1 nil]]", "0o read [[:r 0 nil] [:r 1 1]]"], Invalid),
        (&long_fork, &["0o txn [[:r 0 nil] [:w 0 1]]"], Unknown),
        (&long_fork, &["0i write [[:w 0 nil]]"], Unknown),
        (&comments, &["0o write 1", "0o write 1"], Unknown),
        (&comments, &["0o read nil"], Unknown),
        (&comments, &["0o read [5 [1]]"], Unknown),
        (&comments, &["0o write 1", "0o write 2", "0o read #{1 2}"], Valid),
        (&comments, &["0o write 0", "0i write 1", "0f write 1", "0o write 1", "0o read #{0 1}"], Valid),
        (&Sequential::default(), &["0o read nil"], Unknown),
        (&Sequential::default(), &["0o read [5 [nil 0]]"], Valid),
        (&Sequential::default(), &["0o read [5 [2 1]]"], Valid),
        (&Sequential::default(), &["0o read [5 [7 [1 nil 0]]]"], Unknown),
        (&queue, &["0o dequeue 1", "0o enqueue 1", "0o dequeue 1"], Invalid),
        (&queue, &["0o dequeue nil"], Unknown),
        (&total_queue, &["0o dequeue nil"], Unknown),
        (&total_queue, &["0o enqueue 1", "0i drain"], Unknown),
        (&UniqueIds::default(), &["0o generate nil", "0o generate nil"], Unknown),
        (&Stats::default(), &["0i read"], Unknown),
    ];
    for (checker, short, verdict) in rows {
        let report = crate::common::judge(*checker, &[], &long(short, false));
        assert_eq!(report.verdict, *verdict, "{} {short:?}: {report:?}", checker.name());
    }
    let completions: Row<'_> = (&set, &["0o add 3", "0o read #{3}"], Valid);
    assert_eq!(crate::common::judge(&set, &[], &long(completions.1, true)).verdict, completions.2);
    each_row_has_its_history(rows.iter().chain([&completions]).map(|row| (row.0.name(), row.1)).collect());
}

/// Verifies that every row of the table is about a checker, and that its histories are among those that were tested.
fn each_row_has_its_history(mut judged: Vec<(&str, &[&str])>) {
    judged.push(("stats", &["0i read", "0o read", "0i read", "0o read"]));
    let (_, table) = include_str!("../../README.md").split_once("## Where it differs").unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert_eq!(rows.len(), 33);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [what, _, _, shown] = cells[..] else { panic!("{row}") };
        let history: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        let about = what.trim().split([':', ',']).next().unwrap();
        let names: &[&str] = match about {
            "sets" => &["set", "set-full"],
            "queues" => &["queue", "total-queue"],
            "quantiles" => &["stats"],
            name => &[name],
        };
        for name in names {
            assert!(
                judged.iter().any(|(of, short)| of == name && *short == history),
                "no test has the history of {row}"
            );
        }
    }
}

#[test]
fn a_median_is_the_smaller_one_of_two() {
    let text = "{:process 0, :type :invoke, :f :read, :time 0} {:process 0, :type :ok, :f :read, :time 1000000}
                {:process 0, :type :invoke, :f :read, :time 2000000} {:process 0, :type :ok, :f :read, :time 4000000}";
    let report = crate::common::judge(&Stats::default(), &[], text);
    let median = report.counts.iter().find(|(name, _)| name == "read-latency-us-p50").unwrap();
    assert_eq!(median.1, 1000);
}

/// A read without `nil` counts as a read of all subkeys, whatever their names.
#[test]
fn all_count_is_of_reads_without_nil() {
    let report = crate::common::judge(&Sequential::default(), &[], &long(&["0o read [5 [2 1]]"], false));
    assert!(report.counts.contains(&("all-count".into(), 1)), "{:?}", report.counts);
}
