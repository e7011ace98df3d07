//! `--output junit`, `sarif` and `github`.

use crate::{check, histcheck, stderr, stdout};
use serde_json::{Value, json};
use snapbox::str;
use std::process::{Command, Stdio};

/// Histories of each kind: valid, invalid, unknown, and not a history.
const ALL: &str = "valid.edn stale.edn twice.edn truncated.edn";

fn sarif(words: &str, code: i32) -> Value {
    let log: Value = serde_json::from_str(&stdout(&check(&format!("--output sarif {words}")).code(code))).unwrap();
    assert_eq!((&log["version"], log["runs"].as_array().unwrap().len()), (&json!("2.1.0"), 1));
    log["runs"][0].clone()
}

/// The start tags of a document. Asserts that its tags are well formed.
fn tags(xml: &str) -> Vec<&str> {
    let (mut open, mut tags) = (Vec::new(), Vec::new());
    for tag in xml.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.split_whitespace().next().unwrap().trim_end_matches('/');
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{xml}");
        } else if !name.starts_with('?') {
            tags.push(tag);
            open.extend(Some(name).filter(|_| !tag.ends_with('/')));
        }
    }
    assert!(open.is_empty(), "{open:?} in {xml}");
    tags
}

#[test]
fn junit_has_a_suite_for_each_history() {
    let assert = check(&format!("--output junit {ALL}")).code(255);
    assert.stdout_eq(str![[r#"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="histcheck" tests="4" skipped="1" failures="1" errors="1">
    <testsuite name="valid.edn" tests="1" skipped="0" errors="0" failures="0" file="valid.edn">
        <properties>
            <property name="ok-count" value="2"/>
            <property name="fail-count" value="0"/>
            <property name="info-count" value="0"/>
            <property name="nonclient-op-count" value="0"/>
            <property name="key-count" value="1"/>
            <property name="mop-count" value="2"/>
        </properties>
        <testcase name="list-append" classname="valid.edn" file="valid.edn"/>
    </testsuite>
    <testsuite name="stale.edn" tests="1" skipped="0" errors="0" failures="1" file="stale.edn">
        <properties>
...
        </properties>
        <testcase name="list-append" classname="stale.edn" file="stale.edn">
            <failure message="1 anomaly: G-single-item-realtime" type="G-single-item-realtime">not strong-snapshot-isolation
nor strict-serializable

G-single-item-realtime
  Let:
    T1 = {:index 1, :type :ok, :process 0, :value [[:append :x 1]]}
    T2 = {:index 3, :type :ok, :process 1, :value [[:r :x []]]}

  Then:
    - T1 &lt; T2, because T1 completed at index 1, before the invocation of T2 at index 2.
    - However, T2 &lt; T1, because T2 observed the initial (empty) state of :x, to which T1 appended 1: a contradiction!
</failure>
        </testcase>
    </testsuite>
    <testsuite name="twice.edn" tests="1" skipped="1" errors="0" failures="0" file="twice.edn">
        <testcase name="list-append" classname="twice.edn" file="twice.edn">
            <skipped message="No verdict, because of the op at index 2 (line 4): 1 is appended to key :x a second time. Next: Correct the op at index 2 (line 4) where it was recorded, or choose the checker of such ops with -m." type="unknown">note: No verdict, because of the op at index 2 (line 4): 1 is appended to key :x a second time.
next: Correct the op at index 2 (line 4) where it was recorded, or choose the checker of such ops with -m.
</skipped>
        </testcase>
    </testsuite>
    <testsuite name="truncated.edn" tests="1" skipped="0" errors="1" failures="0" file="truncated.edn">
        <testcase name="list-append" classname="truncated.edn" file="truncated.edn">
            <error message="the text ends before this [ is closed" type="not checked">line 2, column 42: the text ends before this [ is closed; expected the rest of it

  {:process 0, :type :ok, :f :txn, :value [[:append :x</error>
        </testcase>
    </testsuite>
</testsuites>

"#]]);
}

#[test]
fn junit_fails_for_what_is_unknown_if_it_is_told_to() {
    let xml = stdout(&check("--output junit --unknown fail twice.edn").code(1));
    assert!(tags(&xml)[0].ends_with(r#"tests="1" skipped="0" failures="1" errors="0""#), "{xml}");
    assert!(xml.contains("<failure message=\"No verdict, ") && xml.contains(r#"type="unknown""#));
    let xml = stdout(&check("--output junit --unknown pass twice.edn").code(0));
    assert!(tags(&xml)[0].ends_with(r#"tests="1" skipped="1" failures="0" errors="0""#), "{xml}");
}

#[test]
fn a_key_without_an_observation_fails_no_history_whose_verdict_is_on_the_others() {
    let op = |key: i64, kind: &str| {
        format!(
            "{{:process {key}, :type :invoke, :f :generate, :value [{key} nil]}} \
             {{:process {key}, :type :{kind}, :f :generate, :value [{key} 7]}}"
        )
    };
    let judge = |text: String| {
        let check = histcheck("-m unique-ids --keyed --output junit --unknown fail -").stdin(text).assert();
        (check.get_output().status.code(), tags(&stdout(&check))[0].to_owned())
    };
    let (code, suite) = judge(op(1, "ok") + &op(2, "info"));
    assert!(code == Some(0) && suite.ends_with(r#"tests="3" skipped="1" failures="0" errors="0""#), "{code:?} {suite}");
    let (code, suite) = judge(op(1, "fail") + &op(2, "info"));
    assert!(code == Some(1) && suite.ends_with(r#"tests="3" skipped="0" failures="3" errors="0""#), "{code:?} {suite}");
}

#[test]
fn junit_has_a_case_for_each_key() {
    let xml = stdout(&check("--output junit --keyed keyed.edn").code(1));
    let tags = tags(&xml);
    let cases: Vec<&&str> =
        tags.iter().filter(|tag| tag.starts_with("testcase") || tag.starts_with("failure")).collect();
    let [whole, why, a, b, why_b] = cases[..] else { panic!("{xml}") };
    assert!(
        whole.starts_with(r#"testcase name="list-append" "#)
            && a.starts_with(r#"testcase name="list-append, key :a" "#)
    );
    assert!(a.ends_with('/') && b.starts_with(r#"testcase name="list-append, key :b" "#));
    assert_eq!(why, why_b);
    assert!(why.contains(r#"type="G1a empty-transaction-graph""#), "{why}");
    let of_b = xml.split("key :b\" classname").nth(1).unwrap();
    assert!(of_b.contains("T1 read 1 in key :x, which T2 appended, and T2 failed."), "{of_b}");
    for (name, count) in [("key-count", 2), ("valid-key-count", 1), ("invalid-key-count", 1)] {
        assert!(tags.contains(&format!(r#"property name="{name}" value="{count}"/"#).as_str()), "{xml}");
    }
}

/// Only a hundred of the valid keys are listed, and only eight of the witnesses are kept.
#[test]
fn junit_says_how_many_keys_there_were() {
    let op = |key: u64, kind: &str, f: &str, value: &str| {
        format!("{{:process 0, :type :{kind}, :f :{f}, :value [{key} {value}]}}\n")
    };
    let write = |key: u64| op(key, "invoke", "write", "1") + &op(key, "ok", "write", "1");
    let read = |key: u64| op(key, "invoke", "read", "nil") + &op(key, "ok", "read", if key < 10 { "7" } else { "1" });
    let history: String = (0..120).map(|key| write(key) + &read(key)).collect();
    let assert = histcheck("-m cas-register --keyed --output junit -").stdin(history).assert().code(1);
    let xml = stdout(&assert);
    let tags = tags(&xml);
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("testcase ")).count(), 1 + 10);
    for (name, count) in [("key-count", 120), ("valid-key-count", 110), ("invalid-key-count", 10)] {
        assert!(tags.contains(&format!(r#"property name="{name}" value="{count}"/"#).as_str()), "{xml}");
    }
    assert_eq!(xml.matches("The report keeps only witnesses of other keys.").count(), 2, "{xml}");
}

#[test]
fn several_checkers_have_a_case_each() {
    let xml = stdout(&histcheck("-m cas-register,stats --output junit stale-register.edn").assert().code(1));
    let tags = tags(&xml);
    let cases: Vec<&&str> = tags.iter().filter(|tag| tag.starts_with("testcase")).collect();
    assert!(cases[0].contains(r#"name="cas-register""#) && cases[1].contains(r#"name="stats""#), "{xml}");
    assert!(tags.iter().any(|tag| tag.starts_with(r#"property name="stats/"#)), "{xml}");
}

/// Paths and values may contain characters that XML does not allow.
#[cfg(unix)]
#[test]
fn what_no_document_can_hold_does_not_break_it() {
    use std::os::unix::ffi::OsStringExt as _;
    let dir = tempfile::tempdir().unwrap();
    let name = std::ffi::OsString::from_vec(b"::error::\x01\xff\n<&\"'>.edn".to_vec());
    let history = |value: &str| {
        let op = |kind: &str, mops: &str| format!("{{:process 0, :type :{kind}, :f :txn, :value [{mops}]}}\n");
        let (append, read) = (format!("[:append {value} 1]"), format!("[:r {value} [1]]"));
        op("invoke", &append) + &op("fail", &append) + &op("invoke", "") + &op("ok", &read)
    };
    std::fs::write(dir.path().join(&name), history("\"\u{0}\u{1b}[1m]]>\u{ffff}\"")).unwrap();
    let run = |output: &str| {
        let words = format!("-m list-append --output {output}");
        histcheck(&words).arg(&name).current_dir(dir.path()).assert().code(1)
    };
    let xml = stdout(&run("junit"));
    assert!(xml.chars().all(|c| c == '\n' || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))), "{xml:?}");
    let suite = tags(&xml)[1].to_owned();
    // A `>` in an attribute must be escaped; otherwise, this would not be the whole tag.
    assert!(
        suite.starts_with("testsuite name=\"::error::\\u{1}\u{fffd}\\n") && suite.contains("&lt;&amp;&quot;"),
        "{suite}"
    );

    let log: Value = serde_json::from_str(&stdout(&run("sarif"))).unwrap();
    let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "%3A%3Aerror%3A%3A%01%FF%0A%3C%26%22%27%3E.edn");
    assert_eq!(location["region"], json!({ "startLine": 4 }));

    let text = stdout(&run("github"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "\\::error::\\u{1}\\xff\\n<&\"'>.edn\tfalse");
    assert!(lines[1].starts_with("::error file=%3A%3Aerror%3A%3A\\u{1}\u{fffd}%0A<&\"'>.edn,line=4,title="), "{text}");
    assert_eq!(lines.len(), 2, "{text}");
}

#[test]
fn sarif_has_a_result_for_each_anomaly() {
    let run = sarif("valid.edn stale.edn aborted.edn", 1);
    let results = run["results"].as_array().unwrap();
    let ids: Vec<&Value> = results.iter().map(|result| &result["ruleId"]).collect();
    assert_eq!(ids, ["list-append/G-single-item-realtime", "list-append/G1a", "list-append/empty-transaction-graph"]);
    let levels: Vec<&Value> = results.iter().map(|result| &result["level"]).collect();
    assert_eq!(levels, ["error", "error", "note"]);
    let stale = &results[0];
    let place = |line: u64| json!({ "artifactLocation": { "uri": "stale.edn" }, "region": { "startLine": line } });
    assert_eq!(stale["locations"], json!([{ "physicalLocation": place(3) }]));
    let [t1, t2] = &stale["relatedLocations"].as_array().unwrap()[..] else { panic!("{stale}") };
    assert_eq!(t1, &json!({ "id": 1, "message": { "text": "T1, index 1" }, "physicalLocation": place(3) }));
    assert_eq!(t2, &json!({ "id": 2, "message": { "text": "T2, index 3" }, "physicalLocation": place(5) }));
    let text = stale["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("G-single-item-realtime: G-single-item with at least one realtime edge"), "{text}");
    assert!(text.ends_with("to which T1 appended 1: a contradiction!"), "{text}");

    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 3);
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(
            rule["fullDescription"]["text"].as_str().unwrap().contains("Found by list-append: Isolation"),
            "{rule}"
        );
    }
    assert_eq!(run["invocations"][0], json!({ "executionSuccessful": true, "toolExecutionNotifications": [] }));
}

#[test]
fn sarif_says_what_is_not_known_as_notifications() {
    let run = sarif("twice.edn truncated.edn", 255);
    assert_eq!(run["results"], json!([]));
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let [unknown, failed] = &run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap()[..] else {
        panic!("{run}")
    };
    assert_eq!((&unknown["level"], &failed["level"]), (&json!("warning"), &json!("error")));
    assert!(unknown["message"]["text"].as_str().unwrap().starts_with("list-append: unknown: No verdict, because"));
    let place = &failed["locations"][0]["physicalLocation"];
    assert_eq!(place["region"], json!({ "startLine": 2, "startColumn": 42 }));

    let run = sarif("--unknown fail twice.edn", 1);
    assert_eq!(
        (&run["results"][0]["ruleId"], &run["results"][0]["level"]),
        (&json!("list-append/unknown"), &json!("error"))
    );
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "list-append/unknown");
    let run = sarif("--unknown pass twice.edn", 0);
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"][0]["level"], "note");
}

#[test]
fn sarif_of_standard_input_has_no_lines() {
    let history = std::fs::read_to_string(crate::fixtures().join("stale.edn")).unwrap();
    let assert = histcheck("-m list-append --output sarif -").stdin(history).assert().code(1);
    let log: Value = serde_json::from_str(&stdout(&assert)).unwrap();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place, &json!({ "artifactLocation": { "uri": "stdin" } }));
}

#[test]
fn github_gets_commands() {
    check(&format!("--output github {ALL}")).code(255).stdout_eq(str![[r#"
valid.edn	true
stale.edn	false
::error file=stale.edn,line=3,title=list-append%3A not valid::1 anomaly: G-single-item-realtime; see T1 at line 3, T2 at line 5
twice.edn	unknown
::warning file=twice.edn,title=list-append%3A unknown::No verdict, because of the op at index 2 (line 4): 1 is appended to key :x a second time. Next: Correct the op at index 2 (line 4) where it was recorded, or choose the checker of such ops with -m.
::error file=truncated.edn,line=2,col=42,title=cannot be checked::the text ends before this [ is closed; expected the rest of it

"#]]);
    let level = |words: &str, code: i32| {
        let text = stdout(&check(&format!("--output github {words} twice.edn")).code(code));
        text.lines().nth(1).unwrap().split(' ').next().unwrap().to_owned()
    };
    assert_eq!(level("--unknown fail", 1), "::error");
    assert_eq!(level("--unknown pass", 0), "::notice");
}

#[test]
fn github_explains_with_v() {
    check("--output github -v --keyed keyed.edn").code(1).stdout_eq(str![[r#"
keyed.edn	false
  note: Key :b: No two transactions are known to depend on each other, [..]
  key :b: false
  1 of 2 keys are valid
...
    Then:
      - T1 read 1 in key :x, which T2 appended, and T2 failed.

  empty-transaction-graph
::error file=keyed.edn,line=8,title=list-append%3A not valid::2 anomalies: G1a, empty-transaction-graph in 1 of 2 keys; see T1 at line 8, T2 at line 4

"#]]);
}

#[test]
fn documents_explain_anyway_and_leave_directories_as_they_are() {
    for output in ["junit", "sarif"] {
        let plain = stdout(&check(&format!("--output {output} {ALL}")));
        let dir = tempfile::tempdir().unwrap();
        let words = format!("-v -d {} --output {output} {ALL}", dir.path().display());
        assert_eq!(stdout(&check(&words).code(255)), plain);
        let report = std::fs::read_to_string(dir.path().join("stale.edn/report.txt")).unwrap();
        assert!(report.starts_with("stale.edn\tfalse\n"), "{report}");
    }
}

#[test]
fn a_process_for_each_history_makes_no_difference() {
    for words in [format!("--output junit {ALL}"), format!("--output sarif {ALL}"), format!("-v --output github {ALL}")]
    {
        for more in ["", "--keyed ", "--unknown fail ", "--compat elle-cli "] {
            let plain = check(&format!("{more}{words}"));
            let limited = check(&format!("--timeout 100 --max-memory 4000000000 {more}{words}"));
            assert_eq!(stdout(&limited), stdout(&plain));
            assert_eq!(stderr(&limited), stderr(&plain));
            limited.code(plain.get_output().status.code().unwrap());
        }
    }
}

#[test]
fn a_history_that_takes_too_long_is_part_of_the_document() {
    // The pipe has no writer, so the history never ends.
    let (reader, _writer) = std::io::pipe().unwrap();
    let words = "-m list-append --timeout 0.1 --output junit stale.edn -";
    let mut command = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
    let command = command.args(words.split_whitespace()).current_dir(crate::fixtures()).stdin(reader);
    let output = command.output().unwrap();
    let xml = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{xml}");
    assert!(
        tags(&xml)[0].contains(r#"tests="2" skipped="1""#) && xml.contains("because the time limit was reached"),
        "{xml}"
    );
}

#[test]
fn a_document_that_nobody_got_is_no_verdict() {
    for output in ["junit", "sarif", "github"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
        command
            .args(["-m", "list-append", "--output", output, "valid.edn", "stale.edn"])
            .current_dir(crate::fixtures());
        let done = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(done.status.code(), Some(255), "{output}");
        assert_eq!(String::from_utf8(done.stderr).unwrap(), "", "{output}");
    }
}

#[test]
fn what_is_watched_is_a_document_of_one_history() {
    let history = std::fs::read_to_string(crate::fixtures().join("transfers.edn")).unwrap();
    let watch = |words: &str| {
        let assert = histcheck(&format!("watch -m bank {words}")).stdin(history.as_str()).assert().code(1);
        stdout(&assert)
    };
    for words in ["--output junit", "--output junit --keep-going"] {
        let xml = watch(words);
        assert!(tags(&xml)[0].ends_with(r#"tests="1" skipped="0" failures="1" errors="0""#), "{xml}");
        assert!(xml.contains("wrong-total") && xml.contains("The violation was found at the op at index 4"), "{xml}");
    }
    let log: Value = serde_json::from_str(&watch("--output sarif")).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "bank/wrong-total");
    let text = watch("--output github");
    assert!(text.contains("::error title=bank%3A not valid::1 anomaly: wrong-total\n"), "{text}");
}

#[test]
fn other_commands_refuse_what_is_for_verdicts() {
    for words in ["validate valid.edn", "models", "anomalies", "consistency-models"] {
        for output in ["junit", "sarif", "github"] {
            let assert = histcheck(&format!("{words} --output {output}")).assert().code(254).stdout_eq("");
            let said = stderr(&assert);
            assert!(
                said.contains(&format!("invalid value '{output}'"))
                    && said.contains("[possible values: text, json, edn]")
            );
        }
    }
}
