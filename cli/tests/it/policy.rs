//! `--unknown` and `--compat`.

use crate::{check, histcheck, stderr, stdout};

const VALID: &str = "valid.edn";
const INVALID: &str = "stale.edn";
const UNKNOWN: &str = "twice.edn";
const BROKEN: &str = "truncated.edn";

#[test]
fn unknown_counts_as_what_it_is_told_to() {
    for (unknown, alone, with_invalid, with_broken) in [("pass", 0, 1, 255), ("fail", 1, 1, 255)] {
        for limit in ["", "--timeout 100"] {
            let run = |files: &str| check(&format!("--unknown {unknown} {limit} {files}"));
            run(UNKNOWN).code(alone).stdout_eq("twice.edn\tunknown\n");
            run(&format!("{VALID} {UNKNOWN}")).code(alone);
            run(&format!("{UNKNOWN} {INVALID}")).code(with_invalid);
            run(&format!("{BROKEN} {UNKNOWN}")).code(with_broken);
            run(VALID).code(0);
        }
    }
    check("--unknown perhaps valid.edn").code(254);
}

#[test]
fn unknown_counts_so_in_watches_too() {
    let history = std::fs::read_to_string(crate::fixtures().join(UNKNOWN)).unwrap();
    for (words, code) in [("", 2), ("--unknown pass", 0), ("--unknown fail", 1), ("--compat elle-cli", 0)] {
        histcheck(&format!("watch -m list-append {words}")).stdin(history.as_str()).assert().code(code);
    }
}

#[test]
fn elle_clis_line_has_spaces_around_the_tab() {
    let assert = check(&format!("--compat elle-cli {VALID} {INVALID} {UNKNOWN}")).code(1);
    assert_eq!(stdout(&assert), "valid.edn \t true\nstale.edn \t false\ntwice.edn \t unknown\n");
}

#[test]
fn elle_clis_codes_know_no_unknown() {
    check(&format!("--compat elle-cli {UNKNOWN}")).code(0);
    check(&format!("--compat elle-cli {VALID} {UNKNOWN}")).code(0);
    check(&format!("--compat elle-cli {UNKNOWN} {INVALID} {VALID}")).code(1);
    // The explicit option has priority.
    check(&format!("--compat elle-cli --unknown fail {UNKNOWN}")).code(1);
}

#[test]
fn elle_cli_ends_at_the_first_error() {
    for limit in ["", "--timeout 100"] {
        let run = |files: &str| check(&format!("--compat elle-cli {limit} {files}")).code(255);
        let assert = run("valid.edn truncated.edn stale.edn");
        assert_eq!(stdout(&assert), "valid.edn \t true\n");
        assert!(stderr(&assert).starts_with("truncated.edn:2:42: error: "), "{}", stderr(&assert));
        assert_eq!(stdout(&run("stale.edn nowhere.edn valid.edn")), "stale.edn \t false\n");
        // A document contains the results up to the error.
        let xml = stdout(&run("--output junit valid.edn truncated.edn stale.edn"));
        assert!(
            xml.contains(r#"tests="2" skipped="0" failures="0" errors="1""#) && xml.ends_with("</testsuites>\n"),
            "{xml}"
        );
    }
    check("--compat knossos valid.edn").code(254);
}
