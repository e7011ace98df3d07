//! Operations as recorded histories, with one op that cannot be decoded.

use check_register::Operation;
use check_register::models::{RegisterAccess, Spec};
use history_core::{Datum, History, HistoryBuilder, NewOp, OpKind};

/// The op that cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unread {
    /// An additional op, with an unknown function, is invoked before this event.
    Invocation(usize),
    /// The same, and it ends before the other event.
    Ended(usize, usize, OpKind),
    /// The completion at this event, if it is one, has another function.
    Completion(usize),
    /// The read that completes at this event, if it is one, has a result that no set and no counter has.
    Result(usize),
    /// An additional transaction without micro-operations is invoked before this event.
    Hidden(usize),
}

/// The calls and returns of operations in order: the time, the operation, and whether it returns.
pub(crate) fn events<O>(operations: &[Operation<O>]) -> Vec<(u64, usize, bool)> {
    let mut events: Vec<(u64, usize, bool)> = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        events.push((operation.call, at, false));
        events.extend(operation.ret.map(|ret| (ret, at, true)));
    }
    events.sort_unstable();
    events
}

/// Every op that cannot be decoded, for a history with this number of events.
pub(crate) fn each_unread<S: Spec>(events: usize) -> impl Iterator<Item = Unread> {
    let kinds = [OpKind::Fail, OpKind::Info, OpKind::Ok];
    let ended = move |event| (event..=events).flat_map(move |end| kinds.map(|kind| Unread::Ended(event, end, kind)));
    let has_results = ["linearizable-set", "linearizable-counter"].contains(&S::NAME);
    let may_hide = S::NAME == "multi-register";
    (0..=events).flat_map(move |event| {
        let results = has_results.then_some(Unread::Result(event));
        let hidden = may_hide.then_some(Unread::Hidden(event));
        let all = [Unread::Invocation(event), Unread::Completion(event)];
        all.into_iter().chain(results).chain(hidden).chain(ended(event))
    })
}

/// The recorded history of operations, with an op that cannot be decoded; `None` if there is no such op.
pub(crate) fn record<S: Spec>(model: &S, operations: &[Operation<S::Op>], unread: Unread) -> Option<History> {
    let mut builder = HistoryBuilder::new();
    let strange = |kind, process: usize| NewOp::new(kind, i64::from(process as u32)).f("frobnicate");
    let all = events(operations);
    let mut is_there = false;
    for at in 0..=all.len() {
        if matches!(unread, Unread::Invocation(event) | Unread::Ended(event, ..) if event == at) {
            builder.push_op(&strange(OpKind::Invoke, operations.len())).unwrap();
            is_there = true;
        }
        if unread == Unread::Hidden(at) {
            builder.push_op(&NewOp::new(OpKind::Invoke, i64::from(operations.len() as u32)).f("txn")).unwrap();
            is_there = true;
        }
        if let Unread::Ended(_, end, kind) = unread
            && end == at
        {
            builder.push_op(&strange(kind, operations.len())).unwrap();
        }
        let Some((_, operation, returns)) = all.get(at).copied() else { break };
        let Datum::Vector(op) = model.datum(&operations[operation].op) else { panic!("an op is a vector") };
        let [f, value] = &op[..] else { panic!("an op consists of its function and its value") };
        let f = f.to_string().trim_start_matches(':').to_owned();
        let value = if f == "read" && !returns { Datum::Nil } else { value.clone() };
        let kind = if returns { OpKind::Ok } else { OpKind::Invoke };
        if returns && unread == Unread::Completion(at) {
            builder.push_op(&strange(OpKind::Ok, operation).value(1)).unwrap();
            is_there = true;
        } else if returns && f == "read" && unread == Unread::Result(at) {
            builder.push_op(&NewOp::new(kind, i64::from(operation as u32)).f(&f).value(Datum::keyword("j"))).unwrap();
            is_there = true;
        } else {
            builder.push_op(&NewOp::new(kind, i64::from(operation as u32)).f(&f).value(value)).unwrap();
        }
    }
    is_there.then(|| builder.build())
}

/// Transactions of two registers. None both reads and writes: the reads of a transaction in flight would show whether
/// it may have written yet, and a checker that watches receives them too late.
pub(crate) fn transactions() -> Vec<Box<[RegisterAccess]>> {
    let read = |key, value| RegisterAccess::Read { key, value };
    let write = |key, value| RegisterAccess::Write { key, value };
    vec![
        [write(1, 1)].into(),
        [read(1, 1)].into(),
        [read(1, 2)].into(),
        [write(1, 2), write(2, 1)].into(),
        [read(1, 1), read(2, 1)].into(),
        [read(2, 1)].into(),
    ]
}
