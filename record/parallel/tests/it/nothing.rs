//! A test that executes no commands does not pass.

use proptest::prelude::*;
use record_parallel::Check;
use record_parallel::property::{Outcome, Parallel, ParallelModel};
use record_parallel::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::panic::catch_unwind;
use std::sync::atomic::AtomicU32;

struct Register;

impl ParallelModel for Register {
    type Command = u8;
    type Response = ();
    type State = u8;
    type System = AtomicU8;

    fn init(&self) -> u8 {
        0
    }

    fn start(&self) -> AtomicU8 {
        AtomicU8::new(0)
    }

    fn generate(&self, _: &u8) -> BoxedStrategy<u8> {
        any::<u8>().boxed()
    }

    fn step(&self, _: &u8, command: &u8) -> (u8, ()) {
        (*command, ())
    }

    fn run_real(&self, register: &AtomicU8, command: &u8) -> Outcome<()> {
        register.store(*command, SeqCst);
        Outcome::Returned(())
    }
}

/// A register for which no command is valid, or whose model has too many states.
#[derive(Clone, Copy, PartialEq)]
enum Refusing {
    Strategy,
    Precondition,
    States,
}

impl ParallelModel for Refusing {
    type Command = u8;
    type Response = ();
    type State = u32;
    type System = AtomicU8;

    fn init(&self) -> u32 {
        0
    }

    fn start(&self) -> AtomicU8 {
        AtomicU8::new(0)
    }

    fn generate(&self, _: &u32) -> BoxedStrategy<u8> {
        let is_refused = *self == Refusing::Strategy;
        any::<u8>().prop_filter("refused", move |_| !is_refused).boxed()
    }

    fn precondition(&self, _: &u32, _: &u8) -> bool {
        *self != Refusing::Precondition
    }

    fn step(&self, _: &u32, _: &u8) -> (u32, ()) {
        (1, ())
    }

    fn steps(&self, _: &u32, _: &u8) -> Vec<(u32, ())> {
        let states = if *self == Refusing::States { 20_000 } else { 1 };
        (0..states).map(|state| (state, ())).collect()
    }

    fn run_real(&self, register: &AtomicU8, command: &u8) -> Outcome<()> {
        register.store(*command, SeqCst);
        Outcome::Returned(())
    }
}

#[test]
fn programs_without_commands_are_refused_with_the_reason() {
    let refuses = |model, told: &str| {
        // Only one command, since proptest takes long to reject each of 20.
        let test = Parallel::new(model).cases(1).prefix_max(0).branches(1..=1).commands_max(1);
        let counted = test.statistics();
        assert_eq!((counted.commands.len(), counted.rejected.count()), (0, 1), "{counted}");
        assert!(counted.to_string().contains(told), "{counted}");
        let refused = catch_unwind(std::panic::AssertUnwindSafe(|| test.run().is_ok())).unwrap_err();
        let message = refused.downcast::<String>().unwrap();
        assert_eq!(*message, format!("a test needs at least one command, and no program has any: {told}"));
    };
    let of = "1 commands were rejected: 1 because";
    refuses(Refusing::Strategy, &format!("{of} the filters of its strategy rejected all values"));
    refuses(Refusing::Precondition, &format!("{of} no command drawn was one whose precondition holds"));
    refuses(Refusing::States, &format!("{of} the program may lead the model to more than 10000 states"));
    let enumerated = |model| Parallel::new(model).prefix_max(0).commands_max(1).enumerate(&[1]).unwrap();
    let (states, precondition) = (enumerated(Refusing::States), enumerated(Refusing::Precondition));
    assert_eq!((states.programs, states.skipped, states.too_large, states.is_complete), (0, 0, 2, false));
    assert_eq!((precondition.programs, precondition.skipped, precondition.too_large), (0, 2, 0));
}

/// A register whose 300th command in this process returns a wrong response.
struct Unsteady;

impl ParallelModel for Unsteady {
    type Command = u8;
    type Response = u8;
    type State = u8;
    type System = AtomicU8;

    fn init(&self) -> u8 {
        0
    }

    fn start(&self) -> AtomicU8 {
        AtomicU8::new(0)
    }

    fn generate(&self, _: &u8) -> BoxedStrategy<u8> {
        (0_u8..100).boxed()
    }

    fn step(&self, state: &u8, command: &u8) -> (u8, u8) {
        (*command, *state)
    }

    fn run_real(&self, register: &AtomicU8, command: &u8) -> Outcome<u8> {
        static CALLS: AtomicU32 = AtomicU32::new(1);
        let is_wrong = CALLS.fetch_add(1, SeqCst) == 300;
        Outcome::Returned(register.swap(*command, SeqCst) + u8::from(is_wrong) * 100)
    }
}

#[test]
fn a_counterexample_that_does_not_fail_again_is_reported_as_such() {
    let found = Parallel::new(Unsteady).run().unwrap_err();
    let text = found.to_string();
    assert!(text.contains("The same schedule did not fail again: the program depends on more than"), "{text}");
    assert!(found.failure.is_unstable());
}

#[test]
fn an_enumeration_of_no_program_is_not_complete() {
    let enumerated = Parallel::new(Register).enumerate(&[]).unwrap();
    assert_eq!((enumerated.programs, enumerated.is_complete), (0, false));
}

#[test]
fn tests_of_nothing_are_refused() {
    let refuses = |run: fn(), told: &str| {
        let message = *catch_unwind(run)
            .unwrap_err()
            .downcast::<String>()
            .unwrap_or_else(|payload| Box::new((*payload.downcast::<&str>().unwrap()).to_owned()));
        assert!(message.contains(told), "{message}");
    };
    refuses(|| Check::new().executions(0).run(|| ()), "at least one execution");
    refuses(|| _ = Parallel::new(Register).schedules(0).run(), "at least one schedule");
    refuses(|| _ = Parallel::new(Register).cases(0).run(), "at least one case");
    refuses(|| Parallel::new(Register).cases(0).check(), "at least one case");
    refuses(|| Parallel::new(Register).check_sequentially(0), "at least one command");
}
