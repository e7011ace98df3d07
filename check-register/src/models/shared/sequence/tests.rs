//! Compares sequences with vectors.

use super::{CHAIN_MAX, Item, Sequence, Tree};
use history_core::cast::Cast as _;
use history_core::hash::hash_one;
use std::collections::VecDeque;

/// Pseudo-random numbers from Knuth's multiplier; the upper bits are the best ones.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end.to_u64()).to_usize()
    }
}

fn behind(at: usize, item: Item) -> usize {
    at - item.beside.to_usize().min(at)
}

fn is_balanced(sequence: &Sequence) -> bool {
    let (front, _, back) = sequence.lens();
    front <= CHAIN_MAX && back <= CHAIN_MAX && sequence.middle.as_ref().is_none_or(Tree::is_balanced)
}

#[test]
fn sequences_equal_vectors() {
    let mut random = Random(1);
    let (mut plain, mut sequence): (Vec<Item>, Sequence) = (Vec::new(), Sequence::default());
    let mut before = Vec::new();
    for round in 0..4_000 {
        let item = Item { value: random.below(9).to_i64(), beside: random.below(4).to_u32() };
        // The sequence grows, and then shrinks.
        match random.below(if round < 2_000 { 5 } else { 3 }) {
            0 | 1 if !plain.is_empty() => {
                let at = random.below(plain.len());
                plain.remove(at);
                sequence.remove(at);
            }
            2 if !plain.is_empty() => {
                let at = random.below(plain.len());
                plain[at] = item;
                sequence.replace(at, item);
            }
            _ => {
                let at = random.below(plain.len() + 1);
                plain.insert(at, item);
                sequence.insert(at, item);
            }
        }
        assert_eq!((sequence.len(), sequence.is_empty()), (plain.len(), plain.is_empty()));
        assert!(is_balanced(&sequence), "{sequence:?}");
        let at = random.below(plain.len() + 1);
        assert_eq!(sequence.get(at), plain.get(at).copied());
        let most = random.below(plain.len() + 2);
        let expected: Vec<usize> = (0..plain.len()).filter(|at| behind(*at, plain[*at]) <= most).collect();
        assert_eq!(sequence.behind_at_most(most), expected);
        if round % 16 == 0 {
            assert_eq!(sequence.iter().collect::<Vec<_>>(), plain);
            // The same items in another tree.
            let built: Sequence = plain.iter().copied().collect();
            assert_eq!((&built, hash_one(&built)), (&sequence, hash_one(&sequence)));
            before.push((plain.clone(), sequence.clone()));
        }
    }
    for (plain, sequence) in &before {
        assert_eq!(sequence.iter().collect::<Vec<_>>(), *plain, "what was made from it did not change it");
    }
    for pair in before.windows(2) {
        assert_eq!(pair[0].1 == pair[1].1, pair[0].0 == pair[1].0);
    }
}

#[test]
fn ends_run_out_and_are_filled_again() {
    let mut random = Random(2);
    // Whether items are inserted, and removed, at the front: a stack, a queue, and both reversed.
    for (comes, goes) in [(false, false), (false, true), (true, true), (true, false)] {
        let (mut plain, mut sequence): (VecDeque<Item>, Sequence) = (VecDeque::new(), Sequence::default());
        for round in 0..6_000 {
            // The sequence grows, keeps its length, and is emptied.
            let likely = [7, 5, 3, 9, 1, 1][round / 1_000];
            if random.below(10) < likely || plain.is_empty() {
                let item = Item { value: round.to_i64(), beside: random.below(2).to_u32() };
                let at = if comes { 0 } else { plain.len() };
                plain.insert(at, item);
                sequence.insert(at, item);
            } else {
                let at = if goes { 0 } else { plain.len() - 1 };
                plain.remove(at);
                sequence.remove(at);
            }
            assert!(is_balanced(&sequence), "{sequence:?}");
            let ends = [0, plain.len() / 2, plain.len().saturating_sub(1)];
            assert_eq!(ends.map(|at| sequence.get(at)), ends.map(|at| plain.get(at).copied()));
            if round % 50 == 0 {
                assert!(sequence.iter().eq(plain.iter().copied()));
                let built: Sequence = plain.iter().copied().collect();
                assert_eq!((&built, hash_one(&built)), (&sequence, hash_one(&sequence)));
            }
        }
    }
}

#[test]
fn order_and_items_distinguish_sequences() {
    let of = |values: &[(i64, u32)]| -> Sequence {
        values.iter().map(|(value, beside)| Item { value: *value, beside: *beside }).collect()
    };
    let all = [of(&[]), of(&[(0, 0)]), of(&[(0, 1)]), of(&[(0, 0), (1, 0)]), of(&[(1, 0), (0, 0)])];
    for (at, one) in all.iter().enumerate() {
        for (place, other) in all.iter().enumerate() {
            assert_eq!(one == other, at == place, "{one:?} {other:?}");
            assert_eq!(hash_one(one) == hash_one(other), at == place, "{one:?} {other:?}");
        }
    }
}

#[test]
fn values_in_order_are_found() {
    let values = [2, 2, 5, 7, 7, 7, 9];
    let sequence: Sequence = values.iter().map(|value| Item { value: *value, beside: 0 }).collect();
    for value in 0..11 {
        assert_eq!(sequence.below(value), values.partition_point(|other| *other < value));
    }
    // With items in all parts.
    let (mut values, mut sequence) = (Vec::new(), Sequence::default());
    for step in 0..300 {
        let value = [step, 299 - step][step % 2].to_i64();
        let at = sequence.below(value);
        assert_eq!(at, values.partition_point(|other| *other < value));
        values.insert(at, value);
        sequence.insert(at, Item { value, beside: 0 });
    }
    let (front, middle, back) = sequence.lens();
    assert!(front + middle + back == 300 && middle > 0 && front + back > 0, "{front} {middle} {back}");
}
