//! Clients that join and leave, and limits that lead to an unknown outcome.

use RegisterOp::{Read, Write};
use check_online::{Events, FeedError, Online, Outcome, Reason, Settings, Span};
use check_register::models::{FifoQueue, MultiRegister, PlainRegister, QueueOp, RegisterAccess, RegisterOp, Removed};
use check_register::{Operation, check};
use history_core::{Budget, Verdict};

fn online(clients: u32) -> Online<PlainRegister> {
    Online::new(PlainRegister::starting_with(0), clients)
}

/// The operation that the outcome refuses: client and start.
fn refused<O>(outcome: Outcome<O>) -> Option<(i64, u64)> {
    match outcome {
        Outcome::Violation(violation) => Some((violation.refused.client, violation.refused.start)),
        Outcome::Ok | Outcome::Unknown(_) => None,
    }
}

#[test]
fn the_slowest_client_is_waited_for_until_it_stops_pauses_or_idles() {
    let wrong = Span::new(0, 10, 20, Read(7));
    let begin = || {
        let mut online = online(2);
        assert_eq!(online.feed(wrong), Ok(Outcome::Ok), "client 1 may have written 7");
        online
    };
    assert_eq!(refused(begin().stop(1).unwrap()), Some((0, 10)));
    assert_eq!(refused(begin().pause(1).unwrap()), Some((0, 10)));
    assert_eq!(begin().idle(1, 19), Ok(Outcome::Ok), "it may write 7 just before 20");
    assert_eq!(refused(begin().idle(1, 20).unwrap()), Some((0, 10)));
    assert_eq!(refused(begin().finish()), Some((0, 10)));
    let mut wrote = begin();
    assert_eq!(wrote.feed(Span::new(1, 19, 30, Write(7))), Ok(Outcome::Ok));
    assert_eq!(wrote.finish(), Outcome::Ok);
}

#[test]
fn clients_join_and_go_on() {
    let mut online = online(1);
    assert_eq!(online.feed(Span::new(0, 10, 20, Write(1))), Ok(Outcome::Ok));
    assert_eq!(online.join(19), Err(FeedError::Late { at: 19, judged: 20 }));
    assert_eq!(online.join(20), Ok(1));
    // From here on, the checker waits for it.
    assert_eq!(online.feed(Span::new(0, 30, 40, Read(2))), Ok(Outcome::Ok));
    assert_eq!(online.feed(Span::new(1, 25, 45, Write(2))), Ok(Outcome::Ok));
    assert_eq!(online.pause(1), Ok(Outcome::Ok));
    assert_eq!(online.feed(Span::new(0, 50, 60, Read(2))), Ok(Outcome::Ok));
    assert_eq!(online.resume(1, 59), Err(FeedError::Late { at: 59, judged: 60 }));
    assert_eq!(online.resume(1, 60), Ok(()));
    assert_eq!(online.resume(1, 60), Err(FeedError::Running { client: 1 }));
    assert_eq!(online.feed(Span::new(0, 70, 80, Read(3))), Ok(Outcome::Ok));
    assert_eq!(refused(online.feed(Span::new(1, 61, 90, Read(2))).unwrap()), Some((0, 70)));
}

#[test]
fn what_cannot_be_is_named_and_changes_nothing() {
    let mut online = online(2);
    assert_eq!(online.feed(Span::new(2, 1, 2, Read(0))), Err(FeedError::NoClient { client: 2 }));
    assert_eq!(online.feed(Span::new(0, 3, 2, Read(0))), Err(FeedError::Backwards { start: 3, finish: 2 }));
    assert_eq!(online.feed(Span::new(0, 1, 5, Read(0))), Ok(Outcome::Ok));
    let early = FeedError::OutOfOrder { client: 0, start: 5, last: 5 };
    assert_eq!(online.feed(Span::new(0, 5, 6, Read(9))), Err(early));
    assert_eq!(online.stop(1), Ok(Outcome::Ok));
    for again in [online.feed(Span::new(1, 7, 8, Read(9))), online.stop(1), online.pause(1), online.idle(1, 9)] {
        assert_eq!(again, Err(FeedError::NotRunning { client: 1 }));
    }
    assert_eq!(online.resume(1, 9), Err(FeedError::NotRunning { client: 1 }));
    assert_eq!(online.feed(Span::new(0, 7, 9, Read(0))), Ok(Outcome::Ok));
    assert_eq!(online.finish(), Outcome::Ok);
}

