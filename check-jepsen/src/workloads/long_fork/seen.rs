//! What reads showed of groups of keys, each different read of a group once: a state.

use super::rows::Rows;
use crate::witness::OpRef;
use history_core::cast::Cast as _;

/// The value of a key that was not written yet; others are ids of values, and one more.
pub(super) const NIL: u32 = 0;

/// Stands for no state.
const NO_STATE: u32 = u32::MAX;

/// Groups of keys, and what reads showed of them.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// How many keys a group has.
    pub(super) size: usize,
    /// By group: its keys, in order.
    pub(super) groups: Rows,
    /// By state: the group, and a value of each of its keys.
    pub(super) states: Rows,
    /// By state: who was the first to read it.
    pub(super) readers: Vec<OpRef>,
    /// By state: how many keys it shows. Of states that made the history refused nothing is said.
    pub(super) shown: Vec<u32>,
    /// By group, and in each by how many keys are shown: the first state that shows so many.
    levels: Vec<u32>,
}

impl Seen {
    pub(super) fn new(size: usize) -> Seen {
        let (groups, states) = (Rows::new(size), Rows::new(size + 1));
        Seen { size, groups, states, readers: Vec::new(), shown: Vec::new(), levels: Vec::new() }
    }

    /// Whether the last state forks with another of its group. Of those that show equally many keys one is enough, and
    /// of the others the neighbours are, as long as none forked: then each shows all that those do which show fewer.
    pub(super) fn forks(&mut self) -> bool {
        let state = self.shown.len().to_u32() - 1;
        let (shown, width) = (self.shown[state.to_usize()].to_usize(), self.size + 1);
        let start = self.group(state).to_usize() * width;
        self.levels.resize(self.levels.len().max(start + width), NO_STATE);
        let level = &mut self.levels[start + shown];
        if *level != NO_STATE {
            let other = *level;
            return !self.shows_all(other, state);
        }
        *level = state;
        let levels = &self.levels[start..start + width];
        let less = levels[..shown].iter().rev().find(|state| **state != NO_STATE);
        let more = levels[shown + 1..].iter().find(|state| **state != NO_STATE);
        less.is_some_and(|less| !self.shows_all(state, *less)) || more.is_some_and(|more| !self.shows_all(*more, state))
    }

    /// The group that a state is of.
    #[inline]
    pub(super) fn group(&self, state: u32) -> u32 {
        self.states.row(state.to_usize())[0]
    }

    /// The value of each key of a state.
    #[inline]
    pub(super) fn values(&self, state: u32) -> &[u32] {
        &self.states.row(state.to_usize())[1..]
    }
    /// Whether a state shows every key that another shows.
    pub(super) fn shows_all(&self, state: u32, of: u32) -> bool {
        self.values(of).iter().zip(self.values(state)).all(|(less, more)| *less == NIL || *more != NIL)
    }
}
