//! Compares the engines on histories too large for trying every order, correct ones and damaged ones.

use check_register::models::{CasRegister, FifoQueue, PlainRegister, QueueOp, RegisterOp, Removed, Stack};
use check_register::{Engine, Model, Operation, Outcome, Settings, check, check_with, explain_refusal};
use history_core::{Budget, Cancel, Spent, Verdict};
use proptest::prelude::*;

const SEARCHING: [Engine; 3] = [Engine::Portfolio, Engine::JustInTime, Engine::WingGong];

/// A linearizable history: each operation takes effect at its position, and is in flight for a while before and after.
/// Some operations crash, and some of these never take effect.
fn history<O: Clone>(happens: &[(O, u64, u64, u8)]) -> Vec<Operation<O>> {
    let mut operations = Vec::new();
    for (at, (op, before, after, fate)) in (0_i64..).zip(happens) {
        let now = 100 * at.cast_unsigned() + 5_000;
        let (call, ret) = (now - before, now + after);
        operations.push(match fate {
            0 => Operation::crashed(at, op.clone(), call),
            _ => Operation::new(at, op.clone(), call, ret),
        });
    }
    operations
}

/// Operations on a register, whose reads return its value, except for some that return another value.
fn register_ops(steps: Vec<(u8, i64, u64, u64, u8, bool)>, values: i64) -> Vec<Operation<RegisterOp>> {
    let mut held = 0;
    let happens: Vec<(RegisterOp, u64, u64, u8)> = steps
        .into_iter()
        .map(|(kind, value, before, after, fate, lies)| {
            let value = value % values;
            let op = match kind % 3 {
                0 => RegisterOp::Write(value),
                1 => RegisterOp::Cas(held, value),
                _ => RegisterOp::Read(if lies { value } else { held }),
            };
            if kind % 3 < 2 {
                held = value;
            }
            (op, before, after, fate)
        })
        .collect();
    history(&happens)
}

fn steps(count: usize) -> impl Strategy<Value = Vec<(u8, i64, u64, u64, u8, bool)>> {
    let lies = prop_oneof![60 => Just(false), 1 => Just(true)];
    prop::collection::vec((0..3u8, 0..100i64, 0..600u64, 0..600u64, 0..12u8, lies), 1..count)
}

fn verdicts<M: Model>(model: &M, operations: &[Operation<M::Op>]) -> Vec<(Verdict, Option<usize>)> {
    let answer = |engine| {
        let settings = Settings { engine, ..Settings::default() };
        let answer = check_with(model, operations, settings, &Budget::default());
        let refused = answer.parts.iter().find_map(|part| match &part.outcome {
            Outcome::Refused(refusal) => Some(refusal.op),
            _ => None,
        });
        (answer.verdict(), refused)
    };
    SEARCHING.map(answer).to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn engines_agree_on_registers(steps in steps(60)) {
        let operations = register_ops(steps, 4);
        let answers = verdicts(&CasRegister::starting_with(0), &operations);
        prop_assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?} of {operations:?}");
    }

    #[test]
    fn sequential_operations_are_linearizable(steps in steps(200)) {
        let honest = steps.into_iter().map(|(kind, value, before, after, fate, _)| (kind, value, before, after, fate, false));
        let operations = register_ops(honest.collect(), 4);
        prop_assert_eq!(explain_refusal(&CasRegister::starting_with(0), &operations), None);
    }

    /// If no value is written twice, zones decide, however many operations are in flight.
    #[test]
    fn zones_agree_with_the_search(steps in steps(60)) {
        let mut operations = register_ops(steps, 40);
        let mut next = 100;
        for operation in &mut operations {
            // Every write writes a different value, and the reads of the old value are replaced by reads of the new
            // one.
            if let RegisterOp::Write(_) | RegisterOp::Cas(..) = operation.op {
                next += 1;
                operation.op = RegisterOp::Write(next);
            } else if let RegisterOp::Read(value) = operation.op {
                operation.op = RegisterOp::Read(if value % 5 == 0 { value } else { next });
            }
        }
        // A thousand more operations in flight, so that the portfolio does not search.
        let busy = (0..1_100).map(|at| Operation::new(at, RegisterOp::Write(10_000 + at), at.cast_unsigned(), 1_000_000 + at.cast_unsigned()));
        let crowded: Vec<Operation<RegisterOp>> = operations.iter().copied().chain(busy).collect();
        let model = PlainRegister::starting_with(0);
        let zones = check_with(&model, &crowded, Settings::default(), &Budget::default());
        let answers = verdicts(&model, &operations);
        prop_assert!(answers.iter().all(|answer| answer.0 == zones.verdict()), "{answers:?}, {zones:?} of {operations:?}");
        if let Outcome::Refused(refusal) = &zones.parts[0].outcome {
            prop_assert_eq!(Some(refusal.op), answers[0].1);
            prop_assert!(refusal.conflict.is_some());
        }
    }
}

