//! Tests that a run immediately reports what will remain unknown.

use super::{AT_ONCE, Limits, checker, model, online, sizes};
use crate::model::Model;
use history_core::{Budget, Checker as _, History, Options, Run as _, Verdict};
use std::fmt::Write as _;

fn add(text: &mut String, mops: &str, read: &str) {
    for (kind, value) in [("invoke", mops), ("ok", read)] {
        writeln!(text, "{{:process 0, :type :{kind}, :f :txn, :value [{value}]}}").unwrap();
    }
}

/// The first op after which there is a doubt, and its text.
fn doubt(text: &str, level: &str, limits: Limits) -> Option<(usize, String)> {
    let mut run = online(model(level), sizes(limits));
    let mut first = None;
    for (at, op) in History::parse(text).unwrap().ops().enumerate() {
        let _ = run.observe(&op).unwrap();
        first = first.or_else(|| Some((at, run.doubt()?)));
    }
    let verdict = Box::new(run).finish(&Budget::default()).unwrap().verdict;
    assert_eq!(first.is_some(), verdict == Verdict::Unknown, "{verdict:?}");
    first
}

#[test]
fn ops_that_are_not_understood_are_reported_at_once() {
    let mut text = String::new();
    add(&mut text, "[:append x 1]", "[:append x 1]");
    add(&mut text, "[:r x nil]", "[:r x [1]]");
    assert_eq!(doubt(&text, "strict-serializable", AT_ONCE), None);
    add(&mut text, "[:append x 1]", "[:append x 1]");
    add(&mut text, "[:r x nil]", "[:r x [1]]");
    for level in ["strict-serializable", "serializable"] {
        let (at, reason) = doubt(&text, level, AT_ONCE).unwrap();
        let why =
            "(certain since the op at index 4): from the op at index 4 on it was not checked: a value was written";
        assert_eq!(at, 4);
        assert!(reason.starts_with(&format!("whether {level} holds will stay unknown {why}")), "{reason}");
    }
}

/// A level with its own judge needs other facts than strict serializability, which is judged in addition.
#[test]
fn a_dropped_key_matters_to_levels_that_depend_on_it() {
    let mut text = String::new();
    for key in 0..400 {
        add(&mut text, &format!("[:append {key} 1]"), &format!("[:append {key} 1]"));
    }
    add(&mut text, "[:r 3 nil]", "[:r 3 [1]]");
    let few = Limits { values: 20, idle: 40, pause: 1, ..AT_ONCE };
    let (at, reason) = doubt(&text, "strict-serializable", few).unwrap();
    assert_eq!(at, 800);
    assert!(
        reason.contains("will stay unknown unless a violation is found (certain since the op at index 800)"),
        "{reason}"
    );
    assert_eq!(doubt(&text, "serializable", few), None);
}

/// A read of an element that only a crashed operation with unknown writes may have appended.
#[test]
fn writes_that_stay_unknown_are_reported_at_once() {
    let mut text = String::from(
        "{:process 1, :type :invoke, :f :txn, :value nil}\n{:process 1, :type :info, :f :txn, :value nil}\n",
    );
    add(&mut text, "[:append x 1]", "[:append x 1]");
    add(&mut text, "[:r x nil]", "[:r x [1 2]]");
    let (at, reason) = doubt(&text, "strict-serializable", AT_ONCE).unwrap();
    assert_eq!(at, 5);
    let begins = "the verdict will not be true. A value was read that no op says it wrote.";
    assert!(reason.starts_with(begins) && reason.contains("the op at index 1 may have happened"), "{reason}");
}

/// The batch checker reports it as long as it has the whole history.
#[test]
fn an_op_that_is_no_transaction_is_reported_at_once() {
    let mut run = checker(Model::STRICT_SERIALIZABLE).start_online(&Options::new()).unwrap();
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:append x 1]]}
        {:process 0, :type :ok, :f :txn, :value [[:add x 1]]}\n";
    let mut doubts = Vec::new();
    for op in History::parse(text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
        doubts.push(run.doubt());
    }
    let [None, Some(doubt)] = &doubts[..] else { panic!("{doubts:?}") };
    let begins = "list-append does not understand the op at index 1, so the verdict will not be true: ";
    assert!(doubt.starts_with(begins), "{doubt}");
    assert_eq!(run.finish(&Budget::default()).unwrap().verdict, Verdict::Unknown);
}
