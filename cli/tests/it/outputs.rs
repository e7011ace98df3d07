//! Several outputs, quiet runs, colour, and the summary line.

use crate::{check, histcheck, stderr, stdout};
use std::fs;
use std::path::Path;

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap()
}

#[test]
fn results_go_to_several_files_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    for limit in ["", "--timeout 100s"] {
        let words = format!(
            "--output junit={} --output json={} --output markdown={} {limit} valid.edn stale.edn truncated.edn",
            file("j.xml"),
            file("j.json"),
            file("m.md")
        );
        let assert = check(&words).code(255);
        assert_eq!(stdout(&assert), "valid.edn\ttrue\nstale.edn\tfalse\n", "text is printed where nothing else is");
        assert!(stderr(&assert).ends_with("3 histories: 1 true, 1 false, 1 not checked\n"), "{}", stderr(&assert));
        assert!(read(dir.path(), "j.xml").contains(r#"tests="3" skipped="0" failures="1" errors="1""#));
        let alone = stdout(&check("--output json valid.edn stale.edn truncated.edn").code(255));
        assert_eq!(read(dir.path(), "j.json"), alone, "{limit}");
        let markdown = read(dir.path(), "m.md");
        assert!(markdown.starts_with("### histcheck: 3 histories: 1 true, 1 false, 1 not checked\n\n"), "{markdown}");
        let row = "| stale.edn | list-append | **false** | 1 anomaly: G-single-item-realtime |\n";
        assert!(markdown.contains(row), "{markdown}");
        assert!(markdown.contains("| truncated.edn | list-append | not checked | the text ends"), "{markdown}");
    }
}

#[test]
fn an_output_that_cannot_be_is_an_error_before_anything_is_checked() {
    for (words, code, what) in [
        ("--output json --output junit", 254, "only one --output can go to standard output"),
        ("--output json=a.json --output edn=a.json", 254, "two --output options name the same file"),
        ("--output xml=a", 254, "[possible values: text, json, edn, junit, sarif, github, markdown]"),
        ("--output json=", 254, "--output json= needs the name of a file"),
        ("--output json=/no/such/directory/a.json", 255, "cannot write /no/such/directory/a.json: "),
    ] {
        let assert = check(&format!("{words} valid.edn")).code(code);
        assert!(stderr(&assert).contains(what), "{words}: {}", stderr(&assert));
        assert_eq!(stdout(&assert), "", "{words}");
    }
}

#[test]
fn a_history_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    fs::copy(crate::fixtures().join("valid.edn"), &path).unwrap();
    let before = read(dir.path(), "h.edn");
    let name = path.display();
    let beside = dir.path().join(".").join("h.edn");
    for words in [format!("--output json={name}"), format!("--output text={}", beside.display())] {
        for command in ["", "report -d out ", "watch "] {
            let assert = histcheck(&format!("{command}-m list-append {words} {name}")).assert().code(254);
            assert!(stderr(&assert).contains("would overwrite the history"), "{}", stderr(&assert));
        }
    }
    assert_eq!(read(dir.path(), "h.edn"), before);
}

#[test]
fn a_job_of_github_gets_a_summary() {
    let dir = tempfile::tempdir().unwrap();
    let summary = dir.path().join("summary.md");
    fs::write(&summary, "before\n").unwrap();
    let run = |words: &str| histcheck(words).env("GITHUB_STEP_SUMMARY", &summary).assert().code(1);
    run("-m list-append --output github valid.edn stale.edn");
    let text = read(dir.path(), "summary.md");
    assert!(text.starts_with("before\n### histcheck: 2 histories: 1 true, 1 false\n"), "{text}");
    run("-m list-append valid.edn stale.edn");
    assert_eq!(read(dir.path(), "summary.md"), text, "other outputs leave it alone");
}

#[test]
fn quiet_prints_what_is_not_valid_and_nothing_else() {
    for limit in ["", "--timeout 100"] {
        let assert = check(&format!("-q {limit} valid.edn stale.edn twice.edn")).code(1);
        assert_eq!(
            (stdout(&assert).as_str(), stderr(&assert).as_str()),
            ("stale.edn\tfalse\ntwice.edn\tunknown\n", "")
        );
    }
    assert!(stderr(&check("-q truncated.edn").code(255)).contains("error"));
    assert!(stderr(&check("-q -v valid.edn").code(254)).contains("cannot be used with"));
}

#[test]
fn colour_is_a_choice() {
    let red = "\u{1b}[31m";
    assert!(!stdout(&check("-v stale.edn").code(1)).contains(red));
    assert!(stdout(&check("-v --color always stale.edn").code(1)).contains(red));
    assert!(stdout(&check("-v --color always --timeout 100 stale.edn").code(1)).contains(red));
    assert!(!stdout(&check("-v --color never stale.edn").code(1)).contains('\u{1b}'));
}

#[test]
fn wrong_usage_says_what_was_meant() {
    for (words, hint) in [
        (
            "-m serializable valid.edn",
            "serializable is a consistency level, not a checker: -m list-append -c serializable",
        ),
        (
            "-m list-append -o json valid.edn",
            "-o is --total-amount, as in elle-cli; for an output format, use --output json",
        ),
    ] {
        let assert = histcheck(words).assert().code(254);
        assert!(stderr(&assert).contains(hint), "{words}: {}", stderr(&assert));
    }
    let hidden = stderr(&histcheck("-m list-append --only-inputs valid.edn").assert().code(254));
    assert!(!hidden.contains("--only-input'") && hidden.contains("unexpected argument"), "{hidden}");
}

#[test]
fn help_is_a_command_too() {
    let of = |words: &str| stdout(&histcheck(words).assert().code(0));
    assert_eq!(of("help minimize"), of("minimize --help"));
    assert_eq!(of("help"), of("--help"));
}

#[test]
fn units_are_taken_everywhere() {
    check("--timeout 5m --max-memory 2GB valid.edn").code(0).stdout_eq("valid.edn\ttrue\n");
    let unit = |words: &str| stderr(&check(&format!("{words} valid.edn")).code(254));
    assert!(unit("--timeout 5x").contains("expected a time above 0, such as 60, 0.5, 90s or 5m, found 5x"));
    assert!(unit("--max-memory 2XB").contains("expected a number of bytes above 0"));
}

#[test]
fn results_have_jepsens_shape_on_request() {
    let edn = stdout(&check("--output edn --compat jepsen stale.edn").code(1));
    let begins =
        "{:valid? false, :anomaly-types [:G-single-item-realtime], :anomalies {:G-single-item-realtime [{:type";
    assert!(edn.starts_with(begins), "{edn}");
    assert!(edn.contains(":not #{:strong-snapshot-isolation}, :also-not #{:strict-serializable}"), "{edn}");
    let failed = stdout(&check("--output edn --compat jepsen truncated.edn").code(255));
    assert!(failed.starts_with("{:valid? :unknown, :error \""), "{failed}");
    assert_eq!(
        stdout(&check("--output edn --compat jepsen twice.edn").code(2)).split(',').next(),
        Some("{:valid? :unknown")
    );
    assert!(stderr(&check("--compat jepsen stale.edn").code(254)).contains("add --output edn"));
}