/// Inserts 0, 1, 2, ... at the same time, then removes them one after another in `order`.
fn queue(order: impl Iterator<Item = i64>, count: i64) -> Vec<Operation<QueueOp>> {
    let put = |value| Operation::new(value, QueueOp::Put(value), value.cast_unsigned(), 10_000 + value.cast_unsigned());
    let take = |(at, value): (usize, i64)| {
        let at = 20_000 + 10 * at as u64;
        Operation::new(0, QueueOp::Take(Removed::Value(value)), at, at + 5)
    };
    (0..count).map(put).chain(order.enumerate().map(take)).collect()
}

#[test]
fn one_engine_decides_where_the_other_reaches_its_limit() {
    // Twenty elements that were pushed at the same time may be in any order: these are far more configurations than a
    // search of all of them can store.
    let operations = queue((0..20).rev(), 20);
    let settings = |engine| Settings { engine, configurations_max: 100_000 };
    let by = |engine| check_with(&Stack::default(), &operations, settings(engine), &Budget::default());
    let full = &by(Engine::JustInTime).parts[0].outcome;
    assert_eq!(full, &Outcome::Unknown(check_register::Reason::Full));
    assert_eq!(by(Engine::WingGong).verdict(), Verdict::Valid);
    assert_eq!(by(Engine::Portfolio).verdict(), Verdict::Valid);
}

#[test]
fn a_budget_ends_the_search() {
    let operations = queue(0..20, 20);
    let check = |engine: Engine, budget: &Budget| {
        let settings = Settings { engine, ..Settings::default() };
        let mut answer = check_with(&Stack::default(), &operations, settings, budget);
        answer.parts.remove(0).outcome
    };
    let few = Budget::default().with_states_max(1_000);
    for engine in [Engine::JustInTime, Engine::WingGong] {
        assert_eq!(check(engine, &few), Outcome::Unknown(check_register::Reason::Spent(Spent::States)));
    }
    let cancelled = Budget::default();
    cancelled.cancel.cancel();
    for engine in [Engine::Portfolio, Engine::Monitor, Engine::JustInTime] {
        assert_eq!(check(engine, &cancelled), Outcome::Unknown(check_register::Reason::Spent(Spent::Cancelled)));
    }
}

/// A model whose first step does not end until the budget is cancelled.
struct Slow(Cancel);

impl Model for Slow {
    type State = u8;
    type Op = u8;
    type Next = Option<u8>;

    fn init(&self) -> u8 {
        0
    }

    fn step(&self, _: &u8, _: &u8, budget: &Budget) -> Option<u8> {
        // Another thread cancels while the step is running.
        self.0.cancel();
        while budget.check(0, 0).is_ok() {}
        None
    }
}

#[test]
fn a_long_step_ends_when_the_budget_is_exhausted() {
    let budget = Budget::default();
    let model = Slow(budget.cancel.clone());
    let answer = check_with(&model, &[Operation::new(0, 1, 0, 1)], Settings::default(), &budget);
    assert_eq!(answer.parts[0].outcome, Outcome::Unknown(check_register::Reason::Spent(Spent::Cancelled)));
}

