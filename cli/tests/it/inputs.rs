//! Sources of histories, and their formats.

use crate::{check, fixtures, histcheck, stderr, stdout};
use snapbox::{Data, str};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn formats_are_told_by_content() {
    for file in ["valid.edn", "valid.json", "valid.jsonl", "valid.txt"] {
        check(file).code(0).stdout_eq(format!("{file}\ttrue\n")).stderr_eq("");
    }
}

#[test]
fn the_name_of_a_file_says_nothing_of_its_format() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["valid.edn", "valid.json", "valid.jsonl", "valid.txt"] {
        for name in ["history", "history.json", "history.edn"] {
            fs::copy(fixtures().join(file), dir.path().join(name)).unwrap();
            let assert = histcheck(&format!("-m list-append {name}")).current_dir(dir.path()).assert().code(0);
            assert_eq!(stdout(&assert), format!("{name}\ttrue\n"), "{file} as {name}");
        }
    }
}

#[test]
fn a_format_that_was_asked_for_is_the_one_that_is_read() {
    check("-f edn valid.edn").code(0);
    check("-f json valid.json valid.jsonl").code(0);
    check("-f jsonl valid.json valid.jsonl").code(0);
    check("-f txt valid.txt").code(0);
    check("-f json valid.edn").code(255);
    check("-f edn valid.txt").code(255);
}

#[test]
fn compressed_histories_are_seen_through() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["h.edn.gz", "h.json.zst", "h.jsonl.gz"] {
        let words = format!("gen list-append --txns 50 -o {name}");
        histcheck(&words).current_dir(dir.path()).assert().code(0).stdout_eq("");
        let head = fs::read(dir.path().join(name)).unwrap()[..2].to_vec();
        assert_eq!(head, if name.ends_with("gz") { [0x1f, 0x8b] } else { [0x28, 0xb5] }, "{name} is compressed");
        let assert = histcheck(&format!("-m list-append {name}")).current_dir(dir.path()).assert().code(0);
        assert_eq!(stdout(&assert), format!("{name}\ttrue\n"));
    }
}

#[test]
fn a_dash_is_standard_input() {
    for file in ["valid.edn", "valid.json", "valid.jsonl", "valid.txt"] {
        let history = Data::read_from(&fixtures().join(file), None);
        let assert = histcheck("-m list-append stale.edn - valid.edn").stdin(history).assert().code(1);
        assert_eq!(stdout(&assert), "stale.edn\tfalse\n-\ttrue\nvalid.edn\ttrue\n");
    }
}

#[test]
fn a_compressed_history_may_come_from_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    histcheck("gen list-append --txns 50 -o h.edn.zst").current_dir(dir.path()).assert().code(0);
    let history = Data::binary(fs::read(dir.path().join("h.edn.zst")).unwrap());
    histcheck("-m list-append -").stdin(history).assert().code(0).stdout_eq("-\ttrue\n");
}

#[test]
fn a_directory_of_jepsens_store_stands_for_its_history() {
    let dir = "store/shop/20240229T120000.000Z";
    check(dir).code(1).stdout_eq(format!("{dir}\tfalse\n")).stderr_eq("");
}

