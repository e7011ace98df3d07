//! The formats of results.

use crate::{check, fixtures, histcheck, stderr, stdout};
use serde_json::Value;
use snapbox::{IntoData as _, str};
use std::io::Read as _;
use std::process::Stdio;

fn lines(words: &str) -> Vec<Value> {
    stdout(&check(words)).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn verbose_explains_below_the_line() {
    let summed_up = "3 histories: 1 true, 1 false, 1 unknown\n";
    check("-v valid.edn stale.edn twice.edn").code(1).stderr_eq(summed_up).stdout_eq(str![[r#"
valid.edn	true
stale.edn	false
  not strong-snapshot-isolation
  nor strict-serializable

  G-single-item-realtime
    Let:
      T1 = {:index 1, :type :ok, :process 0, :value [[:append :x 1]]}
      T2 = {:index 3, :type :ok, :process 1, :value [[:r :x []]]}

    Then:
      - T1 < T2, because T1 completed at index 1, before the invocation of T2 at index 2.
      - However, T2 < T1, because T2 observed the initial (empty) state of :x, to which T1 appended 1: a contradiction!
twice.edn	unknown
  note: No verdict, because of the op at index 2 (line 4): 1 is appended to key :x a second time.
  next: Correct the op at index 2 (line 4) where it was recorded, or choose the checker of such ops with -m.

"#]]);
}

#[test]
fn without_a_terminal_only_what_no_verdict_shows_is_told() {
    check("stale.edn twice.edn").code(1).stderr_eq(str![[r#"
twice.edn: unknown: No verdict, because of the op at index 2 (line 4): 1 is appended to key :x a second time. Next: Correct the op at index 2 (line 4) where it was recorded, or choose the checker of such ops with -m.
2 histories: 1 false, 1 unknown

"#]]);
}

#[test]
fn a_valid_verdict_that_rests_on_little_says_so() {
    let history = "{:process 0, :type :invoke} {:process 0, :type :ok, :value [[:w 1 1]]}
                   {:process 1, :type :invoke} {:process 1, :type :ok, :value [[:r 1 1] [:w 1 2]]}";
    // A commit order would be a proof.
    histcheck("-m rw-register -").stdin(history).assert().code(0).stdout_eq("-\ttrue\n").stderr_eq("");
    let assert = histcheck("-m rw-register --exact no -").stdin(history).assert();
    assert.code(0).stdout_eq("-\ttrue\n").stderr_eq(str![[r#"
<stdin>: note: The version order of each key is unknown, except that the initial version comes first, so few anomalies can be found. --wfr-keys would order some versions: pass it if the store guarantees it.

"#]]);
    histcheck("-m rw-register --wfr-keys -").stdin(history).assert().code(0).stderr_eq("");
    // Without invocations, real time is not considered.
    let ends = "{:type :ok, :value [[:w 1 1]]} {:type :ok, :value [[:r 1 1] [:w 1 2]]}";
    for model in ["rw-register", "isolation -c strict-serializable"] {
        histcheck(&format!("-m {model} -")).stdin(ends).assert().code(0).stderr_eq(str![[r#"
<stdin>: note: Some transactions have no invocation. When they began is unknown, so of real time only the order of each process was checked for them. Some transactions have no process, so the order of sessions was not checked for them.

"#]]);
    }
    // Without processes, there is no order of sessions either.
    let said = "<stdin>: note: Some transactions have no process, so the order of sessions was not checked for them.\n";
    for model in ["rw-register", "isolation"] {
        let words = format!("-m {model} -c strong-session-serializable -");
        histcheck(&words).stdin(ends).assert().code(0).stderr_eq(said);
        let words = format!("-m {model} -c serializable -");
        histcheck(&words).stdin(ends).assert().code(0).stderr_eq("");
    }
    let nameless = "{:type :invoke, :value [[:w 1 1]]} {:type :ok, :value [[:w 1 1]]}
                    {:type :invoke, :value [[:r 1 nil]]} {:type :ok, :value [[:r 1 1]]}";
    for model in ["rw-register", "isolation"] {
        histcheck(&format!("-m {model} -")).stdin(nameless).assert().code(2).stderr_eq(str![[r#"
<stdin>: unknown: No verdict, because some invocations have no process: which completions are theirs is unknown, and so is which operations failed, and when they began. Next: Record the process of every op, in a field process.

"#]]);
    }
}

#[test]
fn json_holds_the_whole_report() {
    let [valid, invalid, unknown] = &lines("--output json valid.edn ./stale.edn twice.edn")[..] else { panic!() };
    for line in [valid, invalid, unknown] {
        assert_eq!(line["schema"], 1);
        assert_eq!(line["checker"], "list-append");
        assert!(line["anomaly_types"].is_array() && line["not"].is_array() && line["also_not"].is_array(), "{line}");
        assert!(line.get("error").is_none(), "{line}");
    }
    assert_eq!((&valid["file"], &valid["valid"]), (&"valid.edn".into(), &true.into()));
    assert_eq!((&unknown["file"], &unknown["valid"]), (&"twice.edn".into(), &"unknown".into()));
    assert!(unknown["notes"][0].as_str().unwrap().contains("second time"), "{unknown}");
    assert_eq!((&invalid["file"], &invalid["valid"]), (&"./stale.edn".into(), &false.into()));
    assert_eq!(invalid["anomaly_types"], serde_json::json!(["G-single-item-realtime"]));
    assert_eq!(invalid["not"], serde_json::json!(["strong-snapshot-isolation"]));
    assert_eq!(invalid["also_not"], serde_json::json!(["strict-serializable"]));
    let witness = &invalid["anomalies"]["G-single-item-realtime"]["witnesses"][0];
    assert_eq!(witness["ops"].as_array().unwrap().len(), 2, "{witness}");
    assert!(witness["explanation"].as_str().unwrap().contains("a contradiction!"), "{witness}");
}

#[test]
fn json_says_of_a_broken_file_where_it_is_broken() {
    let assert = check("--output json unpaired.edn nowhere.edn valid.edn").code(255);
    assert_eq!(stderr(&assert).matches("error: ").count(), 2, "for people, all the same");
    let [broken, missing, valid] = &lines("--output json unpaired.edn nowhere.edn valid.edn")[..] else { panic!() };
    assert_eq!((&broken["schema"], &broken["file"]), (&1.into(), &"unpaired.edn".into()));
    assert!(broken.get("valid").is_none() && missing.get("valid").is_none());
    let error = &broken["error"];
    assert_eq!((&error["line"], &error["column"]), (&3.into(), &3.into()));
    assert!(error["message"].as_str().unwrap().contains("process 1"), "{error}");
    assert!(error["expected"].as_str().unwrap().contains("invocation"), "{error}");
    assert!(missing["error"]["message"].is_string() && missing["error"].get("line").is_none(), "{missing}");
    assert_eq!(valid["valid"], true);
}

#[test]
fn edn_holds_the_whole_report() {
    check("--output edn stale.edn unpaired.edn").code(255).stdout_eq(str![[r#"
{:schema 1, :file "stale.edn", :checker :list-append, :valid false, :anomaly-types [:G-single-item-realtime], :not [:strong-snapshot-isolation], :also-not [:strict-serializable], :not-checked [:1SR :PRAM :causal :linearizable :monotonic-reads :monotonic-writes :read-your-writes :sequential :session-serializable :strong-session-serializable :strong-session-snapshot-isolation :writes-follow-reads], :anomalies {:G-single-item-realtime {:count 1, :witnesses [{:ops [{:name "T1", :index 1, :process 0, :kind :ok, :value [[:append :x 1]]} {:name "T2", :index 3, :process 1, :kind :ok, :value [[:r :x []]]}], :steps [{:from 0, :to 1, :relation :realtime, :because "T1 completed at index 1, before the invocation of T2 at index 2"} {:from 1, :to 0, :relation :rw, :key :x, :value nil, :next-value 1, :because "T2 observed the initial (empty) state of :x, to which T1 appended 1"}], :facts {}, :explanation "Let:\n  T1 = {:index 1, :type :ok, :process 0, :value [[:append :x 1]]}\n  T2 = {:index 3, :type :ok, :process 1, :value [[:r :x []]]}\n\nThen:\n  - T1 < T2, because T1 completed at index 1, before the invocation of T2 at index 2.\n  - However, T2 < T1, because T2 observed the initial (empty) state of :x, to which T1 appended 1: a contradiction!\n"}]}}, :notes [], :counts {:ok-count 2, :fail-count 0, :info-count 0, :nonclient-op-count 0, :key-count 1, :mop-count 2}}
{:schema 1, :file "unpaired.edn", :error {:message "process 1 completes an op without having invoked one", :line 3, :column 3, :expected "an invocation by that process before it", :text "  {:process 1, :type :ok, :f :txn, :value [[:r :x [1]]]}"}}

"#]].raw());
}

#[test]
fn verbose_changes_neither_json_nor_edn() {
    for format in ["json", "edn"] {
        let words = format!("--output {format} stale.edn");
        assert_eq!(stdout(&check(&words)), stdout(&check(&format!("-v {words}"))));
    }
}

#[test]
fn equal_runs_give_equal_bytes() {
    for words in ["-v stale.edn aborted.edn", "--output json stale.edn aborted.edn", "--output edn stale.edn"] {
        assert_eq!(stdout(&check(words)), stdout(&check(words)), "{words}");
    }
}

/// Each line can be read before the next history exists.
#[test]
fn lines_are_written_as_they_become_known() {
    let mut child = std::process::Command::new(snapbox::cmd::cargo_bin!("histcheck"))
        .args(["-m", "list-append", "valid.edn", "-"])
        .current_dir(fixtures())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 15];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"valid.edn\ttrue\n");
    // Only now does standard input end; it is empty.
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(255));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    // A caller that reads only the exit code must not treat verdicts that were not written as valid.
    for (words, code) in [
        ("-m list-append valid.edn", 255),
        ("-m list-append valid.edn --timeout 100", 255),
        ("-m list-append valid.edn --output json", 255),
        ("validate valid.edn", 255),
        ("gen list-append --txns 100", 0),
        ("anomalies", 0),
        ("--help", 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = std::process::Command::new(snapbox::cmd::cargo_bin!("histcheck"))
            .args(words.split_whitespace())
            .current_dir(fixtures())
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words}");
        assert_eq!(output.status.code(), Some(code), "{words}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    for words in ["-m list-append valid.edn", "gen list-append --txns 10", "models", "--help", "--version"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(snapbox::cmd::cargo_bin!("histcheck"))
            .args(words.split_whitespace())
            .current_dir(fixtures())
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(255), "{words}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.starts_with("error: cannot write to standard output: "), "{words}: {said}");
    }
}
