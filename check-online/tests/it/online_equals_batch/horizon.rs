//! "The earliest span that proves it", by definition: the first with which no continuation is linearizable.
//!
//! A continuation is any number of operations of running clients, each after the time that its client has reached. For
//! a register it is enough to consider writes of the slowest client, at any instants after the time that it has
//! reached; and a write at some later instant has the same effect as a write that is called at that time and crashes.

use super::{Random, refused};
use check_online::{Online, Outcome, Span};
use check_register::Operation;
use check_register::models::{CasRegister, RegisterOp};

const VALUES: i64 = 3;

/// Returns true if the known operations have a linearizable continuation.
fn can_go_on(model: &CasRegister, fed: &[Operation<RegisterOp>], last: &[Option<u64>]) -> bool {
    let Some(slowest) = last.iter().flatten().min() else { return refused(model, fed).is_none() };
    // At most one write before each operation makes a difference.
    let writes = (0..VALUES).flat_map(|value| fed.iter().map(move |_| value));
    let write = |value| Operation::crashed(99, RegisterOp::Write(value), 2 * slowest + 1);
    let twice = |operation: &Operation<RegisterOp>| Operation {
        call: 2 * operation.call,
        ret: operation.ret.map(|ret| 2 * ret),
        ..*operation
    };
    let all: Vec<_> = fed.iter().map(twice).chain(writes.map(write)).collect();
    refused(model, &all).is_none()
}

#[test]
fn a_violation_is_found_at_the_earliest_span_that_proves_it() {
    let mut random = Random(3);
    let model = CasRegister::starting_with(0);
    let (mut at_once, mut later, mut never) = (0, 0, 0);
    for _ in 0..6_000 {
        let clients = 2 + random.below(2) as usize;
        let mut online = Online::new(model.clone(), clients as u32);
        let mut fed = Vec::new();
        // All times are different: each client has its own remainder.
        let mut last = vec![Some(0); clients];
        let mut refused_at = None;
        for step in 0..8 {
            let client = random.below(clients as u64) as usize;
            let number = client as u32;
            let Some(from) = last[client] else { continue };
            let outcome = if random.below(12) == 0 {
                last[client] = None;
                online.stop(number).unwrap()
            } else {
                let mut at = |least: u64| (least / 4 + 1 + random.below(5)) * 4 + client as u64;
                let start = at(from);
                let finish = at(start);
                let value = |random: &mut Random| random.below(VALUES.cast_unsigned()).cast_signed();
                let op = match random.below(3) {
                    0 => RegisterOp::Write(value(&mut random)),
                    1 => RegisterOp::Cas(value(&mut random), value(&mut random)),
                    _ => RegisterOp::Read(value(&mut random)),
                };
                last[client] = Some(finish);
                fed.push(Operation::new(number.into(), op, start, finish));
                online.feed(Span::new(number, start, finish, op)).unwrap()
            };
            let expected = can_go_on(&model, &fed, &last);
            assert_eq!(outcome == Outcome::Ok, expected, "{outcome:?} of {fed:#?}, up to {last:?}");
            if !expected {
                refused_at = Some(step);
                break;
            }
        }
        // Counts violations after steps that were all spans, and violations after a client had stopped.
        match refused_at {
            Some(step) if step + 1 == fed.len() => at_once += 1,
            Some(_) => later += 1,
            None => never += 1,
        }
    }
    assert!(at_once > 300 && later > 100 && never > 300, "{at_once}, {later}, {never}");
}
