//! Jepsen's workloads, by name.

use crate::{histcheck, stdout};
use serde_json::Value;
use snapbox::str;

#[test]
fn a_read_in_the_middle_of_a_transfer_is_explained() {
    histcheck("-m bank -v transfers.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#"
transfers.edn	false
  note: Totals range from 15 to 20; expected 20.

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
error: bank has no option --linearizable

  tip: it is an option of set-full

Usage: histcheck -m CHECKERS [OPTIONS] FILE...
       histcheck COMMAND ...

For more information, try '--help'.

"#]]);
}

#[test]
fn reads_that_go_round_are_shown_in_a_table() {
    histcheck("-m long-fork --general -v round.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#"
round.edn	false

  long-fork
    Let:
      R1 = {:index 3, :type :ok, :process 2, :value [[:r 0 1] [:r 1 1] [:r 2 1]]}
      R2 = {:index 6, :type :ok, :process 2, :value [[:r 0 1] [:r 1 2] [:r 2 2]]}
      R3 = {:index 8, :type :ok, :process 3, :value [[:r 0 2] [:r 1 1] [:r 2 2]]}

    Then:
      - A value that was replaced does not come back, so reads that show the same value of a key are adjacent, and those that show nil come first.
      - No order of R1 to R3 satisfies this.
      - In the order R1 R2 R3 the key 1 is 1 in R1 and in R3, and is not between them.
      - In the order R1 R3 R2 the key 0 is 1 in R1 and in R2, and is not between them.
      - In the order R2 R1 R3 the key 2 is 2 in R2 and in R3, and is not between them.
      - In the order R2 R3 R1 the key 0 is 1 in R2 and in R1, and is not between them.
      - In the order R3 R1 R2 the key 2 is 2 in R3 and in R2, and is not between them.
      - In the order R3 R2 R1 the key 1 is 1 in R3 and in R1, and is not between them.
      - Any smaller set of reads of this group can be ordered.

      key  R1  R2  R3
      0    1   1   2
      1    1   2   1
      2    1   2   2

"#]]);
    histcheck("-m long-fork --group-size 3 round.edn").assert().code(2).stdout_eq("round.edn\tunknown\n");
}

#[test]
fn comments_and_sequential_are_judged_by_name() {
    histcheck("-m comments -v reverse.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#"
reverse.edn	false

  causal-reverse
    Let:
      W1 = {:index 1, :type :ok, :process 0, :value 1}
      W2 = {:index 2, :type :invoke, :process 1, :value 2}
      R1 = {:index 4, :type :ok, :process 2, :value [2]}

    Then:
      - The write of 1 was acknowledged (W1) before that of 2 was invoked (W2), so it came first.
      - R1 shows 2, but not 1.

"#]]);
    histcheck("-m sequential --key-count 3 -v backwards.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#"
backwards.edn	false

  out-of-order
    Let:
      R1 = {:index 1, :type :ok, :process 0, :value [7 ["7_2" nil "7_0"]]}

    Then:
      - R1 shows subkey 2 of 7, but not subkey 1.
      - Subkeys were written in order, 1 before 2, and R1 read 1 after 2.

"#]]);
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
