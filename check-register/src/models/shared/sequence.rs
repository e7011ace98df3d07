//! Sequences of values that share what they have in common with the sequences that they were made from.
//!
//! The states of a search differ by a value or two, and there are many of them. So a sequence is a tree whose nodes
//! are never changed: one more value, or one less, makes new nodes only on the way to it. The trees are balanced by
//! weight: Adams, "Efficient sets: a balancing act" (JFP 1993), with the parameters that Hirai and Yamamoto,
//! "Balancing weight-balanced trees" (JFP 2011), proved right.
//!
//! Each node has a hash of all values below: a polynomial of their hashes modulo 2^61 - 1 at a random place. So
//! sequences are hashed in O(1), whatever their trees look like. Equal ones are compared without looking at what they
//! share.

use super::polynomial::{PRIME, base, plus, times};
use crate::engine::ids::{self, index, number};
use history_core::hash::hash_one;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value in its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::models) struct Item {
    pub(in crate::models) value: i64,
    /// So many of the items directly before it need not leave before it does; all others must. 0 where that is of no
    /// importance.
    pub(in crate::models) beside: u32,
}

/// Items in order. Equal ones have equal items in the same order.
#[derive(Clone, Default)]
pub(in crate::models) struct Sequence {
    root: Link,
}

type Link = Option<Arc<Node>>;

struct Node {
    item: Item,
    left: Link,
    right: Link,
    /// How many items there are, this one too.
    len: u32,
    /// The least of what each item is behind, counted from the first item here: below 0 if it is behind fewer than
    /// stand before that.
    least_behind: i32,
    hash: u64,
    /// The base of the hash to the power of `len`.
    power: u64,
}

fn len(link: &Link) -> u32 {
    link.as_ref().map_or(0, |node| node.len)
}

fn hash(link: &Link) -> (u64, u64) {
    link.as_ref().map_or((0, 1), |node| (node.hash, node.power))
}

fn node(left: Link, item: Item, right: Link) -> Arc<Node> {
    let before = len(&left);
    let signed = u32::cast_signed;
    let mut least_behind = signed(before) - signed(item.beside);
    if let Some(left) = &left {
        least_behind = least_behind.min(left.least_behind);
    }
    if let Some(right) = &right {
        least_behind = least_behind.min(signed(before) + 1 + right.least_behind);
    }
    let ((left_hash, left_power), (right_hash, right_power)) = (hash(&left), hash(&right));
    let with_item = plus(times(left_hash, base()), hash_one(&item) % PRIME);
    let hash = plus(times(with_item, right_power), right_hash);
    let power = times(times(left_power, base()), right_power);
    Arc::new(Node { len: before + 1 + len(&right), item, left, right, least_behind, hash, power })
}

/// Whether a side of so many is too light beside one of so many.
fn is_light(one: u32, other: u32) -> bool {
    3 * (u64::from(one) + 1) < u64::from(other) + 1
}

/// A node of two trees of which one may have got one more or one less.
fn balanced(left: Link, item: Item, right: Link) -> Arc<Node> {
    match (&left, &right) {
        (_, Some(heavy)) if is_light(len(&left), heavy.len) => {
            let (inner, outer) = (heavy.left.clone(), heavy.right.clone());
            match &inner {
                Some(middle) if middle.len + 1 >= 2 * (len(&outer) + 1) => node(
                    Some(node(left, item, middle.left.clone())),
                    middle.item,
                    Some(node(middle.right.clone(), heavy.item, outer)),
                ),
                _ => node(Some(node(left, item, inner)), heavy.item, outer),
            }
        }
        (Some(heavy), _) if is_light(len(&right), heavy.len) => {
            let (outer, inner) = (heavy.left.clone(), heavy.right.clone());
            match &inner {
                Some(middle) if middle.len + 1 >= 2 * (len(&outer) + 1) => node(
                    Some(node(outer, heavy.item, middle.left.clone())),
                    middle.item,
                    Some(node(middle.right.clone(), item, right)),
                ),
                _ => node(outer, heavy.item, Some(node(inner, item, right))),
            }
        }
        _ => node(left, item, right),
    }
}

// The recursion below goes as deep as the trees, so 60 nodes at most.

