//! Sequences of values that share their common part with the sequences from which they were created.
//!
//! The states of a search differ by a value or two, and there are many of them. So no part of a sequence is ever
//! changed. Its middle is a [`tree`]: adding or removing a value only creates new nodes on the path to it. Most changes
//! are at the ends, which are [`chain`]s: a change there creates at most one cell. The inner half of a chain that
//! becomes long turns into a leaf of the tree, and a leaf turns into a chain when a chain is empty.
//!
//! All parts have a hash of all their values: a polynomial of their hashes modulo 2^61 - 1 at a random place. So
//! sequences are hashed in O(1), independently of their parts. Equal ones are [compared](compare) without visiting
//! their common part.

mod chain;
mod compare;
mod summary;
#[cfg(test)]
mod tests;
mod tree;

use crate::engine::ids::index;
use chain::{Chain, Side, cells};
use compare::Pieces;
use std::fmt;
use std::hash::{Hash, Hasher};
use summary::Summary;
use tree::{LEAF_MAX, Tree};

/// A value at its position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::models) struct Item {
    pub(in crate::models) value: i64,
    /// The number of items directly before it that need not be removed before it. All earlier items must be. 0 where
    /// this does not matter.
    pub(in crate::models) beside: u32,
}

/// Items in order. Sequences with the same items in the same order are equal.
#[derive(Clone, Default)]
pub(in crate::models) struct Sequence {
    front: Chain,
    middle: Option<Tree>,
    back: Chain,
}

/// The maximum number of items of a chain.
const CHAIN_MAX: usize = 2 * LEAF_MAX;

/// The place where an item is, or would be inserted.
enum Place {
    Front(usize),
    Middle(usize),
    /// This number of cells from the outside.
    Back(usize),
}

impl Sequence {
    fn lens(&self) -> (usize, usize, usize) {
        let middle = self.middle.as_ref().map_or(0, Tree::len);
        (index(chain::len(&self.front)), middle, index(chain::len(&self.back)))
    }

    fn summary(&self) -> Summary {
        let middle = self.middle.as_ref().map_or(Summary::EMPTY, Tree::summary);
        chain::summary(&self.front).then(middle).then(chain::summary(&self.back))
    }

    /// The number of items.
    pub(in crate::models) fn len(&self) -> usize {
        let (front, middle, back) = self.lens();
        front + middle + back
    }

    pub(in crate::models) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of the item at a position.
    fn find(&self, at: usize) -> Option<Place> {
        let (front, middle, back) = self.lens();
        if at < front {
            Some(Place::Front(at))
        } else if at < front + middle {
            Some(Place::Middle(at - front))
        } else {
            (at < front + middle + back).then(|| Place::Back(front + middle + back - 1 - at))
        }
    }

    /// The item at a position.
    pub(in crate::models) fn get(&self, at: usize) -> Option<Item> {
        match self.find(at)? {
            Place::Front(depth) => cells(&self.front).nth(depth).map(|cell| cell.item),
            Place::Middle(at) => self.middle.as_ref()?.get(at),
            Place::Back(depth) => cells(&self.back).nth(depth).map(|cell| cell.item),
        }
    }

    /// Inserts an item after the first `at` items.
    pub(in crate::models) fn insert(&mut self, at: usize, item: Item) {
        debug_assert!(at <= self.len(), "a place in the sequence");
        let (front, middle, back) = self.lens();
        let put = |side: Side| move |inner: &Chain| Some(chain::outside(inner.clone(), item, side));
        if at < front || at == 0 && front + middle + back > 0 {
            self.front = chain::changed(&self.front, at, Side::Front, put(Side::Front));
        } else if let Some(tree) = self.middle.as_ref().filter(|_| at < front + middle) {
            self.middle = Some(tree.insert(at - front, item));
        } else {
            let depth = front + middle + back - at;
            self.back = chain::changed(&self.back, depth, Side::Back, put(Side::Back));
        }
        if front == CHAIN_MAX && index(chain::len(&self.front)) > front {
            let (chain, leaf) = split(&self.front, Side::Front);
            self.front = chain;
            self.middle = Some(self.middle.as_ref().map_or(leaf.clone(), |tree| tree.push_leaf_first(leaf)));
        }
        if back == CHAIN_MAX && index(chain::len(&self.back)) > back {
            let (chain, leaf) = split(&self.back, Side::Back);
            self.back = chain;
            self.middle = Some(self.middle.as_ref().map_or(leaf.clone(), |tree| tree.push_leaf(leaf)));
        }
    }

    /// Appends an item.
    pub(in crate::models) fn push(&mut self, item: Item) {
        self.insert(self.len(), item);
    }

    /// Removes the item at a position.
    pub(in crate::models) fn remove(&mut self, at: usize) {
        debug_assert!(at < self.len(), "an item of the sequence");
        if at == 0 {
            self.fill_front();
        } else if at + 1 == self.len() {
            self.fill_back();
        }
        match self.find(at) {
            Some(Place::Front(depth)) => self.front = chain::changed(&self.front, depth, Side::Front, chain::inner),
            Some(Place::Middle(at)) => self.middle = self.middle.as_ref().and_then(|tree| tree.remove(at)),
            Some(Place::Back(depth)) => self.back = chain::changed(&self.back, depth, Side::Back, chain::inner),
            None => {}
        }
    }

