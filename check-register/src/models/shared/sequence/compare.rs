//! Iterates over the items of a sequence, and compares two sequences without visiting their common part.

use super::chain::{cells, is_same};
use super::{Item, Sequence, Tree};

/// The remaining pieces of a sequence, the next piece last.
pub(super) struct Pieces<'s>(Vec<Piece<'s>>);

#[derive(Clone, Copy)]
enum Piece<'s> {
    Tree(&'s Tree),
    Item(Item),
}

impl<'s> Pieces<'s> {
    pub(super) fn of(sequence: &'s Sequence) -> Pieces<'s> {
        let mut pieces = Pieces(cells(&sequence.back).map(|cell| Piece::Item(cell.item)).collect());
        pieces.0.extend(sequence.middle.as_ref().map(Piece::Tree));
        let front = pieces.0.len();
        pieces.0.extend(cells(&sequence.front).map(|cell| Piece::Item(cell.item)));
        pieces.0[front..].reverse();
        pieces
    }

    fn open(&mut self, tree: &'s Tree) {
        match tree {
            Tree::Leaf(leaf) => self.0.extend(leaf.items.iter().rev().map(|item| Piece::Item(*item))),
            Tree::Branch(branch) => self.0.extend([Piece::Tree(&branch.right), Piece::Tree(&branch.left)]),
        }
    }

    pub(super) fn items(mut self) -> impl Iterator<Item = Item> {
        std::iter::from_fn(move || {
            loop {
                match self.0.pop()? {
                    Piece::Item(item) => return Some(item),
                    Piece::Tree(tree) => self.open(tree),
                }
            }
        })
    }
}

/// Returns true if two sequences of the same length have the same items.
pub(super) fn are_equal(one: &Sequence, other: &Sequence) -> bool {
    let is_middle_same = match (&one.middle, &other.middle) {
        (Some(one), Some(other)) => one.is_same(other),
        (None, None) => true,
        _ => false,
    };
    if is_middle_same && is_same(&one.front, &other.front) && is_same(&one.back, &other.back) {
        return true;
    }
    let (mut ours, mut theirs) = (Pieces::of(one), Pieces::of(other));
    // The same number of items remains of both sequences.
    while let (Some(one), Some(another)) = (ours.0.pop(), theirs.0.pop()) {
        match (one, another) {
            (Piece::Tree(one), Piece::Tree(another)) if one.is_same(another) => {}
            (Piece::Tree(one), Piece::Tree(another)) if one.len() < another.len() => {
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
