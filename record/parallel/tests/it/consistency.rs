//! Sequential consistency compared with linearizability: a cache that gets writes late satisfies only the former.

use proptest::prelude::*;
use record_parallel::Cause;
use record_parallel::property::{Consistency, Outcome, Parallel, ParallelModel, Program};
use record_parallel::scheduler::Reduced;
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Command {
    Get,
    Put(u32),
    /// Returns with an unknown outcome: the write may happen later or never.
    Lose(u32),
}

/// A number for which some reads return its previous value.
#[derive(Default)]
struct System {
    value: AtomicU32,
    before: AtomicU32,
    reads: AtomicU32,
}

/// Which reads return the previous value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Old {
    /// None.
    Never,
    /// All.
    Always,
    /// Only the second one.
    Second,
}

struct Register(Old);

impl ParallelModel for Register {
    type Command = Command;
    type Response = u32;
    type State = u32;
    type System = System;

    fn init(&self) -> u32 {
        0
    }

    fn start(&self) -> System {
        System::default()
    }

    fn generate(&self, _: &u32) -> BoxedStrategy<Command> {
        prop_oneof![Just(Command::Get), (1_u32..9).prop_map(Command::Put)].boxed()
    }

    fn step(&self, value: &u32, command: &Command) -> (u32, u32) {
        match command {
            Command::Get => (*value, *value),
            Command::Put(new) | Command::Lose(new) => (*new, 0),
        }
    }

    fn run_real(&self, system: &System, command: &Command) -> Outcome<u32> {
        match command {
            Command::Get => {
                let is_second = system.reads.fetch_add(1, SeqCst) == 1;
                let is_old = self.0 == Old::Always || self.0 == Old::Second && is_second;
                Outcome::Returned(if is_old { &system.before } else { &system.value }.load(SeqCst))
            }
            Command::Put(new) => {
                system.value.store(*new, SeqCst);
                Outcome::Returned(0)
            }
            Command::Lose(_) => Outcome::Unknown,
        }
    }
}

/// The cause of failure of a program of two branches, if it fails.
fn judged(old: Old, consistency: Consistency, prefix: &[Command], branches: [&[Command]; 2]) -> Option<Cause> {
    let program =
        Program { prefix: prefix.to_vec(), branches: branches.map(<[Command]>::to_vec).to_vec(), suffix: vec![] };
    let tested = Parallel::new(Register(old)).consistency(consistency).verify(&program, Reduced::new());
    match tested {
        Ok(explored) => {
            assert!(explored.is_complete);
            None
        }
        Err(found) => Some(found.failure.cause.clone()),
    }
}

#[test]
fn an_old_value_after_a_write_of_another_branch_is_sequential_only() {
    let branches: [&[Command]; 2] = [&[Command::Put(1)], &[Command::Get]];
    let linearizable = judged(Old::Always, Consistency::Linearizable, &[], branches);
    assert!(matches!(linearizable, Some(Cause::NotLinearizable(_))), "{linearizable:?}");
    let sequential = judged(Old::Always, Consistency::Sequential, &[], branches);
    assert!(sequential.is_none(), "{sequential:?}");
}

#[test]
fn a_branch_must_see_its_own_writes_and_go_forward() {
    for branches in [
        // A branch does not read its own write.
        [&[Command::Put(1), Command::Get][..], &[Command::Put(1)]],
        // A branch reads a value, and then the previous one.
        [&[Command::Put(1)], &[Command::Get, Command::Get]],
    ] {
        let old = if branches[0].len() == 2 { Old::Always } else { Old::Second };
        let cause = judged(old, Consistency::Sequential, &[], branches);
        let Some(Cause::NotSequential(why)) = &cause else { panic!("{cause:?}") };
        assert!(why.contains("not sequentially consistent") && why.contains("next Get -> 0"), "{why}");
    }
}

#[test]
fn the_prefix_comes_before_all_branches() {
    let branches: [&[Command]; 2] = [&[Command::Get], &[Command::Get]];
    let cause = judged(Old::Always, Consistency::Sequential, &[Command::Put(1)], branches);
    assert!(matches!(cause, Some(Cause::NotSequential(_))), "{cause:?}");
    let cause = judged(Old::Never, Consistency::Sequential, &[Command::Put(1)], branches);
    assert!(cause.is_none(), "{cause:?}");
}

#[test]
fn what_is_not_known_to_be_done_may_be_done_or_not() {
    let branches: [&[Command]; 2] = [&[Command::Lose(1), Command::Get], &[Command::Put(2), Command::Get]];
    let cause = judged(Old::Never, Consistency::Sequential, &[], branches);
    assert!(cause.is_none(), "{cause:?}");
}

#[test]
fn what_is_linearizable_is_sequential() {
    Parallel::new(Register(Old::Never)).check();
    Parallel::new(Register(Old::Never)).consistency(Consistency::Sequential).check();
    let counterexample = Parallel::new(Register(Old::Second)).consistency(Consistency::Sequential).run().unwrap_err();
    assert!(counterexample.to_string().contains("the history is not sequentially consistent"), "{counterexample}");
}
