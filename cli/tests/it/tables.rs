//! Lists of checkers, anomalies and consistency levels.

use crate::vacuous::DECIDED_EXACTLY;
use crate::{histcheck, stderr, stdout};
use serde_json::Value;

fn json(words: &str) -> Vec<Value> {
    let assert = histcheck(words).assert().code(0).stderr_eq("");
    stdout(&assert).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn named<'v>(rows: &'v [Value], name: &str) -> &'v Value {
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn models_lists_what_m_takes() {
    let text = stdout(&histcheck("models").assert().code(0).stderr_eq(""));
    assert!(text.starts_with("list-append\n    "), "{text}");
    let rows = json("models --output json");
    assert!(!named(&rows, "list-append")["summary"].as_str().unwrap().is_empty());
    for row in &rows {
        // Each listed checker can be used; one of them requires the object.
        let model = row["name"].as_str().unwrap();
        let spec = if model == "linearizable" { "--spec kv" } else { "" };
        histcheck(&format!("-m {model} {spec} nowhere.edn")).assert().code(255);
    }
}

#[test]
fn anomalies_lists_what_a_takes() {
    let rows = json("anomalies --output json");
    assert_eq!(named(&rows, "G1c")["implies"][0], "G1");
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    crate::check(&format!("-a {} valid.edn", names.join(","))).code(0);
}

#[test]
fn consistency_models_lists_what_c_takes() {
    let rows = json("consistency-models --output json");
    let serializable = named(&rows, "serializable");
    assert!(serializable["aliases"].as_array().unwrap().contains(&"PL-3".into()), "{serializable}");
    assert!(serializable["forbids"].as_array().unwrap().contains(&"G2".into()), "{serializable}");
    for row in &rows {
        let is_exact = DECIDED_EXACTLY.contains(&row["name"].as_str().unwrap());
        let checkers = if is_exact { &["isolation"][..] } else { &["isolation", "list-append"] };
        let aliases = row["aliases"].as_array().into_iter().flatten();
        for name in aliases.chain([&row["name"]]) {
            for checker in checkers {
                histcheck(&format!("-m {checker} -c {} valid.edn", name.as_str().unwrap())).assert().code(0);
            }
        }
    }
}

#[test]
fn text_is_for_people() {
    for words in ["models", "anomalies", "consistency-models"] {
        let text = stdout(&histcheck(words).assert().code(0));
        assert!(text.lines().all(|line| line.chars().count() <= 105), "{words} has long lines");
        assert!(text.lines().all(|line| line.trim_end() == line), "{words} has blanks at the ends of lines");
        assert_eq!(text, stdout(&histcheck(&format!("{words} --output text")).assert()));
    }
}

#[test]
fn a_level_that_only_some_checkers_know_names_them() {
    let rows = json("consistency-models --output json");
    assert_eq!(named(&rows, "strong-session-prefix")["checkers"], serde_json::json!(["isolation"]));
    assert_eq!(named(&rows, "serializable").get("checkers"), None);
    let wrong = histcheck("-m list-append -c strong-session-prefix -").assert().code(254);
    let said = stderr(&wrong);
    assert!(said.contains("tip: the level strong-session-prefix is one of -m isolation"), "{said}");
    // If there is another error, levels are not mentioned.
    for checkers in ["list-append", "list-append,stats"] {
        let wrong = histcheck(&format!("-m {checkers} -c serializable -a bogus -")).assert().code(254);
        assert!(!stderr(&wrong).contains("the level"), "{}", stderr(&wrong));
    }
}
