//! Programs: commands that run one after another, then branches of commands that run at once, then commands that look
//! at what the branches have left.

use super::ParallelModel;
use std::collections::HashSet;
use std::fmt;

/// States that are looked at to see whether a program makes sense, at most. Programs that would take more are not run.
const STATES_MAX: usize = 10_000;

/// A program to run an object with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program<C> {
    /// What runs first, one after another.
    pub prefix: Vec<C>,
    /// What then runs at once: a thread for each branch.
    pub branches: Vec<Vec<C>>,
    /// What runs when all branches have ended, one after another.
    pub suffix: Vec<C>,
}

impl<C> Default for Program<C> {
    /// Nothing at all.
    fn default() -> Program<C> {
        Program { prefix: Vec::new(), branches: Vec::new(), suffix: Vec::new() }
    }
}

impl<C> Program<C> {
    /// How many commands there are.
    pub fn len(&self) -> usize {
        self.prefix.len() + self.branches.iter().map(Vec::len).sum::<usize>() + self.suffix.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All commands: those of the prefix, then those of each branch, then those of the suffix.
    pub fn commands(&self) -> impl Iterator<Item = &C> {
        self.prefix.iter().chain(self.branches.iter().flatten()).chain(&self.suffix)
    }

    /// The command with this number in a branch; outside of the branches, those of the suffix are numbered after those
    /// of the prefix.
    pub(crate) fn command(&self, branch: Option<usize>, number: usize) -> &C {
        match branch {
            Some(branch) => &self.branches[branch][number],
            None => number.checked_sub(self.prefix.len()).map_or_else(|| &self.prefix[number], |at| &self.suffix[at]),
        }
    }

    /// The branch of the command at a position among all commands, its number there, and how many its branch has.
    pub(crate) fn place(&self, position: usize) -> (Option<usize>, usize, usize) {
        let outside = self.prefix.len() + self.suffix.len();
        let Some(mut left) = position.checked_sub(self.prefix.len()) else { return (None, position, outside) };
        for (branch, commands) in self.branches.iter().enumerate() {
            if left < commands.len() {
                return (Some(branch), left, commands.len());
            }
            left -= commands.len();
        }
        (None, self.prefix.len() + left, outside)
    }
}

impl<C: fmt::Debug> fmt::Display for Program<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, name: &str, commands: &[C]| {
            write!(f, "  {name:10}")?;
            for (at, command) in commands.iter().enumerate() {
                write!(f, "{}{command:?}", if at > 0 { ", " } else { "" })?;
            }
            writeln!(f)
        };
        if !self.prefix.is_empty() {
            line(f, "first", &self.prefix)?;
        }
        for (at, branch) in self.branches.iter().enumerate() {
            line(f, &format!("branch {}", at + 1), branch)?;
        }
        if !self.suffix.is_empty() {
            line(f, "last", &self.suffix)?;
        }
        Ok(())
    }
}

/// Whether every command may be given whatever order the branches interleave in; of models that may choose, whatever
/// they do.
pub(crate) fn makes_sense<M: ParallelModel>(model: &M, program: &Program<M::Command>) -> bool {
    let before = in_order(model, HashSet::from([model.init()]), &program.prefix);
    let after = before.and_then(|states| interleaved(model, states, &program.branches));
    after.and_then(|states| in_order(model, states, &program.suffix)).is_some()
}

/// The states after commands that run one after another; `None` if one may not be given, or there are too many states.
fn in_order<M: ParallelModel>(
    model: &M,
    mut states: HashSet<M::State>,
    commands: &[M::Command],
) -> Option<HashSet<M::State>> {
    for command in commands {
        if !states.iter().all(|state| model.precondition(state, command)) {
            return None;
        }
        states = states.iter().flat_map(|state| model.steps(state, command)).map(|(state, _)| state).collect();
        if states.len() > STATES_MAX {
            return None;
        }
    }
    Some(states)
}

/// The same of branches that run at once.
fn interleaved<M: ParallelModel>(
    model: &M,
    states: HashSet<M::State>,
    branches: &[Vec<M::Command>],
) -> Option<HashSet<M::State>> {
    // Where each branch is, with what the state may then be.
    let start = vec![0_usize; branches.len()];
    let mut seen: HashSet<(Vec<usize>, M::State)> = states.into_iter().map(|state| (start.clone(), state)).collect();
    let mut open: Vec<_> = seen.iter().cloned().collect();
    while let Some((at, state)) = open.pop() {
        for (branch, commands) in branches.iter().enumerate() {
            let Some(command) = commands.get(at[branch]) else { continue };
            if !model.precondition(&state, command) {
                return None;
            }
            let mut next = at.clone();
            next[branch] += 1;
            for (state, _) in model.steps(&state, command) {
                let reached = (next.clone(), state);
                if seen.insert(reached.clone()) {
                    open.push(reached);
                }
            }
            if seen.len() > STATES_MAX {
                return None;
            }
        }
    }
    let is_over = |at: &[usize]| at.iter().zip(branches).all(|(at, commands)| *at == commands.len());
    Some(seen.into_iter().filter(|(at, _)| is_over(at)).map(|(_, state)| state).collect())
}
