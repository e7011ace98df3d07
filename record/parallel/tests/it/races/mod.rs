//! Data races on cells: both searches find them in the right programs, and report both places.
//!
//! All managed threads run on one OS thread, so cells are shared through a thread-local variable of that thread, which
//! needs no unsafe code. An access counts whether or not its pointer is used.

mod guarded;
mod leaks;
mod locks;
mod random;
mod tasks;

use record_parallel::cell::UnsafeCell;
use record_parallel::scheduler::{Exhaustive, Random, Reduced, Replay, Scheduler};
use record_parallel::sync::atomic::{AtomicU32, Ordering, fence};
use record_parallel::{AccessKind, Cause, Explored, Failure, Settings, check, explore, thread};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc as StdArc;

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

thread_local! {
    static CELLS: RefCell<Option<Rc<UnsafeCell<u32>>>> = const { RefCell::new(None) };
}

/// Creates a cell that all threads can access.
fn make() {
    CELLS.set(Some(Rc::new(UnsafeCell::new(0))));
}

fn cell() -> Rc<UnsafeCell<u32>> {
    CELLS.with_borrow(|cell| Rc::clone(cell.as_ref().expect("one was made")))
}

#[track_caller]
fn read() {
    cell().with(|_| ());
}

#[track_caller]
fn write() {
    cell().with_mut(|_| ());
}

fn settings() -> [Settings; 2] {
    let weak = Settings { surprises_max: 0, ..Settings::default() };
    [weak, weak.sequentially_consistent()]
}

fn search<S: Scheduler + 'static>(
    settings: Settings,
    scheduler: S,
    program: impl Fn() + Send + Sync + Copy + 'static,
) -> Result<Explored, Box<Failure>> {
    explore(&settings, scheduler, move || {
        make();
        program();
    })
}

/// Returns true if a program has a race. Both searches must agree, with and without weak memory.
#[track_caller]
fn races(program: impl Fn() + Send + Sync + Copy + 'static) -> bool {
    let mut answers = Vec::new();
    for settings in settings() {
        for result in [search(settings, Exhaustive::new(), program), search(settings, Reduced::new(), program)] {
            answers.push(match result {
                Ok(explored) => {
                    assert!(explored.is_complete, "{explored:?}");
                    false
                }
                Err(failure) => {
                    assert!(matches!(failure.cause, Cause::Race(_)), "{failure}");
                    true
                }
            });
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "the searches differ: {answers:?}");
    answers[0]
}

fn atomic() -> (StdArc<AtomicU32>, StdArc<AtomicU32>) {
    let atomic = StdArc::new(AtomicU32::new(0));
    (StdArc::clone(&atomic), atomic)
}

/// A writer sets a flag, and a thread that sees the flag reads.
fn published(store: Ordering, load: Ordering, before: Option<Ordering>, after: Option<Ordering>) -> bool {
    races(move || {
        let (a, b) = atomic();
        let writer = thread::spawn(move || {
            write();
            before.into_iter().for_each(fence);
            a.store(1, store);
        });
        if b.load(load) == 1 {
            after.into_iter().for_each(fence);
            read();
        }
        writer.join().unwrap();
        write();
    })
}

#[test]
fn a_flag_publishes_if_its_orderings_say_so() {
    assert!(published(Relaxed, Relaxed, None, None));
    assert!(published(Release, Relaxed, None, None));
    assert!(published(Relaxed, Acquire, None, None));
    assert!(!published(Release, Acquire, None, None));
    assert!(!published(SeqCst, SeqCst, None, None));
    assert!(!published(Relaxed, Relaxed, Some(Release), Some(Acquire)));
    assert!(!published(Relaxed, Acquire, Some(SeqCst), None));
    assert!(published(Relaxed, Relaxed, Some(Acquire), Some(Release)));
    assert!(published(Relaxed, Relaxed, None, Some(AcqRel)));
}

#[test]
fn both_places_are_told_and_the_schedule_replays() {
    let program = || {
        let (a, b) = atomic();
        let writer = thread::Builder::new().name("writer".into());
        let writer = writer.spawn(move || {
            write();
            a.store(1, Relaxed);
        });
        while b.load(Relaxed) == 0 {
            thread::yield_now();
        }
        read();
        writer.unwrap().join().unwrap();
    };
    let failure = search(Settings::default(), Random::new(1, 100), program).unwrap_err();
    let Cause::Race(race) = &failure.cause else { panic!("{failure}") };
    assert_eq!(race.what, "UnsafeCell");
    let [first, second] = &race.accesses;
    assert_eq!((first.thread.letter(), first.kind, first.name.as_deref()), ('b', AccessKind::Write, Some("writer")));
    assert_eq!((second.thread.letter(), second.kind, second.name.as_deref()), ('a', AccessKind::Read, None));
    assert_eq!(first.place.line() + 6, second.place.line());
    let text = failure.to_string();
    for told in [
        format!("data race on the UnsafeCell made at {}:{}", file!(), race.made.line()),
        format!("\n  thread b (writer) writes it at {}:{}:", file!(), first.place.line()),
        format!("\n  thread a reads it at {}:{}:", file!(), second.place.line()),
        "\n  neither access happens before the other\n".into(),
        format!("reads the UnsafeCell at line {}", second.place.line()),
    ] {
        assert!(text.contains(&told), "{told}\n{text}");
    }
    let again = search(Settings::default(), Replay::new(&failure.schedule), program).unwrap_err();
    assert!(again.cause.is_like(&failure.cause));
    let panic = std::panic::catch_unwind(move || {
        check(move || {
            make();
            program();
        });
    });
    let message = panic.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("data race") && message.contains("HISTCHECK_REPLAY="), "{message}");
}

