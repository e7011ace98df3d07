//! Ops and steps for the tests of pictures.

use history_core::{Datum, History, OpKind, Step, WitnessOp};
use proptest::prelude::*;

/// An op with this index and this value, written as EDN.
pub(super) fn op(index: u64, value: &str) -> WitnessOp {
    let history = History::parse(&format!("{{:type :ok, :value {value}}}")).expect("the value is EDN");
    let value = history.ops().next().map_or(Datum::Nil, |op| op.value.into());
    WitnessOp { name: format!("T{index}"), index, process: Some(3.into()), kind: OpKind::Ok, time_ns: None, value }
}

/// A step with a relation and no other data.
pub(super) fn step(from: usize, to: usize, relation: &'static str) -> Step {
    Step::new(from, to, relation, "")
}

/// Transactions on two keys with few versions, so that steps often find their micro-ops.
fn value() -> impl Strategy<Value = Datum> {
    let mop = (0..3, 0..2_i64, 0..2_i64, 0..30_i64).prop_map(|(f, key, element, before)| {
        let (f, value) = match f {
            0 => ("append", Datum::Int(element)),
            1 => ("r", Datum::Vector((100..100 + before).chain([element]).map(Datum::Int).collect())),
            _ => ("r", Datum::Vector(Vec::new())),
        };
        Datum::Vector(vec![Datum::keyword(f), key.into(), value])
    });
    prop_oneof![
        9 => prop::collection::vec(mop.clone(), 0..7).prop_map(Datum::Vector),
        1 => prop::collection::vec(mop, 7..60).prop_map(Datum::Vector),
    ]
}

/// Arbitrary transactions, and arbitrary steps between them, some with invalid ends.
pub(super) fn picture() -> impl Strategy<Value = (Vec<WitnessOp>, Vec<Step>)> {
    // A few ops share many steps; many ops result in lanes.
    let op = (0..40_u64, value()).boxed();
    let ops = prop_oneof![prop::collection::vec(op.clone(), 2..5), prop::collection::vec(op, 0..16)];
    let relation = prop::sample::select(vec!["ww", "wr", "rw", "process", "realtime", "through <&> it all"]);
    let any_step = (0..64_usize, 0..64_usize, relation, (0..2_i64, prop::option::of(0..2_i64), 0..2_i64));
    (ops, prop::collection::vec(any_step, 0..50)).prop_map(|(ops, steps)| {
        // One more than the number of ops, so that some steps have an end that does not exist.
        let any = ops.len() + 1;
        let ops = ops.into_iter().enumerate().map(|(at, (index, value))| WitnessOp {
            name: format!("T{}", at + 1),
            index,
            process: (index % 3 > 0).then_some(3.into()),
            kind: [OpKind::Ok, OpKind::Info, OpKind::Fail][at % 3],
            time_ns: None,
            value,
        });
        let steps = steps.into_iter().map(|(from, to, relation, (key, value, next))| {
            let next = (relation != "wr").then(|| next.into());
            Step::new(from % any, to % any, relation, "so it is").with_versions(
                Some(key.into()),
                Some(value.into()),
                next,
            )
        });
        (ops.collect(), steps.collect())
    })
}