    /// Moves items so that the front chain contains the first item, if there is one.
    fn fill_front(&mut self) {
        if self.front.is_some() {
            return;
        }
        if let Some(tree) = &self.middle {
            let (rest, leaf) = tree.pop_leaf_first();
            self.front = chain::of(leaf.items.iter().rev().copied(), Side::Front);
            self.middle = rest;
            return;
        }
        let items = inside_out(&self.back);
        let (first, rest) = items.split_at(items.len().div_ceil(2));
        self.front = chain::of(first.iter().rev().copied(), Side::Front);
        self.back = chain::of(rest.iter().copied(), Side::Back);
    }

    /// The same for the last item and the back chain.
    fn fill_back(&mut self) {
        if self.back.is_some() {
            return;
        }
        if let Some(tree) = &self.middle {
            let (rest, leaf) = tree.pop_leaf();
            self.back = chain::of(leaf.items.iter().copied(), Side::Back);
            self.middle = rest;
            return;
        }
        let items = inside_out(&self.front);
        let (last, rest) = items.split_at(items.len().div_ceil(2));
        self.back = chain::of(last.iter().rev().copied(), Side::Back);
        self.front = chain::of(rest.iter().copied(), Side::Front);
    }

    /// Replaces an item.
    pub(in crate::models) fn replace(&mut self, at: usize, item: Item) {
        let put = |side: Side| move |inner: &Chain| Some(chain::outside(chain::inner(inner), item, side));
        match self.find(at) {
            Some(Place::Front(depth)) => self.front = chain::changed(&self.front, depth, Side::Front, put(Side::Front)),
            Some(Place::Middle(at)) => self.middle = self.middle.as_ref().map(|tree| tree.replace(at, item)),
            Some(Place::Back(depth)) => self.back = chain::changed(&self.back, depth, Side::Back, put(Side::Back)),
            None => debug_assert!(false, "an item of the sequence"),
        }
    }

    /// The number of items at the beginning for which `is_so` holds. It must not hold for any item after one for which
    /// it does not.
    pub(in crate::models) fn prefix(&self, is_so: impl Fn(Item) -> bool) -> usize {
        let (front, middle, back) = self.lens();
        let before = cells(&self.front).take_while(|cell| is_so(cell.item)).count();
        if before < front {
            return before;
        }
        let within = self.middle.as_ref().map_or(0, |tree| tree.prefix(&is_so));
        if within < middle {
            return front + within;
        }
        front + middle + back - cells(&self.back).take_while(|cell| !is_so(cell.item)).count()
    }

    /// The number of values below this one, if the values are in order.
    pub(in crate::models) fn below(&self, value: i64) -> usize {
        self.prefix(|item| item.value < value)
    }

    /// The positions of the items before which at most `most` others must be removed, in order.
    pub(in crate::models) fn behind_at_most(&self, most: usize) -> Vec<usize> {
        let is_within = |at: usize, item: Item| at - index(item.beside).min(at) <= most;
        let (front, middle, back) = self.lens();
        let mut found = Vec::new();
        for (at, cell) in cells(&self.front).enumerate().take_while(|(at, cell)| cell.summary.has_behind(*at, most)) {
            if is_within(at, cell.item) {
                found.push(at);
            }
        }
        // Trees with the number of items before them; the next one last.
        let mut left: Vec<(&Tree, usize)> = self.middle.iter().map(|tree| (tree, front)).collect();
        while let Some((tree, before)) = left.pop() {
            if !tree.summary().has_behind(before, most) {
                continue;
            }
            match tree {
                Tree::Branch(branch) => {
                    left.push((&branch.right, before + branch.left.len()));
                    left.push((&branch.left, before));
                }
                Tree::Leaf(leaf) => {
                    let items = (before..).zip(leaf.items.iter());
                    found.extend(items.filter(|(at, item)| is_within(*at, **item)).map(|(at, _)| at));
                }
            }
        }
        let sure = found.len();
        let ends = cells(&self.back).take_while(|cell| cell.summary.has_behind(front + middle, most));
        let ends = (0..front + middle + back).rev().zip(ends);
        found.extend(ends.filter(|(at, cell)| is_within(*at, cell.item)).map(|(at, _)| at));
        found[sure..].reverse();
        found
    }

    /// The items in order.
    pub(in crate::models) fn iter(&self) -> impl Iterator<Item = Item> {
        Pieces::of(self).items()
    }
}

/// Splits a chain that is too long into its outer half, and the inner half as a leaf.
fn split(chain: &Chain, side: Side) -> (Chain, Tree) {
    let mut items = inside_out(chain);
    let outer = items.split_off(LEAF_MAX);
    if side == Side::Front {
        items.reverse();
    }
    (chain::of(outer.into_iter(), side), Tree::leaf(items))
}

/// The items of a chain, the innermost one first.
fn inside_out(chain: &Chain) -> Vec<Item> {
    let mut items: Vec<Item> = cells(chain).map(|cell| cell.item).collect();
    items.reverse();
    items
}

impl FromIterator<Item> for Sequence {
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Sequence {
        let items: Vec<Item> = items.into_iter().collect();
        Sequence { front: None, middle: Tree::of(&items), back: None }
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Sequence) -> bool {
        let (one, another) = (self.summary(), other.summary());
        one.len == another.len && one.hash == another.hash && compare::are_equal(self, other)
    }
}

impl Eq for Sequence {}

impl Hash for Sequence {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let summary = self.summary();
        state.write_u32(summary.len);
        state.write_u64(summary.hash);
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
