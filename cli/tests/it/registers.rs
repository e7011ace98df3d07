//! Checks registers from the command line.

use crate::{histcheck, stderr};
use snapbox::str;

#[test]
fn a_stale_read_is_explained_with_its_chain() {
    histcheck("-v -m versioned-register stale-register.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#"
stale-register.edn	false

  stale-read
    Let:
      T1 = {:index 2, :type :ok, :process 1, :time 9000000, :f :write, :value 2, :write-id "6ba7b811", :prev-write-id "6ba7b810"}
      T2 = {:index 5, :type :ok, :process 2, :time 35000000, :f :read, :value 0, :write-id "00000000"}

    Then:
      - T1 completed at index 2, and shows version "6ba7b811".
      - Writes replaced the versions in this order: "00000000" -> "6ba7b810" -> "6ba7b811".
      - However, T2 began after that, 24 ms later, at index 3, and read version "00000000": a contradiction!

"#]]);
}

#[test]
fn the_initial_version_may_be_given_as_a_bare_word() {
    let words = "-m versioned-register stale-register.edn --initial-write-id";
    histcheck(&format!("{words} 00000000-0000-0000-0000-000000000000")).assert().code(1);
    let assert = histcheck("-m versioned-register - --initial-write-id a --initial-value 0")
        .stdin("{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 0, :write-id \"a\"}")
        .assert();
    assert.code(0).stdout_eq("-\ttrue\n").stderr_eq("");
    let assert = histcheck(&format!("{words} [")).assert().code(254);
    assert!(
        stderr(&assert).starts_with("error: --initial-write-id: expected an EDN or JSON value"),
        "{}",
        stderr(&assert)
    );
}

#[test]
fn a_window_must_hold_something() {
    let assert = histcheck("-m versioned-register --forget 0 stale-register.edn").assert().code(254);
    assert!(stderr(&assert).contains("--forget: expected a number from 1"), "{}", stderr(&assert));
    histcheck("-m versioned-register --forget 2 stale-register.edn").assert().code(1);
}

#[test]
fn what_is_no_register_is_unknown_and_says_why() {
    histcheck("-m versioned-register valid.edn").assert().code(2).stdout_eq("valid.edn\tunknown\n").stderr_eq(str![[r#"
valid.edn: unknown: No verdict, because of the op at index 0 (line 1): the op has the :f txn; expected read or write. Next: Correct the op at index 0 (line 1) where it was recorded, or choose the checker of such ops with -m.

"#]]);
}
