//! Finds a smallest set of states that cannot be ordered, or, if that would take too long, one in which each is needed.

use super::order::can_be_ordered;
use super::seen::Seen;

/// The maximum number of values that may be examined to make a set smaller.
const CELLS_MAX: usize = 1 << 25;

/// The maximum number of sets that may be tried to find a smallest one.
const TRIES_MAX: usize = 50_000;

/// The result.
#[derive(Debug, PartialEq)]
pub(super) struct Smallest {
    /// In the order of the first reads.
    pub(super) states: Vec<u32>,
    /// Whether each state is needed.
    pub(super) minimal: bool,
    /// Whether the group has no smaller set.
    pub(super) least: bool,
}

/// A set of these states of one group that cannot be ordered. All of them together cannot be ordered, but any two can.
pub(super) fn find_smallest(seen: &Seen, states: &[u32]) -> Smallest {
    let mut states = states.to_vec();
    states.sort_unstable();
    let (core, minimal) = shrink(seen, &states);
    for size in 3..core.len() {
        match first_of_size(seen, &states, size) {
            Search::Found(states) => return Smallest { states, minimal: true, least: true },
            Search::None => {}
            Search::TooMany => return Smallest { states: core, minimal, least: false },
        }
    }
    Smallest { states: core, minimal, least: true }
}

/// A set in which each state is needed, unless finding one would take too long.
///
/// The list, together with the states known to be needed, cannot be ordered. Of its prefixes for which this is so, the
/// shortest one ends with a state that is needed; the list is then replaced by the states before it. A subset of a set
/// that can be ordered can be ordered too, so a needed state remains needed.
fn shrink(seen: &Seen, states: &[u32]) -> (Vec<u32>, bool) {
    let mut cells = 0;
    let mut possible = |needed: &[u32], list: &[u32]| {
        cells += (needed.len() + list.len()) * seen.size;
        (can_be_ordered(seen, &[needed, list].concat()), cells > CELLS_MAX)
    };
    let (mut needed, mut list): (Vec<u32>, &[u32]) = (Vec::new(), states);
    loop {
        let (done, spent) = possible(&needed, &[]);
        if !done || list.is_empty() {
            break;
        }
        if spent {
            needed.extend_from_slice(list);
            needed.sort_unstable();
            return (needed, false);
        }
        // Prefixes of length `low` can be ordered, those of length `high` cannot. Short prefixes are cheaper to
        // examine.
        let (mut low, mut high) = (0, 1);
        while high < list.len() && possible(&needed, &list[..high]).0 {
            (low, high) = (high, 2 * high);
        }
        high = high.min(list.len());
        while high - low > 1 {
            let middle = low.midpoint(high);
            *if possible(&needed, &list[..middle]).0 { &mut low } else { &mut high } = middle;
        }
        needed.push(list[high - 1]);
        list = &list[..high - 1];
    }
    needed.sort_unstable();
    (needed, true)
}

enum Search {
    Found(Vec<u32>),
    None,
    TooMany,
}

/// The lexicographically first set of this size that cannot be ordered.
fn first_of_size(seen: &Seen, states: &[u32], size: usize) -> Search {
    let mut chosen: Vec<usize> = (0..size).collect();
    for tries in 0.. {
        if tries * size * seen.size > CELLS_MAX || tries > TRIES_MAX {
            return Search::TooMany;
        }
        let set: Vec<u32> = chosen.iter().map(|at| states[*at]).collect();
        if !can_be_ordered(seen, &set) {
            return Search::Found(set);
        }
        // Advances the last position that can still move, and resets those after it.
        let Some(moves) = (0..size).rev().find(|place| chosen[*place] + size - place < states.len()) else { break };
        let start = chosen[moves] + 1;
        for (place, at) in chosen[moves..].iter_mut().zip(start..) {
            *place = at;
        }
    }
    Search::None
}
