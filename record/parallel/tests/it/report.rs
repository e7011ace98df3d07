//! The report of the README's program is the same as in the README.

use record_parallel::scheduler::Random;
use record_parallel::sync::Mutex;
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::{Settings, explore, simplify, thread};
use std::sync::Arc;

fn program() {
    let count = Arc::new(AtomicU32::new(0));
    let threads = [1, 2].map(|_| {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            let seen = count.load(SeqCst);
            count.store(seen + 1, SeqCst);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(count.load(SeqCst), 2);
}

#[test]
fn the_first_report_that_a_reader_sees() {
    let failure = explore(&Settings::default(), Random::new(0, 500), program).unwrap_err();
    insta::assert_snapshot!(simplify(&Settings::default(), failure, program), @r"
    thread a panicked at record/parallel/tests/it/report.rs:21:5: assertion `left == right` failed
      left: 1
     right: 2

    execution 1, 7 steps, 1 preemption:
      step   a               b                c
         1   |               load count = 0   |                record/parallel/tests/it/report.rs:14
         2 * |               |                load count = 0   record/parallel/tests/it/report.rs:14
         3   |               |                store count = 1  record/parallel/tests/it/report.rs:15
         4   |               store count = 1  |                record/parallel/tests/it/report.rs:15
         5   join thread b   |                |                record/parallel/tests/it/report.rs:19
         6   join thread c   |                |                record/parallel/tests/it/report.rs:19
         7   load count = 1  |                |                record/parallel/tests/it/report.rs:21
            * a preemption: the thread that ran before could have continued

    schedule, for scheduler::Replay: bc
    ");
}

#[test]
fn a_long_table_is_cut_in_the_middle() {
    let failure = explore(&Settings::default(), Random::new(0, 1), || {
        let atomic = AtomicU32::new(0);
        (0..500).for_each(|_| _ = atomic.load(SeqCst));
        panic!("at last");
    });
    let report = failure.unwrap_err().to_string();
    assert!(report.contains("(380 steps are not shown)") && report.lines().count() < 140, "{report}");
    assert!(report.contains("   500   load atomic = 0"), "{report}");
}

#[test]
fn a_schedule_is_a_page_with_what_all_hold_after_each_step() {
    let failure = explore(&Settings::default(), Random::new(0, 500), || {
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(())));
        let other = Arc::clone(&shared);
        let thread = thread::Builder::new().name("<adder>".into()).spawn(move || {
            let lock = other.1.lock().unwrap();
            other.0.store(7, SeqCst);
            drop(lock);
        });
        thread.unwrap().join().unwrap();
        assert_eq!(shared.0.load(SeqCst), 8);
    });
    let failure = failure.unwrap_err();
    let page = failure.html();
    assert_eq!(page, failure.html());
    for text in [
        "assertion `left == right` failed",
        "thread b &lt;adder&gt;",
        "store AtomicU32 1 = 7",
        "Mutex 1 held by b, AtomicU32 1 = 7",
        "Mutex 1 free, AtomicU32 1 = 7",
        "report.rs:",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    assert!(!page.contains("<adder>"));
}
