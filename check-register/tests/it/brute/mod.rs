//! Compares every engine with trying all orders, on every history of up to three operations of each model, and on
//! random ones of up to six.

mod distinct;
mod large;
mod models;
mod monitors;
pub(crate) mod oracle;
mod priorities;
mod recorded;
mod unread;
mod world;

use check_register::models::Spec;
use check_register::{Conflict, Engine, Model, Operation, Outcome, Refusal, Settings, check_with};
use history_core::{Budget, Verdict};
use oracle::{admits, linearizable};

const ENGINES: [Engine; 3] = [Engine::Portfolio, Engine::JustInTime, Engine::WingGong];

/// Compares every engine with the oracle on one history. Returns true if it is linearizable.
fn hold<M: Model>(model: &M, operations: &[Operation<M::Op>]) -> bool {
    let of_part = |part: &Vec<usize>| part.iter().map(|at| operations[*at].clone()).collect::<Vec<_>>();
    let expected = parts(model, operations).iter().all(|part| linearizable(model, &of_part(part)));
    let mut refusals: Vec<Vec<Option<Refusal>>> = Vec::new();
    for engine in ENGINES {
        let settings = Settings { engine, ..Settings::default() };
        let answer = check_with(model, operations, settings, &Budget::default());
        let context = || format!("{engine:?} of {operations:#?}: {answer:#?}");
        assert_eq!(answer.verdict(), if expected { Verdict::Valid } else { Verdict::Invalid }, "{}", context());
        let mut refused = Vec::new();
        for part in &answer.parts {
            match &part.outcome {
                Outcome::Linearizable(order) => {
                    let mine = part_of(model, operations, order.first().copied());
                    assert!(admits(model, &mine, operations, order), "{}", context());
                    refused.push(None);
                }
                Outcome::Refused(refusal) => {
                    certify(model, operations, refusal);
                    refused.push(Some(Refusal { conflict: None, ..refusal.clone() }));
                }
                Outcome::Unknown(_) => panic!("{}", context()),
            }
        }
        refusals.push(refused);
    }
    hold_beam(model, operations, expected);
    assert!(
        refusals.windows(2).all(|pair| pair[0] == pair[1]),
        "engines refuse {operations:?} in the same way: {refusals:?}"
    );
    expected
}

/// The same for a beam search, which refuses nothing. In a small world it omits nothing.
fn hold_beam<M: Model>(model: &M, operations: &[Operation<M::Op>], expected: bool) {
    let settings = Settings { engine: Engine::Beam, ..Settings::default() };
    let answer = check_with(model, operations, settings, &Budget::default());
    for part in &answer.parts {
        match &part.outcome {
            Outcome::Linearizable(order) => {
                let mine = part_of(model, operations, order.first().copied());
                assert!(admits(model, &mine, operations, order), "{answer:#?} of {operations:#?}");
            }
            Outcome::Unknown(_) => {}
            Outcome::Refused(_) => panic!("a beam search refuses {operations:#?}: {answer:#?}"),
        }
    }
    let verdict = if expected { Verdict::Valid } else { Verdict::Unknown };
    assert_eq!(answer.verdict(), verdict, "{answer:#?} of {operations:#?}");
}

/// The operations of each part, as positions; operations without a known effect or result are omitted.
fn parts<M: Model>(model: &M, operations: &[Operation<M::Op>]) -> Vec<Vec<usize>> {
    let says = |at: &usize| operations[*at].ret.is_some() || !model.shortcuts().reads_only(&operations[*at].op);
    let all: Vec<usize> = (0..operations.len()).filter(says).collect();
    let names: Option<Vec<u64>> = all.iter().map(|at| model.shortcuts().part(&operations[*at].op)).collect();
    let Some(mut names) = names else { return vec![all] };
    names.sort_unstable();
    names.dedup();
    let of_part = |name: &u64| {
        all.iter().copied().filter(|at| model.shortcuts().part(&operations[*at].op) == Some(*name)).collect()
    };
    names.iter().map(of_part).collect()
}

