//! Ops and steps for the tests of pictures.

use history_core::{Datum, History, OpKind, Step, WitnessOp};

/// An op with this index and this value, written as EDN.
pub(super) fn op(index: u64, value: &str) -> WitnessOp {
    let history = History::parse(&format!("{{:type :ok, :value {value}}}")).expect("the value is EDN");
    let value = history.ops().next().map_or(Datum::Nil, |op| op.value.into());
    WitnessOp { name: format!("T{index}"), index, process: Some(3), kind: OpKind::Ok, time_ns: None, value }
}

/// A step that says no more than its relation.
pub(super) fn step(from: usize, to: usize, relation: &'static str) -> Step {
    Step { from, to, relation: relation.into(), key: None, value: None, next_value: None, because: String::new() }
}
