//! The results of reads of groups of keys, each distinct read of a group once: a state.

use super::rows::Rows;
use crate::witness::OpRef;
use history_core::cast::Cast as _;

/// The value of a key that was not written yet; other values are ids plus one.
pub(super) const NIL: u32 = 0;

/// The number of an absent state.
const NO_STATE: u32 = u32::MAX;

/// Groups of keys, and the states that reads returned.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The number of keys in a group.
    pub(super) size: usize,
    /// By group: its keys, in order.
    pub(super) groups: Rows,
    /// By state: the group, and a value of each of its keys.
    pub(super) states: Rows,
    /// By state: its first reader.
    pub(super) readers: Vec<OpRef>,
    /// By state: the number of keys it shows. States that made the history unusable are not included.
    pub(super) shown: Vec<u32>,
    /// By group, and within a group by number of keys shown: the first state that shows this number.
    levels: Vec<u32>,
}

impl Seen {
    pub(super) fn new(size: usize) -> Seen {
        let (groups, states) = (Rows::new(size), Rows::new(size + 1));
        Seen { size, groups, states, readers: Vec::new(), shown: Vec::new(), levels: Vec::new() }
    }

    /// Returns true if the last state forks with another one of its group. Of the states with the same number of keys
    /// one suffices, and of the others the nearest ones, as long as none forked: then each shows all keys that smaller
    /// ones show.
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

    /// The group of a state.
    #[inline]
    pub(super) fn group(&self, state: u32) -> u32 {
        self.states.row(state.to_usize())[0]
    }

    /// The value of each key of a state.
    #[inline]
    pub(super) fn values(&self, state: u32) -> &[u32] {
        &self.states.row(state.to_usize())[1..]
    }
    /// Returns true if a state shows every key that another one shows.
    pub(super) fn shows_all(&self, state: u32, of: u32) -> bool {
        self.values(of).iter().zip(self.values(state)).all(|(less, more)| *less == NIL || *more != NIL)
    }
}
