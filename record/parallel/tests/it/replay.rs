//! The output of a failing test replays the failure: the test binary is run again, with the string in the variable. And
//! the same seed gives the same report, a thousand times in a row, while other threads keep every core busy.

use record_parallel::scheduler::{Pct, Replay};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::{Settings, check, explore, thread};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Three threads count, and one increment is lost.
fn program() {
    let count = Arc::new(AtomicU32::new(0));
    let threads = [1, 2, 3].map(|_| {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            let seen = count.load(SeqCst);
            count.store(seen + 1, SeqCst);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(count.load(SeqCst), 3);
}

/// The test below runs this one.
#[test]
#[ignore = "it fails on purpose"]
fn racy() {
    check(program);
}

fn run(replay: Option<&str>, seed: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "replay::racy", "--ignored", "--nocapture"]).env("RUST_BACKTRACE", "0");
    command.env_remove("HISTCHECK_REPLAY").env_remove("HISTCHECK_SEED");
    command.envs(replay.map(|text| ("HISTCHECK_REPLAY", text))).envs(seed.map(|text| ("HISTCHECK_SEED", text)));
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_printed_command_replays_the_failure() {
    let first = run(None, None);
    let (_, replay) = first.split_once("HISTCHECK_REPLAY=").expect("the report ends with it");
    let (replay, _) = replay.split_once(' ').unwrap();
    assert!(first.contains("1 preemption:"), "{first}");
    let second = run(Some(replay), None);
    let table = |report: &str| report[report.find("  step").unwrap()..report.rfind("replay:").unwrap()].to_owned();
    assert_eq!(table(&first), table(&second));
    assert!(second.contains(&format!("HISTCHECK_REPLAY={replay} ")));
    assert!(run(None, Some("12")).contains("1 preemption:"));
    assert!(run(None, Some("x")).contains("HISTCHECK_SEED is not a number from 0 to 2^64-1: \"x\""));
    assert!(
        run(Some("b0"), None).contains("HISTCHECK_REPLAY: not a schedule: expected 1 to 100000000 steps at position 0")
    );
    let wrong = run(Some("z"), None);
    assert!(wrong.contains("the schedule belongs to another program: step 1 runs thread z"), "{wrong}");
}

#[test]
fn a_schedule_of_a_longer_program_is_refused() {
    let program = || {
        thread::spawn(|| ()).join().unwrap();
        assert!(record_parallel::choose(2) < 2);
    };
    let replay = |schedule: &str| {
        let schedule: record_parallel::Schedule = schedule.parse().unwrap();
        explore(&Settings::default(), Replay::new(&schedule), program).map_err(|failure| failure.cause.to_string())
    };
    for schedule in ["-", "a", "a?1"] {
        assert!(replay(schedule).is_ok(), "{schedule}");
    }
    for (schedule, why) in [
        ("aaz", "it has 3 steps, and the program ended after 1"),
        ("a3", "it has 3 steps, and the program ended after 1"),
        ("a?1?1", "step 1 has 2 picks, and the program asked for 1"),
    ] {
        let told = replay(schedule).unwrap_err();
        assert!(told.contains("the schedule belongs to another program") && told.contains(why), "{schedule}: {told}");
    }
}

#[test]
fn a_thousand_runs_under_load_are_one() {
    let stop = Arc::new(AtomicBool::new(false));
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let busy: Vec<_> = (0..cores)
        .map(|_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || while !stop.load(SeqCst) {})
        })
        .collect();
    let report = || explore(&Settings::default(), Pct::new(17, 2, 100), program).unwrap_err().to_string();
    let first = report();
    for run in 1..1000 {
        assert_eq!(report(), first, "run {run}");
    }
    stop.store(true, SeqCst);
    for thread in busy {
        thread.join().unwrap();
    }
}