fn insert(link: &Link, at: u32, item: Item) -> Arc<Node> {
    let Some(this) = link else { return node(None, item, None) };
    let before = len(&this.left);
    if at <= before {
        balanced(Some(insert(&this.left, at, item)), this.item, this.right.clone())
    } else {
        balanced(this.left.clone(), this.item, Some(insert(&this.right, at - before - 1, item)))
    }
}

fn remove(this: &Node, at: u32) -> Link {
    let before = len(&this.left);
    match (&this.left, &this.right) {
        (Some(left), _) if at < before => Some(balanced(remove(left, at), this.item, this.right.clone())),
        (_, Some(right)) if at > before => Some(balanced(this.left.clone(), this.item, remove(right, at - before - 1))),
        (None, rest) | (rest, None) => rest.clone(),
        (Some(_), Some(right)) => {
            let mut first = right;
            while let Some(left) = &first.left {
                first = left;
            }
            Some(balanced(this.left.clone(), first.item, remove(right, 0)))
        }
    }
}

fn replace(this: &Node, at: u32, item: Item) -> Arc<Node> {
    let before = len(&this.left);
    match (&this.left, &this.right) {
        (Some(left), _) if at < before => node(Some(replace(left, at, item)), this.item, this.right.clone()),
        (_, Some(right)) if at > before => {
            node(this.left.clone(), this.item, Some(replace(right, at - before - 1, item)))
        }
        _ => node(this.left.clone(), item, this.right.clone()),
    }
}

fn build(items: &[Item]) -> Link {
    let middle = items.len() / 2;
    let item = items.get(middle)?;
    Some(node(build(&items[..middle]), *item, build(&items[middle + 1..])))
}

impl Sequence {
    /// How many items there are.
    pub(in crate::models) fn len(&self) -> usize {
        index(len(&self.root))
    }

    pub(in crate::models) fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// The item at a position.
    pub(in crate::models) fn get(&self, at: usize) -> Option<Item> {
        let (mut link, mut at) = (&self.root, at);
        while let Some(this) = link {
            let before = index(len(&this.left));
            if at == before {
                return Some(this.item);
            }
            link = if at < before { &this.left } else { &this.right };
            at -= if at < before { 0 } else { before + 1 };
        }
        None
    }

    /// Puts an item in, behind so many.
    pub(in crate::models) fn insert(&mut self, at: usize, item: Item) {
        debug_assert!(at <= self.len(), "a place in the sequence");
        self.root = Some(insert(&self.root, number(at), item));
    }

    /// Puts an item in behind all.
    pub(in crate::models) fn push(&mut self, item: Item) {
        self.insert(self.len(), item);
    }

    /// Takes the item at a position out.
    pub(in crate::models) fn remove(&mut self, at: usize) {
        debug_assert!(at < self.len(), "an item of the sequence");
        self.root = self.root.as_ref().and_then(|root| remove(root, number(at)));
    }

    /// Puts an item in the place of another.
    pub(in crate::models) fn replace(&mut self, at: usize, item: Item) {
        debug_assert!(at < self.len(), "an item of the sequence");
        self.root = self.root.as_ref().map(|root| replace(root, number(at), item));
    }

    /// Of values in order, how many are below this one.
    pub(in crate::models) fn below(&self, value: i64) -> usize {
        let (mut link, mut below) = (&self.root, 0);
        while let Some(this) = link {
            link = if this.item.value < value {
                below += index(len(&this.left)) + 1;
                &this.right
            } else {
                &this.left
            };
        }
        below
    }

    /// The positions of the items that are behind at most so many others, in order.
    pub(in crate::models) fn behind_at_most(&self, most: usize) -> Vec<usize> {
        let mut found = Vec::new();
        // Trees, and items, with the items before them; the next one last.
        let mut left: Vec<(&Node, usize, bool)> = self.root.iter().map(|root| (&**root, 0, false)).collect();
        let is_within = |behind: i32, before: usize| {
            i64::from(behind) + ids::count(before).cast_signed() <= ids::count(most).cast_signed()
        };
        while let Some((this, before, is_item)) = left.pop() {
            let at = before + index(len(&this.left));
            if is_item {
                if at - index(this.item.beside).min(at) <= most {
                    found.push(at);
                }
            } else if is_within(this.least_behind, before) {
                left.extend(this.right.as_ref().map(|right| (&**right, at + 1, false)));
                left.push((this, before, true));
                left.extend(this.left.as_ref().map(|left| (&**left, before, false)));
            }
        }
        found
    }

