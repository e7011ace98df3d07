//! Checks the linearizability of objects from the command line.

use crate::{histcheck, stderr};
use snapbox::str;

/// A read that saw a value after it was overwritten; a crashed write could have been seen instead.
const STALE: &str = "
    {:process 0, :type :invoke, :f :write, :value 1}
    {:process 0, :type :ok,     :f :write, :value 1}
    {:process 1, :type :invoke, :f :write, :value 2}
    {:process 2, :type :invoke, :f :write, :value 3}
    {:process 2, :type :info,   :f :write, :value :timed-out}
    {:process 1, :type :ok,     :f :write, :value 2}
    {:process 3, :type :invoke, :f :cas,   :value [1 4]}
    {:process 3, :type :fail,   :f :cas,   :value [1 4]}
    {:process 4, :type :invoke, :f :read}
    {:process 4, :type :ok,     :f :read,  :value 1}
";

#[test]
fn a_refused_read_is_told_with_the_states_that_it_met() {
    let assert = histcheck("-v -m cas-register -").stdin(STALE).assert();
    assert.code(1).stderr_eq("").stdout_eq(str![[r#"
-	false

  nonlinearizable
    Let:
      T1 = read of 1 by process 4, index 8 to 9
      T2 = write of 2 by process 1, index 2 to 5
      T3 = write of 1 by process 0, index 0 to 1

    Then:
      All operations that returned before T1 returned can be ordered, up to T2.
      T1 is the first that cannot be placed.
      The states in which it could take effect are:
        2, after T3, T2
      This state admits no read of 1.

"#]]);
}

#[test]
fn every_engine_tells_the_same() {
    let told = |engine: &str| {
        let assert = histcheck(&format!("-v -m cas-register --engine {engine} -")).stdin(STALE).assert().code(1);
        String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
    };
    assert_eq!(told("just-in-time"), told("wing-gong"));
    assert_eq!(told("just-in-time"), told("portfolio"));
    let assert = histcheck("-m cas-register --engine fast -").assert().code(254);
    assert!(stderr(&assert).contains("unknown engine fast: expected just-in-time"), "{}", stderr(&assert));
}

#[test]
fn the_object_is_named_by_the_model_or_by_spec() {
    histcheck("-m linearizable --spec cas-register -").stdin(STALE).assert().code(1).stdout_eq("-\tfalse\n");
    // A plain register has no cas, so a cas can be ignored only if it failed.
    histcheck("-m register -").stdin(STALE).assert().code(1);
    let done = STALE.replace(":fail,   :f :cas", ":ok,     :f :cas");
    let assert = histcheck("-m register -").stdin(done).assert().code(2);
    assert!(
        stderr(&assert)
            .contains("the op at index 6 (line 8): register has no operation :cas; expected :read value, :write value"),
        "{}",
        stderr(&assert)
    );
    let assert = histcheck("-m linearizable -").assert().code(254);
    assert!(stderr(&assert).contains("--spec: expected an object: register, cas-register"), "{}", stderr(&assert));
    let assert = histcheck("-m linearizable --spec heap -").assert().code(254);
    assert!(stderr(&assert).contains("unknown object heap: expected one of register"), "{}", stderr(&assert));
    let set = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value #{1}}";
    histcheck("-m linearizable --spec set -").stdin(set).assert().code(1);
    histcheck("-m linearizable-set --initial #{1} -").stdin(set).assert().code(0);
}

#[test]
fn the_initial_state_may_be_edn_or_json() {
    let read = |value: &str| {
        format!("{{:process 0, :type :invoke, :f :read}} {{:process 0, :type :ok, :f :read, :value {value}}}")
    };
    histcheck("-m register -").stdin(read("0")).assert().code(1);
    histcheck("-m register --initial 0 -").stdin(read("0")).assert().code(0);
    histcheck("-m register --initial :x -").stdin(read(":x")).assert().code(0);
    let get =
        "{:process 0, :type :invoke, :f :get, :key \"k\"} {:process 0, :type :ok, :f :get, :key \"k\", :value \"v\"}";
    histcheck("-m kv -").stdin(get).assert().code(1);
    histcheck(r#"-m kv --initial {"k":"v"} -"#).stdin(get).assert().code(0);
    let assert = histcheck("-m register --initial [ -").assert().code(254);
    assert!(stderr(&assert).contains("--initial: expected an EDN or JSON value, found ["), "{}", stderr(&assert));
    let assert = histcheck("-m semaphore --initial many -").assert().code(254);
    assert!(
        stderr(&assert).contains("expected a number of permits, found \"many\" (initial state: the number of permits"),
        "{}",
        stderr(&assert)
    );
}

#[test]
fn a_timeline_is_written_where_a_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    histcheck(&format!("-m cas-register -d {path} -")).stdin(STALE).assert().code(1);
    let page = std::fs::read_to_string(directory.path().join("timeline.html")).unwrap();
    assert!(page.contains("Read of 1 cannot be placed"), "{page}");
    assert!(page.contains("write of 2") && page.contains("Here read of 1 is not possible."));
}

#[test]
fn timelines_of_several_keys_also_have_a_page_with_a_lane_for_each() {
    let kv = "
        {:process 0, :type :invoke, :f :put, :key 1, :value \"a\"} {:process 0, :type :ok, :f :put, :key 1, :value \"a\"}
        {:process 1, :type :invoke, :f :get, :key 2}               {:process 1, :type :ok, :f :get, :key 2, :value \"a\"}";
    let register = "
        {:process 0, :type :invoke, :f :write, :value [1 7]} {:process 0, :type :ok, :f :write, :value [1 7]}
        {:process 1, :type :invoke, :f :read, :value [2 8]}  {:process 1, :type :ok, :f :read, :value [2 8]}";
    // Keys that fail come first if the checker itself separates keys.
    for (checker, history, rows) in
        [("kv", kv, r#"["key 2","key 1"]"#), ("register --keyed", register, r#"["key 1","key 2"]"#)]
    {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        histcheck(&format!("-m {checker} -d {path} -")).stdin(history).assert().code(1);
        let page = std::fs::read_to_string(directory.path().join("timeline-by-key.html")).unwrap();
        assert!(page.contains(&format!("\"rows\":{rows}")), "{page}");
        assert!(page.contains("2 keys, 1 of them with an operation that cannot be placed."), "{page}");
        // The rows are not clients, so each bar names its client.
        assert!(page.contains("process 1"), "{page}");
    }
}

#[test]
fn a_linearization_is_written_as_text_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let valid = STALE.replace(":read,  :value 1", ":read,  :value 3");
    histcheck(&format!("-m cas-register -d {path} -")).stdin(valid).assert().code(0);
    let text = std::fs::read_to_string(directory.path().join("linearization.txt")).unwrap();
    let lines = [
        "0\tprocess 0\twrite of 1\t1\n",
        "2\tprocess 1\twrite of 2\t2\n",
        "3\tprocess 2\twrite of 3\t3\n",
        "8\tprocess 4\tread of 3\t3\n",
    ];
    assert_eq!(text, lines.concat());
}

#[test]
fn keys_are_parts_of_a_map_and_may_be_made_parts_of_anything() {
    let kv = "
        {:process 0, :type :invoke, :f :put, :key 1, :value \"a\"} {:process 0, :type :ok, :f :put, :key 1, :value \"a\"}
        {:process 0, :type :invoke, :f :get, :key 2}               {:process 0, :type :ok, :f :get, :key 2, :value \"a\"}";
    let assert = histcheck("-v -m kv -").stdin(kv).assert().code(1);
    let told = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(told.contains("Let, of key 2:") && told.contains("\"\", the initial state"), "{told}");

    let tuples = "
        {:process 0, :type :invoke, :f :write, :value [:x 1]} {:process 0, :type :ok, :f :write, :value [:x 1]}
        {:process 0, :type :invoke, :f :read, :value [:y nil]} {:process 0, :type :ok, :f :read, :value [:y 1]}";
    let assert = histcheck("-v -m register --keyed -").stdin(tuples).assert().code(1);
    let told = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(told.contains(":y") && told.contains("read of 1"), "{told}");
}

#[test]
fn logs_and_intervals_are_read_as_they_are() {
    let log = "INFO  jepsen.util - 0\t:invoke\t:write\t3\nINFO  jepsen.util - 0\t:info\t:write\t:timed-out\n\
               INFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 1\t:ok\t:read\t3\n";
    histcheck("-m cas-register -").stdin(log).assert().code(0).stdout_eq("-\ttrue\n");
    histcheck("-m cas-register -").stdin(log.replace(":read\t3", ":read\t4")).assert().code(1);
    let intervals = r#"{"client": 0, "call": 0, "return": 10, "input": {"f": "write", "value": 1}, "output": null}
{"client": 1, "call": 20, "return": 30, "input": {"f": "read"}, "output": 2}
"#;
    histcheck("-m register -").stdin(intervals).assert().code(1);
    histcheck("-m register -").stdin(intervals.replace("\"output\": 2", "\"output\": 1")).assert().code(0);
}

/// Sixteen concurrent adds are passed to a monitor, which identifies values by number.
#[test]
fn a_watched_set_of_names_is_refused_as_one_of_numbers_is() {
    for value in
        [|value: u32| format!("\"e{value}\""), |value: u32| format!(":k{value}"), |value: u32| value.to_string()]
    {
        let add =
            |kind: &str, add: u32| format!("{{:process {add}, :type :{kind}, :f :add, :value {}}}\n", value(add / 2));
        let history: String = ["invoke", "ok"].iter().flat_map(|kind| (0..16).map(move |at| add(kind, at))).collect();
        let read = |values: &str| {
            format!(
                "{history}{{:process 99, :type :invoke, :f :read}}\n{{:process 99, :type :ok, :f :read, :value {values}}}\n"
            )
        };
        let all: Vec<String> = (0..8).map(value).collect();
        for (values, code) in [(format!("#{{{}}}", all.join(" ")), 0), (format!("#{{{}}}", value(9)), 1)] {
            let history = read(&values);
            histcheck("-m linearizable-set -").stdin(history.clone()).assert().code(code);
            histcheck("watch -m linearizable-set -").stdin(history).assert().code(code);
        }
    }
}
