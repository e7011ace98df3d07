//! `-m` with several names.

use crate::{histcheck, stderr, stdout};
use serde_json::Value;
use snapbox::str;

#[test]
fn each_is_explained_under_its_name() {
    histcheck("-m long-fork,bank,stats -v transfers.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#"
transfers.edn	false
  long-fork: unknown
    note: No verdict, because of the op at index 2 (line 3): expected a transaction as the op's value, found a map. One more op has a problem of this kind.
    note: long-fork ignored 4 of 6 client ops, because of their :f or value: :transfer (2), :read (2). It expects :read, :write or :txn with [[:r key value] ...] or [[:w key value] ...].
    next: Correct the op at index 2 (line 3) where it was recorded, or choose the checker of such ops with -m.
  bank: false
    note: Totals range from 15 to 20; expected 20.

    wrong-total
      Let:
        R1 = {:index 4, :type :ok, :process 0, :value {0 5, 1 10}}

      Then:
        - R1 shows balances that sum to 15: 5 too little. The total is 20, as the read at index 2 says.
  stats: true
    note: read: 2 of 2 ok (100.0 %); latency 1.000 to 1.500 ms, median 1.000, 95 % in 1.500, 99 % in 1.500.
    note: transfer: 1 of 1 ok (100.0 %); latency 3.500 to 3.500 ms, median 3.500, 95 % in 3.500, 99 % in 3.500.

"#]]);
}

#[test]
fn the_worst_verdict_is_that_of_all_and_each_unclear_one_is_told() {
    histcheck("-m bank,stats transfers.edn").assert().code(1).stdout_eq("transfers.edn\tfalse\n");
    histcheck("-m stats,set,long-fork transfers.edn").assert().code(2).stdout_eq("transfers.edn\tunknown\n").stderr_eq(str![[r#"
transfers.edn: stats: note: read: 2 of 2 ok (100.0 %); latency 1.000 to 1.500 ms, median 1.000, 95 % in 1.500, 99 % in 1.500. transfer: 1 of 1 ok (100.0 %); latency 3.500 to 3.500 ms, median 3.500, 95 % in 3.500, 99 % in 3.500.
transfers.edn: set: unknown: No verdict, because of the op at index 4: expected a collection of elements as the read's value, found a map. set ignored 4 of 6 client ops, because of their :f or value: :transfer (2), :read (2). It expects :add of an element, and :read of all elements. Next: Correct the op at index 4 where it was recorded, or choose the checker of such ops with -m.
transfers.edn: long-fork: unknown: No verdict, because of the op at index 2 (line 3): expected a transaction as the op's value, found a map. One more op has a problem of this kind. long-fork ignored 4 of 6 client ops, because of their :f or value: :transfer (2), :read (2). It expects :read, :write or :txn with [[:r key value] ...] or [[:w key value] ...]. Next: Correct the op at index 2 (line 3) where it was recorded, or choose the checker of such ops with -m.

"#]]);
    histcheck("-m stats,list-append valid.edn").assert().code(0).stdout_eq("valid.edn\ttrue\n");
}

/// The report of each of several checkers has the same bytes as its report alone.
#[test]
fn the_report_of_each_is_that_of_it_alone() {
    for (file, keyed) in [("transfers.edn", ""), ("keyed.edn", "--keyed"), ("round.edn", "--keyed=auto")] {
        let names = ["bank", "stats", "list-append", "set-full", "long-fork"];
        let run = |model: &str| histcheck(&format!("-m {model} {keyed} --output json {file}")).assert();
        let all = stdout(&run(&names.join(",")));
        let json: Value = serde_json::from_str(&all).unwrap();
        for name in names {
            let alone = stdout(&run(name));
            let alone = alone.trim_end().split_once("\"checker\"").unwrap().1;
            let there = format!("\"{name}\":{{\"checker\"{alone}");
            assert!(all.contains(&there), "{file}: {all} lacks {there}");
            assert_eq!(json["checkers"][name]["checker"], *name);
        }
    }
}

#[test]
fn files_of_each_have_a_folder_of_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    histcheck(&format!("-m bank,list-append -d {} transfers.edn", path.display())).assert().code(1);
    assert!(path.join("bank/wrong-total.txt").exists());
    let report = std::fs::read_to_string(path.join("report.txt")).unwrap();
    assert!(report.starts_with("transfers.edn\tfalse\nbank: false\n  note: Totals"), "{report}");
    assert!(report.contains("\nlist-append: unknown\n"), "{report}");
}

#[test]
fn options_go_to_those_that_take_them() {
    histcheck("-m bank,set-full --linearizable --total-amount 15 transfers.edn").assert().code(1);
    let said = stderr(&histcheck("-m bank,stats --linearizable transfers.edn").assert().code(254));
    assert!(
        said.contains("bank,stats has no option --linearizable") && said.contains("it is an option of set-full"),
        "{said}"
    );
}

#[test]
fn a_wrong_name_among_several_is_named() {
    let said = stderr(&histcheck("-m stats,bnk transfers.edn").assert().code(254).stdout_eq(""));
    assert!(said.contains("invalid value 'bnk'") && said.contains("a similar value exists: 'bank'"), "{said}");
    histcheck("-m stats,bank,stats transfers.edn").assert().code(254).stdout_eq("").stderr_eq(str![[r#"
error: -m: stats is given twice

  tip: pass it once

Usage: histcheck -m CHECKERS [OPTIONS] FILE...
       histcheck COMMAND ...

For more information, try '--help'.

"#]]);
    histcheck("-m bank, transfers.edn").assert().code(254).stdout_eq("");
}
