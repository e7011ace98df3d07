//! Operations as recorded histories, with an op in them that cannot be read.

use check_register::Operation;
use check_register::models::Spec;
use history_core::{Datum, History, HistoryBuilder, NewOp, OpKind};

/// What cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unread {
    /// One more op is invoked before this event, of a function that no object has.
    Invocation(usize),
    /// The completion that is this event, if it is one, says that it was another function.
    Completion(usize),
}

/// The calls and returns of operations in order: when, the operation, and whether it returns.
pub(crate) fn events<O>(operations: &[Operation<O>]) -> Vec<(u64, usize, bool)> {
    let mut events: Vec<(u64, usize, bool)> = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        events.push((operation.call, at, false));
        events.extend(operation.ret.map(|ret| (ret, at, true)));
    }
    events.sort_unstable();
    events
}

/// The recorded history of operations, with an op that cannot be read; `None` if there is none such.
pub(crate) fn record<S: Spec>(model: &S, operations: &[Operation<S::Op>], unread: Unread) -> Option<History> {
    let mut builder = HistoryBuilder::new();
    let strange = |kind, process: usize| NewOp::new(kind, i64::from(process as u32)).f("frobnicate");
    let all = events(operations);
    let mut is_there = false;
    for at in 0..=all.len() {
        if unread == Unread::Invocation(at) {
            builder.push_op(&strange(OpKind::Invoke, operations.len())).unwrap();
            is_there = true;
        }
        let Some((_, operation, returns)) = all.get(at).copied() else { break };
        let Datum::Vector(said) = model.datum(&operations[operation].op) else { panic!("an op is a vector") };
        let [f, value] = &said[..] else { panic!("of its function and its value") };
        let f = f.to_string().trim_start_matches(':').to_owned();
        let value = if f == "read" && !returns { Datum::Nil } else { value.clone() };
        let kind = if returns { OpKind::Ok } else { OpKind::Invoke };
        if returns && unread == Unread::Completion(at) {
            builder.push_op(&strange(OpKind::Ok, operation).value(1)).unwrap();
            is_there = true;
        } else {
            builder.push_op(&NewOp::new(kind, i64::from(operation as u32)).f(&f).value(value)).unwrap();
        }
    }
    is_there.then(|| builder.build())
}
