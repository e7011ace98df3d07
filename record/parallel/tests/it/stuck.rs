//! A wait for something outside of the schedule is reported within a second, instead of hanging.

use record_parallel::{check, thread};
use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};

fn report(name: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("stuck::{name}"), "--ignored"]).env("RUST_BACKTRACE", "0");
    command.env_remove("HISTCHECK_REPLAY").env_remove("HISTCHECK_SEED");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(101));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The test below runs this one, and the other ignored ones.
#[test]
#[ignore = "it is stuck on purpose"]
fn holds_a_lock_of_std_over_a_pause() {
    check(|| {
        let shared = Arc::new(Mutex::new(()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let _guard = other.lock();
            thread::yield_now();
        });
        thread::yield_now();
        drop(shared.lock());
        thread.join().unwrap();
    });
}

#[test]
#[ignore = "it is stuck on purpose"]
fn parks_in_the_system() {
    check(std::thread::park);
}

#[test]
#[ignore = "it is stuck on purpose"]
fn waits_for_a_message_of_std() {
    check(|| {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            thread::yield_now();
            sender.send(1).unwrap();
        });
        receiver.recv().unwrap();
    });
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
fn what_waits_outside_of_the_schedule_is_reported() {
    let names = ["holds_a_lock_of_std_over_a_pause", "parks_in_the_system", "waits_for_a_message_of_std"];
    let reports = std::thread::scope(|scope| {
        let threads = names.map(|name| scope.spawn(move || report(name)));
        threads.map(|thread| thread.join().unwrap())
    });
    for (name, report) in names.iter().zip(&reports) {
        assert!(report.contains("waits for something that is not under the schedule"), "{report}");
        assert!(report.contains(&format!("in the test stuck::{name}")), "{report}");
    }
    assert!(reports[0].contains("after the pause point at record/parallel/tests/it/stuck.rs:"), "{}", reports[0]);
    assert!(
        reports[1].contains("thread a of an execution") && reports[1].contains("after its start"),
        "{}",
        reports[1]
    );
}

/// Acquires a lock in its destructor.
struct Counts(Arc<record_parallel::sync::Mutex<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

#[test]
#[ignore = "it is stuck on purpose"]
fn waits_for_a_lock_while_it_unwinds() {
    check(|| {
        let count = Arc::new(record_parallel::sync::Mutex::new(0));
        let other = Arc::clone(&count);
        let _held = count.lock().unwrap();
        thread::spawn(move || {
            let _counts = Counts(other);
            thread::yield_now();
            panic!("the first panic");
        });
        thread::yield_now();
    });
}

#[test]
fn a_destructor_that_would_wait_while_it_unwinds_is_reported() {
    let report = report("waits_for_a_lock_while_it_unwinds");
    assert!(report.contains("is held by a thread that cannot run"), "{report}");
    let first = "because of a panic at record/parallel/tests/it/stuck.rs:";
    assert!(report.contains(first) && report.contains("the first panic"), "{report}");
    let (_, schedule) = report.split_once("scheduler::Replay: ").expect("the schedule comes last");
    assert!(schedule.trim().parse::<record_parallel::Schedule>().is_ok(), "{schedule}");
}
