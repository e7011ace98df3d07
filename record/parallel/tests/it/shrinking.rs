//! Programs are shrunk to fewer branches and less concurrency, and a suffix observes the result of the branches.

use proptest::prelude::*;
use record_parallel::property::{Outcome, Parallel, ParallelModel, Program};
use record_parallel::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::panic::AssertUnwindSafe;

/// A counter that loses overlapping additions once it is armed.
struct Counter {
    is_armed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Command {
    Arm,
    Add,
    Total,
}

use Command::{Add, Arm, Total};

struct System {
    is_armed: AtomicBool,
    count: AtomicU32,
}

impl ParallelModel for Counter {
    type Command = Command;
    type Response = u32;
    type State = u32;
    type System = System;

    fn init(&self) -> u32 {
        0
    }

    fn start(&self) -> System {
        System { is_armed: AtomicBool::new(self.is_armed), count: AtomicU32::new(0) }
    }

    fn generate(&self, _: &u32) -> BoxedStrategy<Command> {
        if self.is_armed {
            prop_oneof![Just(Add), Just(Total)].boxed()
        } else {
            prop_oneof![Just(Arm), Just(Add), Just(Total)].boxed()
        }
    }

    fn step(&self, count: &u32, command: &Command) -> (u32, u32) {
        match command {
            Arm => (*count, 0),
            Add => (count + 1, 0),
            Total => (*count, *count),
        }
    }

    fn run_real(&self, system: &System, command: &Command) -> Outcome<u32> {
        Outcome::Returned(match command {
            Arm => {
                system.is_armed.store(true, SeqCst);
                0
            }
            Add if system.is_armed.load(SeqCst) => {
                let count = system.count.load(SeqCst);
                system.count.store(count + 1, SeqCst);
                0
            }
            Add => {
                system.count.fetch_add(1, SeqCst);
                0
            }
            Total => system.count.load(SeqCst),
        })
    }
}

/// The smallest program that a test finds. Its replay string must lead to the same program.
fn least(test: &Parallel<Counter>) -> (Program<Command>, String) {
    let counterexample = test.run().unwrap_err();
    let again = test.replay(&counterexample.replay).unwrap_err();
    assert_eq!(again.program, counterexample.program);
    assert_eq!(again.failure.table(), counterexample.failure.table());
    let report = counterexample.to_string();
    (counterexample.program, report)
}

#[test]
fn what_branches_leave_behind_is_seen_by_the_suffix() {
    let test = Parallel::new(Counter { is_armed: true }).prefix_max(0).branches(2..=2).commands_max(1);
    // Each branch adds or reads, and no command reads afterwards.
    assert!(test.run().is_ok());
    let (program, report) = least(&test.suffix_max(2));
    assert_eq!(program, Program { prefix: vec![], branches: vec![vec![Add], vec![Add]], suffix: vec![Total] });
    assert!(report.contains("\n  last      Total\n"), "{report}");
    assert!(report.contains("\n  last ") && report.contains("Total -> 1"), "{report}");
}

#[test]
fn a_suffix_may_be_all_there_is() {
    let test = Parallel::new(Counter { is_armed: true }).suffix_max(3);
    let program = Program { suffix: vec![Add, Total], ..Program::default() };
    let explored = test.verify(&program, record_parallel::scheduler::Exhaustive::new()).unwrap();
    assert_eq!(explored.executions, 1);
}

#[test]
fn branches_that_need_not_be_two_are_joined() {
    let test = Parallel::new(Counter { is_armed: true }).prefix_max(0).branches(3..=3).commands_max(1);
    let (program, report) = least(&test);
    assert_eq!(program.branches.len(), 2, "{report}");
    assert_eq!(program.len(), 3, "{report}");
}

#[test]
fn what_need_not_run_at_once_comes_first() {
    let test = Parallel::new(Counter { is_armed: false }).prefix_max(0).branches(2..=2).commands_max(4).suffix_max(1);
    let (program, report) = least(&test);
    assert_eq!(program.prefix, [Arm], "{report}");
    let at_once: usize = program.branches.iter().map(Vec::len).sum();
    assert_eq!(at_once + program.suffix.len(), 3, "{report}");
}

#[test]
fn a_replay_string_says_where_commands_went() {
    let test = Parallel::new(Counter { is_armed: true }).prefix_max(0).branches(3..=3).commands_max(1);
    let replay = test.run().unwrap_err().replay;
    let kept = replay.split('/').nth(1).unwrap();
    assert!(kept.contains(['a', 'b']), "{replay}");
    let wrong = replay.replacen(kept, "11z", 1);
    let error = std::panic::catch_unwind(AssertUnwindSafe(|| test.replay(&wrong))).unwrap_err();
    let error = error.downcast_ref::<String>().unwrap();
    assert!(error.contains("expected 3 times 0, 1, P or the letter of a branch"), "{error}");
}
