//! The laws that a model's shortcuts must obey, compared with its steps on all short sequences of some operations.

mod crashed;
mod numbered;
mod parts;
mod remembered;
mod searched;

use crate::{Model, Shortcuts};
use history_core::Budget;
use history_core::hash::HashSet;
use numbered::{Numbered, Numbers};
use std::fmt;

/// Fails the test if a model's [`Shortcuts`] contradict its steps, and reports which law is violated, in which state,
/// by which operations.
///
/// It takes operations that can observe each other: a few of each kind, with few different values. It tries all short
/// sequences of them, from the initial state, from `states`, and from those that the operations lead to. `states` are
/// further possible states of the object; most tests need none. Whatever it finds is an error; errors that show only in
/// longer sequences are not found.
///
/// ```
/// use check_register::{Model, Shortcuts, assert_model_laws};
/// use history_core::Budget;
///
/// /// A flag that is raised once, and read.
/// struct Flag;
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// enum FlagOp {
///     Raise,
///     Read(bool),
/// }
///
/// impl Model for Flag {
///     type State = bool;
///     type Op = FlagOp;
///     type Next = Option<bool>;
///
///     fn init(&self) -> bool {
///         false
///     }
///
///     fn step(&self, raised: &bool, op: &FlagOp, _: &Budget) -> Option<bool> {
///         match op {
///             FlagOp::Raise => Some(true),
///             FlagOp::Read(found) => (found == raised).then_some(*raised),
///         }
///     }
///
///     fn shortcuts(&self) -> &dyn Shortcuts<bool, FlagOp> {
///         self
///     }
/// }
///
/// impl Shortcuts<bool, FlagOp> for Flag {
///     fn reads_only(&self, op: &FlagOp) -> bool {
///         matches!(op, FlagOp::Read(_))
///     }
///
///     fn may_see(&self, op: &FlagOp, other: &FlagOp) -> bool {
///         matches!((op, other), (FlagOp::Read(true), FlagOp::Raise))
///     }
/// }
///
/// assert_model_laws(&Flag, &[], &[FlagOp::Raise, FlagOp::Read(false), FlagOp::Read(true)]);
/// ```
///
/// # Panics
///
/// If a law is broken.
pub fn assert_model_laws<M: Model<State: Send>>(model: &M, states: &[M::State], ops: &[M::Op]) {
    if let Some(broken) = broken_law(model, states, ops) {
        panic!("{broken}");
    }
}

/// A violated law, if any: the first in the order in which laws depend on each other.
fn broken_law<M: Model<State: Send>>(model: &M, states: &[M::State], ops: &[M::Op]) -> Option<Broken> {
    let all = Numbered::new(model, ops);
    let numbers = |numbered: &Numbered<'_, M>| -> Vec<usize> {
        states.iter().map(|state| numbered.number(state.clone())).collect()
    };
    let world = World::new(&all, &numbers(&all), ops.len());
    if let Some(broken) = all.breaks_steps(&world.states).or_else(|| world.breaks_parts()) {
        return Some(broken);
    }
    if !model.shortcuts().states_are_of_parts() {
        return world.breaks_any();
    }
    let mut parts: Vec<Option<u64>> = ops.iter().map(|op| model.shortcuts().part(op)).collect();
    parts.sort_unstable();
    parts.dedup();
    parts.into_iter().find_map(|part| {
        let ops: Vec<M::Op> = ops.iter().filter(|op| model.shortcuts().part(op) == part).cloned().collect();
        let of_part = Numbered::new(model, &ops);
        World::new(&of_part, &numbers(&of_part), ops.len()).breaks_any()
    })
}

/// The description of a violated law.
#[derive(Debug)]
pub(crate) struct Broken {
    /// The method of [`Shortcuts`] or [`Model`].
    law: &'static str,
    state: String,
    /// The operations that take place in this state, in order.
    ops: Vec<String>,
    expected: String,
    found: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Broken { law, state, ops, expected, found } = self;
        writeln!(f, "the model breaks the law of `{law}`")?;
        writeln!(f, "  state:    {state}")?;
        writeln!(f, "  ops:      {}", if ops.is_empty() { "none".into() } else { ops.join(", then ") })?;
        writeln!(f, "  expected: {expected}")?;
        write!(f, "  found:    {found}")
    }
}

