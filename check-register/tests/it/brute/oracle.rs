//! Linearizability by its definition: an order of the operations that the model admits and that respects real time.

use check_register::{Model, Operation};
use history_core::Budget;

/// Returns true if `operations` are linearizable, by trying every order. Only for a few operations.
pub(crate) fn linearizable<M: Model>(model: &M, operations: &[Operation<M::Op>]) -> bool {
    let mut left: Vec<&Operation<M::Op>> = operations.iter().collect();
    extend(model, &mut left, &[model.init()])
}

fn extend<M: Model>(model: &M, left: &mut Vec<&Operation<M::Op>>, states: &[M::State]) -> bool {
    if states.is_empty() {
        return false;
    }
    if left.iter().all(|operation| operation.ret.is_none()) {
        return true;
    }
    for at in 0..left.len() {
        // Operations that returned before this one was called must come first.
        if left.iter().any(|other| other.ret.is_some_and(|ret| ret < left[at].call)) {
            continue;
        }
        let one = left.remove(at);
        let found = extend(model, left, &step(model, states, &one.op));
        left.insert(at, one);
        if found {
            return true;
        }
    }
    false
}

fn step<M: Model>(model: &M, states: &[M::State], op: &M::Op) -> Vec<M::State> {
    states.iter().flat_map(|state| model.step(state, op, &Budget::default())).collect()
}

/// The states that operations may lead to in this order.
pub(crate) fn replay<M: Model>(model: &M, operations: &[Operation<M::Op>], order: &[usize]) -> Vec<M::State> {
    order.iter().fold(vec![model.init()], |states, at| step(model, &states, &operations[*at].op))
}

/// Returns true if `order` is a linearization of the operations at `mine`: it contains each at most once and all that
/// returned, none precedes one that had returned when it was called, and the model admits them all.
pub(crate) fn admits<M: Model>(model: &M, mine: &[usize], operations: &[Operation<M::Op>], order: &[usize]) -> bool {
    let once = (0..order.len()).all(|at| !order[..at].contains(&order[at]) && mine.contains(&order[at]));
    let all = mine.iter().all(|at| operations[*at].ret.is_none() || order.contains(at));
    let in_time = (0..order.len()).all(|at| {
        let call = operations[order[at]].call;
        order[at..].iter().all(|later| operations[*later].ret.is_none_or(|ret| ret >= call))
    });
    once && all && in_time && !replay(model, operations, order).is_empty()
}
