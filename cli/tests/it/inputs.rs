//! Where histories come from, and how they are written.

use crate::{check, fixtures, histcheck, stderr, stdout};
use snapbox::{Data, str};
use std::fs;

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
    // The directory of a file is that of its test.
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

#[test]
fn an_order_that_clock_errors_hide_makes_true_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.json");
    let row = |client: u32, call: u32, input: &str| {
        format!(
            "{{\"client\": {client}, \"call\": {call}, \"return\": {}, \"input\": {input}, \"output\": null}}\n",
            call + 8
        )
    };
    let rows = [row(0, 0, "[\"write\", 1]"), row(0, 12, "\"read\""), row(1, 0, "\"read\""), row(1, 12, "\"read\"")];
    fs::write(
        &path,
        rows.concat().replace(
            "12, \"return\": 20, \"input\": \"read\", \"output\": null",
            "12, \"return\": 20, \"input\": \"read\", \"output\": 1",
        ),
    )
    .unwrap();
    let check = |option: &str| histcheck(&format!("-m register {option}")).arg(&path).assert();
    check("").code(0);
    let unknown = check("--clock-error 5ns").code(2);
    let said = stderr(&unknown);
    assert!(said.contains("1 operation may overlap the operation before it of the same client"), "{said}");
    assert!(said.contains("Use a smaller --clock-error"), "{said}");
}
