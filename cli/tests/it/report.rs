//! `histcheck report`.

use crate::{histcheck, stderr, stdout};
use std::fs;
use std::path::Path;

/// Runs it on histories, and writes into a folder.
fn report(words: &str, folder: &Path) -> snapbox::cmd::OutputAssert {
    histcheck(&format!("report {words} -d")).arg(folder).assert()
}

fn page(folder: &Path) -> String {
    fs::read_to_string(folder.join("report.html")).unwrap()
}

/// Asserts that elements are closed in order, and that the page loads and runs nothing.
fn assert_sound(page: &str) {
    const VOID: [&str; 4] = ["meta", "br", "!DOCTYPE", "img"];
    let mut open: Vec<&str> = Vec::new();
    for (at, _) in page.match_indices('<') {
        let tag = &page[at + 1..at + page[at..].find('>').unwrap_or_else(|| panic!("{}", &page[at..]))];
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closes what is not open, behind {}", &page[..at]);
        } else if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
        let is_handler = |word: &str| word.starts_with("on") && word.contains('=');
        assert!(!["script", "img", "iframe", "link", "object", "embed"].contains(&name), "{tag}");
        assert!(!tag.split_whitespace().any(is_handler) && !tag.contains("src="), "{tag}");
    }
    assert_eq!(open, [""; 0]);
    let links = page.matches("://").count();
    assert_eq!(links, page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count(), "nothing is fetched");
}

#[test]
fn every_history_gets_a_page_that_says_its_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        ("list-append stale.edn", 1, "invalid", "Consistency levels ruled out"),
        ("list-append valid.edn", 0, "valid", "What holds"),
        ("list-append twice.edn", 2, "unknown", "a second time"),
        ("list-append truncated.edn", 255, "not checked", "Error"),
        ("cas-register stale-register.edn", 1, "invalid", "linearizable up to here"),
        ("bank transfers.edn", 1, "invalid", "wrong-total"),
    ];
    for (words, code, word, says) in cases {
        let assert = report(&format!("-m {words}"), dir.path()).code(code);
        let page = page(dir.path());
        assert_sound(&page);
        assert!(page.contains(&format!("</span>{word}</span>")), "{words}: {page}");
        assert!(page.contains(says), "{words}: {page}");
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"), "{words}");
        let said = stderr(&assert);
        assert!(said.contains(&format!("report: {}", dir.path().join("report.html").display())), "{said}");
    }
}

#[test]
fn a_page_claims_no_more_than_was_found_out() {
    let dir = tempfile::tempdir().unwrap();
    report("-m list-append twice.edn", dir.path()).code(2);
    assert!(!page(dir.path()).contains("What holds"), "of an unknown history nothing is known");
    report("-m list-append stale.edn -c read-committed", dir.path()).code(0);
    let page = page(dir.path());
    assert!(page.contains("Nothing in this history contradicts read-committed"), "{page}");
    assert!(page.contains("histcheck searched only for violations of read-committed: "), "{page}");
}

#[test]
fn standard_output_and_pages_are_always_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let words = "-m list-append stale.edn valid.edn truncated.edn";
    let lines = stdout(&histcheck(words).assert().code(255));
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    assert_eq!(stdout(&report(words, &a).code(255)), lines);
    report(words, &b);
    for file in ["index.html", "stale.edn/report.html", "valid.edn/report.html", "truncated.edn/report.html"] {
        assert_eq!(fs::read(a.join(file)).unwrap(), fs::read(b.join(file)).unwrap(), "{file}");
    }
    let index = fs::read_to_string(a.join("index.html")).unwrap();
    assert_sound(&index);
    assert!(index.contains("1 invalid, 1 not checked, 1 valid."), "{index}");
    assert!(index.contains("href=\"stale.edn/report.html\""), "{index}");
    assert!(index.contains("<bdi>G-single-item-realtime</bdi>") && index.contains("<bdi>list-append</bdi>"), "{index}");
}

#[test]
fn the_index_knows_what_other_processes_found() {
    let dir = tempfile::tempdir().unwrap();
    report("-m list-append stale.edn valid.edn --timeout 60", dir.path()).code(1);
    let index = fs::read_to_string(dir.path().join("index.html")).unwrap();
    assert!(index.contains("1 invalid, 1 valid."), "{index}");
    assert!(index.contains("<bdi>G-single-item-realtime</bdi>") && index.contains("<bdi>list-append</bdi>"), "{index}");
    assert!(dir.path().join("stale.edn/report.html").exists());
}

#[test]
fn standard_input_is_shown_like_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(crate::fixtures().join("stale.edn")).unwrap();
    histcheck("report -m list-append - -d").arg(dir.path()).stdin(text).assert().code(1);
    let page = page(dir.path());
    assert!(page.contains("&lt;stdin&gt;") && page.contains("class=\"bar ok on\""), "{page}");
}

#[test]
fn several_checkers_stand_one_after_another() {
    let dir = tempfile::tempdir().unwrap();
    report("-m bank,stats transfers.edn", dir.path()).code(1);
    let page = page(dir.path());
    assert_sound(&page);
    assert!(page.contains("<h2>bank <span") && page.contains("<h2>stats <span"), "{page}");
}

