//! Compares the reduced search with all schedules, by the histories that they produce.

use super::run::{Record, Runner};
use super::{Outcome, ParallelModel, Program};
use crate::Settings;
use crate::scheduler::{Exhaustive, Reduced, Scheduler};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// An object whose model allows any response, so that all histories are linearizable.
struct Anything;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Command {
    /// Accesses no shared object.
    Nothing,
    Load(usize),
    Store(usize),
    /// Reads one number and then changes the other.
    Copy(usize),
    /// Increments a number, and retries until no other thread has changed it in between.
    Count(usize),
    Lock,
}

struct System {
    numbers: [AtomicU32; 2],
    lock: Mutex<u32>,
}

impl ParallelModel for Anything {
    type Command = Command;
    type Response = u32;
    type State = ();
    type System = System;

    fn init(&self) {}

    fn start(&self) -> System {
        System { numbers: [AtomicU32::new(0), AtomicU32::new(0)], lock: Mutex::new(0) }
    }

    fn generate(&self, (): &()) -> BoxedStrategy<Command> {
        prop_oneof![
            Just(Command::Nothing),
            (0_usize..2).prop_map(Command::Load),
            (0_usize..2).prop_map(Command::Store),
            (0_usize..2).prop_map(Command::Copy),
            (0_usize..2).prop_map(Command::Count),
            Just(Command::Lock),
        ]
        .boxed()
    }

    fn step(&self, (): &(), _: &Command) -> ((), u32) {
        ((), 0)
    }

    fn steps(&self, (): &(), _: &Command) -> Vec<((), u32)> {
        (0..20).map(|response| ((), response)).collect()
    }

    fn run_real(&self, system: &System, command: &Command) -> Outcome<u32> {
        Outcome::Returned(match *command {
            Command::Nothing => 7,
            Command::Load(of) => system.numbers[of].load(SeqCst),
            Command::Store(of) => system.numbers[of].swap(10, SeqCst),
            Command::Copy(of) => {
                let seen = system.numbers[of].load(SeqCst);
                system.numbers[1 - of].store(seen, SeqCst);
                seen
            }
            Command::Count(of) => system.numbers[of].fetch_update(SeqCst, SeqCst, |n| Some(n + 1)).unwrap_or(0),
            Command::Lock => {
                let mut inside = system.lock.lock().unwrap();
                *inside += 1;
                *inside
            }
        })
    }
}

type Essence = Vec<(Option<usize>, usize, u32, Vec<bool>)>;

/// The parts of a history that the check uses: the responses, and which operations returned before which others were
/// called.
fn essence(records: &[Record<u32>]) -> Essence {
    let mut records: Vec<&Record<u32>> = records.iter().collect();
    records.sort_by_key(|record| (record.lane, record.number));
    let returned = |record: &Record<u32>| record.returned.as_ref().map_or(u64::MAX, |(at, _)| *at);
    let response = |record: &Record<u32>| match record.returned {
        Some((_, Outcome::Returned(ref response))) => **response,
        _ => u32::MAX,
    };
    let row = |record: &&Record<u32>| {
        let before = records.iter().map(|other| returned(other) < record.called).collect();
        (record.lane, record.number, response(record), before)
    };
    records.iter().map(row).collect()
}

fn histories(program: &Program<Command>, scheduler: Box<dyn Scheduler>) -> (BTreeSet<Essence>, crate::Explored) {
    let mut runner = Runner::new(Arc::new(Anything), Settings { repeated: 0, ..Settings::default() });
    runner.set_program(program.clone());
    let explored = runner.explore(scheduler).unwrap_or_else(|found| panic!("{}", found.failure));
    (runner.judged().map(|records| essence(records)).collect(), explored)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_reduced_search_finds_every_history(
        commands in prop::collection::vec((0_usize..3, Anything.generate(&())), 2..6)
    ) {
        let mut program = Program { prefix: vec![], branches: vec![vec![]; 3], suffix: vec![] };
        for (branch, command) in commands {
            program.branches[branch].push(command);
        }
        let (all, full) = histories(&program, Box::new(Exhaustive::new().executions_max(30_000)));
        if full.is_complete {
            let (some, reduced) = histories(&program, Box::new(Reduced::new()));
            prop_assert_eq!(some, all);
            prop_assert!(reduced.is_complete && reduced.executions <= full.executions);
        }
    }
}