#[test]
fn reads_do_not_race_with_each_other_and_writes_do() {
    let two = |a: fn(), b: fn()| {
        races(move || {
            let other = thread::spawn(a);
            b();
            other.join().unwrap();
        })
    };
    assert!(!two(read, read));
    assert!(two(read, write));
    assert!(two(write, read));
    assert!(two(write, write));
    // A thread that writes after two reads must have seen both.
    assert!(races(|| {
        let readers = [(); 2].map(|()| thread::spawn(read));
        let [first, second] = readers;
        first.join().unwrap();
        write();
        second.join().unwrap();
    }));
    assert!(!races(|| {
        let readers = [(); 2].map(|()| thread::spawn(read));
        for reader in readers {
            reader.join().unwrap();
        }
        write();
    }));
}

#[test]
fn what_is_made_is_published_like_what_is_written() {
    let publish = |order: Ordering| {
        races(move || {
            let (a, b) = atomic();
            let maker = thread::spawn(move || {
                make();
                a.store(1, order);
            });
            if b.load(Acquire) == 1 {
                read();
            }
            maker.join().unwrap();
        })
    };
    assert!(publish(Relaxed));
    assert!(!publish(Release));
}

#[test]
fn fences_that_are_consistent_do_not_synchronize_by_themselves() {
    // Each thread announces itself, and accesses the cell if it does not see the other one: at most one does.
    assert!(!races(|| {
        let (a, b) = atomic();
        let (c, d) = atomic();
        let enter = |mine: &AtomicU32, theirs: &AtomicU32| {
            mine.store(1, Relaxed);
            fence(SeqCst);
            if theirs.load(Relaxed) == 0 {
                write();
            }
        };
        let other = thread::spawn(move || enter(&a, &c));
        enter(&d, &b);
        other.join().unwrap();
    }));
    // Whenever the other thread reads, the writer's fence comes first; but the reader's fence precedes the load that
    // shows this.
    assert!(races(|| {
        let (a, b) = atomic();
        let (told, is_told) = atomic();
        let writer = thread::spawn(move || {
            write();
            fence(SeqCst);
            if a.load(Relaxed) == 0 {
                told.store(1, Relaxed);
            }
        });
        b.store(1, Relaxed);
        fence(SeqCst);
        if is_told.load(Relaxed) == 1 {
            read();
        }
        writer.join().unwrap();
    }));
}

#[test]
fn an_access_lasts_as_long_as_its_function() {
    // The flag is set before the writer's access ends.
    assert!(races(|| {
        let (a, b) = atomic();
        let writer = thread::spawn(move || cell().with_mut(|_| a.store(1, Release)));
        if b.load(Acquire) == 1 {
            read();
        }
        writer.join().unwrap();
    }));
}

#[test]
fn a_race_while_a_thread_unwinds_ends_the_execution() {
    struct Writes;
    impl Drop for Writes {
        fn drop(&mut self) {
            write();
        }
    }
    assert!(races(|| {
        let body = || {
            let caught = std::panic::catch_unwind(|| {
                let _writes = Writes;
                panic!("caught");
            });
            caught.unwrap_err();
        };
        let other = thread::spawn(body);
        body();
        other.join().unwrap();
    }));
}

#[test]
fn outside_of_executions_a_cell_is_a_cell() {
    let mut cell = UnsafeCell::new(vec![1]);
    assert!(cell.with(|value| value == cell.with_mut(<*mut Vec<i32>>::cast_const)));
    cell.get_mut().push(2);
    assert_eq!(cell.into_inner(), [1, 2]);
}
