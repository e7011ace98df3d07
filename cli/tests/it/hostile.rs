//! Histories and file names with text that would change a terminal's content, or that is invisible.

use crate::{histcheck, stderr, stdout};
use history_core::visible;
use std::fs;
use std::path::{Path, PathBuf};

/// Clears the line above and prints another verdict, written as a JSON string.
const FORGED: &str = r"\u001b[2K\u001b[1A\u001b[2Kh.jsonl\ttrue\u001b[8m";
/// A direction mark, a tag, a variation selector, a C1 control, a right-to-left override.
const UNSEEN: &str = "\u{61c}\u{e0041}\u{fe0f}\u{9b}\u{202e}";

/// The hidden characters in a text for people. Newlines and tabs separate histcheck's own text.
fn hidden(text: &str) -> Vec<char> {
    text.chars().filter(|c| visible::is_hidden(*c) && !matches!(c, '\n' | '\t')).collect()
}

fn assert_shown(text: &str) {
    assert_eq!(hidden(text), [], "{text:?}");
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

/// A history of list-append in which two clients saw the appends to `key` in different orders.
fn invalid(key: &str, f: &str) -> String {
    by(&["0", "1", "2", "3"], key, f)
}

/// The same with these four clients.
fn by(clients: &[&str; 4], key: &str, f: &str) -> String {
    let op = |client: usize, value: &str| {
        let process = clients[client];
        let half = |kind| format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":[{value}]}}\n");
        half("invoke") + &half("ok")
    };
    let append = |value: u32| format!("[\"append\",\"{key}\",{value}]");
    let read = |list: &str| format!("[\"r\",\"{key}\",{list}]");
    op(0, &append(1)) + &op(0, &append(2)) + &op(1, &read("[1,2]")) + &op(2, &read("[2,1]")) + &op(3, &read("[]"))
}

/// A history of one op.
fn one(kind: &str, f: &str) -> String {
    format!("{{\"process\":0,\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":1}}\n")
}

#[test]
fn a_history_draws_no_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let f = write(dir.path(), "f.jsonl", &one("invoke", &format!("{FORGED}{UNSEEN}")));
    let kind = write(dir.path(), "kind.jsonl", &one(&format!("{FORGED}{UNSEEN}"), "read"));
    let lists = write(dir.path(), "lists.jsonl", &invalid(UNSEEN, "txn"));
    for words in [
        "-m cas-register",
        "-m cas-register -v",
        "-m list-append -v",
        "-m stats",
        "validate",
        "--output github -m stats -v",
    ] {
        for file in [&f, &kind, &lists] {
            // With forced colours, escape sequences are not removed from the output.
            let assert = histcheck(words).arg(file).env("CLICOLOR_FORCE", "1").assert();
            for text in [stdout(&assert), stderr(&assert)] {
                assert!(!text.contains("\u{1b}[2K") && !text.contains("\u{1b}[8m"), "{words}: {text:?}");
            }
            let assert = histcheck(words).arg(file).assert();
            assert_shown(&stdout(&assert));
            assert_shown(&stderr(&assert));
        }
    }
    let assert = histcheck("-m cas-register").arg(&f).assert().code(2);
    assert!(
        stderr(&assert).contains(r"no operation :\u{1b}[2K\u{1b}[1A\u{1b}[2Kh.jsonl\ttrue\u{1b}[8m\u{61c}"),
        "{}",
        stderr(&assert)
    );
}

#[test]
fn no_line_of_a_message_is_one_of_ours() {
    let dir = tempfile::tempdir().unwrap();
    let path = write(dir.path(), "h.jsonl", &one("invoke", r"a\nh.jsonl\ttrue\nerror: b"));
    for words in ["-m cas-register", "-m cas-register -v"] {
        let assert = histcheck(words).arg(&path).assert().code(2);
        let text = stdout(&assert) + &stderr(&assert);
        assert!(text.contains(r":a\nh.jsonl\ttrue\nerror: b"), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("h.jsonl\t") || line.starts_with("error: b")), "{text}");
    }
}

#[test]
fn a_name_shows_all_its_characters() {
    let dir = tempfile::tempdir().unwrap();
    let name = format!("a{}b.jsonl", UNSEEN.replace('\u{9b}', ""));
    let path = write(dir.path(), &name, &invalid("x", "txn"));
    for words in [
        "-m list-append",
        "-m list-append -v",
        "-m list-append --output json",
        "-m list-append --output github",
        "validate",
    ] {
        let assert = histcheck(words).arg(&path).assert();
        assert_shown(&stdout(&assert));
        assert_shown(&stderr(&assert));
    }
    let json = stdout(&histcheck("-m list-append --output json").arg(&path).assert().code(1));
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["file"], path.to_str().unwrap(), "as data it is what it is");
    let missing = histcheck("-m list-append nowhere\u{202e}.edn").assert().code(255);
    assert_shown(&stderr(&missing));
    let wrong = histcheck("-m list-append valid.edn -\u{202e}").assert().code(254);
    assert_shown(&stderr(&wrong));
}

