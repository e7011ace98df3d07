//! The middle of a sequence: a tree whose nodes are never changed, with short runs of items at its leaves.
//!
//! It is balanced by weight, which is the number of leaves: Adams, "Efficient sets: a balancing act" (JFP 1993), with
//! the parameters that Hirai and Yamamoto, "Balancing weight-balanced trees" (JFP 2011), proved correct. Their trees
//! have items in inner nodes; a tree of n such nodes has n + 1 places for leaves, which is what they call its weight.

use super::Item;
use super::summary::Summary;
use crate::engine::ids::index;
use std::sync::Arc;

/// The maximum number of items of a leaf. A leaf created by a split has half as many.
pub(super) const LEAF_MAX: usize = 16;

/// A tree that is not empty.
#[derive(Clone)]
pub(super) enum Tree {
    Leaf(Arc<Leaf>),
    Branch(Arc<Branch>),
}

pub(super) struct Leaf {
    /// The items, at least one.
    pub(super) items: Box<[Item]>,
    summary: Summary,
}

pub(super) struct Branch {
    pub(super) left: Tree,
    pub(super) right: Tree,
    leaves: u32,
    first: Item,
    summary: Summary,
}

impl Tree {
    /// Creates a leaf of at least one and at most `LEAF_MAX` items.
    pub(super) fn leaf(items: Vec<Item>) -> Tree {
        debug_assert!((1..=LEAF_MAX).contains(&items.len()), "a leaf of {} items", items.len());
        let summary = items.iter().fold(Summary::EMPTY, |all, item| all.then(Summary::of(*item)));
        Tree::Leaf(Arc::new(Leaf { items: items.into(), summary }))
    }

    /// A tree of items in order; `None` if there are none.
    pub(super) fn of(items: &[Item]) -> Option<Tree> {
        match items.len() {
            0 => None,
            len if len <= LEAF_MAX => Some(Tree::leaf(items.to_vec())),
            len => {
                let (left, right) = items.split_at(len / 2);
                Some(branch(Tree::of(left)?, Tree::of(right)?))
            }
        }
    }

    pub(super) fn summary(&self) -> Summary {
        match self {
            Tree::Leaf(leaf) => leaf.summary,
            Tree::Branch(branch) => branch.summary,
        }
    }

    pub(super) fn len(&self) -> usize {
        index(self.summary().len)
    }

    fn leaves(&self) -> u32 {
        match self {
            Tree::Leaf(_) => 1,
            Tree::Branch(branch) => branch.leaves,
        }
    }

    fn first(&self) -> Item {
        match self {
            Tree::Leaf(leaf) => leaf.items[0],
            Tree::Branch(branch) => branch.first,
        }
    }

