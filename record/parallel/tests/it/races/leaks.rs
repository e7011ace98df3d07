//! Leaks: values of counted pointers that are not freed at the end.

use record_parallel::scheduler::{Random, Reduced};
use record_parallel::sync::{Arc, Mutex, Weak};
use record_parallel::{Cause, Settings, explore, thread};
use std::sync::Arc as StdArc;

#[test]
fn what_is_never_freed_is_told() {
    struct Node {
        next: Mutex<Option<Arc<Node>>>,
        _weak: Mutex<Option<Weak<Node>>>,
    }
    let node = || Arc::new(Node { next: Mutex::new(None), _weak: Mutex::default() });
    let line = line!() - 1;
    let circle = move || {
        let (first, second) = (node(), node());
        *first.next.lock().unwrap() = Some(Arc::clone(&second));
        *second.next.lock().unwrap() = Some(first);
    };
    let failure = explore(&Settings::default(), Reduced::new(), circle).unwrap_err();
    let Cause::Leak(leaked) = &failure.cause else { panic!("{failure}") };
    assert_eq!(leaked.iter().map(|(what, made)| (*what, made.line())).collect::<Vec<_>>(), [("Arc", line); 2]);
    let told = format!("leak: what was allocated is not freed at the end\n  Arc made at {}:{line}:", file!());
    assert!(failure.to_string().starts_with(&told), "{failure}");
    assert!(explore(&Settings::default().leaks_allowed(), Reduced::new(), circle).unwrap().is_complete);
    let forgotten = || std::mem::forget(Arc::new(1));
    assert!(matches!(explore(&Settings::default(), Reduced::new(), forgotten).unwrap_err().cause, Cause::Leak(_)));
}

#[test]
fn what_is_freed_in_any_way_is_no_leak() {
    let programs: [fn(); 8] = [
        || drop(Arc::new(1)),
        || _ = Arc::try_unwrap(Arc::new(1)),
        || _ = Arc::into_inner(Arc::new(1)),
        || {
            let first = Arc::new(1);
            let mut second = Arc::clone(&first);
            *Arc::make_mut(&mut second) = 2;
        },
        || {
            let mut first = Arc::new(1);
            let weak = Arc::downgrade(&first);
            *Arc::make_mut(&mut first) = 2;
            assert!(weak.upgrade().is_none());
        },
        || drop(Arc::new_cyclic(|weak: &Weak<u32>| u32::from(weak.upgrade().is_some()))),
        || {
            let std = StdArc::new(1);
            let kept = StdArc::clone(&std);
            drop(Arc::<i32>::from(std));
            drop(kept);
        },
        || {
            let shared = Arc::new(1);
            let other = Arc::clone(&shared);
            // The result of a thread that is never joined.
            thread::spawn(move || other);
            drop(std::panic::catch_unwind(move || {
                let _shared = shared;
                panic!("caught");
            }));
        },
    ];
    for (number, program) in programs.into_iter().enumerate() {
        let explored = explore(&Settings::default(), Reduced::new(), program);
        explored.unwrap_or_else(|failure| panic!("{number}: {failure}"));
    }
    // A pointer that was created outside of executions is not counted.
    let outside = Arc::new(1);
    let program = move || std::mem::forget(Arc::clone(&outside));
    explore(&Settings::default(), Random::new(0, 3), program).unwrap();
}
