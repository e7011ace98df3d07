//! Histories too large for trying every order: compares the online checker with the batch search.

use check_online::{Events, Online, OnlineLinearizable, Outcome, Span};
use check_register::models::{CasRegister, FifoQueue, QueueOp, RegisterOp, Removed, Spec};
use check_register::{Linearizable, Model, Operation, check};
use history_core::{Budget, Checker, History, Options, Run, Verdict};
use proptest::prelude::*;
use std::fmt::Write as _;

/// A step of a history: the kind, the value, how long it is in flight before and after, its end, and whether its result
/// is wrong.
type Step = (u8, i64, u64, u64, u8, bool);

fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let lies = prop_oneof![40 => Just(false), 1 => Just(true)];
    prop::collection::vec((0..3u8, 0..100i64, 0..400u64, 0..400u64, 0..16u8, lies), 1..count)
}

/// Each operation takes effect at its position, and is in flight for a while before and after. Some crash, and some of
/// these never take effect.
fn operations<O>(steps: &[Step], mut happens: impl FnMut(&Step) -> O) -> Vec<Operation<O>> {
    let operation = |(at, step): (u32, &Step)| {
        let (_, _, before, after, fate, _) = *step;
        let now = 1_000 * u64::from(at) + 500_000;
        // All times are different.
        let (call, ret) = (now - 10 * before, now + 10 * after + 5);
        let op = happens(step);
        match fate {
            0 => Operation::crashed(at.into(), op, call),
            _ => Operation::new(at.into(), op, call, ret),
        }
    };
    let mut all: Vec<_> = (0..).zip(steps).map(operation).collect();
    let mut times: Vec<(u64, bool, usize)> = Vec::new();
    for (at, operation) in all.iter().enumerate() {
        times.push((operation.call, false, at));
        times.extend(operation.ret.map(|ret| (ret, true, at)));
    }
    times.sort_unstable();
    for (time, (_, is_return, at)) in (1..).zip(times) {
        if is_return {
            all[at].ret = Some(time);
        } else {
            all[at].call = time;
        }
    }
    all
}

fn register(steps: &[Step], values: i64) -> Vec<Operation<RegisterOp>> {
    let mut held = 0;
    operations(steps, |(kind, value, .., fate, lies)| {
        let value = value % values;
        let op = match kind {
            0 => RegisterOp::Write(value),
            1 => RegisterOp::Cas(held, value),
            _ => return RegisterOp::Read(if *lies { value } else { held }),
        };
        // Some of the crashed operations never take effect.
        if *fate > 0 || value % 2 == 0 {
            held = value;
        }
        op
    })
}

fn queue(steps: &[Step]) -> Vec<Operation<QueueOp>> {
    let (mut held, mut next) = (std::collections::VecDeque::new(), 0);
    operations(steps, |(kind, value, .., lies)| {
        if *kind < 2 && held.len() < 4 {
            next += 1;
            held.push_back(next);
            return QueueOp::Put(next);
        }
        let found = held.pop_front();
        QueueOp::Take(if *lies { Removed::Value(*value) } else { found.map_or(Removed::Nothing, Removed::Value) })
    })
}

/// The operation that the batch search refuses, by its call.
fn refused<M: Model>(model: &M, operations: &[Operation<M::Op>]) -> Option<u64> {
    let answer = check(model, operations, &Budget::default());
    match &answer.parts.first()?.outcome {
        check_register::Outcome::Linearizable(_) => None,
        check_register::Outcome::Refused(refusal) => Some(operations[refusal.op].call),
        check_register::Outcome::Unknown(reason) => panic!("{reason:?}"),
    }
}

fn by_time<O>(operations: &[Operation<O>]) -> Vec<(bool, &Operation<O>)> {
    let calls = operations.iter().map(|operation| (operation.call, false, operation));
    let returns = operations.iter().filter_map(|operation| Some((operation.ret?, true, operation)));
    let mut all: Vec<_> = calls.chain(returns).collect();
    all.sort_by_key(|(time, ..)| *time);
    all.into_iter().map(|(_, is_return, operation)| (is_return, operation)).collect()
}

/// Feeds events. Crashed operations are either in flight to the end, or known to have crashed immediately.
fn by_events<M: check_online::OnlineModel + Clone>(
    model: &M,
    operations: &[Operation<M::Op>],
    open: impl Fn(&M::Op) -> Option<M::Op>,
) -> Option<u64> {
    let mut events = Events::new(model.clone());
    let mut calls: Vec<Option<check_online::Call>> = operations.iter().map(|_| None).collect();
    for (is_return, operation) in by_time(operations) {
        let at = usize::try_from(operation.process).expect("a position");
        if is_return {
            let call = calls[at].take().expect("called");
            events.complete(call, operation.ret.unwrap_or(0), Some(&operation.op));
        } else {
            let call = events.invoke(operation.process, operation.call, open(&operation.op).as_ref());
            if operation.ret.is_none() && at.is_multiple_of(2) {
                events.crash(call, open(&operation.op).as_ref());
            } else {
                calls[at] = Some(call);
            }
        }
    }
    call_of(events.outcome())
}

