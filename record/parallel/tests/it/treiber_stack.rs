//! Treiber's stack in an arena whose places are reused. If a place is removed and returns to the top while a thread is
//! between a load and an exchange, the thread takes it for unchanged (the ABA problem); a count in addition to the
//! index distinguishes the two states. Budget: 2,000 executions.

use proptest::prelude::*;
use record_parallel::Settings;
use record_parallel::property::{Outcome, Parallel, ParallelModel, Program};
use record_parallel::scheduler::{Exhaustive, Pct, Reduced, miss_probability};
use record_parallel::sync::Mutex;
use record_parallel::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Marks the end of the stack.
const NOWHERE: u64 = 0xffff_ffff;

struct Stack {
    /// The index of the top; in a correct stack, the high bits count the changes.
    top: AtomicU64,
    /// For each place, the index of the place below, and the value.
    places: [(AtomicU64, AtomicU64); 6],
    /// The free places. The one that was returned last is used first.
    free: Mutex<Vec<u64>>,
    is_broken: bool,
}

impl Stack {
    fn new(is_broken: bool) -> Stack {
        let places = std::array::from_fn(|_| (AtomicU64::new(NOWHERE), AtomicU64::new(0)));
        Stack { top: AtomicU64::new(NOWHERE), places, free: Mutex::new((0..6).rev().collect()), is_broken }
    }

    fn after(&self, seen: u64, index: u64) -> u64 {
        if self.is_broken { index } else { ((seen >> 32) + 1) << 32 | index }
    }

    fn push(&self, value: u64) -> bool {
        let Some(place) = self.free.lock().unwrap().pop() else { return false };
        let (below, own) = &self.places[place as usize];
        own.store(value, SeqCst);
        loop {
            let top = self.top.load(SeqCst);
            below.store(top & NOWHERE, SeqCst);
            if self.top.compare_exchange(top, self.after(top, place), SeqCst, SeqCst).is_ok() {
                return true;
            }
        }
    }

    fn pop(&self) -> Option<u64> {
        loop {
            let top = self.top.load(SeqCst);
            let (below, value) = self.places.get((top & NOWHERE) as usize)?;
            let (below, value) = (below.load(SeqCst), value.load(SeqCst));
            if self.top.compare_exchange(top, self.after(top, below), SeqCst, SeqCst).is_ok() {
                self.free.lock().unwrap().push(top & NOWHERE);
                return Some(value);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Command {
    Push(u64),
    Pop,
}

use Command::{Pop, Push};

struct StackModel {
    is_broken: bool,
}

impl ParallelModel for StackModel {
    type Command = Command;
    type Response = Option<u64>;
    type State = Vec<u64>;
    type System = Stack;

    fn init(&self) -> Vec<u64> {
        Vec::new()
    }

    fn start(&self) -> Stack {
        Stack::new(self.is_broken)
    }

    fn generate(&self, _: &Vec<u64>) -> BoxedStrategy<Command> {
        prop_oneof![(1_u64..100).prop_map(Push), Just(Pop)].boxed()
    }

    fn precondition(&self, stack: &Vec<u64>, command: &Command) -> bool {
        *command == Pop || stack.len() < 6
    }

    fn step(&self, stack: &Vec<u64>, command: &Command) -> (Vec<u64>, Option<u64>) {
        let mut stack = stack.clone();
        match command {
            Push(value) => {
                stack.push(*value);
                (stack, None)
            }
            Pop => {
                let popped = stack.pop();
                (stack, popped)
            }
        }
    }

    fn run_real(&self, stack: &Stack, command: &Command) -> Outcome<Option<u64>> {
        match command {
            Push(value) if stack.push(*value) => Outcome::Returned(None),
            // All places are in use, perhaps because one is just being returned: nothing was pushed.
            Push(_) => Outcome::Failed,
            Pop => Outcome::Returned(stack.pop()),
        }
    }
}

fn stack(is_broken: bool) -> Parallel<StackModel> {
    Parallel::new(StackModel { is_broken })
}

/// While one branch pops, the other pops twice and pushes: the same place is on top, with another place below.
fn smallest() -> Program<Command> {
    Program { prefix: vec![Push(1), Push(2)], branches: vec![vec![Pop, Pop], vec![Pop, Pop, Push(3)]], suffix: vec![] }
}

#[test]
fn it_is_found_within_its_budget() {
    // The bug needs one preemption, so its depth is 2.
    let found = stack(true).verify(&smallest(), Exhaustive::new().preemptions_max(1)).unwrap_err();
    assert_eq!(found.failure.preemptions(), 1, "{found}");
    let steps = found.failure.steps.len() as u32;
    assert!(miss_probability(3, steps, 2, 2000) < 1e-6, "{steps}");
    for seed in 0..10 {
        stack(true).verify(&smallest(), Pct::new(seed, 2, 2000)).unwrap_err();
    }
}

#[test]
fn it_is_found_and_shrunk_from_programs_at_random() {
    let found = stack(true).cases(2000).branches(2..=2).run().unwrap_err();
    assert!(found.program.len() <= 7, "{found}");
    assert_eq!(found.failure.preemptions(), 1, "{found}");
    let mut pushed: Vec<u64> =
        found.program.commands().filter_map(|of| if let Push(value) = of { Some(*value) } else { None }).collect();
    pushed.sort_unstable();
    assert!(pushed.iter().all(|value| *value <= 3), "commands are simplified, too: {found}");
    stack(true).branches(2..=2).replay(&found.replay).unwrap_err();
}

#[test]
fn the_fixed_stack_passes() {
    stack(false).cases(50).check();
    let bounded = Exhaustive::new().preemptions_max(2);
    let explored = stack(false).verify(&smallest(), bounded).unwrap();
    assert!(explored.is_complete, "{explored:?}");
    // Tries all schedules of a smaller program.
    let small = Program { prefix: vec![Push(1)], branches: vec![vec![Pop], vec![Pop, Push(2)]], suffix: vec![] };
    let settings = Settings { steps_max: 1000, ..Settings::default() };
    let explored = stack(false).settings(settings).verify(&small, Reduced::new()).unwrap();
    assert!(explored.is_complete && explored.executions > 10, "{explored:?}");
}
