//! Tests of the reported cycle: each step has the strongest relation of its two transactions, and a chain of steps of
//! one process is shown as one step.

use crate::oracle::Question;
use crate::oracle::against::{certified, checker};
use check_elle::model::Model;
use check_elle::rw_register::RwRegister;
use history_core::{Checker as _, History, Report};
use std::fmt::Write;

fn op(text: &mut String, process: usize, mops: &str) {
    for kind in ["invoke", "ok"] {
        writeln!(text, "{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}").expect("strings take all");
    }
}

fn types(report: &Report) -> Vec<&str> {
    report.anomaly_types().collect()
}

/// Makes a history in which ten concurrent transactions replace what the transaction at index 1 wrote. One of the ten
/// wrote the value of z that the first transaction read too early, and the y that it read as `nil`; it also read from
/// every transaction that read from the first one.
fn a_crowd(nil: &str) -> String {
    let mut text = String::new();
    op(&mut text, 0, &format!("[:r :z 1] {nil} [:w :x 1]"));
    (1..11).for_each(|process| op(&mut text, process, &format!("[:r :x 1] [:w {process} 1]")));
    let reads = (1..11).map(|key| format!("[:r {key} 1]")).collect::<Vec<_>>().join(" ");
    for kind in ["invoke", "ok"] {
        for process in 20..30 {
            let mops = if process == 20 { format!("{reads} [:w :y 1] [:w :z 1]") } else { String::new() };
            writeln!(text, "{{:process {process}, :type :{kind}, :f :txn, :value [{mops} [:w :x {process}]]}}")
                .expect("strings take all");
        }
    }
    text
}

/// This also applies if the stronger relation goes through the gates of a crowd and the weaker one does not.
#[test]
fn rw_beside_ww_is_no_cycle_of_its_own() {
    for nil in ["", "[:r :y nil]"] {
        let history = History::parse(&a_crowd(nil)).unwrap();
        let models = vec!["serializable".parse::<Model>().unwrap()];
        let options = RwRegister { consistency_models: models, linearizable_keys: true, ..RwRegister::default() };
        assert_eq!(types(&options.check(&history).unwrap()), ["G1c"], "{nil}");
    }
}

/// One process appends, executes many other transactions, and then reads without its append, which another process
/// reads.
#[test]
fn a_chain_of_a_process_is_one_step() {
    let mut text = String::new();
    op(&mut text, 0, "[:append :x 1]");
    (0..3000).for_each(|element| op(&mut text, 0, &format!("[:append :y {element}]")));
    op(&mut text, 0, "[:r :x []]");
    op(&mut text, 1, "[:r :x [1]]");
    let history = History::parse(&text).unwrap();
    let question = Question::of_lists(&["strong-session-serializable"]);
    let report = checker(&history, &question);
    assert_eq!(types(&report), ["G-single-item-process"]);
    let witness = &report.anomalies[0].witnesses[0];
    let steps: Vec<&str> = witness.steps.iter().map(|step| step.relation.as_ref()).collect();
    assert_eq!(steps, ["process", "rw"]);
    assert_eq!(witness.steps[0].because, "process 0 executed T1 before T2");
    assert_eq!(certified(&history, &question, "G-single-item-process", witness), Ok(()));
}
