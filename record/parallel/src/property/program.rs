//! Programs: commands that run one after another, then branches of commands that run at once.

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
}

impl<C> Program<C> {
    /// How many commands there are.
    pub fn len(&self) -> usize {
        self.prefix.len() + self.branches.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All commands: those of the prefix, then those of each branch.
    pub fn commands(&self) -> impl Iterator<Item = &C> {
        self.prefix.iter().chain(self.branches.iter().flatten())
    }

    /// The position among all commands of one of a branch, or of the prefix if no branch is given.
    pub(crate) fn position(&self, branch: Option<usize>, at: usize) -> usize {
        match branch {
            None => at,
            Some(branch) => self.prefix.len() + self.branches[..branch].iter().map(Vec::len).sum::<usize>() + at,
        }
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
        Ok(())
    }
}

/// Whether every command may be given whatever order the branches interleave in; of models that may choose, whatever
/// they do.
pub(crate) fn makes_sense<M: ParallelModel>(model: &M, program: &Program<M::Command>) -> bool {
    let mut states = HashSet::from([model.init()]);
    for command in &program.prefix {
        if !states.iter().all(|state| model.precondition(state, command)) {
            return false;
        }
        states = states.iter().flat_map(|state| model.steps(state, command)).map(|(state, _)| state).collect();
        if states.len() > STATES_MAX {
            return false;
        }
    }
    // Where each branch is, with what the state may then be.
    let start = vec![0_usize; program.branches.len()];
    let mut seen: HashSet<(Vec<usize>, M::State)> = states.into_iter().map(|state| (start.clone(), state)).collect();
    let mut open: Vec<_> = seen.iter().cloned().collect();
    while let Some((at, state)) = open.pop() {
        for (branch, commands) in program.branches.iter().enumerate() {
            let Some(command) = commands.get(at[branch]) else { continue };
            if !model.precondition(&state, command) {
                return false;
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
                return false;
            }
        }
    }
    true
}
