//! Compares the linear fold with the general search: a versioned register is a compare-and-set register of ids.

use super::properties::{Damage, damage, harm, run, steps, verdict};
use super::world::{Call, Fate, Form, INITIAL, Operation, history, verdict_on};
use check_register::models::{CasRegister, RegisterOp};
use check_register::{check, explain_refusal};
use history_core::{Budget, Verdict};
use proptest::prelude::*;

/// The same operations on ids alone. Failed operations did not happen, and reads that did not return have no result.
fn on_ids(operations: &[Operation]) -> Vec<check_register::Operation<RegisterOp>> {
    let translate = |operation: &Operation| {
        let op = match operation.call {
            Call::Read(id, _) => RegisterOp::Read(id),
            Call::Write(id, prev, _) => RegisterOp::Cas(prev, id),
        };
        let ret = match operation.fate {
            Fate::Ok => Some(operation.completed.cast_unsigned()),
            Fate::Info | Fate::Open => None,
            Fate::Fail => return None,
        };
        Some(check_register::Operation { process: 0, op, call: operation.invoked.cast_unsigned(), ret })
    };
    operations.iter().filter_map(translate).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn the_fold_agrees_with_the_search(steps in steps(120), lies in prop::collection::vec(damage(), 0..3)) {
        let mut operations = run(&steps);
        // A wrong value is not visible on ids alone.
        let lies: Vec<_> = lies.into_iter().filter(|(_, lie)| !matches!(lie, Damage::Value)).collect();
        harm(&mut operations, &lies);
        let folded = verdict(&history(&operations, Form::Timed, 1), true, 0);
        let ids = on_ids(&operations);
        let searched = check(&CasRegister::starting_with(INITIAL), &ids, &Budget::default()).verdict();
        prop_assert_ne!(searched, Verdict::Unknown);
        let searched = verdict_on(&operations, searched == Verdict::Valid);
        prop_assert_eq!(
            folded, searched,
            "{:?}\n{:?}", operations, explain_refusal(&CasRegister::starting_with(INITIAL), &ids)
        );
    }
}
