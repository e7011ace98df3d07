//! Derives the content of a violation again, without the search.

use super::oracle::{admits, replay};
use check_online::{Next, OnlineModel, Step, Violation};
use check_register::Operation;

/// Compares each configuration of a violation with the operations that were known.
pub(crate) fn certify<M: OnlineModel>(model: &M, known: &[Operation<M::Op>], violation: &Violation<M::Op>) {
    let told = || format!("{violation:#?} of {known:#?}");
    let find = |step: &Step<M::Op>| {
        let found = known.iter().position(|operation| operation.call == step.start);
        found.unwrap_or_else(|| panic!("{step:?} is nothing that is known: {}", told()))
    };
    assert!(!violation.configurations.is_empty(), "{}", told());
    let refused = find(&violation.refused);
    let until = known[refused].ret.unwrap_or_else(|| panic!("what is refused returned: {}", told()));
    // The operations as known at the return of the refused one.
    let before =
        |operation: &Operation<M::Op>| Operation { ret: operation.ret.filter(|ret| *ret < until), ..operation.clone() };
    let open: Vec<Operation<M::Op>> = known.iter().map(before).collect();
    let part = |operation: &Operation<M::Op>| model.shortcuts().part(&operation.op);
    let has_parts = violation.part.is_some();
    let mine: Vec<usize> =
        (0..known.len()).filter(|at| !has_parts || part(&known[*at]) == part(&known[refused])).collect();
    for configuration in &violation.configurations {
        let order: Vec<usize> = violation.common.iter().chain(&configuration.after).map(find).collect();
        let is_whole = violation.common.len() as u64 == violation.common_len;
        if is_whole {
            assert!(admits(model, &mine, &open, &order), "{}", told());
            let states = replay(model, known, &order);
            let described: Vec<String> = states.iter().map(|state| model.describe_state(state)).collect();
            assert!(described.contains(&configuration.state), "{described:?}: {}", told());
        }
        assert!(!order.contains(&refused), "{}", told());
        for (step, next) in &configuration.next {
            let op = find(step);
            assert!(!order.contains(&op), "{}", told());
            if is_whole {
                let mut longer = order.clone();
                longer.push(op);
                if *next == Next::LeadsOn {
                    assert!(!replay(model, known, &longer).is_empty(), "{}", told());
                }
            }
            if op == refused {
                assert_eq!(*next, Next::NotAdmitted, "{}", told());
            }
        }
    }
}
