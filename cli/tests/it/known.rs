//! `--allow-anomalies` and `--baseline`.

use crate::{check, fixtures, histcheck, stderr, stdout};

#[test]
fn what_is_allowed_fails_nothing_and_stays_what_it_is() {
    for limit in ["", "--timeout 100"] {
        let assert = check(&format!("--allow-anomalies g-single-item-realtime {limit} valid.edn stale.edn")).code(0);
        assert_eq!(stdout(&assert), "valid.edn\ttrue\nstale.edn\tfalse\n");
        assert!(stderr(&assert).contains("stale.edn: known: all anomalies of this history are allowed\n"), "{limit}");
        assert!(stderr(&assert).ends_with("2 histories: 1 true, 1 false\n"), "{limit} {}", stderr(&assert));
    }
    check("--allow-anomalies G1a stale.edn").code(1);
    check("--allow-anomalies G1a,G-single-item-realtime stale.edn").code(0);
    check("--allow-anomalies G-single-item-realtime twice.edn").code(2);
}

#[test]
fn the_option_of_checkers_takes_known_anomalies_as_well() {
    let told = stderr(&check("--allow garbage-read,G-single-item-realtime stale.edn").code(0));
    assert!(told.contains("stale.edn: known: all anomalies of this history are allowed\n"), "{told}");
    check("--allow garbage-read,G1a stale.edn").code(1);
    let told = stderr(&check("--allow G-singel stale.edn").code(254));
    assert!(told.contains("--allow: list-append reports no anomaly G-singel\n"), "{told}");
    // An anomaly that the checker itself allows is no violation.
    let garbage = "
        {:process 0, :type :ok, :value [[:r :x [7]]]}
        {:process 0, :type :ok, :value [[:append :y 1]]} {:process 1, :type :ok, :value [[:r :y [1]]]}";
    for (option, code, verdict) in [("", 1, "false"), (" --allow garbage-read", 0, "true")] {
        let assert = histcheck(&format!("-m list-append{option} -")).stdin(garbage).assert().code(code);
        assert_eq!(stdout(&assert), format!("-\t{verdict}\n"));
    }
    // A checker without the option.
    let twice = "
        {:process 0, :type :invoke, :f :generate} {:process 0, :type :ok, :f :generate, :value 7}
        {:process 1, :type :invoke, :f :generate} {:process 1, :type :ok, :f :generate, :value 7}";
    histcheck("-m unique-ids --allow duplicated -").stdin(twice).assert().code(0);
    // In a watch a violation ends the run, so no anomaly can be known.
    let told = stderr(&histcheck("watch -m list-append --allow G1a -").stdin(garbage).assert().code(254));
    assert!(told.contains("G1a cannot be allowed"), "{told}");
}

#[test]
fn a_name_that_no_anomaly_has_is_wrong_usage() {
    let said = stderr(&check("--allow-anomalies G-singel stale.edn").code(254));
    assert!(
        said.contains("--allow-anomalies: list-append reports no anomaly G-singel\n") && said.contains("G-single-item"),
        "{said}"
    );
}

#[test]
fn of_a_baseline_only_new_anomalies_fail() {
    let dir = tempfile::tempdir().unwrap();
    let baseline = dir.path().join("baseline.json").display().to_string();
    check(&format!("--output json={baseline} valid.edn stale.edn")).code(1);
    check(&format!("--baseline {baseline} valid.edn stale.edn")).code(0);
    check(&format!("--baseline {baseline} --keyed keyed.edn")).code(1);
    // The same anomaly, recorded again: other ops, the same keys.
    let stale = std::fs::read_to_string(fixtures().join("stale.edn")).unwrap();
    let again = |text: &str, code: i32| {
        std::fs::write(dir.path().join("stale.edn"), text).unwrap();
        let words = format!("-m list-append --baseline {baseline} stale.edn");
        histcheck(&words).current_dir(dir.path()).assert().code(code);
    };
    again(&stale, 0);
    again(&format!("{{:process 7, :type :invoke, :value []}}\n{stale}"), 0);
    again(&stale.replace(":x", ":other"), 1);
    std::fs::write(&baseline, "\n{}\n").unwrap();
    let said = stderr(&check(&format!("--baseline {baseline} valid.edn")).code(254));
    assert!(said.contains("baseline.json:2: expected a report"), "{said}");
}

#[test]
fn documents_list_what_is_known_and_count_no_failure() {
    let xml = stdout(&check("--allow-anomalies G-single-item-realtime --output junit stale.edn").code(0));
    assert!(xml.contains(r#"tests="1" skipped="1" failures="0" errors="0""#), "{xml}");
    assert!(xml.contains(r#"message="known: 1 anomaly: G-single-item-realtime""#), "{xml}");
    let commands = stdout(&check("--allow-anomalies G-single-item-realtime --output github stale.edn").code(0));
    assert!(commands.contains("::notice file=stale.edn,line=3,title=list-append%3A known violation::"), "{commands}");
    let sarif = stdout(&check("--allow-anomalies G-single-item-realtime --output sarif stale.edn").code(0));
    assert!(sarif.contains(r#""level": "note""#) && !sarif.contains(r#""level": "error""#), "{sarif}");
}

/// A known anomaly allows nothing about ops that were not checked.
#[test]
fn what_was_not_checked_is_not_allowed() {
    let bank = r#"{"process":0,"type":"ok","f":"read","value":{"a":5,"b":5}}
        {"process":0,"type":"ok","f":"read","value":{"a":5,"b":6}}
        {"process":0,"type":"ok","f":"read","value":"odd"}"#;
    let wrong = bank.replace("\"odd\"", "{\"a\":6,\"b\":4}");
    for (text, option, code) in [
        (bank, "", 1),
        (bank, "--allow-anomalies wrong-total", 2),
        (bank, "--allow-anomalies wrong-total --unknown fail", 1),
        (&wrong, "--allow-anomalies wrong-total", 0),
    ] {
        let assert = histcheck(&format!("-m bank {option} -")).stdin(text).assert().code(code);
        assert_eq!(stdout(&assert), "-\tfalse\n", "{option}");
        let doubt = "but not everything was checked, so there may be others";
        assert_eq!(stderr(&assert).contains(doubt), code != 0 && !option.is_empty(), "{}", stderr(&assert));
    }
}