    /// The items in order.
    pub(in crate::models) fn iter(&self) -> impl Iterator<Item = Item> {
        let mut pieces = Pieces::of(self);
        std::iter::from_fn(move || {
            loop {
                match pieces.0.pop()? {
                    Piece::Item(item) => return Some(item),
                    Piece::Tree(tree) => pieces.open(tree),
                }
            }
        })
    }
}

impl FromIterator<Item> for Sequence {
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Sequence {
        Sequence { root: build(&items.into_iter().collect::<Vec<Item>>()) }
    }
}

/// What is left of a sequence, the next piece last.
struct Pieces<'s>(Vec<Piece<'s>>);

#[derive(Clone, Copy)]
enum Piece<'s> {
    Tree(&'s Arc<Node>),
    Item(Item),
}

impl<'s> Pieces<'s> {
    fn of(sequence: &'s Sequence) -> Pieces<'s> {
        Pieces(sequence.root.iter().map(Piece::Tree).collect())
    }

    fn open(&mut self, tree: &'s Arc<Node>) {
        self.0.extend(tree.right.as_ref().map(Piece::Tree));
        self.0.push(Piece::Item(tree.item));
        self.0.extend(tree.left.as_ref().map(Piece::Tree));
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Sequence) -> bool {
        if self.len() != other.len() || hash(&self.root) != hash(&other.root) {
            return false;
        }
        let (mut ours, mut theirs) = (Pieces::of(self), Pieces::of(other));
        // As many items are left of one as of the other.
        while let (Some(one), Some(another)) = (ours.0.pop(), theirs.0.pop()) {
            match (one, another) {
                (Piece::Tree(one), Piece::Tree(another)) if Arc::ptr_eq(one, another) => {}
                (Piece::Tree(one), Piece::Tree(another)) if one.len < another.len => {
                    ours.0.push(Piece::Tree(one));
                    theirs.open(another);
                }
                (Piece::Tree(one), another) => {
                    ours.open(one);
                    theirs.0.push(another);
                }
                (Piece::Item(one), Piece::Tree(another)) => {
                    ours.0.push(Piece::Item(one));
                    theirs.open(another);
                }
                (Piece::Item(one), Piece::Item(another)) if one == another => {}
                (Piece::Item(_), Piece::Item(_)) => return false,
            }
        }
        true
    }
}

impl Eq for Sequence {}

impl Hash for Sequence {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(len(&self.root));
        state.write_u64(hash(&self.root).0);
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, Link, Sequence, is_light, len};
    use history_core::cast::Cast as _;
    use history_core::hash::hash_one;

    /// Numbers that look random: Knuth's multiplier; the upper bits are the good ones.
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

    fn is_balanced(link: &Link) -> bool {
        link.as_ref().is_none_or(|this| {
            let (left, right) = (len(&this.left), len(&this.right));
            !is_light(left, right) && !is_light(right, left) && is_balanced(&this.left) && is_balanced(&this.right)
        })
    }

    #[test]
    fn sequences_equal_vectors() {
        let mut random = Random(1);
        let (mut plain, mut sequence): (Vec<Item>, Sequence) = (Vec::new(), Sequence::default());
        let mut before = Vec::new();
        for round in 0..4_000 {
            let item = Item { value: random.below(9).to_i64(), beside: random.below(4).to_u32() };
            // It grows, and then shrinks.
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
            assert!(is_balanced(&sequence.root), "{sequence:?}");
            let at = random.below(plain.len() + 1);
            assert_eq!(sequence.get(at), plain.get(at).copied());
            let most = random.below(plain.len() + 2);
            let expected: Vec<usize> = (0..plain.len()).filter(|at| behind(*at, plain[*at]) <= most).collect();
            assert_eq!(sequence.behind_at_most(most), expected);
            if round % 16 == 0 {
                assert_eq!(sequence.iter().collect::<Vec<_>>(), plain);
                // The same by another tree.
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
    }
}
