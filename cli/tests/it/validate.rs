//! `histcheck validate`.

use crate::{fixtures, histcheck, stderr, stdout};
use serde_json::Value;
use snapbox::{Data, str};
use std::fs;

#[test]
fn all_problems_are_reported_at_once() {
    histcheck("validate many.edn").assert().code(1).stderr_eq("").stdout_eq(str![[r#"
many.edn:2:1: error: process 0 invokes an op while its op of line 1 is in flight [double-invocation]
  2 | {:process 0, :type :invoke, :f :txn, :value [[:append :x 2]]
    | ^
  expected the completion of that op first
many.edn:3:1: error: process 1 completes an op without having invoked one [unpaired-completion]
  3 | {:process 1, :type :ok, :f :txn, :value [[:r :x [1]]]}
    | ^
  expected an invocation by that process before it
many.edn:4:1: error: the op's type is :nope [not-an-op]
  4 | {:process 2, :type :nope, :f :txn, :value [[:r :x nil]]}
    | ^
  expected invoke, ok, fail or info
many.edn:5:1: error: process 3 completes an op without having invoked one [unpaired-completion]
  5 | {:process 3, :type :ok, :f :txn, :value [[:r :x [1]]]}
    | ^
  expected an invocation by that process before it
many.edn:6:1: warning: [:append :x 1] was already written in line 1: which of the two a read saw is ambiguous [duplicate-write]
  6 | {:process 4, :type :invoke, :f :txn, :value [[:append :x 1]]
    | ^
  expected each value at most once per key
many.edn: note: 2 ops are in flight at the end, the first from line 2; they count as info [open-ops]
many.edn	4 errors, 1 warning, 5 ops

"#]]);
}

#[test]
fn warnings_are_no_errors() {
    let assert = histcheck("validate twice.edn").assert().code(0).stderr_eq("");
    let text = stdout(&assert);
    assert!(text.starts_with("twice.edn:4:1: warning: ") && text.contains("[duplicate-write]"), "{text}");
    assert!(text.ends_with("twice.edn\t0 errors, 1 warning, 4 ops\n"), "{text}");
}

#[test]
fn checkers_that_understand_the_ops_are_named() {
    histcheck("validate valid.edn").assert().code(0).stdout_eq(str![[r#"
valid.edn: note: this looks like list-append (or isolation): check it with -m list-append
valid.edn	0 errors, 0 warnings, 4 ops

"#]]);
    let dir = tempfile::tempdir().unwrap();
    let foreign = "{:process 0, :type :invoke, :f :vote, :value 1}\n{:process 0, :type :ok, :f :vote, :value 1}\n";
    fs::write(dir.path().join("foreign.edn"), foreign).unwrap();
    histcheck("validate foreign.edn").current_dir(dir.path()).assert().code(0).stdout_eq(str![[r#"
foreign.edn: note: no checker accepts its first ops; `histcheck models` lists the checkers
foreign.edn	0 errors, 0 warnings, 2 ops

"#]]);
    let of = |words: &str| -> Value {
        serde_json::from_str(&stdout(&histcheck(words).current_dir(dir.path()).stdin(foreign).assert().code(0)))
            .unwrap()
    };
    assert_eq!(of("validate --output json foreign.edn")["suggested_checkers"], Value::Array(Vec::new()));
    assert_eq!(of("validate --output json -")["suggested_checkers"], Value::Null, "it cannot be read twice");
}

#[test]
fn every_file_gets_its_line_in_the_order_given() {
    let assert =
        histcheck("validate valid.edn many.edn nowhere.edn - valid.txt").stdin("{:type :ok}").assert().code(255);
    let text = stdout(&assert);
    let sums: Vec<&str> = text.lines().filter_map(|line| line.split_once('\t')).map(|(file, _)| file).collect();
    assert_eq!(sums, ["valid.edn", "many.edn", "-", "valid.txt"], "{text}");
    assert!(stderr(&assert).starts_with("nowhere.edn: error: "), "{}", stderr(&assert));
}

#[test]
fn what_cannot_be_read_to_its_end_is_no_verdict() {
    let dir = tempfile::tempdir().unwrap();
    histcheck("gen list-append --txns 500 -o h.edn.gz").current_dir(dir.path()).assert().code(0);
    let whole = fs::read(dir.path().join("h.edn.gz")).unwrap();
    let half = Data::binary(whole[..whole.len() / 2].to_vec());
    let assert = histcheck("validate -").stdin(half).assert().code(255);
    assert!(stdout(&assert).contains("[unreadable]"), "{}", stdout(&assert));
}

#[test]
fn the_rest_of_a_kind_is_counted() {
    let history = "{:type :ok}\n".to_owned() + &"{:process 0, :type :nope}\n".repeat(9);
    let assert = histcheck("validate --max-each 2 -").stdin(history).assert().code(1);
    let text = stdout(&assert);
    assert_eq!(text.matches("error: ").count(), 2, "{text}");
    assert!(text.contains("<stdin>: 7 more of not-an-op are not shown\n"), "{text}");
    assert!(text.ends_with("-\t9 errors, 0 warnings, 1 op\n"), "{text}");
}

#[test]
fn json_says_the_same() {
    let assert = histcheck("validate --output json many.edn valid.json nowhere.edn").assert().code(255);
    let lines: Vec<Value> = stdout(&assert).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [many, valid, missing] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&many["schema"], &many["file"], &many["is_history"]), (&1.into(), &"many.edn".into(), &false.into()));
    let rule =
        |rule: &str| many["problems"].as_array().unwrap().iter().find(|problem| problem["rule"] == rule).unwrap();
    assert_eq!((&rule("not-an-op")["line"], &rule("not-an-op")["severity"]), (&4.into(), &"error".into()));
    assert_eq!(rule("duplicate-write")["severity"], "warning");
    assert_eq!(many["errors"].as_u64().unwrap() + many["warnings"].as_u64().unwrap(), 5, "{many}");
    assert_eq!((&valid["is_history"], &valid["format"], &valid["ops"]), (&true.into(), &"json".into(), &4.into()));
    assert_eq!(valid["problems"], Value::Array(Vec::new()));
    assert!(missing["error"]["message"].is_string() && missing.get("is_history").is_none(), "{missing}");
}

#[test]
fn what_validate_finds_no_error_in_can_be_judged_and_nothing_else() {
    for entry in fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name == "store" {
            continue;
        }
        let validated = histcheck(&format!("validate {name}")).assert().get_output().status.code();
        let judged = histcheck(&format!("-m list-append {name}")).assert().get_output().status.code();
        assert_eq!(validated == Some(0), judged != Some(255), "{name}: {validated:?}, {judged:?}");
    }
}
