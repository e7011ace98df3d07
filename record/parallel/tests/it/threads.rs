//! Threads beyond `spawn`: scopes, thread-local variables, stacks of other sizes, and values that are created once.

use crate::noting::complete;
use record_parallel::scheduler::{Exhaustive, Random, Reduced};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard};
use record_parallel::{Cause, Check, Settings, check, explore, hint, thread, thread_local};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex as StdMutex};

/// The values that a program returns over all schedules. Both searches must find the same.
fn all<T: Ord + Debug + Send + 'static>(program: impl Fn() -> T + Send + Sync + Copy + 'static) -> Vec<T> {
    complete(&Settings { surprises_max: 0, ..Settings::default() }, program).seen
}

#[test]
fn threads_of_a_scope_borrow_and_interleave() {
    let seen = all(|| {
        let number = AtomicU32::new(0);
        let mut own = [0, 0];
        let (first, second) = own.split_at_mut(1);
        thread::scope(|scope| {
            for own in [first, second] {
                scope.spawn(|| {
                    own[0] = number.load(SeqCst);
                    number.store(own[0] + 1, SeqCst);
                });
            }
        });
        (own, number.load(SeqCst))
    });
    assert_eq!(seen, [([0, 0], 1), ([0, 1], 2), ([1, 0], 2)]);
}

#[test]
fn scopes_hold_scopes_and_threads_of_scopes_start_others() {
    // The outer scope's threads continue while an inner scope is open, in the same thread and in another one.
    let seen = all(|| {
        let number = AtomicU32::new(0);
        let add = || number.fetch_add(1, SeqCst);
        let (inner, outer) = thread::scope(|scope| {
            let other = scope.spawn(|| {
                let own = thread::scope(|inner| inner.spawn(add).join().unwrap());
                (own, scope.spawn(add).join().unwrap())
            });
            let mine = thread::scope(|inner| inner.spawn(add).join().unwrap());
            (mine, other.join().unwrap())
        });
        assert_eq!(number.load(SeqCst), 3);
        (inner, outer)
    });
    assert_eq!(seen, [(0, (1, 2)), (1, (0, 2)), (2, (0, 1))]);
}

#[test]
fn a_scope_waits_for_threads_that_are_not_joined() {
    let program = || {
        let number = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| scope.spawn(|| number.fetch_add(1, SeqCst)));
        });
        assert_eq!(number.into_inner(), 1);
        // After a panic of its body, the scope waits as well.
        let number = AtomicU32::new(0);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            thread::scope(|scope| {
                scope.spawn(|| number.fetch_add(1, SeqCst));
                panic!("caught");
            })
        }));
        assert_eq!((*caught.unwrap_err().downcast::<&str>().unwrap(), number.into_inner()), ("caught", 1));
    };
    assert!(explore(&Settings::default(), Reduced::new(), program).unwrap().is_complete);
    let failure = explore(&Settings::default(), Random::new(0, 10), || {
        let mutex = Mutex::new(());
        thread::scope(|scope| {
            let guard = mutex.lock();
            scope.spawn(|| drop(mutex.lock())).join().unwrap();
            drop(guard);
        });
    });
    assert!(matches!(failure.unwrap_err().cause, Cause::Deadlock(_)));
    let failure = explore(&Settings::default(), Random::new(0, 10), || {
        thread::scope(|scope| _ = scope.spawn(|| assert_eq!(1, 2)));
    });
    assert!(matches!(failure.unwrap_err().cause, Cause::Panic { .. }));
}

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(5) };
    static NAMES: RefCell<Vec<&'static str>> = RefCell::new(Vec::new());
    static LAST: Ends = const { Ends };
}

static ENDED: StdMutex<Vec<bool>> = StdMutex::new(Vec::new());

struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        // The value of the other key was created later, so it was dropped before this one.
        ENDED.lock().unwrap().push(NAMES.try_with(|_| ()).is_err());
    }
}

#[test]
fn each_thread_has_its_own_variables() {
    let program = || {
        COUNT.set(COUNT.get() + 1);
        let body = |name| {
            LAST.with(|_| ());
            NAMES.with_borrow_mut(|names| names.push(name));
            thread::yield_now();
            COUNT.set(COUNT.get() + 10);
            thread::yield_now();
            (NAMES.take(), COUNT.replace(0))
        };
        let other = thread::spawn(move || body("other"));
        assert_eq!(body("mine"), (vec!["mine"], 16));
        ENDED.lock().unwrap().clear();
        assert_eq!(other.join().unwrap(), (vec!["other"], 15));
    };
    let explored = explore(&Settings::default(), Exhaustive::new(), program).unwrap();
    assert!(explored.is_complete && explored.executions == 6, "{explored:?}");
    assert_eq!(ENDED.lock().unwrap().last(), Some(&true));
    // Outside of executions, the OS thread has its own value.
    assert_eq!(COUNT.get(), 5);
    COUNT.set(7);
    explore(&Settings::default(), Random::new(0, 2), || assert_eq!(COUNT.get(), 5)).unwrap();
    assert_eq!(COUNT.get(), 7);
}

