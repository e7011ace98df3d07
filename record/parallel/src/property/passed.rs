//! Counts the programs, executions and rejected commands of a test.

use super::program::{Nonsense, STATES_MAX};
use std::fmt;

/// The result of a test that found no failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Passed {
    /// The number of programs.
    pub cases: u64,
    /// The number of executions of all programs.
    pub executions: u64,
    /// Commands that the programs lack.
    pub rejected: Rejected,
}

/// Commands that programs lack: each of 20 that were drawn in its place was rejected. They are counted by the reason
/// for the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rejected {
    /// The strategy of [`ParallelModel::generate`](super::ParallelModel::generate) returned no value: its filters
    /// rejected all.
    pub by_strategy: u64,
    /// [`ParallelModel::precondition`](super::ParallelModel::precondition) did not hold, or might not hold in another
    /// order of the branches; or a command that it refers to might not run before it.
    pub by_precondition: u64,
    /// The program might lead the model to more than 10,000 states, so its validity could not be determined.
    pub by_states: u64,
}

impl Rejected {
    /// The number of commands.
    pub fn count(&self) -> u64 {
        self.by_strategy + self.by_precondition + self.by_states
    }

    pub(crate) fn add<C>(&mut self, why: &Rejection<C>) {
        let of = match why {
            Rejection::Strategy => &mut self.by_strategy,
            Rejection::Precondition | Rejection::Program(Nonsense::Dangling(_) | Nonsense::Forbidden(_)) => {
                &mut self.by_precondition
            }
            Rejection::Program(Nonsense::TooManyStates) => &mut self.by_states,
        };
        *of += 1;
    }

    pub(crate) fn add_all(&mut self, more: &Rejected) {
        self.by_strategy += more.by_strategy;
        self.by_precondition += more.by_precondition;
        self.by_states += more.by_states;
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = [
            (self.by_strategy, "the filters of its strategy rejected all values".to_owned()),
            (self.by_precondition, "no command drawn was one whose precondition holds".to_owned()),
            (self.by_states, format!("the program may lead the model to more than {STATES_MAX} states")),
        ];
        let reasons = reasons.iter().filter(|(count, _)| *count > 0);
        let reasons: Vec<String> = reasons.map(|(count, why)| format!("{count} because {why}")).collect();
        write!(f, "{} commands were rejected: {}", self.count(), reasons.join(", "))
    }
}

/// Why a command is not part of a program.
pub(crate) enum Rejection<C> {
    Strategy,
    Precondition,
    Program(Nonsense<C>),
}