#[test]
fn a_crashed_operation_takes_effect_late_or_never() {
    let read = |start, value| Span::new(0, start, start + 5, Read(value));
    // A write with an unknown outcome permits no other values after it.
    let feed = |values: &[i64]| {
        let mut online = online(2);
        assert_eq!(online.crash(1, 1, Write(8)), Ok(Outcome::Ok));
        let spans = values.iter().enumerate().map(|(at, value)| read(10 + 10 * at as u64, *value));
        spans.map(|span| refused(online.feed(span).unwrap())).last().flatten()
    };
    assert_eq!(feed(&[0, 0, 0]), None);
    assert_eq!(feed(&[0, 0, 8, 8]), None);
    assert_eq!(feed(&[8, 8, 0]), Some((0, 30)), "what has happened cannot be undone");
    assert_eq!(feed(&[0, 7]), Some((0, 20)));
    // Two equal operations happen at most twice.
    let mut online = online(3);
    online.crash(1, 1, Write(8)).unwrap();
    online.crash(2, 2, Write(8)).unwrap();
    let mut now = 10;
    for (value, is_ok) in [(8, true), (8, true), (8, false)] {
        assert_eq!(online.feed(read(now, value)).unwrap() == Outcome::Ok, is_ok, "at {now}");
        online.feed(Span::new(0, now + 6, now + 7, Write(1))).unwrap();
        now += 10;
    }
}

#[test]
fn a_client_that_lags_too_far_behind_ends_in_unknown() {
    let settings = Settings { lag_max: 100, ..Settings::default() };
    let mut online = Online::with_settings(PlainRegister::starting_with(0), 2, settings);
    for at in 0..100 {
        assert_eq!(online.feed(Span::new(0, 10 * at + 1, 10 * at + 2, Read(0))), Ok(Outcome::Ok));
    }
    let full = online.feed(Span::new(0, 1_001, 1_002, Read(0)));
    assert_eq!(full, Ok(Outcome::Unknown(Reason::Behind { client: 1 })));
    assert_eq!((online.waiting(), online.finish()), (0, Outcome::Unknown(Reason::Behind { client: 1 })));
}

/// Concurrent puts of 0, 1, 2, ..., and then takes one after another. Each put has its own client.
fn queue(count: u32, order: impl Iterator<Item = i64>) -> (Vec<Span<QueueOp>>, Vec<Operation<QueueOp>>) {
    let put = |at: u32| Span::new(at, 1 + u64::from(at), 1_000 + u64::from(at), QueueOp::Put(at.into()));
    let take =
        |(at, value): (u64, i64)| Span::new(0, 2_000 + 10 * at, 2_005 + 10 * at, QueueOp::Take(Removed::Value(value)));
    let spans: Vec<_> = (0..count).map(put).chain((0..).zip(order).map(take)).collect();
    let operation = |span: &Span<QueueOp>| Operation::new(span.client.into(), span.op, span.start, span.finish);
    let operations = spans.iter().map(operation).collect();
    (spans, operations)
}

#[test]
fn very_many_configurations_are_stepped_at_one_time_with_the_same_answers() {
    // Seven puts in any order: thousands of states.
    let orders: [&[i64]; 3] = [&[6, 5, 4, 3, 2, 1, 0], &[0, 3, 1, 2, 6, 5, 4], &[0, 3, 1, 2, 6, 6, 4]];
    for (order, expected) in orders.into_iter().zip([Verdict::Valid, Verdict::Valid, Verdict::Invalid]) {
        let (spans, operations) = queue(7, order.iter().copied());
        let run = || {
            let mut online = Online::new(FifoQueue::default(), 7);
            for span in &spans {
                online.feed(*span).unwrap();
            }
            online.finish()
        };
        let outcome = run();
        assert_eq!(outcome.verdict(), expected);
        assert_eq!(outcome, run(), "whatever threads do");
        assert_eq!(check(&FifoQueue::default(), &operations, &Budget::default()).verdict(), expected);
    }
}

#[test]
fn too_many_configurations_end_in_unknown() {
    let (spans, _) = queue(7, [0].into_iter());
    let settings = Settings { configurations_max: 500, ..Settings::default() };
    let mut online = Online::with_settings(FifoQueue::default(), 7, settings);
    for span in spans {
        online.feed(span).unwrap();
    }
    assert_eq!(online.finish(), Outcome::Unknown(Reason::Full));
}

#[test]
fn every_width_of_concurrency_is_judged() {
    for width in [1, 63, 64, 65, 257, 1_025] {
        let read = |value| {
            let mut online = online(width);
            for client in 0..width {
                let start = 1 + u64::from(client);
                online.feed(Span::new(client, start, 10_000 + start, Write(5))).unwrap();
            }
            online.feed(Span::new(0, 30_000, 30_001, Read(value))).unwrap();
            online.finish().verdict()
        };
        assert_eq!((read(5), read(7)), (Verdict::Valid, Verdict::Invalid), "{width}");
    }
}

