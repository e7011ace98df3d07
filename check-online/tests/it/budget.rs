//! A budget ends a search within one event.

use check_online::{Events, OnlineLinearizable, Outcome, Reason};
use check_register::models::{CasRegister, RegisterOp};
use history_core::{Budget, Cancel, Checker, Compose, History, Keyed, Options, Run, Spent, Verdict};
use std::fmt::Write as _;

/// So many writes in flight at once that they lead to some thousand configurations.
const WRITES: i64 = 14;

fn spent() -> Budget {
    let cancel = Cancel::default();
    cancel.cancel();
    Budget::default().with_cancel(cancel)
}

#[test]
fn a_search_ends_with_the_budget() {
    let outcome = |budget: &Budget| {
        let mut events = Events::new(CasRegister::default());
        events.limit(budget);
        let write = |value: i64| RegisterOp::Write(value);
        let calls: Vec<_> = (0..WRITES).map(|value| events.invoke(value, 0, Some(&write(value)))).collect();
        for (value, call) in (0..WRITES).zip(calls) {
            events.complete(call, 1, Some(&write(value)));
        }
        events.outcome()
    };
    assert_eq!(outcome(&Budget::default()), Outcome::Ok);
    assert_eq!(outcome(&spent()), Outcome::Unknown(Reason::Spent(Spent::Cancelled)));
}

/// Runs with keys and of several checkers pass the budget on.
#[test]
fn every_run_is_limited() {
    let mut text = String::new();
    for process in 0..WRITES {
        writeln!(text, "{{:process {process}, :type :invoke, :f :write, :value [:x {process}]}}").unwrap();
    }
    for process in 0..WRITES {
        writeln!(text, "{{:process {process}, :type :ok, :f :write, :value [:x {process}]}}").unwrap();
    }
    text += "{:process 0, :type :invoke, :f :read, :value [:x nil]} {:process 0, :type :ok, :f :read, :value [:x 0]}";
    let keyed = History::parse(&text).unwrap();
    let plain = History::parse(&text.replace("[:x ", "").replace(']', "")).unwrap();
    let checker = OnlineLinearizable::<CasRegister>::default();
    let report = |mut run: Box<dyn Run + '_>, history: &History, budget: &Budget| {
        run.limit(budget);
        history.ops().for_each(|op| _ = run.observe(&op).unwrap());
        // At the end there is time again, but the search is over.
        run.finish(&Budget::default()).unwrap()
    };
    let options = Options::new();
    let both = || Compose::new(vec![Box::new(checker.clone())]).unwrap();
    for (budget, expected) in [(Budget::default(), Verdict::Valid), (spent(), Verdict::Unknown)] {
        let alone = report(checker.start(&options).unwrap(), &plain, &budget);
        let of_keys = report(Box::new(Keyed::start(&checker, &options).unwrap()), &keyed, &budget);
        let composed = report(both().start(&options).unwrap(), &plain, &budget);
        assert_eq!([alone.verdict, of_keys.verdict, composed.verdict], [expected; 3], "{:?}", alone.notes);
        let is_said = alone.notes.iter().any(|note| note.contains("it was cancelled"));
        assert_eq!(is_said, expected == Verdict::Unknown, "{:?}", alone.notes);
    }
}
