//! Spans, fed in any order that keeps the order of each client: the result is that of the batch search on everything up
//! to the time that the slowest client has reached.

use super::{Random, certify, refused};
use check_online::{Online, OnlineModel, Outcome, Span};
use check_register::Operation;
use check_register::models::Spec;

/// The next step of a client.
#[derive(Clone, Debug)]
enum Step<O> {
    Span(u64, u64, O),
    Crash(u64, O),
    Resume(u64),
    Stop,
}

/// A plan for each client.
fn plan<O: Clone>(random: &mut Random, ops: &[O], clients: usize) -> Vec<Vec<Step<O>>> {
    let client = |at: usize, random: &mut Random| {
        let mut steps = Vec::new();
        // All times are different: each client has its own remainder.
        let mut now = 0;
        let mut later = |random: &mut Random| {
            now += 1 + random.below(6);
            now * clients as u64 + at as u64
        };
        for _ in 0..random.below(5) {
            let op = ops[random.below(ops.len() as u64) as usize].clone();
            match random.below(8) {
                0 => {
                    steps.push(Step::Crash(later(random), op));
                    steps.push(Step::Resume(later(random)));
                }
                _ => steps.push(Step::Span(later(random), later(random), op)),
            }
        }
        if random.below(2) == 0 {
            steps.push(Step::Stop);
        }
        steps
    };
    (0..clients).map(|at| client(at, random)).collect()
}

/// Feeds the plans in a random order. Returns true if a violation was found.
fn hold<M: OnlineModel + Clone>(model: &M, plans: &[Vec<Step<M::Op>>], random: &mut Random) -> bool {
    let mut online = Online::new(model.clone(), plans.len() as u32);
    let mut next = vec![0; plans.len()];
    // The time that each client has reached; `None` if the checker does not wait for it.
    let mut last = vec![Some(0); plans.len()];
    let mut fed: Vec<Operation<M::Op>> = Vec::new();
    loop {
        let left: Vec<usize> = (0..plans.len()).filter(|at| next[*at] < plans[*at].len()).collect();
        if left.is_empty() {
            break;
        }
        // A client that is resumed must be fed before the others get past its time.
        let resumes = left.iter().find(|at| matches!(plans[**at][next[**at]], Step::Resume(_)));
        let client = resumes.copied().unwrap_or(left[random.below(left.len() as u64) as usize]);
        let number = client as u32;
        let step = plans[client][next[client]].clone();
        next[client] += 1;
        match step {
            Step::Span(start, finish, op) => {
                fed.push(Operation::new(number.into(), op.clone(), start, finish));
                last[client] = Some(finish);
                online.feed(Span::new(number, start, finish, op)).unwrap();
            }
            Step::Crash(start, op) => {
                fed.push(Operation::crashed(number.into(), op.clone(), start));
                last[client] = None;
                online.crash(number, start, op).unwrap();
            }
            Step::Resume(at) => {
                // All other clients may have continued while it was paused.
                if online.resume(number, at).is_err() {
                    next[client] = plans[client].len();
                    continue;
                }
                last[client] = Some(at);
            }
            Step::Stop => {
                last[client] = None;
                online.stop(number).unwrap();
            }
        }
        let horizon = last.iter().flatten().min().copied().unwrap_or(u64::MAX);
        if hold_prefix(model, &online.outcome(), &fed, horizon) {
            return true;
        }
    }
    hold_prefix(model, &online.finish(), &fed, u64::MAX)
}

/// Compares an outcome with the operations up to the horizon. Returns true if it is a violation.
fn hold_prefix<M: OnlineModel>(model: &M, outcome: &Outcome<M::Op>, fed: &[Operation<M::Op>], horizon: u64) -> bool {
    let cut = |operation: &Operation<M::Op>| Operation {
        ret: operation.ret.filter(|ret| *ret <= horizon),
        ..operation.clone()
    };
    let known: Vec<_> = fed.iter().filter(|operation| operation.call <= horizon).map(cut).collect();
    let expected = refused(model, &known);
    let told = || format!("{outcome:#?} of {fed:#?} up to {horizon}");
    match outcome {
        Outcome::Ok => assert_eq!(expected, None, "{}", told()),
        Outcome::Violation(violation) => {
            let refused = expected.unwrap_or_else(|| panic!("{}", told()));
            assert_eq!(violation.refused.start, known[refused].call, "{}", told());
            certify::certify(model, &known, violation);
        }
        Outcome::Unknown(_) => panic!("{}", told()),
    }
    expected.is_some()
}

pub(crate) fn hold_model<M: Spec + OnlineModel + Default + Clone>(ops: &[M::Op]) {
    let model = M::default();
    let mut random = Random(2);
    let (mut valid, mut invalid) = (0, 0);
    for round in 0..2_000 {
        let plans = plan(&mut random, ops, 1 + round % 4);
        if hold(&model, &plans, &mut random) { invalid += 1 } else { valid += 1 }
    }
    assert!(valid > 100 && invalid > 100, "{}: {valid} valid, {invalid} invalid: too few to learn from", M::NAME);
}
