//! Forks: states of a group, sorted by the number of keys they contain, each of which must contain all keys of the
//! previous one.

use super::seen::Seen;
use history_core::cast::Cast as _;

/// Reads that cannot be ordered: two, or all states of a group in which any two can be ordered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fork {
    pub(super) group: u32,
    pub(super) states: Vec<u32>,
}

/// States by group, within a group by the number of keys shown, then by first occurrence.
pub(super) fn sorted(seen: &Seen) -> Vec<u32> {
    let mut order: Vec<u32> = (0..seen.shown.len().to_u32()).collect();
    order.sort_unstable_by_key(|state| (seen.group(*state), seen.shown[state.to_usize()], *state));
    order
}

/// Finds adjacent states of one group of which neither shows all keys that the other shows.
pub(super) fn find_forks<'a>(seen: &'a Seen, sorted: &'a [u32]) -> impl Iterator<Item = Fork> + 'a {
    let forks = sorted.windows(2).filter(|pair| !seen.shows_all(pair[1], pair[0]));
    forks.map(|pair| Fork { group: seen.group(pair[0]), states: vec![pair[0].min(pair[1]), pair[0].max(pair[1])] })
}
