//! Programs: commands that run one after another, then branches of commands that run concurrently, then commands that
//! observe the result of the branches.

use super::ParallelModel;
use super::reference::{dangling, referred_to, with_responses};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of states to examine in order to decide whether a program is valid. A program with more states is
/// not run.
pub(crate) const STATES_MAX: usize = 10_000;

/// A program to run an object with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program<C> {
    /// The commands that run first, in sequence.
    pub prefix: Vec<C>,
    /// The commands that then run concurrently: a thread for each branch.
    pub branches: Vec<Vec<C>>,
    /// The commands that run when all branches have ended, in sequence.
    pub suffix: Vec<C>,
}

impl<C> Default for Program<C> {
    /// The empty program.
    fn default() -> Program<C> {
        Program { prefix: Vec::new(), branches: Vec::new(), suffix: Vec::new() }
    }
}

impl<C> Program<C> {
    /// The number of commands.
    pub fn len(&self) -> usize {
        self.prefix.len() + self.branches.iter().map(Vec::len).sum::<usize>() + self.suffix.len()
    }

    /// Returns true if there are no commands.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All commands: those of the prefix, then those of each branch, then those of the suffix.
    pub fn commands(&self) -> impl Iterator<Item = &C> {
        self.prefix.iter().chain(self.branches.iter().flatten()).chain(&self.suffix)
    }

    /// The command with this number in a branch. If `branch` is `None`, the commands of the prefix are numbered first,
    /// then those of the suffix.
    pub(crate) fn command(&self, branch: Option<usize>, number: usize) -> &C {
        match branch {
            Some(branch) => &self.branches[branch][number],
            None => number.checked_sub(self.prefix.len()).map_or_else(|| &self.prefix[number], |at| &self.suffix[at]),
        }
    }

    /// The position among all commands of the command with this number in a branch, or in the prefix and suffix.
    pub(crate) fn position(&self, branch: Option<usize>, number: usize) -> usize {
        let Some(branch) = branch else {
            let within: usize = self.branches.iter().map(Vec::len).sum();
            return if number < self.prefix.len() { number } else { number + within };
        };
        self.prefix.len() + self.branches[..branch].iter().map(Vec::len).sum::<usize>() + number
    }

    /// The branch of the command at this position among all commands, its number in that branch, and the number of
    /// commands in the branch.
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
        self.show(f, &BTreeSet::new())
    }
}

impl<C: fmt::Debug> Program<C> {
    /// Writes a line for each part, and the positions of the `numbered` commands.
    pub(crate) fn show(&self, f: &mut fmt::Formatter<'_>, numbered: &BTreeSet<usize>) -> fmt::Result {
        let mut position = 0;
        let mut line = |f: &mut fmt::Formatter<'_>, name: &str, commands: &[C]| {
            write!(f, "  {name:10}")?;
            for (at, command) in commands.iter().enumerate() {
                let number = if numbered.contains(&position) { format!("#{position} ") } else { String::new() };
                write!(f, "{}{number}{command:?}", if at > 0 { ", " } else { "" })?;
                position += 1;
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

/// A state of the model, with the responses that commands refer to, by position.
type Known<M> = (<M as ParallelModel>::State, BTreeMap<usize, Arc<<M as ParallelModel>::Response>>);

/// Explores the states that a program may lead a model to.
struct Sense<'a, M: ParallelModel> {
    model: &'a M,
    program: &'a Program<M::Command>,
    referred_to: BTreeSet<usize>,
}

/// The reason why a program is not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Nonsense<C> {
    /// This command refers to a command that does not always run before it.
    Dangling(C),
    /// This command might run where its precondition does not hold.
    Forbidden(C),
    /// There are too many states to decide whether the program is valid.
    TooManyStates,
}

impl<C: fmt::Debug> fmt::Display for Nonsense<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nonsense::Dangling(command) => {
                write!(f, "{command:?} refers to a command that does not always run before it")
            }
            Nonsense::Forbidden(command) => {
                write!(f, "{command:?} may be given where its precondition does not hold")
            }
            Nonsense::TooManyStates => {
                write!(f, "the program may lead the model to more than {STATES_MAX} states: use fewer commands")
            }
        }
    }
}