#[test]
fn no_page_and_no_picture_hides_anything() {
    let dir = tempfile::tempdir().unwrap();
    // All hidden characters that JSON permits in a string.
    let all: String = ('\u{20}'..=char::MAX).filter(|c| visible::is_hidden(*c)).collect();
    let some: String = all.chars().filter(|c| !('\u{e000}'..='\u{f8ff}').contains(c) && *c < '\u{f0000}').collect();
    let mut seen = 0;
    for unseen in [UNSEEN.to_owned(), some.chars().rev().collect(), some] {
        for (at, part) in unseen.chars().collect::<Vec<_>>().chunks(20).enumerate().step_by(29) {
            let part: String = part.iter().collect();
            let folder = dir.path().join(format!("{seen}-{at}"));
            fs::create_dir(&folder).unwrap();
            let clients = ["a", "b", "c", "</th><script>"].map(|name| format!("\"{name}{part}\""));
            let clients = clients.each_ref().map(String::as_str);
            let lists = write(&folder, "lists.jsonl", &by(&clients, &format!("k{part}"), &format!("f{part}")));
            let op = |process: u32, kind: &str, f: &str, value: &str| {
                format!(
                    "{{\"process\":\"{process}{part}\",\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value},\"error\":\"{part}\"}}\n"
                )
            };
            let value = format!("\"v{part}\"");
            let register = op(0, "invoke", "write", &value)
                + &op(0, "ok", "write", &value)
                + &op(1, "invoke", "read", "null")
                + &op(1, "ok", "read", "\"other\"");
            let register = write(&folder, "register.jsonl", &register);
            histcheck("-m list-append -d").arg(folder.join("lists")).arg(&lists).assert().code(1);
            histcheck("-m register -d").arg(folder.join("register")).arg(&register).assert().code(1);
            histcheck("report -m list-append -d").arg(folder.join("page")).arg(&lists).assert().code(1);
            for out in ["lists", "register", "page"] {
                seen += all_shown(&folder.join(out));
            }
        }
    }
    assert!(seen > 10, "{seen} files");
}

/// Asserts that no file below a folder contains hidden characters. Returns the number of files.
fn all_shown(folder: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count += all_shown(&path);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(hidden(&text), [], "{}", path.display());
        let is_markup = path.extension().is_some_and(|it| it == "html" || it == "svg");
        assert!(!is_markup || !text.contains("</th><script>"), "{}", path.display());
        count += 1;
    }
    count
}

/// Output for programs contains the same value, with the escapes of its syntax.
#[test]
fn results_for_programs_hide_nothing_and_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let key = format!("k{UNSEEN}");
    let lists = write(dir.path(), "lists.jsonl", &invalid(&key, "txn"));
    for output in ["json", "edn", "sarif", "junit"] {
        let assert = histcheck(&format!("-m list-append --output {output}")).arg(&lists).assert().code(1);
        assert_shown(&stdout(&assert));
    }
    let report = stdout(&histcheck("-m list-append --output json").arg(&lists).assert().code(1));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["anomalies"]["incompatible-order"]["witnesses"][0]["facts"]["key"], key.as_str());
    let log = stdout(&histcheck("-m list-append --output sarif").arg(&lists).assert().code(1));
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let text = log["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(text.contains(r#":append "k\u061c\udb40\udc41\ufe0f\u009b\u202e" 2"#), "{text}");
    // Names have no escapes, so they become strings. Tags have none either.
    let named = "{:process 0, :type :invoke, :f :add, :value KEY}\n{:process 0, :type :ok, :f :add, :value KEY}\n\
                 {:process 1, :type :invoke, :f :read, :value nil}\n{:process 1, :type :ok, :f :read, :value #{}}\n";
    for value in [
        format!(":a{UNSEEN}"),
        format!("#a{UNSEEN} 1"),
        format!("\"a{UNSEEN}\""),
        format!("b{UNSEEN}"),
        "\\\u{e0041}".into(),
    ] {
        let path = write(dir.path(), "set.edn", &named.replace("KEY", &value.replace('\u{9b}', "")));
        for words in ["-m set --output edn", "-m set-full --output edn", "-m set -v"] {
            assert_shown(&stdout(&histcheck(words).arg(&path).assert().code(1)));
        }
        let out = dir.path().join("out");
        histcheck("-m set,set-full -d").arg(&out).arg(&path).assert().code(1);
        assert!(all_shown(&out) >= 3, "a report and two sets");
        // A tag that cannot be shown is omitted. In all other cases the escapes are there.
        let edn = fs::read_to_string(out.join("set/set.edn")).unwrap();
        assert!(edn.contains("u202e") || edn.contains("udb40") || value.starts_with('#'), "{edn}");
    }
}

#[test]
fn what_minimize_writes_hides_nothing_and_is_the_same_history() {
    let dir = tempfile::tempdir().unwrap();
    let key = format!("k{UNSEEN}");
    let lists = write(dir.path(), "lists.jsonl", &invalid(&key, "txn"));
    let minimized = stdout(&histcheck("minimize -m list-append").arg(&lists).assert().code(1));
    assert_shown(&minimized);
    let op: serde_json::Value = serde_json::from_str(minimized.lines().next().unwrap()).unwrap();
    assert_eq!(op["value"][0][1], key);
}

#[cfg(unix)]
#[test]
fn bytes_of_a_name_that_are_no_text_are_spelled_out() {
    use std::os::unix::ffi::OsStringExt as _;
    let dir = tempfile::tempdir().unwrap();
    // A C1 control: some terminals treat it as the beginning of an escape sequence.
    let name = std::ffi::OsString::from_vec(b"a\x9b2Kb.edn".to_vec());
    fs::copy(crate::fixtures().join("valid.edn"), dir.path().join(&name)).unwrap();
    for words in ["-m list-append", "-m list-append -v", "validate", "-m list-append --output github"] {
        let assert = histcheck(words).arg(&name).current_dir(dir.path()).assert().code(0);
        let text = stdout(&assert);
        let text = text.lines().find(|line| line.starts_with("a\\x9b2Kb.edn\t"));
        assert!(text.is_some(), "{words}: {assert:?}", assert = assert.get_output());
    }
}
