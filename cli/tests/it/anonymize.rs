//! `histcheck anonymize`.

use crate::{histcheck, stderr, stdout};
use std::fs;

#[test]
fn the_renamed_history_has_the_same_report() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, renamed) = (dir.path().join("h.edn"), dir.path().join("r.edn"));
    for (model, workload, what) in [
        ("list-append", "list-append --txns 200 --bug lost-update", "renamed clients, names and numbers"),
        ("rw-register", "rw-register --txns 200 --bug aborted-read", "renamed clients, names and numbers"),
        ("cas-register", "cas-register --ops 200 --bug stale-read", "renamed clients, names and numbers"),
        ("bank", "bank --ops 200 --bug read-skew", "numbers are unchanged"),
    ] {
        histcheck(&format!("gen {workload} --seed 5 -o")).arg(&whole).assert().code(0);
        let assert = histcheck(&format!("anonymize -m {model}")).arg(&whole).arg("-o").arg(&renamed).assert().code(0);
        assert!(stderr(&assert).contains(what), "{model}: {}", stderr(&assert));
        assert_ne!(fs::read_to_string(&whole).unwrap(), fs::read_to_string(&renamed).unwrap(), "{model}");
        let report = |path: &std::path::Path| {
            let json = stdout(&histcheck(&format!("-m {model} --output json")).arg(path).assert());
            let report: serde_json::Value = serde_json::from_str(&json).unwrap();
            (report["valid"].clone(), report["anomaly_types"].clone(), report["counts"].clone())
        };
        assert_eq!(report(&whole), report(&renamed), "{model}");
    }
}

#[test]
fn nothing_of_the_names_is_left() {
    let text = r#"{"process": "alice@shop", "type": "invoke", "f": "txn", "value": [["append", "cart-of-bob", 4711]], "host": "db1.shop"}
{"process": "alice@shop", "type": "ok", "f": "txn", "value": [["append", "cart-of-bob", 4711]]}
{"process": "alice@shop", "type": "invoke", "f": "txn", "value": [["r", "cart-of-bob", null]]}
{"process": "alice@shop", "type": "ok", "f": "txn", "value": [["r", "cart-of-bob", []]]}
"#;
    let renamed = stdout(&histcheck("anonymize -m list-append -").stdin(text).assert().code(0));
    for word in ["alice", "bob", "shop", "4711", "db1"] {
        assert!(!renamed.contains(word), "{renamed}");
    }
    assert!(renamed.contains(r#""value":[["append","x1",1]]"#), "{renamed}");
}

#[test]
fn what_is_no_history_is_an_error() {
    histcheck("anonymize -m list-append truncated.edn").assert().code(255).stdout_eq("");
    histcheck("anonymize valid.edn").assert().code(254);
}
