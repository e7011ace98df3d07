//! Parallel property tests: a sequential model, and the real object under many schedules, checked for linearizability.
//!
//! Claessen and others, "Finding Race Conditions in Erlang with `QuickCheck` and PULSE" (ICFP 2009). Commands are drawn
//! with proptest: some that run one after another, then two or more branches that run concurrently. Each program runs
//! under many schedules. Each operation is recorded with the times of its call and its return, as tightly as the
//! schedule permits: it is called together with its first step on shared objects, and returns together with its last
//! one. Any longer interval would only admit more histories. The history must be linearizable to the model.

mod consistency;
mod counterexample;
mod draw;
mod enumerate;
mod parallel;
mod passed;
mod persist;
mod program;
mod reference;
mod run;
mod shrink;
mod statistics;
mod steps;
#[cfg(test)]
mod tests;

pub use consistency::Consistency;
pub use counterexample::{Counterexample, Operated};
pub use enumerate::Enumerated;
pub use parallel::{Parallel, Tested};
pub use passed::{Passed, Rejected};
pub use program::Program;
pub use reference::Reference;
pub use statistics::Statistics;

use history_core::Datum;
use proptest::strategy::BoxedStrategy;
use std::fmt::Debug;
use std::hash::Hash;

/// A sequential model of an object, and the object itself.
///
/// ```
/// use proptest::prelude::*;
/// use record_parallel::property::{Outcome, Parallel, ParallelModel};
/// use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// /// A counter that hands out numbers.
/// struct Tickets;
///
/// impl ParallelModel for Tickets {
///     type Command = ();
///     type Response = u32;
///     type State = u32;
///     type System = AtomicU32;
///
///     fn init(&self) -> u32 {
///         0
///     }
///
///     fn start(&self) -> AtomicU32 {
///         AtomicU32::new(0)
///     }
///
///     fn generate(&self, _: &u32) -> BoxedStrategy<()> {
///         Just(()).boxed()
///     }
///
///     fn step(&self, next: &u32, _: &()) -> (u32, u32) {
///         (next + 1, *next)
///     }
///
///     fn run_real(&self, next: &AtomicU32, _: &()) -> Outcome<u32> {
///         Outcome::Returned(next.fetch_add(1, SeqCst))
///     }
/// }
///
/// Parallel::new(Tickets).check();
/// ```
pub trait ParallelModel: Send + Sync + 'static {
    /// A command of the object.
    type Command: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// A response of the object. A [`sync::Arc`](crate::sync::Arc) in a response counts as a leak, because the response
    /// is kept to be checked: see [`Settings::leaks_allowed`](crate::Settings::leaks_allowed).
    type Response: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The state of the model. Equal states must behave in the same way.
    type State: Clone + Eq + Hash + Debug;

    /// The real object. It is shared by all threads of an execution.
    type System: Send + Sync + 'static;

    /// The model's state at the start.
    fn init(&self) -> Self::State;

    /// A new object. This and [`ParallelModel::run_real`] run in managed threads.
    fn start(&self) -> Self::System;

    /// Commands that make sense in a state. Only [`ParallelModel::generate_after`] calls this.
    fn generate(&self, state: &Self::State) -> BoxedStrategy<Self::Command>;

    /// Commands that make sense in a state, and may refer to the responses of earlier commands: those of the prefix and
    /// of the same branch; in the suffix, all. The earlier commands have no responses yet. The default is
    /// [`ParallelModel::generate`]. A model that overrides this must override [`ParallelModel::references`] too.
    fn generate_after(
        &self,
        state: &Self::State,
        earlier: &[(Reference<Self::Response>, Self::Command)],
    ) -> BoxedStrategy<Self::Command> {
        let _ = earlier;
        self.generate(state)
    }

    /// All references in a command. Each has its [`response`](Reference::response) when the model or the object
    /// receives the command. If a referenced command failed, did not run, or has an unknown outcome, the command does
    /// not run. It is reported as failed, and is not part of [`Counterexample::history`].
    fn references<'c>(&self, command: &'c mut Self::Command) -> Vec<&'c mut Reference<Self::Response>> {
        let _ = command;
        Vec::new()
    }

    /// Returns true if a command may run in a state. Programs with branches are run only if this holds in every
    /// interleaving of the branches. This uses the responses of [`ParallelModel::steps`], so a handle in these
    /// responses should be as new as one of the object.
    fn precondition(&self, state: &Self::State, command: &Self::Command) -> bool {
        let _ = (state, command);
        true
    }

    /// The state after a command, and its response.
    fn step(&self, state: &Self::State, command: &Self::Command) -> (Self::State, Self::Response);

    /// The same for objects with several possible results: all states and responses that a command may lead to.
    fn steps(&self, state: &Self::State, command: &Self::Command) -> Vec<(Self::State, Self::Response)> {
        vec![self.step(state, command)]
    }

    /// The states after a command with this response; empty if the response is wrong. The default is those of
    /// [`ParallelModel::steps`] with an equal response. Override it for responses that a model cannot predict, such as
    /// handles that only have to be new. A command without a response is checked by [`ParallelModel::steps`]: one with
    /// an unknown outcome must not create a handle that the object may return later.
    fn accept(&self, state: &Self::State, command: &Self::Command, response: &Self::Response) -> Vec<Self::State> {
        let steps = self.steps(state, command).into_iter();
        steps.filter(|(_, expected)| expected == response).map(|(state, _)| state).collect()
    }

    /// Runs a command on the real object.
    fn run_real(&self, system: &Self::System, command: &Self::Command) -> Outcome<Self::Response>;

    /// How an operation is recorded: its function and its value, which is that of the call if there is no response.
    /// Override it if a checker for the object is to read the history; see `histcheck help`.
    fn record(&self, command: &Self::Command, response: Option<&Self::Response>) -> (String, Datum) {
        let value = response.map_or(Datum::Nil, |response| Datum::Str(format!("{response:?}")));
        (format!("{command:?}"), value)
    }
}

/// The outcome of a command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome<R> {
    /// The command was executed, with this response.
    Returned(R),
    /// The command was not executed, and never will be.
    Failed,
    /// The command may have been executed, may still be executed at any time, or never: a request without a response.
    Unknown,
}
