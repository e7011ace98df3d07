//! Tests every small program: all sequences of given commands, up to given sizes, each under one schedule of every
//! kind.
//!
//! The smallest programs come first, so the first that fails has the minimum number of commands. Programs that differ
//! only in the order of their branches are run once, unless commands refer to others by their positions.

use super::ParallelModel;
use super::counterexample::{Counterexample, Origin};
use super::parallel::{Parallel, Tested};
use super::program::{Nonsense, Program, nonsense};
use super::reference::positions;
use crate::ids::index;
use crate::scheduler::Reduced;

/// The maximum number of programs in one enumeration.
const PROGRAMS_MAX: usize = 100_000;

/// The result of an enumeration that found no failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Enumerated {
    /// The number of programs that were run.
    pub programs: u64,
    /// The number of programs that were skipped, because a command might run where its precondition does not hold, or
    /// refers to one that does not always run before it.
    pub skipped: u64,
    /// The number of programs that were skipped because they may lead the model to more than 10,000 states.
    pub too_large: u64,
    /// The number of executions of all programs.
    pub executions: u64,
    /// Whether the search was complete for each program, at least one was run, and none was too large.
    pub is_complete: bool,
}

impl<M: ParallelModel> Parallel<M> {
    /// Runs every program of these commands with the sizes of the test: up to the maximum number of commands in the
    /// prefix and in the suffix, and up to the maximum number of branches, with at least one command each.
    ///
    /// # Errors
    ///
    /// The smallest program that fails, with the first failure as it was found. Its replay string contains only the
    /// schedule.
    ///
    /// # Panics
    ///
    /// If there are more than 100,000 programs.
    pub fn enumerate(&self, commands: &[M::Command]) -> Tested<Enumerated, M> {
        let mut runner = self.runner();
        let mut enumerated = Enumerated { is_complete: true, ..Enumerated::default() };
        for program in self.programs(commands) {
            if let Err(why) = nonsense(self.model(), &program) {
                let is_too_large = why == Nonsense::TooManyStates;
                *(if is_too_large { &mut enumerated.too_large } else { &mut enumerated.skipped }) += 1;
                continue;
            }
            runner.set_program(program.clone());
            match runner.explore(Box::new(Reduced::new())) {
                Ok(explored) => {
                    enumerated.programs += 1;
                    enumerated.executions += explored.executions;
                    enumerated.is_complete &= explored.is_complete;
                }
                Err(found) => {
                    return Err(Box::new(Counterexample::new(self.model(), program, &found, &Origin::default())));
                }
            }
        }
        enumerated.is_complete &= enumerated.programs > 0 && enumerated.too_large == 0;
        Ok(enumerated)
    }

    fn programs(&self, commands: &[M::Command]) -> Vec<Program<M::Command>> {
        let sizes = self.sizes();
        let prefixes = sequences(commands, 0, index(sizes.prefix_max));
        let suffixes = sequences(commands, 0, index(sizes.suffix_max));
        let branches = sequences(commands, 1, index(sizes.commands_max));
        // A reference counts the commands before the one that it refers to, so the order of the branches is
        // significant.
        let refers = commands.iter().any(|command| !positions(self.model(), command).is_empty());
        let mut programs = Vec::new();
        for count in sizes.branches.clone() {
            for chosen in combinations(branches.len(), index(count), refers) {
                for (prefix, suffix) in
                    prefixes.iter().flat_map(|prefix| suffixes.iter().map(move |suffix| (prefix, suffix)))
                {
                    assert!(
                        programs.len() < PROGRAMS_MAX,
                        "there are more than {PROGRAMS_MAX} programs of these sizes"
                    );
                    let branches = chosen.iter().map(|at| branches[*at].clone()).collect();
                    programs.push(Program { prefix: prefix.clone(), branches, suffix: suffix.clone() });
                }
            }
        }
        programs.sort_by_key(Program::len);
        programs
    }
}

/// All sequences of `len_min` to `len_max` commands.
fn sequences<C: Clone>(commands: &[C], len_min: usize, len_max: usize) -> Vec<Vec<C>> {
    let mut all = vec![Vec::new()];
    let mut last = 0;
    for _ in 0..len_max {
        let next: Vec<Vec<C>> = all[last..]
            .iter()
            .flat_map(|sequence: &Vec<C>| {
                commands.iter().map(move |command| [&sequence[..], std::slice::from_ref(command)].concat())
            })
            .collect();
        last = all.len();
        all.extend(next);
        assert!(all.len() <= PROGRAMS_MAX, "there are more than {PROGRAMS_MAX} sequences of these commands");
    }
    all.retain(|sequence| sequence.len() >= len_min);
    all
}

/// All selections of `count` of `len` numbers, with repetition, in ascending order or in all orders.
fn combinations(len: usize, count: usize, in_all_orders: bool) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .iter()
            .flat_map(|chosen: &Vec<usize>| {
                let from = if in_all_orders { 0 } else { chosen.last().copied().unwrap_or(0) };
                (from..len).map(move |next| [&chosen[..], &[next]].concat())
            })
            .collect();
        assert!(all.len() <= PROGRAMS_MAX, "there are more than {PROGRAMS_MAX} programs of these sizes");
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{combinations, sequences};

    #[test]
    fn all_sequences_and_combinations_occur_once() {
        assert_eq!(sequences(&['a', 'b'], 0, 2).len(), 1 + 2 + 4);
        assert_eq!(sequences(&['a'], 1, 3), [vec!['a'; 1], vec!['a'; 2], vec!['a'; 3]]);
        assert_eq!(combinations(2, 2, false), [[0, 0], [0, 1], [1, 1]]);
        assert_eq!(combinations(4, 3, false).len(), 20);
        assert_eq!(combinations(3, 0, false), [vec![]; 1]);
        assert_eq!(combinations(2, 2, true), [[0, 0], [0, 1], [1, 0], [1, 1]]);
    }
}