/// Returns true if the precondition of every command holds in every interleaving of the branches, and for every step
/// that the model allows.
pub(crate) fn makes_sense<M: ParallelModel>(model: &M, program: &Program<M::Command>) -> bool {
    nonsense(model, program).is_ok()
}

/// The same as [`makes_sense`], with the reason if the program is not valid.
pub(crate) fn nonsense<M: ParallelModel>(model: &M, program: &Program<M::Command>) -> Result<(), Nonsense<M::Command>> {
    if let Some(command) = dangling(model, program) {
        return Err(Nonsense::Dangling(command.clone()));
    }
    let sense = Sense { model, program, referred_to: referred_to(model, program) };
    let prefix = 0..program.prefix.len();
    let suffix = program.len() - program.suffix.len()..program.len();
    let before = sense.in_order(HashSet::from([(model.init(), BTreeMap::new())]), prefix)?;
    let after = sense.interleaved(before)?;
    sense.in_order(after, suffix).map(|_| ())
}

/// The states reached, or the reason why the program is not run.
type Reached<M> = Result<HashSet<Known<M>>, Nonsense<<M as ParallelModel>::Command>>;

impl<M: ParallelModel> Sense<'_, M> {
    /// The states after commands that run one after another.
    fn in_order(&self, mut states: HashSet<Known<M>>, positions: Range<usize>) -> Reached<M> {
        for position in positions {
            let mut next = HashSet::new();
            for known in &states {
                next.extend(self.after(known, position)?);
            }
            states = next;
            if states.len() > STATES_MAX {
                return Err(Nonsense::TooManyStates);
            }
        }
        Ok(states)
    }

    /// The states after branches that run concurrently.
    fn interleaved(&self, states: HashSet<Known<M>>) -> Reached<M> {
        let branches = &self.program.branches;
        // The position in each branch, and a state of the model that is possible there.
        let start = vec![0_usize; branches.len()];
        let mut seen: HashSet<(Vec<usize>, Known<M>)> =
            states.into_iter().map(|known| (start.clone(), known)).collect();
        let mut open: Vec<_> = seen.iter().cloned().collect();
        while let Some((at, known)) = open.pop() {
            for branch in (0..branches.len()).filter(|branch| at[*branch] < branches[*branch].len()) {
                let mut next = at.clone();
                next[branch] += 1;
                for known in self.after(&known, self.program.position(Some(branch), at[branch]))? {
                    let reached = (next.clone(), known);
                    if seen.insert(reached.clone()) {
                        open.push(reached);
                    }
                }
                if seen.len() > STATES_MAX {
                    return Err(Nonsense::TooManyStates);
                }
            }
        }
        let is_over = |at: &[usize]| at.iter().zip(branches).all(|(at, commands)| *at == commands.len());
        Ok(seen.into_iter().filter(|(at, _)| is_over(at)).map(|(_, known)| known).collect())
    }

    /// The possible results of a command.
    fn after(&self, (state, responses): &Known<M>, position: usize) -> Result<Vec<Known<M>>, Nonsense<M::Command>> {
        let (branch, number, _) = self.program.place(position);
        let drawn = self.program.command(branch, number);
        let command = with_responses(self.model, drawn, |of| responses.get(&of).cloned());
        let command = command.ok_or_else(|| Nonsense::Dangling(drawn.clone()))?;
        if !self.model.precondition(state, &command) {
            return Err(Nonsense::Forbidden(command));
        }
        let known = |(state, response)| {
            let mut responses = responses.clone();
            if self.referred_to.contains(&position) {
                responses.insert(position, Arc::new(response));
            }
            (state, responses)
        };
        Ok(self.model.steps(state, &command).into_iter().map(known).collect())
    }
}
