//! A test that runs nothing does not pass.

use proptest::prelude::*;
use record_parallel::Check;
use record_parallel::property::{Outcome, Parallel, ParallelModel};
use record_parallel::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::panic::catch_unwind;

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
