//! Jepsen's workloads, by name.

use crate::{histcheck, stdout};
use serde_json::Value;
use snapbox::str;

#[test]
fn a_read_in_the_middle_of_a_transfer_is_explained() {
    histcheck("-m bank -v transfers.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#"
transfers.edn	false
  note: Totals are from 15 to 20, and should be 20.

  wrong-total
    Let:
      R1 = {:index 4, :type :ok, :process 0, :value {0 5, 1 10}}

    Then:
      - R1 shows balances that sum to 15: 5 too little. The total is 20, as the read at index 2 says.

"#]]);
}

#[test]
fn options_go_to_the_workload_that_takes_them() {
    histcheck("-m bank --total-amount 15 -n transfers.edn").assert().code(1).stdout_eq("transfers.edn\tfalse\n");
    histcheck("-m bank --linearizable transfers.edn").assert().code(254).stdout_eq("").stderr_eq(str![[r#"
error: bank takes no option --linearizable

  tip: it is for set-full

Usage: histcheck -m MODEL [OPTIONS] FILE...
       histcheck COMMAND ...

For more information, try '--help'.

"#]]);
}

#[test]
fn reads_that_go_round_are_shown_in_a_table() {
    histcheck("-m long-fork --general -v round.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#""#]]);
    histcheck("-m long-fork --group-size 3 round.edn").assert().code(2).stdout_eq("round.edn\tunknown\n");
}

#[test]
fn comments_and_sequential_are_judged_by_name() {
    histcheck("-m comments -v reverse.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#""#]]);
    histcheck("-m sequential --key-count 3 -v backwards.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#""#]]);
}

#[test]
fn stats_tell_how_it_went() {
    histcheck("-m stats transfers.edn").assert().code(0).stdout_eq("transfers.edn\ttrue\n").stderr_eq(str![[r#"
transfers.edn: note: read: 2 of 2 ok (100.0 %); latency 1.000 to 1.500 ms, median 1.000, 95 % in 1.500, 99 % in 1.500. transfer: 1 of 1 ok (100.0 %); latency 3.500 to 3.500 ms, median 3.500, 95 % in 3.500, 99 % in 3.500.

"#]]);
}

#[test]
fn what_a_program_reads_has_counts_and_facts() {
    let line = stdout(&histcheck("-m bank --output json transfers.edn").assert().code(1));
    let report: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(report["valid"], false);
    assert_eq!(report["counts"]["read-count"], 2);
    let witness = &report["anomalies"]["wrong-total"];
    assert!(witness.to_string().contains("\"expected-total\":20"), "{witness}");
}

#[test]
fn sets_of_elements_become_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let text = "{:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :info, :f :add, :value 1}
                {:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value #{1}}";
    let history = directory.path().join("adds.edn");
    std::fs::write(&history, text).unwrap();
    let out = directory.path().join("out");
    histcheck(&format!("-m set -d {} {}", out.display(), history.display())).assert().code(0);
    let sets = std::fs::read_to_string(out.join("set.edn")).unwrap();
    assert_eq!(sets, "{:ok \"#{1}\", :lost \"#{}\", :unexpected \"#{}\", :recovered \"#{1}\"}\n");
}
