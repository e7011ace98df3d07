//! Events: after each one, the verdict and the refused operation are those of the batch search on the prefix.

use super::oracle::linearizable;
use super::{Random, certify, refused, without_result, world};
use check_online::{Call, Events, OnlineModel, Outcome, Settings};
use check_register::models::Spec;
use check_register::{Model, Operation};

/// The end of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Ok,
    Fail,
    Info,
}

const TWO_ENDS: [End; 3] = [End::Ok, End::Fail, End::Info];

/// The history up to `until`, with the data that the online checker has at that time.
fn prefix<M: Model>(
    model: &M,
    operations: &[Operation<M::Op>],
    ends: &[End],
    until: u64,
) -> Vec<(usize, Operation<M::Op>)>
where
    M::Op: 'static,
{
    let known = |(at, operation): (usize, &Operation<M::Op>)| {
        let ret = operation.ret.filter(|ret| *ret <= until);
        let open = || without_result(model, &operation.op);
        let op = match (ret, ends[at]) {
            _ if operation.call > until => None,
            (Some(_), End::Ok) => Some(operation.op.clone()),
            (Some(_), End::Fail) => None,
            (Some(_), End::Info) | (None, _) => open(),
        };
        let ret = ret.filter(|_| ends[at] == End::Ok);
        op.map(|op| (at, Operation { op, ret, ..operation.clone() }))
    };
    operations.iter().enumerate().filter_map(known).collect()
}

/// Feeds a history event by event. Returns true if it is linearizable.
fn hold<M: OnlineModel + Clone>(model: &M, operations: &[Operation<M::Op>], ends: &[End], lag_max: usize) -> bool
where
    M::Op: 'static,
{
    let mut times: Vec<(u64, bool, usize)> = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        times.push((operation.call, false, at));
        times.extend(operation.ret.map(|ret| (ret, true, at)));
    }
    times.sort_unstable();
    let mut events = Events::with_settings(model.clone(), Settings { lag_max, ..Settings::default() });
    let mut calls: Vec<Option<Call>> = operations.iter().map(|_| None).collect();
    let mut is_unknown = false;
    for (time, is_end, at) in times {
        let op = &operations[at].op;
        if is_end {
            let call = calls[at].take().expect("it was called");
            match ends[at] {
                End::Ok => events.complete(call, time, Some(op)),
                End::Fail => events.fail(call),
                End::Info => events.crash(call, without_result(model, op).as_ref()),
            };
        } else {
            calls[at] = Some(events.invoke(i64::from(at as u32), time, without_result(model, op).as_ref()));
        }
        let known = prefix(model, operations, ends, time);
        let (positions, known): (Vec<usize>, Vec<Operation<M::Op>>) = known.into_iter().unzip();
        let expected = refused(model, &known).map(|op| positions[op]);
        let told = || format!("of {operations:#?} that end {ends:?}, at {time}");
        if known.len() <= 3 && known.iter().all(|operation| model.shortcuts().part(&operation.op).is_none()) {
            assert_eq!(expected.is_none(), linearizable(model, &known), "the batch search errs {}", told());
        }
        match events.outcome() {
            Outcome::Ok => assert_eq!(expected, None, "{}", told()),
            Outcome::Violation(violation) => {
                let refused = expected.unwrap_or_else(|| panic!("refused {violation:?} {}", told()));
                assert_eq!(violation.refused.start, operations[refused].call, "{violation:?} {}", told());
                // An operation that was ignored is in no order, although it returned.
                if lag_max >= 100 {
                    certify::certify(model, &known, &violation);
                }
                return false;
            }
            // No result may be wrong, and it may be unknown only if past events had to be discarded.
            Outcome::Unknown(_) => {
                assert!(lag_max < 100, "{}", told());
                is_unknown = true;
            }
        }
        if is_unknown {
            return true;
        }
    }
    true
}

pub(crate) fn hold_model<M: Spec + OnlineModel + Default + Clone>(ops: &[M::Op])
where
    M::Op: 'static,
{
    let model = M::default();
    let mut random = Random(1);
    let (mut valid, mut invalid) = (0, 0);
    let mut count = |linearizable: bool| if linearizable { valid += 1 } else { invalid += 1 };
    world::enumerate(3, ops, |operations| {
        // There are too many combinations of all ends of two operations; each operation has each end in some history.
        let ends: Vec<End> = operations.iter().map(|_| TWO_ENDS[random.below(8).saturating_sub(5) as usize]).collect();
        count(hold(&model, operations, &ends, 1_000));
    });
    for lag_max in [1_000, 1_000, 6, 3] {
        world::random(6, ops, (800, 6), |operations| {
            let ends: Vec<End> =
                operations.iter().map(|_| TWO_ENDS[random.below(8).saturating_sub(5) as usize]).collect();
            count(hold(&model, operations, &ends, lag_max));
        });
    }
    assert!(valid > 500 && invalid > 500, "{}: {valid} valid, {invalid} invalid: too few to learn from", M::NAME);
}

/// A put that is passed over and whose value is removed by a take is discarded. If the put then fails, its value has no
/// origin.
#[test]
fn what_was_used_and_forgotten_may_fail() {
    use check_register::models::{FifoQueue, QueueOp, Removed};
    let at = |op, call, ret| Operation { process: 0, op, call, ret: Some(ret) };
    let operations = [
        at(QueueOp::Take(Removed::Value(1)), 0, 2),
        at(QueueOp::Put(1), 1, 6),
        at(QueueOp::Take(Removed::Nothing), 3, 5),
        at(QueueOp::Put(1), 4, 7),
    ];
    let ends = [End::Ok, End::Fail, End::Ok, End::Ok];
    let mut events = Events::with_settings(FifoQueue::default(), Settings { lag_max: 3, ..Settings::default() });
    let model = FifoQueue::default();
    let invoke = |events: &mut Events<FifoQueue>, at: usize| {
        let operation = &operations[at];
        events.invoke(i64::from(at as u32), operation.call, without_result(&model, &operation.op).as_ref())
    };
    let take = invoke(&mut events, 0);
    let put = invoke(&mut events, 1);
    events.complete(take, 2, Some(&operations[0].op));
    let nothing = invoke(&mut events, 2);
    let _in_flight = invoke(&mut events, 3);
    events.complete(nothing, 5, Some(&operations[2].op));
    assert_eq!(events.outcome(), Outcome::Ok, "1 may have been put in, and taken out");
    events.fail(put);
    assert_eq!(events.outcome(), Outcome::Unknown(check_online::Reason::Lag));
    assert!(hold(&model, &operations, &ends, 3), "as above");
    assert!(!hold(&model, &operations, &ends, 1_000), "whoever keeps enough of the past refuses it");
}
