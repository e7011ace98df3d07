//! A bounded queue with one condition variable for threads that wait for room and threads that wait for elements: a
//! notification can wake the wrong thread, and then all wait for ever. Budget: 400 executions.

use record_parallel::scheduler::{Exhaustive, Pct, Random, Reduced, miss_probability};
use record_parallel::sync::{Condvar, Mutex};
use record_parallel::{Cause, Kind, Schedule, Settings, explore, scheduler, simplify, thread};
use std::collections::VecDeque;
use std::sync::Arc;

struct Queue {
    elements: Mutex<VecDeque<u32>>,
    /// The broken queue uses only the first one; otherwise each condition has its own.
    changed: [Condvar; 2],
    is_broken: bool,
}

impl Queue {
    fn new(is_broken: bool) -> Queue {
        Queue { elements: Mutex::default(), changed: [Condvar::new(), Condvar::new()], is_broken }
    }

    fn has_room(&self) -> &Condvar {
        &self.changed[0]
    }

    fn has_elements(&self) -> &Condvar {
        &self.changed[usize::from(!self.is_broken)]
    }

    fn put(&self, element: u32) {
        let mut elements = self.elements.lock().unwrap();
        while elements.len() == 1 {
            elements = self.has_room().wait(elements).unwrap();
        }
        elements.push_back(element);
        self.has_elements().notify_one();
    }

    fn take(&self) -> u32 {
        let mut elements = self.elements.lock().unwrap();
        loop {
            if let Some(element) = elements.pop_front() {
                self.has_room().notify_one();
                return element;
            }
            elements = self.has_elements().wait(elements).unwrap();
        }
    }
}

/// One thread puts two elements, two threads take one element each.
fn program(is_broken: bool) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let queue = Arc::new(Queue::new(is_broken));
        for _ in 0..2 {
            let queue = Arc::clone(&queue);
            thread::Builder::new().name("taker".into()).spawn(move || queue.take()).unwrap();
        }
        (1..=2).for_each(|element| queue.put(element));
    }
}

#[test]
fn the_deadlock_is_found_within_its_budget() {
    let settings = Settings::default();
    // The bug appears if two threads have begun to wait before the third one starts. With at most 20 steps:
    assert!(miss_probability(3, 20, 2, 400) < 0.002);
    for seed in 0..30 {
        for failure in [
            explore(&settings, Random::new(seed, 400), program(true)).unwrap_err(),
            explore(&settings, Pct::new(seed, 2, 400), program(true)).unwrap_err(),
        ] {
            let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
            assert!(waiting.iter().all(|waiting| waiting.kind == Kind::WaitEnd), "{failure}");
        }
    }
    let failure = explore(&settings, Reduced::new(), program(true)).unwrap_err();
    assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
}

#[test]
fn the_report_says_who_waits_for_what() {
    let settings = Settings::default();
    let failure = explore(&settings, Random::new(1, 400), program(true)).unwrap_err();
    let simplest = simplify(&settings, failure, program(true));
    insta::assert_snapshot!(simplest, @r"
    deadlock: no thread can continue
      thread a is blocked at record/parallel/tests/it/bounded_queue.rs:33:40: wake from Condvar made at record/parallel/tests/it/bounded_queue.rs:19:55
      thread c (taker) is blocked at record/parallel/tests/it/bounded_queue.rs:46:44: wake from Condvar made at record/parallel/tests/it/bounded_queue.rs:19:55

    execution 4, 14 steps, 1 preemption:
      step   a                     b taker               c taker
         1 * |                     lock elements         |                    record/parallel/tests/it/bounded_queue.rs:40
         2   |                     wait Condvar 1        |                    record/parallel/tests/it/bounded_queue.rs:46
         3   |                     |                     lock elements        record/parallel/tests/it/bounded_queue.rs:40
         4   |                     |                     wait Condvar 1       record/parallel/tests/it/bounded_queue.rs:46
         5   lock elements         |                     |                    record/parallel/tests/it/bounded_queue.rs:31
         6   notify one Condvar 1  |                     |                    record/parallel/tests/it/bounded_queue.rs:36
         7   unlock elements       |                     |                    record/parallel/tests/it/bounded_queue.rs:31
         8   lock elements         |                     |                    record/parallel/tests/it/bounded_queue.rs:31
         9   wait Condvar 1        |                     |                    record/parallel/tests/it/bounded_queue.rs:33
        10   |                     lock again elements   |                    record/parallel/tests/it/bounded_queue.rs:46
        11   |                     notify one Condvar 1  |                    record/parallel/tests/it/bounded_queue.rs:43
        12   |                     unlock elements       |                    record/parallel/tests/it/bounded_queue.rs:46
        13   |                     |                     lock again elements  record/parallel/tests/it/bounded_queue.rs:46
        14   |                     |                     wait Condvar 1       record/parallel/tests/it/bounded_queue.rs:46
            * a preemption: the thread that ran before could have continued

    schedule, for scheduler::Replay: b2c
    ");
    let schedule: Schedule = simplest.schedule.to_string().parse().unwrap();
    let again = explore(&settings, scheduler::Replay::new(&schedule), program(true)).unwrap_err();
    assert_eq!(again.table(), simplest.table());
}

#[test]
fn the_fixed_queue_passes_under_all_schedules() {
    let explored = explore(&Settings::default(), Reduced::new(), program(false)).unwrap();
    assert!(explored.is_complete && explored.executions > 1, "{explored:?}");
    let bounded = Exhaustive::new().preemptions_max(2);
    let explored = explore(&Settings::default(), bounded, program(false)).unwrap();
    assert!(explored.is_complete, "{explored:?}");
}