/// The part of an operation.
fn part_of<M: Model>(model: &M, operations: &[Operation<M::Op>], one: Option<usize>) -> Vec<usize> {
    let all = parts(model, operations);
    all.into_iter().find(|part| one.is_some_and(|one| part.contains(&one))).unwrap_or_default()
}

/// Derives the content of a refusal again, without the search.
fn certify<M: Model>(model: &M, operations: &[Operation<M::Op>], refusal: &Refusal) {
    let context = || format!("{refusal:#?} of {operations:#?}");
    let mine = part_of(model, operations, Some(refusal.op));
    // The history before the return of the refused operation: operations that return later are in flight.
    let until = operations[refusal.op].ret.expect("a refused operation has returned");
    let cut = |keep: bool| -> Vec<Operation<M::Op>> {
        let cut = |at: &usize| {
            let mut operation = operations[*at].clone();
            operation.ret = operation.ret.filter(|ret| *ret < until || keep && *at == refusal.op);
            operation
        };
        mine.iter().filter(|at| operations[**at].call <= until).map(cut).collect()
    };
    assert!(!linearizable(model, &cut(true)), "refused too soon: {}", context());
    assert!(refusal.is_first, "small histories are searched to the end: {}", context());
    assert!(linearizable(model, &cut(false)), "refused too late: {}", context());
    assert!(!refusal.ends.is_empty(), "{}", context());
    let before: Vec<usize> = mine.iter().copied().filter(|at| operations[*at].call <= until).collect();
    let mut open = operations.to_vec();
    for (at, operation) in open.iter_mut().enumerate() {
        operation.ret = operation.ret.filter(|ret| *ret < until && at != refusal.op);
    }
    for end in &refusal.ends {
        assert!(admits(model, &before, &open, &end.order), "an impossible end: {}", context());
        let states = oracle::replay(model, operations, &end.order);
        assert!(states.iter().any(|state| model.describe_state(state) == end.state), "{}", context());
        // The operation cannot be placed next from any of them.
        if !end.order.contains(&refusal.op) {
            let mut order = end.order.clone();
            order.push(refusal.op);
            assert!(oracle::replay(model, operations, &order).is_empty(), "{}", context());
        }
    }
    for order in &refusal.others {
        assert!(admits(model, &before, &open, order), "an impossible order: {}", context());
        assert!(!refusal.ends.iter().any(|end| end.order == *order), "reported twice: {}", context());
        let in_flight = |op: &&usize| open[**op].ret.is_none();
        let longest_of = |op: &usize| {
            let with_it =
                refusal.ends.iter().map(|end| &end.order).chain(&refusal.others).filter(|order| order.contains(op));
            with_it.map(Vec::len).max()
        };
        let is_longest = |op: &usize| longest_of(op) == Some(order.len());
        assert!(
            order.iter().filter(in_flight).any(is_longest),
            "the order is not the longest one with any operation in flight: {}",
            context()
        );
    }
    if let Some(Conflict::BeforeWrite { read, write }) = refusal.conflict {
        assert!(operations[read].ret < Some(operations[write].call), "{}", context());
    }
}

fn hold_model<M: Spec + Default>(ops: &[M::Op]) {
    let model = M::default();
    let (mut valid, mut invalid) = (0, 0);
    let mut count = |linearizable: bool| if linearizable { valid += 1 } else { invalid += 1 };
    world::enumerate(3, ops, |operations| count(hold(&model, operations)));
    world::random(6, ops, (4_000, 6), |operations| count(hold(&model, operations)));
    // Half of the operations crashed.
    world::random(7, ops, (4_000, 2), |operations| count(hold(&model, operations)));
    assert!(valid > 500 && invalid > 500, "{}: {valid} valid, {invalid} invalid: too few histories", M::NAME);
}