#[test]
fn unobserved_crashed_writes_cost_nothing() {
    // Ten thousand crashed writes, and after each a read of another value.
    let mut operations = Vec::new();
    for at in 0..10_000_i64 {
        let now = 10 * at.cast_unsigned();
        operations.push(Operation::crashed(at, RegisterOp::Write(-1 - at), now));
        operations.push(Operation::new(0, RegisterOp::Write(at), now + 1, now + 2));
        operations.push(Operation::new(1, RegisterOp::Read(at), now + 3, now + 4));
    }
    let steps = Budget::default().with_states_max(200_000);
    for engine in SEARCHING {
        let settings = Settings { engine, ..Settings::default() };
        let answer = check_with(&PlainRegister::default(), &operations, settings, &steps);
        assert_eq!(answer.verdict(), Verdict::Valid, "{engine:?}");
    }
}

#[test]
fn every_width_of_concurrency_is_decided() {
    let all_at_once = |width: i64, value: fn(i64) -> i64| {
        (0..width).map(move |at| {
            Operation::new(at, RegisterOp::Write(value(at)), at.cast_unsigned(), 10_000 + at.cast_unsigned())
        })
    };
    // A read that began after all writes returned.
    let read = |value| Operation::new(0, RegisterOp::Read(value), 30_000, 30_001);
    let outcome = |operations: Vec<_>| {
        let mut answer = check_with(&PlainRegister::default(), &operations, Settings::default(), &Budget::default());
        answer.parts.remove(0).outcome
    };
    for width in [1, 63, 64, 65, 257, 1_025, 3_000] {
        let same = |at| outcome(all_at_once(width, |_| 5).chain([read(at)]).collect()).verdict();
        assert_eq!((same(5), same(7)), (Verdict::Valid, Verdict::Invalid), "{width}");
    }
    // Beyond the limit of the engines, zones still decide if no value is written twice.
    assert_eq!(outcome(all_at_once(9_000, |at| at).chain([read(17)]).collect()).verdict(), Verdict::Valid);
    let too_many = outcome(all_at_once(9_000, |at| at % 7).chain([read(1)]).collect());
    assert_eq!(too_many, Outcome::Unknown(check_register::Reason::InFlight));
}

#[test]
fn a_read_of_a_value_that_was_never_written_is_refused_at_once() {
    // 65 writes of 7 values at the same time, and a read of an eighth value while they are in flight.
    let writes = (0..65)
        .map(|at: i64| Operation::new(at, RegisterOp::Write(at % 7), at.cast_unsigned(), 1_000 + at.cast_unsigned()));
    let operations: Vec<_> = writes.chain([Operation::new(99, RegisterOp::Read(7), 100, 500)]).collect();
    let steps = Budget::default().with_states_max(200_000);
    for engine in SEARCHING {
        let settings = Settings { engine, ..Settings::default() };
        let answer = check_with(&PlainRegister::default(), &operations, settings, &steps);
        let Outcome::Refused(refusal) = &answer.parts[0].outcome else { panic!("{engine:?}: {answer:?}") };
        assert_eq!((refusal.op, refusal.is_first, refusal.ends.is_empty()), (65, true, false), "{engine:?}");
    }
}

/// Rounds of seven writes of three values at the same time, each followed by a read of the value that was written by
/// the last write to return.
fn crowds() -> Vec<Operation<RegisterOp>> {
    let round = |now: u64| {
        let writes = (0..7_i64).map(move |at| {
            let moment = now + at.cast_unsigned();
            Operation::new(at, RegisterOp::Write(at % 3), moment, moment + 10)
        });
        writes.chain([Operation::new(7, RegisterOp::Read(0), now + 20, now + 21)])
    };
    (0..500).flat_map(|at| round(100 * at)).collect()
}

