//! The definition, tried out: some order of the operations that the object allows.

use super::world::{Call, Fate, INITIAL, Operation};
use std::collections::BTreeSet;

/// When operations are known to have been apart.
pub(crate) type Before = fn(&Operation, &Operation) -> bool;

/// As recorded.
pub(crate) fn in_order(a: &Operation, b: &Operation) -> bool {
    a.fate != Fate::Open && a.completed < b.invoked
}

/// It is unknown when operations began. A write that is known only from its completion began before that was shown,
/// whenever.
pub(crate) fn never(_: &Operation, _: &Operation) -> bool {
    false
}

/// Nobody knows whose an op is: writes are known by their ids, reads may have begun at any time.
pub(crate) fn writes_only(a: &Operation, b: &Operation) -> bool {
    in_order(a, b) && matches!(b.call, Call::Write(..))
}

/// Whether a history is linearizable; the initial version is `Some`, or any that no write proposes.
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

/// The object. Nobody has said what the initial version holds until it is read.
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

/// Whether the operations not yet in `placed` can follow.
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
            // Only what surely happened has to come first.
            && !(0..operations.len()).any(|other| must(other) && before(&operations[other], operation));
        may && step(state, operation.call).is_some_and(|next| place(operations, placed | 1 << at, next, before))
    })
}