#[test]
fn an_operation_that_never_ends_is_passed_over() {
    let settings = Settings { lag_max: 100, ..Settings::default() };
    let begin = |op: Option<&RegisterOp>| {
        let mut events = Events::with_settings(PlainRegister::starting_with(0), settings);
        let stuck = events.invoke(9, 0, op);
        for at in 0..1_000 {
            let write = events.invoke(0, 10 * at + 1, Some(&Write(1)));
            assert_eq!(events.complete(write, 10 * at + 2, Some(&Write(1))), Outcome::Ok);
        }
        (events, stuck)
    };
    let wrong = |events: &mut Events<PlainRegister>, value| {
        let read = events.invoke(0, 20_000, None);
        refused(events.complete(read, 20_001, Some(&Read(value))))
    };
    // As long as the operation has not ended, and if it may have happened, the answer is known.
    let (mut events, stuck) = begin(Some(&Write(7)));
    assert_eq!(events.crash(stuck, Some(&Write(7))), Outcome::Ok);
    assert_eq!(wrong(&mut events, 7), None);
    // The operation was not used, so it does not matter that it did not happen.
    let (mut events, stuck) = begin(Some(&Write(7)));
    assert_eq!(events.fail(stuck), Outcome::Ok);
    assert_eq!(wrong(&mut events, 7), Some((0, 20_000)));
    // It is not known any more when the operation took effect, but a violation remains one.
    let (mut events, stuck) = begin(Some(&Write(7)));
    assert_eq!(events.complete(stuck, 15_000, Some(&Write(7))), Outcome::Unknown(Reason::Lag));
    assert_eq!(wrong(&mut events, 8), Some((0, 20_000)));
    let (mut events, stuck) = begin(None);
    assert_eq!(events.complete(stuck, 15_000, Some(&Read(0))), Outcome::Unknown(Reason::Lag));
}

#[test]
fn crashed_operations_that_nobody_sees_cost_nothing() {
    let mut online = online(2);
    let mut now = 0;
    for at in 0..20_000 {
        now += 10;
        online.crash(1, now, Write(-1 - at)).unwrap();
        online.resume(1, now + 1).unwrap();
        online.idle(1, now + 9).unwrap();
        online.feed(Span::new(0, now + 2, now + 3, Write(at))).unwrap();
        assert_eq!(online.feed(Span::new(0, now + 4, now + 5, Read(at))), Ok(Outcome::Ok));
    }
    assert!(online.configurations() < 10);
    // Each of them may still be observed.
    assert_eq!(online.feed(Span::new(0, now + 10, now + 11, Read(-777))), Ok(Outcome::Ok));
    assert_eq!(online.finish(), Outcome::Ok);
}

#[test]
fn puts_that_crashed_rest_until_they_are_seen() {
    // Thirty of them can be in a queue in more orders than can be searched.
    let mut events = Events::new(FifoQueue::default());
    let mut at = 0;
    for value in 0..30 {
        at += 2;
        let put = events.invoke(value, at, Some(&QueueOp::Put(value)));
        assert_eq!(events.crash(put, Some(&QueueOp::Put(value))), Outcome::Ok);
    }
    let mut take = |value| {
        at += 2;
        let take = events.invoke(99, at, Some(&QueueOp::Take(Removed::Unknown)));
        events.complete(take, at + 1, Some(&QueueOp::Take(Removed::Value(value))))
    };
    assert_eq!((take(7), take(3), take(20)), (Outcome::Ok, Outcome::Ok, Outcome::Ok));
    assert_eq!(refused(take(7)), Some((99, 68)), "it was put in once");
}

#[test]
fn an_operation_about_the_whole_begins_again_with_the_whole() {
    let write = |key, value| RegisterAccess::Write { key, value };
    let read = |key, value| RegisterAccess::Read { key, value };
    let run = |quiet: u64| {
        let mut online = Online::new(MultiRegister::default(), 1);
        let mut now = 0;
        let mut feed = |accesses: &[RegisterAccess]| {
            now += 10;
            online.feed(Span::new(0, now, now + 1, accesses.into())).unwrap()
        };
        assert_eq!((feed(&[write(0, 1)]), feed(&[write(1, 2)])), (Outcome::Ok, Outcome::Ok));
        for _ in 0..quiet {
            assert_eq!(feed(&[read(0, 1)]), Outcome::Ok);
        }
        (feed(&[read(0, 1), read(1, 2)]).verdict(), feed(&[read(0, 1), read(1, 3)]).verdict())
    };
    assert_eq!(run(100), (Verdict::Valid, Verdict::Invalid));
    assert_eq!(run(20_000), (Verdict::Unknown, Verdict::Unknown));
}