#[test]
fn the_search_of_a_linearizable_history_does_not_step_back() {
    let steps = Budget::default().with_states_max(16_000);
    let verdict = |engine| {
        let settings = Settings { engine, ..Settings::default() };
        check_with(&PlainRegister::default(), &crowds(), settings, &steps).verdict()
    };
    let all = [Engine::Portfolio, Engine::WingGong, Engine::JustInTime].map(verdict);
    assert_eq!(all, [Verdict::Valid, Verdict::Valid, Verdict::Unknown]);
}

#[test]
fn a_search_that_takes_too_much_memory_is_replaced_by_the_other() {
    // One client and five values: nothing has to be chosen, but the depth-first search stores every configuration that
    // it reached.
    let operations: Vec<_> = (0..20_000_i64)
        .map(|at| {
            let now = 10 * at.cast_unsigned();
            Operation::new(0, RegisterOp::Write(at % 5), now, now + 1)
        })
        .collect();
    let memory = Budget::default().with_bytes_max(500_000);
    let verdict = |engine| {
        let settings = Settings { engine, ..Settings::default() };
        check_with(&PlainRegister::default(), &operations, settings, &memory).verdict()
    };
    let all = [Engine::WingGong, Engine::JustInTime, Engine::Portfolio].map(verdict);
    assert_eq!(all, [Verdict::Unknown, Verdict::Valid, Verdict::Valid]);
}

#[test]
fn the_search_does_not_step_back_before_a_value_that_was_never_written() {
    let operations: Vec<_> =
        crowds().into_iter().chain([Operation::new(0, RegisterOp::Read(9), 60_000, 60_001)]).collect();
    // The states before the refusal are found by a search of all configurations, within a separate limit.
    let steps = Budget::default().with_states_max(24_000);
    let answer = check_with(&PlainRegister::default(), &operations, Settings::default(), &steps);
    let Outcome::Refused(refusal) = &answer.parts[0].outcome else { panic!("{answer:?}") };
    assert_eq!((refusal.op, refusal.is_first), (operations.len() - 1, true));
}

#[test]
fn puts_at_one_time_and_crashed_takes_cost_a_queue_nothing() {
    // A hundred elements inserted at the same time, of which a hundred crashed takes remove every tenth.
    let crash = (0..100).map(|at| Operation::crashed(at, QueueOp::Take(Removed::Unknown), 15_000));
    let kept = queue((0..100).filter(|at| at % 10 > 0), 100);
    let nothing = Operation::new(0, QueueOp::Take(Removed::Nothing), 100_000, 100_001);
    let operations: Vec<_> = kept.into_iter().chain(crash).chain([nothing]).collect();
    let steps = Budget::default().with_states_max(20_000);
    for engine in SEARCHING {
        let settings = Settings { engine, ..Settings::default() };
        let answer = check_with(&FifoQueue::default(), &operations, settings, &steps);
        let Outcome::Linearizable(order) = &answer.parts[0].outcome else { panic!("{engine:?}: {answer:?}") };
        assert_eq!(order.len(), 100 + 90 + 10 + 1, "{engine:?}: as many crashed takes as are needed");
    }
}

#[test]
fn a_refusal_has_the_longest_order_with_each_operation_in_flight() {
    let history = [
        Operation::new(0, RegisterOp::Write(1), 0, 10),
        Operation::new(1, RegisterOp::Write(2), 20, 90),
        Operation::new(2, RegisterOp::Write(3), 30, 90),
        Operation::new(3, RegisterOp::Read(9), 40, 50),
    ];
    let answer = check(&PlainRegister::default(), &history, &Budget::default());
    let Outcome::Refused(refusal) = &answer.parts[0].outcome else { panic!("{answer:?}") };
    let ends: Vec<_> = refusal.ends.iter().map(|end| (end.state.as_str(), end.order.as_slice())).collect();
    assert_eq!(ends, [("1", &[0][..]), ("2", &[0, 1]), ("3", &[0, 2])]);
    assert_eq!(refusal.others, [[0, 1, 2]]);
}