/// The states of the whole object, or of one of its parts, and the operations that are tried in them.
struct World<'m> {
    model: Numbers<'m>,
    shortcuts: &'m dyn Shortcuts<usize, usize>,
    /// The number of operations.
    ops: usize,
    /// The states that are tried, the initial state first.
    states: Vec<usize>,
    budget: Budget,
}

/// The number of states that are tried, unless more are given.
const STATES_MAX: usize = 24;

/// The maximum number of operations in a sequence.
const LEN_MAX: u32 = 3;

/// The maximum number of sequences that are tried in one state.
const WORDS_MAX: usize = 20_000;

/// The maximum number of sequences that are tried in all states with one more operation.
const TRIES_MAX: usize = 400_000;

impl<'m> World<'m> {
    fn new(model: Numbers<'m>, given: &[usize], ops: usize) -> World<'m> {
        let mut seen: HashSet<usize> = HashSet::default();
        let mut states: Vec<usize> = Vec::new();
        let starts = std::iter::once(model.init()).chain(given.iter().copied());
        states.extend(starts.filter(|state| seen.insert(*state)));
        let budget = Budget::default();
        let mut at = 0;
        while at < states.len() && states.len() < STATES_MAX {
            for op in 0..ops {
                let next = model.step(&states[at], &op, &budget).into_iter();
                states.extend(next.filter(|state| seen.insert(*state)));
            }
            at += 1;
        }
        World { model, shortcuts: model.shortcuts(), ops, states, budget }
    }

    /// Any law of the shortcuts that is violated.
    fn breaks_any(&self) -> Option<Broken> {
        self.breaks_reads()
            .or_else(|| self.breaks_crashed())
            .or_else(|| self.breaks_access())
            .or_else(|| self.breaks_remembered())
            .or_else(|| self.breaks_search())
    }

    /// All sequences of these operations, short ones first, of a length at which each can be tried `times` times.
    fn words(of: &[usize], times: usize) -> Vec<Vec<usize>> {
        let max = WORDS_MAX.min(TRIES_MAX / times.max(1));
        let len_max = (1..=LEN_MAX).rev().find(|len| of.len().saturating_pow(*len) <= max).unwrap_or(1);
        let mut words: Vec<Vec<usize>> = vec![Vec::new()];
        let mut first = 0;
        for _ in 0..len_max {
            let longer: Vec<Vec<usize>> =
                words[first..].iter().flat_map(|word| of.iter().map(|op| [&word[..], &[*op]].concat())).collect();
            first = words.len();
            words.extend(longer);
        }
        words
    }

    /// The operations for which `holds` returns true.
    fn which(&self, holds: impl Fn(&usize) -> bool) -> Vec<usize> {
        (0..self.ops).filter(holds).collect()
    }

    /// The states that an operation may lead to, each once.
    fn step(&self, from: &[usize], op: usize) -> Vec<usize> {
        let mut seen: HashSet<usize> = HashSet::default();
        let next = from.iter().flat_map(|state| self.model.step(state, &op, &self.budget));
        next.filter(|state| seen.insert(*state)).collect()
    }

    /// The states that a sequence of operations may lead to.
    fn run(&self, from: &[usize], word: &[usize]) -> Vec<usize> {
        word.iter().fold(from.to_vec(), |states, op| self.step(&states, *op))
    }

    /// Returns true if a sequence of operations is admitted.
    fn admits(&self, from: usize, word: &[usize]) -> bool {
        !self.run(&[from], word).is_empty()
    }

    /// Describes how a law is violated.
    fn broken(&self, law: &'static str, state: usize, word: &[usize], texts: (String, String)) -> Broken {
        let ops = word.iter().map(|op| self.name(*op)).collect();
        let (expected, found) = texts;
        Broken { law, state: self.model.describe_state(&state), ops, expected, found }
    }

    fn name(&self, op: usize) -> String {
        self.model.describe_op(&op)
    }

    /// An operation that only reads changes no state.
    fn breaks_reads(&self) -> Option<Broken> {
        for state in self.states.iter().copied() {
            for op in self.which(|op| self.shortcuts.reads_only(op)) {
                if let Some(other) = self.step(&[state], op).iter().find(|next| **next != state) {
                    let found = format!("the state {}", self.model.describe_state(other));
                    return Some(self.broken("reads_only", state, &[op], ("the same state".into(), found)));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