/// If the key is a field beside the value, bars and the table show it.
#[test]
fn an_op_shows_the_key_beside_its_value() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kv.jsonl");
    let ops = [("invoke", "put", "\"a\""), ("ok", "put", "\"a\""), ("invoke", "get", "null"), ("ok", "get", "\"b\"")];
    let op = |(kind, f, value): (&str, &str, &str)| {
        format!("{{\"process\":0,\"type\":\"{kind}\",\"f\":\"{f}\",\"key\":\"k8\",\"value\":{value}}}\n")
    };
    fs::write(&path, ops.map(op).concat()).unwrap();
    histcheck("report -m kv").arg(&path).arg("-d").arg(dir.path()).assert().code(1);
    let page = page(dir.path()).replace("&quot;", "\"");
    assert_sound(&page);
    for label in ["put \"k8\" \"a\"", "get \"k8\" \u{2192} \"b\""] {
        assert!(page.matches(label).count() >= 2, "{label}: {page}");
    }
}

#[test]
fn text_from_histories_can_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.json");
    let hostile = "</script><img src=x onerror=alert(1)>]]><!--\u{202e}\u{2066}\\u0000\\\"'&";
    let long = "x".repeat(1_000_000);
    let op = |process: u32, kind: &str, value: &str| {
        format!(
            "{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{hostile}\",\"value\":{value},\"error\":\"{hostile}\"}}\n"
        )
    };
    let append = |key: &str, value: &str| format!("[[\"append\",\"{key}\",\"{value}\"]]");
    let read = |key: &str, list: &str| format!("[[\"r\",\"{key}\",{list}]]");
    let mut text = String::new();
    for (process, asked, came) in [
        (0, append(hostile, &long), append(hostile, &long)),
        (0, append(hostile, "b"), append(hostile, "b")),
        (1, read(hostile, "null"), read(hostile, &format!("[\"b\",\"{long}\"]"))),
        (1, read(hostile, "null"), read(hostile, &format!("[\"{long}\",\"b\"]"))),
        (2, read(hostile, "null"), read(hostile, "[]")),
    ] {
        text += &op(process, "invoke", &asked);
        text += &op(process, "ok", &came);
    }
    fs::write(&path, text).unwrap();
    histcheck("report -m list-append").arg(&path).arg("-d").arg(dir.path()).assert().code(1);
    let page = page(dir.path());
    assert_sound(&page);
    assert!(!page.contains(['\u{202e}', '\u{2066}', '\0']), "bidirectional controls are spelled out");
    assert!(page.contains("\\u{202e}") && page.contains("&lt;img src=x onerror=alert(1)&gt;"), "{page}");
    assert!(page.contains(" more characters)"), "what was cut is counted");
    assert!(page.len() < 400_000, "{} bytes", page.len());
}

#[test]
fn a_page_stays_below_its_limit_and_says_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let assert = report("-m list-append stale.edn --max-report-bytes 20000", dir.path()).code(1);
    let page = page(dir.path());
    assert_sound(&page);
    assert!(page.len() <= 20_000, "{} bytes", page.len());
    assert!(page.contains("omitted: the page is limited to 20,000 bytes"), "{page}");
    assert!(stderr(&assert).contains("omitted: the page is limited to 20000 bytes"), "{}", stderr(&assert));
}

#[test]
fn a_place_to_write_to_is_needed() {
    let assert = histcheck("report -m list-append stale.edn").assert().code(254);
    assert!(stderr(&assert).contains("missing -d: the directory for the reports"), "{}", stderr(&assert));
    let assert = histcheck("report -m list-append stale.edn -d letter.txt/below").assert().code(255);
    assert!(stderr(&assert).contains("cannot write letter.txt/below/report.html"), "{}", stderr(&assert));
}

/// As with `-d`: a link in place of a history's folder leads to a directory that does not belong to this program.
#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_historys_folder_is_not_followed() {
    for words in ["", " --jobs 2", " --timeout 1000"] {
        for command in ["report", "check"] {
            let dir = tempfile::tempdir().unwrap();
            let (pages, outside) = (dir.path().join("pages"), dir.path().join("outside"));
            fs::create_dir_all(&pages).unwrap();
            fs::create_dir_all(&outside).unwrap();
            fs::write(outside.join("report.html"), "<meta name=\"histcheck-verdict\" content=\"true\">").unwrap();
            let before = fs::read_to_string(outside.join("report.html")).unwrap();
            std::os::unix::fs::symlink(&outside, pages.join("stale.edn")).unwrap();
            let command = if command == "check" { "" } else { command };
            let words = format!("{command} -m list-append stale.edn valid.edn{words} -d");
            let assert = histcheck(&words).arg(&pages).assert().code(255);
            assert!(stderr(&assert).contains("stale.edn is a symbolic link"), "{words}: {}", stderr(&assert));
            assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{words}");
            assert_eq!(fs::read_to_string(outside.join("report.html")).unwrap(), before, "{words}");
            if let Ok(index) = fs::read_to_string(pages.join("index.html")) {
                assert!(!index.contains("2 valid"), "{words}: {index}");
            }
        }
    }
}
