//! Recent steps of a model: a cache of fixed size, so memory depends on the states in use and not on the steps.

use super::ids::{ClassId, StateId, high_bits, index, number};
use super::rows::mix;

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The model does not admit it.
    Nowhere,
    /// The step leads to one state, which is the usual case.
    One(StateId),
    /// The step leads to this number of states, at least two: [`Steps::choice`] of `first` and the following.
    Many {
        /// The number of the first choice.
        first: u32,
        /// The number of choices.
        count: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Cached {
    state: StateId,
    class: ClassId,
    /// `None` if the entry is empty.
    next: Option<Next>,
}

/// The binary logarithm of the number of entries of the cache.
const CACHE_BITS: u32 = 12;

/// Steps by state and class.
#[derive(Debug)]
pub struct Steps {
    /// By a hash of state and class; `1 << CACHE_BITS` entries.
    cache: Box<[Cached]>,
    choices: Vec<StateId>,
}

impl Steps {
    /// Creates an empty cache.
    pub fn new() -> Steps {
        let empty = Cached { state: StateId::new(0), class: ClassId::new(0), next: None };
        Steps { cache: vec![empty; 1 << CACHE_BITS].into(), choices: Vec::new() }
    }

    /// The result of `class` in `state`, if it is cached.
    #[inline]
    pub fn get(&self, state: StateId, class: ClassId) -> Option<Next> {
        let cached = &self.cache[place(state, class)];
        if cached.state == state && cached.class == class { cached.next } else { None }
    }

    /// Stores the result of a step: the states in the model's order. Duplicates are harmless.
    #[inline]
    pub fn insert(&mut self, state: StateId, class: ClassId, states: &[StateId]) -> Next {
        let next = match *states {
            [] => Next::Nowhere,
            [one] => Next::One(one),
            [..] => {
                let first = number(self.choices.len());
                self.choices.extend_from_slice(states);
                Next::Many { first, count: number(states.len()) }
            }
        };
        self.cache[place(state, class)] = Cached { state, class, next: Some(next) };
        next
    }

    /// One of the states of [`Next::Many`].
    #[inline]
    pub fn choice(&self, at: u32) -> StateId {
        self.choices[index(at)]
    }

    /// The number of states that are stored as choices.
    #[inline]
    pub fn choices(&self) -> usize {
        self.choices.len()
    }

    /// Discards all steps: before ids of states are reused.
    pub fn clear(&mut self) {
        self.cache.iter_mut().for_each(|cached| cached.next = None);
        self.choices.clear();
    }

    /// Memory of choices in bytes.
    pub fn bytes(&self) -> usize {
        self.choices.capacity() * size_of::<StateId>()
    }
}

impl Default for Steps {
    fn default() -> Steps {
        Steps::new()
    }
}

/// The entry of the cache for a step.
#[inline]
fn place(state: StateId, class: ClassId) -> usize {
    high_bits(mix(u64::from(state.number()) << 32 | u64::from(class.number())), CACHE_BITS)
}
