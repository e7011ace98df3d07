//! The definition, by trying: some order of the operations that the object permits.

use super::world::{Call, Fate, INITIAL, Operation};
use std::collections::BTreeSet;

/// Returns true if one operation is known to precede another.
pub(crate) type Before = fn(&Operation, &Operation) -> bool;

/// The order as recorded.
pub(crate) fn in_order(a: &Operation, b: &Operation) -> bool {
    a.fate != Fate::Open && a.completed < b.invoked
}

/// It is unknown when operations began. A write whose invocation is unknown began before its version was observed.
pub(crate) fn never(_: &Operation, _: &Operation) -> bool {
    false
}

/// The processes of ops are unknown: writes are identified by their ids, and reads may have begun at any time.
pub(crate) fn writes_only(a: &Operation, b: &Operation) -> bool {
    in_order(a, b) && matches!(b.call, Call::Write(..))
}

/// Returns true if a history is linearizable. The initial version is given, or any one that no write proposes.
pub(crate) fn is_linearizable(operations: &[Operation], initial: Option<i64>, before: Before) -> bool {
    let mut proposed = BTreeSet::new();
    let mut named = BTreeSet::from([-1]);
    for operation in operations {
        match operation.call {
            Call::Read(id, _) => {
                named.insert(id);
            }
            Call::Write(id, prev, _) => {
                proposed.insert(id);
                named.insert(prev);
            }
        }
    }
    let candidates = match initial {
        Some(initial) => vec![initial],
        None => named.difference(&proposed).copied().collect(),
    };
    candidates.into_iter().any(|id| {
        let value = (initial == Some(INITIAL)).then_some(0);
        place(operations, 0, State { id, value }, before)
    })
}

/// The state of the object. The value of the initial version is unknown until it is read.
#[derive(Clone, Copy)]
struct State {
    id: i64,
    value: Option<i64>,
}

fn step(state: State, call: Call) -> Option<State> {
    match call {
        Call::Read(id, value) => {
            (state.id == id && state.value.is_none_or(|held| held == value)).then_some(State { id, value: Some(value) })
        }
        Call::Write(id, prev, value) => (state.id == prev).then_some(State { id, value: Some(value) }),
    }
}

/// Returns true if the operations not in `placed` can follow.
fn place(operations: &[Operation], placed: u32, state: State, before: Before) -> bool {
    let must = |at: usize| operations[at].fate == Fate::Ok && placed & 1 << at == 0;
    if !(0..operations.len()).any(must) {
        return true;
    }
    (0..operations.len()).any(|at| {
        let operation = &operations[at];
        let may = placed & 1 << at == 0
            && operation.fate != Fate::Fail
            && (operation.fate == Fate::Ok || matches!(operation.call, Call::Write(..)))
            // Only operations that certainly happened have to come first.
            && !(0..operations.len()).any(|other| must(other) && before(&operations[other], operation));
        may && step(state, operation.call).is_some_and(|next| place(operations, placed | 1 << at, next, before))
    })
}
