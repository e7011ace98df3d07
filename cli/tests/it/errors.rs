//! Messages about files that are not histories.

use crate::{check, histcheck, stderr, stdout};
use snapbox::str;

#[test]
fn an_error_behind_an_op_that_ended_the_check_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.jsonl");
    let op = |process: usize, kind: &str, value: &str| {
        format!("{{\"process\": {process}, \"type\": \"{kind}\", \"f\": \"write\", \"value\": {value}}}\n")
    };
    // The checker expects versions to be numbers, so it stops here.
    let begun = op(0, "invoke", "[\"a\", 1]") + &op(0, "ok", "[\"a\", 1]");
    std::fs::write(&path, &begun).unwrap();
    let unknown = histcheck("-m versioned-register").arg(&path).assert();
    assert!(stdout(&unknown).contains("unknown"), "{}", stdout(&unknown));
    std::fs::write(&path, begun + &op(1, "invoke", "[1, 1]").repeat(2)).unwrap();
    for words in ["-m versioned-register", "-m versioned-register --timeout 60"] {
        let refused = histcheck(words).arg(&path).assert().code(255);
        assert!(stderr(&refused).contains("h.jsonl:4:1: error: "), "{words}: {}", stderr(&refused));
    }
}

#[test]
fn a_completion_without_invocation() {
    check("unpaired.edn").code(255).stdout_eq("").stderr_eq(str![[r#"
unpaired.edn:3:3: error: process 1 completes an op without having invoked one
  3 |   {:process 1, :type :ok, :f :txn, :value [[:r :x [1]]]}
    |   ^
  expected an invocation by that process before it

"#]]);
}

#[test]
fn a_truncated_history() {
    check("truncated.edn").code(255).stdout_eq("").stderr_eq(str![[r#"
truncated.edn:2:42: error: the text ends before this [ is closed
  2 | {:process 0, :type :ok, :f :txn, :value [[:append :x
    |                                          ^
  expected the rest of it
truncated.edn: the file ends within this op, as after a crash of its writer: --accept-torn omits the op

"#]]);
}

#[test]
fn unbalanced_brackets_in_a_long_line() {
    check("unbalanced.json").code(255).stdout_eq("").stderr_eq(str![[r#"
unbalanced.json:2:71: error: found '}' after a value while [ is open (opened at line 2, column 52)
  2 | ...": 0, "type": "ok", "f": "txn", "value": [["append", "x", 1]}]
    |                                                                ^
  expected a comma or ]

"#]]);
}

#[test]
fn not_a_history_at_all() {
    check("letter.txt").code(255).stdout_eq("").stderr_eq(str![[r#"
letter.txt:1:1: error: unknown history format
  1 | Dear diary, today the database was consistent.
    | ^
  expected ops as maps in EDN or JSON (one after another, one per line, or in one array), the columns of history.txt, or a text of another checker

"#]]);
}

#[test]
fn an_empty_file() {
    let assert = check("empty.edn").code(255).stdout_eq("");
    assert!(stderr(&assert).starts_with("empty.edn:"), "{}", stderr(&assert));
}

#[test]
fn standard_input_has_a_name_of_its_own() {
    let assert = histcheck("-m list-append -").stdin("{:type :nope}\n").assert().code(255).stdout_eq("");
    assert!(stderr(&assert).starts_with("<stdin>:1:1: error: "), "{}", stderr(&assert));
}

#[test]
fn no_colours_unless_for_a_terminal() {
    for name in ["unpaired.edn", "nowhere.edn"] {
        assert!(!stderr(&check(name)).contains('\u{1b}'));
    }
    let coloured = histcheck("-m list-append unpaired.edn").env("CLICOLOR_FORCE", "1").assert().code(255);
    assert!(stderr(&coloured).contains("\u{1b}["), "they can be had");
    let both = histcheck("-m list-append unpaired.edn").env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").assert();
    assert!(!stderr(&both).contains('\u{1b}'), "{}", stderr(&both));
}

#[test]
fn every_beginning_of_a_history_ends_in_a_verdict_or_an_error() {
    for file in ["stale.edn", "valid.json", "valid.jsonl", "valid.txt"] {
        let whole = std::fs::read(crate::fixtures().join(file)).unwrap();
        for length in (0..whole.len()).step_by(7) {
            let prefix = snapbox::Data::binary(whole[..length].to_vec());
            let assert = histcheck("-m list-append -").stdin(prefix).assert();
            let code = assert.get_output().status.code();
            let error = stderr(&assert);
            match code {
                Some(2) => assert!(error.starts_with("<stdin>: unknown: "), "{file} to byte {length}: {error}"),
                Some(0 | 1) => {
                    let is_note = |line: &str| line.starts_with("<stdin>: note: ");
                    assert!(error.lines().all(is_note), "{file} to byte {length}: {error}");
                }
                _ => {
                    assert!(
                        code == Some(255) && error.contains("error: "),
                        "{file} to byte {length}: {code:?} {error}"
                    );
                }
            }
        }
    }
}

/// A recorder that crashed leaves an incomplete op. Everything before it was acknowledged.
#[test]
fn a_torn_last_line_is_an_error_unless_it_is_accepted() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("history.jsonl");
    let whole = std::fs::read_to_string(crate::fixtures().join("valid.jsonl")).unwrap();
    std::fs::write(&path, format!("{whole}{{\"index\":99,\"type\":\"invo")).unwrap();
    let words = format!("-m list-append {}", path.display());
    let refused = crate::histcheck(&words).assert().code(255);
    assert!(crate::stderr(&refused).contains("--accept-torn"), "{}", crate::stderr(&refused));
    let accepted = crate::histcheck(&format!("--accept-torn {words}")).assert().code(0);
    let said = crate::stderr(&accepted);
    assert!(said.contains("incomplete op at line") && said.contains("omitted"), "{said}");
    // With a limit, another process checks the history.
    crate::histcheck(&format!("--accept-torn --timeout 60 {words}")).assert().code(0);
    // An error in the middle is still an error.
    std::fs::write(&path, format!("{{\"index\":99,\"type\":\"invo\n{whole}")).unwrap();
    crate::histcheck(&format!("--accept-torn {words}")).assert().code(255);
}