#[test]
fn logs_of_nodes_are_searched_beside_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let test = dir.path().join("run");
    fs::create_dir_all(test.join("n1")).unwrap();
    fs::copy(fixtures().join("valid.edn"), test.join("history.edn")).unwrap();
    let check = |words: &str| histcheck(&format!("-m list-append -v {words}")).current_dir(dir.path()).assert();
    let search = "--log-file-pattern panic|fatal --log-file db.log run";

    check(search).code(2).stdout_eq(str![[r#"
run	unknown
  list-append: true
  log-file-pattern: unknown
    note: No log was searched: no directory in run has a file db.log.
    next: Set --log-file to the name of the log in the directories of the nodes.

"#]]);
    fs::write(test.join("n1/db.log"), "started\nfatal: disk full\n").unwrap();
    let found = str![[r#"
run	false
  list-append: true
  log-file-pattern: false

    log-line
      n1/db.log, line 2: fatal: disk full

"#]];
    check(search).code(1).stdout_eq(found.clone());
    check(&format!("--timeout 600 {search}")).code(1).stdout_eq(found);
    check("--log-file-pattern panic --log-file db.log run").code(0);
    // A file's directory is treated as the directory of its test.
    check("--log-file-pattern fatal --log-file db.log run/history.edn").code(1);

    check("--log-file-pattern fatal --log-file db.log -").code(255);
    check("--log-file-pattern ( --log-file db.log run").code(254);
    check("--log-file-pattern fatal --log-file ../db.log run").code(254);
    check("--log-file-pattern fatal run").code(254);
}

#[test]
fn a_missing_file_is_an_error_of_that_file_only() {
    let assert = check("nowhere.edn valid.edn").code(255);
    assert_eq!(stdout(&assert), "valid.edn\ttrue\n");
    let error = stderr(&assert);
    assert!(error.starts_with("nowhere.edn: error: ") && error.lines().count() <= 2, "{error}");
}

#[test]
fn the_shipped_examples_are_what_they_say() {
    let examples = fixtures().join("../../examples");
    let run = |words: &str| histcheck(words).current_dir(&examples).assert();
    let assert = run("-m list-append --output json g-single.edn").code(1);
    assert!(stdout(&assert).contains(r#""anomaly_types":["G-single-item"]"#), "{}", stdout(&assert));
    run("-m list-append -c snapshot-isolation g-single.edn").code(1);
    run("-m list-append -c read-committed g-single.edn").code(0);
    run("-m list-append valid.edn").code(0).stdout_eq("valid.edn\ttrue\n");
    run("-m list-append -c repeatable-read postgres.jsonl").code(1);
    run("-m list-append -c snapshot-isolation postgres.jsonl").code(0);
    for entry in fs::read_dir(&examples).unwrap() {
        let name = entry.unwrap().file_name();
        let known = ["g-single.edn", "valid.edn", "postgres.jsonl"];
        assert!(known.iter().any(|known| name == *known), "an example that no test runs: {name:?}");
    }
}

/// Two clients that both return and call again within twice an error of 5 ns: no ops have the orders of both clients.
fn at_once(dir: &Path, reads: [u32; 2]) -> PathBuf {
    let path = dir.join("h.json");
    let row = |client: u32, call: u32, input: &str, output: &str| {
        let back = call + 8;
        format!(r#"{{"client": {client}, "call": {call}, "return": {back}, "input": {input}, "output": {output}}}"#)
    };
    let [first, second] = reads.map(|read| read.to_string());
    let rows = [
        row(0, 0, r#"["write", 1]"#, "null"),
        row(0, 12, r#"["write", 2]"#, "null"),
        row(1, 0, r#""read""#, &first),
        row(1, 12, r#""read""#, &second),
    ];
    fs::write(&path, rows.join("\n")).unwrap();
    path
}

#[test]
fn an_order_that_clock_errors_hide_is_looked_for_in_the_recorded_times() {
    let dir = tempfile::tempdir().unwrap();
    let check = |path: &Path, option: &str| histcheck(&format!("-m register,stats {option}")).arg(path).assert();
    // The history is valid with the recorded times, so it is also valid with fewer orders.
    let valid = at_once(dir.path(), [1, 2]);
    check(&valid, "").code(0);
    check(&valid, "--clock-error 5ns").code(0);
    // No client wrote 7, so the history is invalid in any order.
    let invalid = at_once(dir.path(), [7, 2]);
    check(&invalid, "--clock-error 5ns").code(1);
    // Only the orders of the clients' own operations contradict these reads.
    let hidden = at_once(dir.path(), [2, 1]);
    check(&hidden, "").code(1);
    let unknown = check(&hidden, "--clock-error 5ns").code(2);
    let said = stderr(&unknown);
    assert!(said.contains("1 operation may overlap the operation before it of the same client"), "{said}");
    assert!(said.contains("Use a smaller --clock-error"), "{said}");
    // A watch does not check the history a second time.
    histcheck("watch -m register --clock-error 5ns -").stdin(Data::read_from(&valid, None)).assert().code(2);
    // A conversion without that order prints a warning.
    let converted = histcheck("convert --to edn --clock-error 5ns").arg(&hidden).assert().code(0);
    assert!(stderr(&converted).contains("does not show violations of that order"), "{}", stderr(&converted));
    assert!(stdout(&converted).contains(":original-client \"1\""), "{}", stdout(&converted));
}

#[test]
fn no_level_is_said_to_hold_where_an_order_is_hidden() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.json");
    let txn = |client: u32, call: u32, mop: &str, output: &str| {
        let back = call + 8;
        format!(
            r#"{{"client": {client}, "call": {call}, "return": {back}, "input": ["txn", [{mop}]], "output": [{output}]}}"#
        )
    };
    let (write, read) = (r#"["w", "x", 1]"#, r#"["r", "x", null]"#);
    let seen = r#"["r", "x", 1]"#;
    let rows = [txn(0, 0, write, write), txn(0, 12, read, seen), txn(1, 0, read, seen), txn(1, 12, read, read)];
    fs::write(&path, rows.join("\n")).unwrap();
    let report = |option: &str| {
        let assert = histcheck(&format!("-m isolation --output json {option}")).arg(&path).assert();
        serde_json::from_str::<serde_json::Value>(&stdout(&assert)).unwrap()
    };
    // Without a requested level, the weakest level that does not hold is named.
    let recorded = report("");
    assert!(
        recorded["not"].as_array().unwrap().iter().any(|level| level == "strong-session-causal-cerone"),
        "{recorded}"
    );
    let doubted = report("--clock-error 5ns");
    assert_eq!(doubted["valid"], "unknown", "{doubted}");
    let open = doubted["not_checked"].as_array().unwrap();
    assert!(open.iter().any(|level| level == "strong-session-causal-cerone"), "{doubted}");
    assert!(!doubted["notes"].to_string().contains("strongest levels that hold"), "{doubted}");
}