    /// Returns true if two trees are the same object.
    pub(super) fn is_same(&self, other: &Tree) -> bool {
        match (self, other) {
            (Tree::Leaf(one), Tree::Leaf(other)) => Arc::ptr_eq(one, other),
            (Tree::Branch(one), Tree::Branch(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// The item at a position.
    pub(super) fn get(&self, mut at: usize) -> Option<Item> {
        let mut tree = self;
        loop {
            match tree {
                Tree::Leaf(leaf) => return leaf.items.get(at).copied(),
                Tree::Branch(branch) => {
                    let before = branch.left.len();
                    tree = if at < before { &branch.left } else { &branch.right };
                    at -= if at < before { 0 } else { before };
                }
            }
        }
    }

    /// The number of items at the beginning for which `is_so` holds. It must not hold for any item after one for which
    /// it does not.
    pub(super) fn prefix(&self, is_so: impl Fn(Item) -> bool) -> usize {
        let (mut tree, mut before) = (self, 0);
        loop {
            match tree {
                Tree::Leaf(leaf) => return before + leaf.items.partition_point(|item| is_so(*item)),
                Tree::Branch(branch) if is_so(branch.right.first()) => {
                    before += branch.left.len();
                    tree = &branch.right;
                }
                Tree::Branch(branch) => tree = &branch.left,
            }
        }
    }

    // The functions below recurse as deep as the tree, so through at most 80 nodes.

    pub(super) fn insert(&self, at: usize, item: Item) -> Tree {
        match self {
            Tree::Leaf(leaf) => {
                let mut items = Vec::with_capacity(leaf.items.len() + 1);
                items.extend_from_slice(&leaf.items[..at]);
                items.push(item);
                items.extend_from_slice(&leaf.items[at..]);
                if items.len() <= LEAF_MAX {
                    return Tree::leaf(items);
                }
                let right = items.split_off(LEAF_MAX / 2);
                branch(Tree::leaf(items), Tree::leaf(right))
            }
            Tree::Branch(node) => {
                let before = node.left.len();
                if at <= before {
                    balanced(node.left.insert(at, item), node.right.clone())
                } else {
                    balanced(node.left.clone(), node.right.insert(at - before, item))
                }
            }
        }
    }

    pub(super) fn remove(&self, at: usize) -> Option<Tree> {
        match self {
            Tree::Leaf(leaf) => {
                let mut items = leaf.items.to_vec();
                items.remove(at);
                (!items.is_empty()).then(|| Tree::leaf(items))
            }
            Tree::Branch(node) => {
                let before = node.left.len();
                let (left, right) = if at < before {
                    (node.left.remove(at), Some(node.right.clone()))
                } else {
                    (Some(node.left.clone()), node.right.remove(at - before))
                };
                match (left, right) {
                    // Only here has a leaf changed, so there is at most one leaf less.
                    (Some(left), Some(right))
                        if matches!((&node.left, &node.right), (Tree::Leaf(_), Tree::Leaf(_))) =>
                    {
                        Some(merged(left, right))
                    }
                    (Some(left), Some(right)) => Some(balanced(left, right)),
                    (left, right) => left.or(right),
                }
            }
        }
    }

    pub(super) fn replace(&self, at: usize, item: Item) -> Tree {
        match self {
            Tree::Leaf(leaf) => {
                let mut items = leaf.items.to_vec();
                items[at] = item;
                Tree::leaf(items)
            }
            Tree::Branch(node) => {
                let before = node.left.len();
                if at < before {
                    branch(node.left.replace(at, item), node.right.clone())
                } else {
                    branch(node.left.clone(), node.right.replace(at - before, item))
                }
            }
        }
    }

    /// Returns the tree with a leaf appended.
    pub(super) fn push_leaf(&self, leaf: Tree) -> Tree {
        match self {
            Tree::Leaf(_) => branch(self.clone(), leaf),
            Tree::Branch(node) => balanced(node.left.clone(), node.right.push_leaf(leaf)),
        }
    }

    /// Returns the tree with a leaf prepended.
    pub(super) fn push_leaf_first(&self, leaf: Tree) -> Tree {
        match self {
            Tree::Leaf(_) => branch(leaf, self.clone()),
            Tree::Branch(node) => balanced(node.left.push_leaf_first(leaf), node.right.clone()),
        }
    }

    /// Returns the tree without the last leaf, and this leaf.
    pub(super) fn pop_leaf(&self) -> (Option<Tree>, Arc<Leaf>) {
        match self {
            Tree::Leaf(leaf) => (None, leaf.clone()),
            Tree::Branch(node) => {
                let (right, leaf) = node.right.pop_leaf();
                let left = node.left.clone();
                (Some(if let Some(right) = right { balanced(left, right) } else { left }), leaf)
            }
        }
    }

    /// Returns the tree without the first leaf, and this leaf.
    pub(super) fn pop_leaf_first(&self) -> (Option<Tree>, Arc<Leaf>) {
        match self {
            Tree::Leaf(leaf) => (None, leaf.clone()),
            Tree::Branch(node) => {
                let (left, leaf) = node.left.pop_leaf_first();
                let right = node.right.clone();
                (Some(if let Some(left) = left { balanced(left, right) } else { right }), leaf)
            }
        }
    }

    /// Returns true if no side of any node is too light.
    #[cfg(test)]
    pub(super) fn is_balanced(&self) -> bool {
        match self {
            Tree::Leaf(_) => true,
            Tree::Branch(node) => {
                let (left, right) = (node.left.leaves(), node.right.leaves());
                let is_even = !is_light(left, right) && !is_light(right, left);
                is_even && node.left.is_balanced() && node.right.is_balanced()
            }
        }
    }
}

fn branch(left: Tree, right: Tree) -> Tree {
    let (leaves, first) = (left.leaves() + right.leaves(), left.first());
    let summary = left.summary().then(right.summary());
    Tree::Branch(Arc::new(Branch { left, right, leaves, first, summary }))
}

/// A node of two adjacent trees; if both are short leaves, one leaf.
fn merged(left: Tree, right: Tree) -> Tree {
    match (&left, &right) {
        (Tree::Leaf(one), Tree::Leaf(other)) if one.items.len() + other.items.len() <= LEAF_MAX / 2 => {
            Tree::leaf(one.items.iter().chain(&other.items).copied().collect())
        }
        _ => branch(left, right),
    }
}

/// Returns true if a side with `one` leaves is too light beside one with `other`.
fn is_light(one: u32, other: u32) -> bool {
    3 * u64::from(one) < u64::from(other)
}

/// A node of two trees of which one may have gained or lost one leaf.
fn balanced(left: Tree, right: Tree) -> Tree {
    let is_double = |inner: &Tree, outer: &Tree| u64::from(inner.leaves()) >= 2 * u64::from(outer.leaves());
    match (&left, &right) {
        (_, Tree::Branch(heavy)) if is_light(left.leaves(), heavy.leaves) => {
            let (inner, outer) = (heavy.left.clone(), heavy.right.clone());
            match &inner {
                Tree::Branch(middle) if is_double(&inner, &outer) => {
                    branch(branch(left, middle.left.clone()), branch(middle.right.clone(), outer))
                }
                _ => branch(branch(left, inner), outer),
            }
        }
        (Tree::Branch(heavy), _) if is_light(right.leaves(), heavy.leaves) => {
            let (outer, inner) = (heavy.left.clone(), heavy.right.clone());
            match &inner {
                Tree::Branch(middle) if is_double(&inner, &outer) => {
                    branch(branch(outer, middle.left.clone()), branch(middle.right.clone(), right))
                }
                _ => branch(outer, branch(inner, right)),
            }
        }
        _ => branch(left, right),
    }
}
