//! A checker's own description determines how its histories are minimized, not its name.

use super::*;
use history_core::{About, Anomaly, Checker, OptionError, OptionSpec, Witness, WitnessOp};
use std::ops::ControlFlow;

/// A checker that rejects ops with the value 13, under the name of a built-in checker.
struct Superstition(Parts);

impl Checker for Superstition {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn summary(&self) -> &'static str {
        "No op has the value 13."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> About {
        About::default().with_parts(self.0)
    }

    fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(Unlucky(Report::new("counter", Verdict::Valid))))
    }
}

struct Unlucky(Report);

impl Run for Unlucky {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if op.kind == OpKind::Ok && op.value.as_int() == Some(13) {
            let op = WitnessOp {
                name: "T1".into(),
                index: op.index,
                process: None,
                kind: op.kind,
                time_ns: None,
                value: Datum::Int(13),
            };
            let witness = Witness::new(vec![op], "");
            self.0.verdict = Verdict::Invalid;
            self.0.anomalies = vec![Anomaly { name: "unlucky".into(), count: 1, witnesses: vec![witness] }];
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        Ok(self.0)
    }
}

#[test]
fn what_a_checker_says_of_itself_counts_and_not_its_name() {
    let text = operation(0, "add", "1", "ok", "1")
        + &operation(0, "add", "2", "ok", "2")
        + &operation(0, "read", "nil", "ok", "13");
    let history = History::parse(&text).unwrap();
    let left = |parts: Parts| {
        let registry = Registry::from(vec![Box::new(Superstition(parts)) as Box<dyn Checker>]);
        let job = job("counter", "", Path::new("unused"), &registry);
        let report = judge(&job, false, &history).unwrap();
        minimize(&job, &history, &report).unwrap().operations
    };
    assert_eq!(left(Parts::Sums), 3, "all adds count");
    assert_eq!(left(Parts::Unknown), 1, "nothing is known of what the read needs");
    assert_eq!(left(Parts::Whole), history.len());
}