#[test]
fn a_value_is_made_by_one_and_waited_for() {
    let seen = all(|| {
        let shared = Arc::new((LazyLock::new(|| thread::current().name() == Some("b")), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let builder = thread::Builder::new().name("b".into());
        let thread = builder.spawn(move || *LazyLock::force(&other.0)).unwrap();
        let early = LazyLock::get(&shared.0).copied();
        let mine = *shared.0;
        assert_eq!(thread.join().unwrap(), mine);
        (early, mine)
    });
    assert_eq!(seen, [(None, false), (None, true), (Some(true), true)]);
    let seen = all(|| {
        let cell = Arc::new((OnceLock::new(), Once::new()));
        let other = Arc::clone(&cell);
        let thread = thread::spawn(move || {
            let early = other.1.is_completed();
            other.0.set(1).unwrap();
            other.1.call_once(|| ());
            early
        });
        let value = *cell.0.wait();
        cell.1.wait();
        (value, cell.1.is_completed(), thread.join().unwrap())
    });
    assert_eq!(seen, [(1, true, false)]);
    let failure = explore(&Settings::default(), Random::new(0, 1), || _ = OnceLock::<u8>::new().wait());
    assert!(failure.unwrap_err().to_string().contains("wait for OnceLock made at"));
}

#[test]
fn a_panic_poisons_what_is_done_once() {
    let program = || {
        let once = Once::new();
        let fails = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| once.call_once(|| panic!("caught"))));
        fails().unwrap_err();
        assert!(!once.is_completed());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        once.wait();
        let lazy: LazyLock<u8> = LazyLock::new(|| panic!("caught"));
        for _ in 0..2 {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| *lazy)).unwrap_err();
        }
    };
    explore(&Settings::default(), Random::new(0, 3), program).unwrap();
    program();
}

#[test]
fn a_writer_goes_on_to_read() {
    let seen = all(|| {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let reader = thread::spawn(move || *other.read().unwrap());
        let mut guard = lock.write().unwrap();
        *guard = 1;
        let guard = RwLockWriteGuard::downgrade(guard);
        // From here on, a reader need not wait.
        let seen = reader.join().unwrap();
        drop(guard);
        seen
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_loop_with_a_hint_ends() {
    let seen = all(|| {
        let flag = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&flag);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        while flag.load(SeqCst) == 0 {
            hint::spin_loop();
        }
        thread.join().unwrap();
    });
    assert_eq!(seen, [()]);
}

/// Uses about this number of bytes of stack.
#[inline(never)]
fn deep(bytes: usize) -> u8 {
    let mut filled = [1_u8; 1024];
    std::hint::black_box(&mut filled);
    if bytes > filled.len() { filled[bytes % 1024] & deep(bytes - filled.len()) } else { 1 }
}

fn with_stack(size: Option<usize>, used: usize) -> impl Fn() + Send + Sync + 'static {
    move || {
        let builder = thread::Builder::new().name("deep".into());
        let builder = if let Some(size) = size { builder.stack_size(size) } else { builder };
        let thread = builder.spawn(move || {
            thread::yield_now();
            deep(used)
        });
        assert_eq!(thread.unwrap().join().unwrap(), 1);
    }
}

#[test]
fn a_stack_is_as_large_as_it_is_said() {
    explore(&Settings::default(), Random::new(0, 3), with_stack(None, 100_000)).unwrap();
    explore(&Settings::default(), Random::new(0, 3), with_stack(Some(8 << 20), 4 << 20)).unwrap();
    for program in [with_stack(Some(1 << 16), 1 << 19), with_stack(None, 4 << 20)] {
        let failure = explore(&Settings::default(), Random::new(0, 3), program).unwrap_err();
        assert!(matches!(failure.cause, Cause::Overflow { .. }), "{failure}");
        let text = failure.to_string();
        assert!(text.starts_with("thread b (deep) needs more stack than it has, after "), "{text}");
        assert!(text.contains("threads.rs:") && text.contains("Builder::stack_size gives it more"), "{text}");
    }
    // The process continues.
    explore(&Settings::default(), Random::new(0, 3), with_stack(None, 1000)).unwrap();
}

#[test]
fn a_check_has_settings() {
    let long = || {
        let number = AtomicU32::new(0);
        (0..20_000).for_each(|_| _ = number.fetch_add(1, SeqCst));
    };
    let check = Check::new().executions(1);
    let settings = Settings { steps_max: 30_000, ..Settings::default() };
    check.clone().settings(settings).run(long);
    let message = std::panic::catch_unwind(move || check.run(long)).unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("Settings::steps_max is too low"), "{message}");
}

#[test]
fn a_panic_that_was_caught_is_not_the_failure() {
    let told = catch_unwind(|| {
        check(|| {
            _ = catch_unwind(|| panic!("the first, which was caught"));
            resume_unwind(Box::new("the second"));
        });
    });
    let message = *told.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("the second") && !message.contains("the first"), "{message}");
}
