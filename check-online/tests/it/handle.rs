//! A checker on a separate thread, fed by several threads.

use check_online::{FeedError, Online, Outcome, Span};
use check_register::models::{PlainRegister, RegisterOp};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread;

/// Clients that read and write a register at single instants; one of them records one wrong value, if `lie_at` is
/// given.
fn run(lie_at: Option<u64>) -> Outcome<RegisterOp> {
    const CLIENTS: u32 = 3;
    let handle = Online::new(PlainRegister::starting_with(0), CLIENTS).spawn(16);
    let (clock, register) = (AtomicU64::new(1), AtomicI64::new(0));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (handle, clock, register) = (handle.clone(), &clock, &register);
            scope.spawn(move || {
                for at in 0..500 {
                    let start = clock.fetch_add(1, Ordering::SeqCst);
                    let value = i64::from(client) * 1_000 + at;
                    let op = if at % 2 == 0 {
                        register.store(value, Ordering::SeqCst);
                        RegisterOp::Write(value)
                    } else {
                        let found = register.load(Ordering::SeqCst);
                        let lies = client == 1 && lie_at == Some(at.cast_unsigned());
                        RegisterOp::Read(if lies { -1 } else { found })
                    };
                    let finish = clock.fetch_add(1, Ordering::SeqCst);
                    handle.feed(Span::new(client, start, finish, op)).unwrap();
                }
                handle.stop(client).unwrap();
            });
        }
    });
    handle.finish().unwrap()
}

#[test]
fn several_threads_feed_one_checker() {
    assert_eq!(run(None), Outcome::Ok);
    let Outcome::Violation(violation) = run(Some(251)) else { panic!("a lie goes through") };
    assert_eq!((violation.refused.client, violation.refused.op), (1, RegisterOp::Read(-1)));
}

#[test]
fn errors_come_back_and_clients_come_and_go() {
    let handle = Online::new(PlainRegister::starting_with(0), 1).spawn(4);
    assert_eq!(handle.try_feed(Span::new(0, 5, 6, RegisterOp::Write(1))), Ok(None));
    assert_eq!(handle.join(6), Ok(1), "what was fed before has been taken by now");
    assert_eq!(handle.join(5), Err(FeedError::Late { at: 5, judged: 6 }));
    handle.pause(1).unwrap();
    assert_eq!(handle.resume(1, 6), Ok(()));
    handle.crash(1, 7, RegisterOp::Write(2)).unwrap();
    handle.idle(0, 10).unwrap();
    handle.feed(Span::new(0, 11, 12, RegisterOp::Read(2))).unwrap();
    assert_eq!(handle.join(12), Ok(2));
    assert_eq!(handle.outcome(), Outcome::Ok);
    // The error for a span out of order is known once the span is checked: at the latest after a call that waits.
    let late = FeedError::OutOfOrder { client: 0, start: 3, last: 12 };
    handle.feed(Span::new(0, 3, 4, RegisterOp::Read(2))).unwrap();
    _ = handle.join(100);
    assert_eq!(handle.feed(Span::new(0, 13, 14, RegisterOp::Read(2))), Err(late));
    assert_eq!(handle.clone().finish(), Err(late));

    let handle = Online::new(PlainRegister::starting_with(0), 1).spawn(4);
    let other = handle.clone();
    assert_eq!(handle.finish(), Ok(Outcome::Ok));
    assert_eq!(other.feed(Span::new(0, 1, 2, RegisterOp::Read(0))), Err(FeedError::Closed));
}
