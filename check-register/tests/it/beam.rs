//! Histories with many crashed operations, in which only a beam search finds a linearization.

use crate::brute::oracle::admits;
use check_register::models::{CasRegister, RegisterOp};
use check_register::{Engine, Operation, Outcome, Reason, Settings, check_with};
use history_core::Budget;

/// A random number below `n`, from a linear congruential generator with this state.
fn below(state: &mut u64, n: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % n
}

/// One client of a correct register of six values. Six of ten writes and compare-and-sets crash: these take effect much
/// later, or never.
fn crashed(seed: u64, operations: u64) -> Vec<Operation<RegisterOp>> {
    let mut random = seed;
    let mut dice = |n| i64::try_from(below(&mut random, n)).expect("small");
    let (mut held, mut open, mut all) = (0, Vec::new(), Vec::new());
    for at in 0..operations {
        let now = 10 * at;
        if dice(10) < 3
            && let Some(op) = open.pop()
        {
            held = after(held, op);
        }
        let op = match dice(4) {
            0 => RegisterOp::Read(held),
            1 => RegisterOp::Write(dice(6)),
            _ => RegisterOp::Cas(dice(6), dice(6)),
        };
        if !matches!(op, RegisterOp::Read(_)) && dice(10) < 6 {
            all.push(Operation::crashed(at.cast_signed() + 1, op, now));
            open.push(op);
        } else if !matches!(op, RegisterOp::Cas(from, _) if from != held) {
            all.push(Operation::new(0, op, now, now + 5));
            held = after(held, op);
        }
    }
    all
}

fn after(held: i64, op: RegisterOp) -> i64 {
    match op {
        RegisterOp::Write(to) => to,
        RegisterOp::Cas(from, to) if from == held => to,
        _ => held,
    }
}

fn outcome(operations: &[Operation<RegisterOp>], engine: Engine) -> Outcome {
    let settings = Settings { engine, configurations_max: 1_000 };
    let model = CasRegister::starting_with(0);
    check_with(&model, operations, settings, &Budget::default()).parts.remove(0).outcome
}

#[test]
fn a_beam_finds_an_order_where_all_configurations_are_too_many() {
    let model = CasRegister::starting_with(0);
    let mut too_many = 0;
    for seed in 0..6 {
        let operations = crashed(seed, 250);
        let all: Vec<usize> = (0..operations.len()).collect();
        for engine in [Engine::Beam, Engine::Portfolio] {
            let Outcome::Linearizable(order) = outcome(&operations, engine) else { panic!("{seed}: {engine:?}") };
            assert!(admits(&model, &all, &operations, &order), "{seed}: {engine:?} returns {order:?}");
        }
        too_many += u32::from(outcome(&operations, Engine::JustInTime) == Outcome::Unknown(Reason::Full));
    }
    assert!(too_many > 1, "{too_many}");
}

#[test]
fn a_beam_refuses_nothing() {
    let mut operations = crashed(1, 250);
    operations.push(Operation::new(0, RegisterOp::Read(7), 10_000, 10_001));
    assert_eq!(outcome(&operations, Engine::Beam), Outcome::Unknown(Reason::Omitted));
}
