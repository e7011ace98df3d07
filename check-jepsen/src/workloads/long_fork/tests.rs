//! Compares orders of reads with all permutations.

use super::order::{broken_by, can_be_ordered};
use super::seen::Seen;
use super::smallest::find_smallest;
use crate::witness::OpRef;
use history_core::cast::Cast as _;
use proptest::prelude::*;

/// A group with these distinct states.
fn group(size: usize, states: &[Vec<u32>]) -> Seen {
    let mut seen = Seen::new(size);
    for values in states {
        assert!(seen.states.intern(&[&[0], &values[..]].concat()).unwrap().1);
        seen.readers.push(OpRef::NONE);
        seen.shown.push(values.iter().filter(|value| **value != 0).count().to_u32());
    }
    seen
}

fn permutations(states: &[u32]) -> Vec<Vec<u32>> {
    let Some((first, rest)) = states.split_first() else { return vec![Vec::new()] };
    let insert = |order: Vec<u32>| (0..=order.len()).map(move |at| [&order[..at], &[*first], &order[at..]].concat());
    permutations(rest).into_iter().flat_map(insert).collect()
}

/// The definition itself: from the initial state on, no value recurs.
fn is_in_order(seen: &Seen, order: &[u32]) -> bool {
    (0..seen.size).all(|key| {
        let mut values = vec![0];
        values.extend(order.iter().map(|state| seen.values(*state)[key]));
        values.dedup();
        (0..values.len()).all(|at| !values[..at].contains(&values[at]))
    })
}

fn has_order(seen: &Seen, states: &[u32]) -> bool {
    permutations(states).iter().any(|order| is_in_order(seen, order))
}

/// The size of a smallest set that has no order.
fn smallest_size(seen: &Seen, states: usize) -> Option<usize> {
    let subsets = (0..1u32 << states).map(|bits| (0..states.to_u32()).filter(|at| bits >> at & 1 == 1).collect());
    subsets.filter(|set: &Vec<u32>| !has_order(seen, set)).map(|set| set.len()).min()
}

/// Compares the results with the definition. Returns the size of a smallest set that has no order, if there is none.
fn agrees(size: usize, states: &[Vec<u32>]) -> Option<usize> {
    let seen = group(size, states);
    let all: Vec<u32> = (0..states.len().to_u32()).collect();
    let possible = has_order(&seen, &all);
    assert_eq!(can_be_ordered(&seen, &all), possible, "{states:?}");
    for order in permutations(&all) {
        assert_eq!(broken_by(&seen, &order).is_none(), is_in_order(&seen, &order), "{states:?} {order:?}");
    }
    if possible {
        return None;
    }
    let smallest = smallest_size(&seen, states.len()).unwrap();
    if smallest > 2 {
        let found = find_smallest(&seen, &all);
        assert!(!has_order(&seen, &found.states), "{states:?} {found:?}");
        assert_eq!((found.states.len(), found.minimal, found.least), (smallest, true, true), "{states:?}");
    }
    Some(smallest)
}

/// All states of this number of keys with values below `values`.
fn all_states(keys: usize, values: u32) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..keys {
        let longer = |state: &Vec<u32>| (0..values).map(|value| [&state[..], &[value]].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn every_small_set_of_reads_is_ordered_if_it_can_be() {
    let mut sizes = [0u32; 8];
    for (keys, values, most) in [(1, 6, 6), (2, 3, 6), (3, 2, 6), (2, 4, 3), (3, 3, 3)] {
        let states = all_states(keys, values);
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..most {
            // Each set occurs once, with its states in order.
            let longer = |set: &Vec<usize>| {
                let next = set.last().map_or(0, |last| last + 1);
                (next..states.len()).map(|at| [&set[..], &[at]].concat()).collect::<Vec<_>>()
            };
            sets = sets.iter().flat_map(longer).collect();
            for set in &sets {
                let chosen: Vec<Vec<u32>> = set.iter().map(|at| states[*at].clone()).collect();
                sizes[agrees(keys, &chosen).unwrap_or(0)] += 1;
            }
        }
    }
    assert!(sizes[0] > 100 && sizes[2] > 100 && sizes[3] > 100, "{sizes:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_sets_of_reads_are_ordered_if_they_can_be(states in prop::collection::hash_set(prop::collection::vec(0..4u32, 4), 1..6)) {
        let mut states: Vec<Vec<u32>> = states.into_iter().collect();
        states.sort_unstable();
        agrees(4, &states);
    }
}

/// A cycle of reads: each shares a value with the next, the last one with the first.
fn ring(length: u32) -> Vec<Vec<u32>> {
    let state = |at: u32| {
        let value = |key: u32| if key == at || key == (at + 1) % length { 1 } else { 2 + at };
        (0..length).map(value).collect()
    };
    (0..length).map(state).collect()
}

#[test]
fn a_closed_loop_needs_all_its_reads() {
    for length in 3..12 {
        let states = ring(length);
        let seen = group(length.to_usize(), &states);
        let all: Vec<u32> = (0..length).collect();
        assert!(!can_be_ordered(&seen, &all), "{length}");
        for out in 0..length {
            assert!(can_be_ordered(&seen, &all.iter().copied().filter(|at| *at != out).collect::<Vec<_>>()));
        }
        let found = find_smallest(&seen, &all);
        assert_eq!((found.states, found.minimal, found.least), (all, true, true), "{length}");
    }
}

#[test]
fn a_small_set_is_found_among_many_reads_and_a_large_one_is_told_as_it_is() {
    // A long sequence of reads, three of the last of which cannot be ordered.
    let mut states: Vec<Vec<u32>> = (3..3_003).map(|at| vec![at / 3, (at - 1) / 3, (at - 2) / 3 + 1]).collect();
    states.extend([vec![9_001, 9_001, 9_001], vec![9_001, 9_002, 9_002], vec![9_003, 9_001, 9_002]]);
    let seen = group(3, &states);
    let found = find_smallest(&seen, &(0..states.len().to_u32()).collect::<Vec<_>>());
    assert_eq!((found.states, found.minimal, found.least), (vec![3_000, 3_001, 3_002], true, true));
    // A cycle with two shared keys per read, too long for the search for a smaller set.
    let states = ring(80);
    let found = find_smallest(&group(80, &states), &(0..80).collect::<Vec<_>>());
    assert_eq!((found.states.len(), found.minimal, found.least), (80, true, false));
}
