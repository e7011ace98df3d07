//! A smallest set of states that cannot be ordered, or one of which each is needed, if finding a smallest one would
//! take long.

use super::order::can_be_ordered;
use super::seen::Seen;

/// Values of keys that may be looked at to make a set smaller.
const CELLS_MAX: usize = 1 << 25;

/// Sets that may be tried to find a smallest one.
const TRIES_MAX: usize = 50_000;

/// What was found.
#[derive(Debug, PartialEq)]
pub(super) struct Smallest {
    /// In the order in which they were first read.
    pub(super) states: Vec<u32>,
    /// Whether each of them is needed.
    pub(super) minimal: bool,
    /// Whether there is no smaller set in the group.
    pub(super) least: bool,
}

/// A set of these states, all of one group, that cannot be ordered. All of them together cannot, but any two can.
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

/// A set of which each is needed, unless it would take too long.
///
/// Of a list that cannot be ordered, together with those that are needed for sure, the shortest beginning that cannot
/// either ends with one that is needed; the list continues with those before it. Parts of what can be ordered can be,
/// so whoever was needed stays so.
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
        // Beginnings of length `low` can be ordered, those of length `high` cannot. Short ones are cheaper to look at.
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

/// The first set of so many that cannot be ordered, in the order of dictionaries.
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
        // The last place that can still move does, and those after it follow.
        let Some(moves) = (0..size).rev().find(|place| chosen[*place] + size - place < states.len()) else { break };
        let start = chosen[moves] + 1;
        for (place, at) in chosen[moves..].iter_mut().zip(start..) {
            *place = at;
        }
    }
    Search::None
}
