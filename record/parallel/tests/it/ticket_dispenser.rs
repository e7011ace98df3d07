//! A dispenser that hands out a number twice: it loads the number, and then stores the next one. Budget: 60 executions.

use proptest::prelude::*;
use record_parallel::property::{Outcome, Parallel, ParallelModel, Program};
use record_parallel::scheduler::{Exhaustive, Pct, Random, Reduced, RoundRobin, miss_probability};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Take;

struct Dispenser {
    is_broken: bool,
}

impl ParallelModel for Dispenser {
    type Command = Take;
    type Response = u32;
    type State = u32;
    type System = AtomicU32;

    fn init(&self) -> u32 {
        0
    }

    fn start(&self) -> AtomicU32 {
        AtomicU32::new(0)
    }

    fn generate(&self, _: &u32) -> BoxedStrategy<Take> {
        Just(Take).boxed()
    }

    fn step(&self, next: &u32, _: &Take) -> (u32, u32) {
        (next + 1, *next)
    }

    fn run_real(&self, next: &AtomicU32, _: &Take) -> Outcome<u32> {
        if self.is_broken {
            let number = next.load(SeqCst);
            next.store(number + 1, SeqCst);
            return Outcome::Returned(number);
        }
        Outcome::Returned(next.fetch_add(1, SeqCst))
    }
}

fn dispenser(is_broken: bool) -> Parallel<Dispenser> {
    Parallel::new(Dispenser { is_broken })
}

/// Two threads take one number each: four steps in the broken version.
fn two() -> Program<Take> {
    Program { prefix: vec![], branches: vec![vec![Take], vec![Take]], suffix: vec![] }
}

#[test]
fn it_is_found_within_its_budget() {
    // There are three threads, including the one that starts the others.
    assert!(miss_probability(3, 4, 2, 60) < 0.01);
    for seed in 0..100 {
        dispenser(true).verify(&two(), Random::new(seed, 60)).unwrap_err();
        dispenser(true).verify(&two(), Pct::new(seed, 2, 60).steps(4)).unwrap_err();
    }
    dispenser(true).verify(&two(), Exhaustive::new().preemptions_max(1)).unwrap_err();
    dispenser(true).verify(&two(), Reduced::new()).unwrap_err();
    dispenser(true).verify(&two(), RoundRobin::new()).unwrap_err();
}

#[test]
fn pct_finds_it_at_least_as_often_as_it_promises() {
    let executions: u32 = 2000;
    let finds = |seed: &u32| dispenser(true).verify(&two(), Pct::new(u64::from(*seed), 2, 1).steps(4)).is_err();
    let found: u32 = (0..executions).filter(finds).map(|_| 1).sum();
    let promised = 1.0 - miss_probability(3, 4, 2, 1);
    assert!(f64::from(found) > promised * f64::from(executions), "{found} of {executions}, promised {promised}");
    // Without a change point, a thread runs to its end.
    let found = (0..200).filter(|seed| dispenser(true).verify(&two(), Pct::new(*seed, 1, 1)).is_err()).count();
    assert_eq!(found, 0);
}

#[test]
fn from_any_seed_it_is_two_commands_and_one_preemption() {
    for seed in 0..40 {
        let found = dispenser(true).seed(seed).run().unwrap_err();
        assert_eq!((found.program.len(), found.program.branches.len()), (2, 2), "seed {seed}: {found}");
        assert_eq!(found.failure.preemptions(), 1, "seed {seed}: {found}");
    }
}

#[test]
fn the_fixed_one_passes_everywhere() {
    dispenser(false).check();
    let program =
        Program { prefix: vec![Take], branches: vec![vec![Take; 3], vec![Take; 2], vec![Take; 2]], suffix: vec![] };
    let explored = dispenser(false).verify(&program, Exhaustive::new()).unwrap();
    assert_eq!((explored.executions, explored.is_complete), (210, true), "7! / (3! 2! 2!)");
}

#[test]
fn it_is_right_as_long_as_nothing_runs_at_one_time() {
    dispenser(true).check_sequentially(10);
    dispenser(true).verify(&two(), Exhaustive::new().preemptions_max(0)).unwrap();
}

#[test]
fn all_small_programs_are_run_the_smallest_first() {
    let small = |is_broken| dispenser(is_broken).prefix_max(1).branches(1..=2).commands_max(2);
    let found = small(true).enumerate(&[Take]).unwrap_err();
    assert_eq!(found.program, two());
    let enumerated = small(false).enumerate(&[Take]).unwrap();
    // One command in the prefix or none; and one branch of one or two commands, or two branches with three combinations
    // of lengths.
    assert_eq!((enumerated.programs, enumerated.skipped, enumerated.is_complete), (2 * (2 + 3), 0, true));
    assert!(std::panic::catch_unwind(|| small(false).commands_max(100).branches(8..=8).enumerate(&[Take])).is_err());
}