fn call_of<O>(outcome: Outcome<O>) -> Option<u64> {
    match outcome {
        Outcome::Ok => None,
        Outcome::Violation(violation) => Some(violation.refused.start),
        Outcome::Unknown(reason) => panic!("{reason:?}"),
    }
}

/// Feeds spans; each operation has its own client.
fn by_spans<M: check_online::OnlineModel + Clone>(model: &M, operations: &[Operation<M::Op>]) -> Option<u64> {
    let mut online = Online::new(model.clone(), operations.len() as u32);
    for (at, operation) in (0..).zip(operations) {
        let op = operation.op.clone();
        match operation.ret {
            Some(ret) => online.feed(Span::new(at, operation.call, ret, op)).unwrap(),
            None => online.crash(at, operation.call, op).unwrap(),
        };
        if operation.ret.is_some() {
            online.stop(at).unwrap();
        }
    }
    call_of(online.finish())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn registers(steps in steps(60)) {
        let model = CasRegister::starting_with(0);
        let operations = register(&steps, 4);
        let expected = refused(&model, &operations);
        let open = |op: &RegisterOp| (!model.shortcuts().reads_only(op)).then_some(*op);
        prop_assert_eq!(by_events(&model, &operations, open), expected);
        prop_assert_eq!(by_spans(&model, &operations), expected);
    }

    #[test]
    fn queues(steps in steps(40)) {
        let model = FifoQueue::default();
        // Crashed dequeues may have removed any value, so they crash with the effect that they had.
        let operations = queue(&steps);
        let expected = refused(&model, &operations);
        let open = |op: &QueueOp| Some(*op);
        prop_assert_eq!(by_events(&model, &operations, open), expected);
        prop_assert_eq!(by_spans(&model, &operations), expected);
    }

    /// Recorded ops: the online checker ends at the first prefix that the batch checker refuses.
    #[test]
    fn recorded_ops(steps in steps(24), initial in 0..2i64) {
        let operations = register(&steps, 3);
        let mut text = String::new();
        for (is_return, operation) in by_time(&operations) {
            let kind = match (is_return, operation.process % 7) {
                (false, _) => "invoke",
                (true, 5) => "fail",
                (true, 6) => "info",
                (true, _) => "ok",
            };
            let (f, value) = match operation.op {
                RegisterOp::Read(_) if kind != "ok" => ("read", "nil".into()),
                RegisterOp::Read(value) => ("read", value.to_string()),
                RegisterOp::Write(value) => ("write", value.to_string()),
                RegisterOp::Cas(old, new) => ("cas", format!("[{old} {new}]")),
            };
            let process = operation.process;
            _ = writeln!(text, "{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}");
        }
        let history = History::parse(&text).unwrap();
        let options = Options::new().with("initial", initial.to_string());
        let start = |checker: &dyn Checker| checker.start(&options).unwrap();
        let finish = |run: Box<dyn Run>| run.finish(&Budget::default()).unwrap();
        let batch = |len: usize| {
            let mut run = start(&Linearizable::<CasRegister>::default());
            history.ops().take(len).for_each(|op| _ = run.observe(&op).unwrap());
            finish(run)
        };
        let mut run = start(&OnlineLinearizable::<CasRegister>::default());
        let broke_at = history.ops().position(|op| run.observe(&op).unwrap().is_break());
        let report = finish(run);
        let whole = batch(history.len());
        prop_assert_eq!(report.verdict, whole.verdict, "{} {}", text, CasRegister::NAME);
        if let Some(at) = broke_at {
            prop_assert_eq!(batch(at).verdict == Verdict::Invalid, false, "it breaks off at once: {}", text);
            prop_assert_eq!(batch(at + 1).verdict, Verdict::Invalid, "{}", text);
            let first = |report: &history_core::Report| report.anomalies[0].witnesses[0].ops[0].clone();
            let (mine, theirs) = (first(&report), first(&batch(at + 1)));
            prop_assert_eq!((mine.index, mine.value), (theirs.index, theirs.value), "{}", text);
        } else {
            prop_assert_eq!(report.counts[..3].to_vec(), whole.counts[..3].to_vec());
        }
    }
}
