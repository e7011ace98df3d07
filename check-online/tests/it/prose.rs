//! The texts for users.

use check_online::{Online, OnlineLinearizable, Outcome, Reason, Span};
use check_register::models::{
    CasRegister, Kv, PlainRegister,
    RegisterOp::{Read, Write},
};
use history_core::{Budget, Checker, History, Options};

#[test]
fn a_violation_of_spans() {
    let mut online = Online::new(PlainRegister::starting_with(0), 3);
    online.feed(Span::new(0, 1, 2, Write(1))).unwrap();
    online.feed(Span::new(0, 5, 9, Write(2))).unwrap();
    online.feed(Span::new(1, 6, 10, Write(3))).unwrap();
    online.feed(Span::new(1, 11, 14, Read(1))).unwrap();
    online.feed(Span::new(2, 12, 30, Write(4))).unwrap();
    let Outcome::Violation(violation) = online.finish() else { panic!() };
    insta::assert_snapshot!(violation);
}

fn explained(checker: &dyn Checker, text: &str) -> String {
    let history = History::parse(text).unwrap();
    let mut run = checker.start(&Options::new()).unwrap();
    let broke_at = history.ops().position(|op| run.observe(&op).unwrap().is_break());
    let report = run.finish(&Budget::default()).unwrap();
    let told =
        report.anomalies.iter().flat_map(|anomaly| &anomaly.witnesses).map(|witness| witness.explanation.clone());
    format!("{:?} at {broke_at:?}\n{}{}", report.verdict, told.collect::<String>(), report.notes.join("\n"))
}

#[test]
fn violations_of_recorded_ops() {
    insta::assert_snapshot!(explained(
        &OnlineLinearizable::<CasRegister>::default(),
        "{:process 0, :type :invoke, :f :write, :value 1}
         {:process 1, :type :invoke, :f :cas,   :value [1 2]}
         {:process 0, :type :ok,     :f :write, :value 1}
         {:process 2, :type :invoke, :f :read}
         {:process 2, :type :ok,     :f :read,  :value 3}"
    ));
    insta::assert_snapshot!(explained(
        &OnlineLinearizable::<Kv>::default(),
        "{:process 0, :type :invoke, :f :put, :key 7, :value \"a\"}
         {:process 0, :type :ok,     :f :put, :key 7, :value \"a\"}
         {:process 1, :type :invoke, :f :get, :key 7}
         {:process 1, :type :ok,     :f :get, :key 7, :value \"b\"}"
    ));
    insta::assert_snapshot!(explained(
        &OnlineLinearizable::<Kv>::default(),
        "{:process 0, :type :invoke, :f :put, :key 7, :value \"a\"}
         {:process 1, :type :invoke, :f :swap}"
    ));
}

#[test]
fn reasons() {
    let all =
        [Reason::Full, Reason::InFlight, Reason::Behind { client: 3 }, Reason::Lag, Reason::Crashed, Reason::Whole];
    insta::assert_snapshot!(all.map(Reason::because).join("\n"));
}
