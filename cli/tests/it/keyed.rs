//! `--keyed`.

use crate::{check, histcheck, stderr, stdout};
use serde_json::Value;
use snapbox::str;

#[test]
fn each_key_is_judged_on_its_own() {
    check("--keyed keyed.edn").code(1).stdout_eq("keyed.edn\tfalse\n").stderr_eq("");
    check("--keyed=no keyed.edn").code(2).stdout_eq("keyed.edn\tunknown\n");
    check("--keyed -v keyed.edn").code(1).stdout_eq(str![[r#"
keyed.edn	false
  note: Key :b: No two transactions are known to depend on each other, [..]
  key :b: false
  1 of 2 keys are valid
  not read-committed
...

  G1a
    In the history of key :b:
    Let:
...
"#]]);
}

#[test]
fn the_report_lists_keys() {
    let text = stdout(&check("--keyed --output json keyed.edn").code(1));
    let line: Value = serde_json::from_str(&text).unwrap();
    let a = r#"{"key":"a","valid":true,"anomaly_types":[]}"#;
    assert_eq!(line["keys"][0], serde_json::from_str::<Value>(a).unwrap());
    let b = &line["keys"][1];
    assert_eq!((&b["key"], &b["valid"], &b["anomaly_types"][0]), (&"b".into(), &false.into(), &"G1a".into()));
    assert!(b["notes"][0].as_str().unwrap().starts_with("No two transactions are known to depend"));
    assert_eq!(line["counts"]["key-count"], 2);
    let plain = stdout(&check("--output json valid.edn").code(0));
    assert!(!plain.contains("keys"), "{plain}");
}

#[test]
fn auto_says_what_it_decided() {
    let keyed =
        "keyed.edn: note: each key is checked separately: all 4 invocations have a value of the form [key value]\n";
    check("--keyed=auto keyed.edn").code(1).stdout_eq("keyed.edn\tfalse\n").stderr_eq(keyed);
    let whole = "valid.edn: note: the history is checked as a whole: the op at index 0 (line 1) does not have exactly one key\n";
    check("--keyed=auto valid.edn").code(0).stderr_eq(whole);
}

#[test]
fn a_history_without_keys_is_not_judged_by_key() {
    let assert = check("--keyed valid.edn").code(2).stdout_eq("valid.edn\tunknown\n");
    let said = stderr(&assert);
    assert!(said.contains("the op has no key; expected a value of the form [key value]"), "{said}");
    check("--keyed=perhaps valid.edn").code(254);
}

#[test]
fn intervals_are_judged_too() {
    check("intervals.jsonl").code(0).stdout_eq("intervals.jsonl\ttrue\n").stderr_eq("");
    check("-f intervals intervals.jsonl").code(0);
    histcheck("validate intervals.jsonl")
        .assert()
        .code(0)
        .stdout_eq("...\nintervals.jsonl\t0 errors, 0 warnings, 4 ops\n");
}

/// A checker may count its own keys: here the transactions of one key contain three keys, or none.
#[test]
fn keys_within_keys_are_not_counted() {
    let txn = |key: &str, mops: &str| {
        let op = |kind: &str| format!("{{:process 0, :type :{kind}, :f :txn, :value [{key} [{mops}]]}}\n");
        op("invoke") + &op("ok")
    };
    for (history, said) in [
        (txn(":a", "[:append :x 1] [:append :y 1] [:append :z 1]"), "0 of 1 keys are valid\n"),
        (txn(":a", "") + &txn(":b", ""), "0 of 2 keys are valid\n"),
    ] {
        let text = stdout(&histcheck("-m list-append --keyed -v -").stdin(history).assert().code(2));
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn keys_are_left_to_a_checker_that_separates_them() {
    let insert = |process: u32, ids: &str| {
        ["invoke", "ok"]
            .map(|kind| format!("{{:process {process}, :type :{kind}, :f :insert, :value [1 {ids}]}}\n"))
            .concat()
    };
    let history = insert(0, "[1 nil]") + &insert(1, "[nil 2]");
    for keyed in ["--keyed", "--keyed=auto", "--keyed=no"] {
        histcheck(&format!("-m adya-g2 {keyed} -")).stdin(history.clone()).assert().code(1).stdout_eq("-\tfalse\n");
    }
    let several = histcheck("-m adya-g2,set --keyed=auto -").stdin(history).assert().code(1);
    let said = stderr(&several);
    assert!(said.contains("checked as a whole") && said.contains("separates the keys itself"), "{said}");
}
