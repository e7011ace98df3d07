//! Orders of reads in which equal values of each key are adjacent, the initial state first.

use super::pq_tree::PqTree;
use super::seen::{NIL, Seen};
use history_core::cast::Cast as _;

/// Returns true if these states of one group have such an order. Time: their size, and a sort of the values of each
/// key.
///
/// For each key and value, the states that show it are a set whose members must be adjacent; for `nil` the set includes
/// the initial state. All states except the initial one form another such set: so the initial state is at one end, and
/// read from there the order begins with it.
pub(super) fn can_be_ordered(seen: &Seen, states: &[u32]) -> bool {
    const INITIAL: u32 = 0;
    // A state with only nils is the initial state.
    let later: Vec<u32> = states.iter().copied().filter(|state| seen.shown[state.to_usize()] > 0).collect();
    let leaves = later.len().to_u32() + 1;
    let mut tree = PqTree::new(leaves);
    let mut possible = tree.reduce(&(1..leaves).collect::<Vec<_>>());
    let mut column: Vec<(u32, u32)> = Vec::with_capacity(later.len() + 1);
    let mut set = Vec::new();
    for key in 0..seen.size {
        column.clear();
        column.push((NIL, INITIAL));
        column.extend(later.iter().zip(1..).map(|(state, leaf)| (seen.values(*state)[key], leaf)));
        column.sort_unstable();
        for equal in column.chunk_by(|a, b| a.0 == b.0) {
            set.clear();
            set.extend(equal.iter().map(|(_, leaf)| *leaf));
            possible = possible && tree.reduce(&set);
        }
        if !possible {
            return false;
        }
    }
    possible
}

/// A key, by its position in the group, and two positions in this order whose states show it with the same value
/// although a state between them does not. Position 0 is the initial state.
pub(super) fn broken_by(seen: &Seen, order: &[u32]) -> Option<(usize, usize, usize)> {
    (0..seen.size).find_map(|key| {
        let at = |place: usize| if place == 0 { NIL } else { seen.values(order[place - 1])[key] };
        let pairs = (0..=order.len()).flat_map(|last| (0..last).map(move |first| (first, last)));
        let mut broken = pairs.filter(|(first, last)| at(*first) == at(*last));
        let (first, last) = broken.find(|(first, last)| (*first..*last).any(|place| at(place) != at(*first)))?;
        Some((key, first, last))
    })
}
