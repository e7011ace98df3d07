//! The ends of a sequence: short lists that share their common part, so that appending an item creates one cell, and
//! removing one creates none.

use super::Item;
use super::summary::Summary;
use std::sync::Arc;

/// Items from the end of a sequence inwards.
pub(super) type Chain = Option<Arc<Cell>>;

pub(super) struct Cell {
    pub(super) item: Item,
    /// The items further inside.
    pub(super) inner: Chain,
    /// The summary of this item and those further inside, in the order of the sequence.
    pub(super) summary: Summary,
}

/// The end of a sequence that a chain represents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Front,
    Back,
}

/// The summary of a chain's items.
pub(super) fn summary(chain: &Chain) -> Summary {
    chain.as_ref().map_or(Summary::EMPTY, |cell| cell.summary)
}

pub(super) fn len(chain: &Chain) -> u32 {
    chain.as_ref().map_or(0, |cell| cell.summary.len)
}

/// Adds an item at the outside of a chain.
pub(super) fn outside(inner: Chain, item: Item, side: Side) -> Arc<Cell> {
    let (own, rest) = (Summary::of(item), summary(&inner));
    let summary = if side == Side::Front { own.then(rest) } else { rest.then(own) };
    Arc::new(Cell { item, inner, summary })
}

/// The cells from the outside inwards.
pub(super) fn cells(chain: &Chain) -> impl Iterator<Item = &Arc<Cell>> {
    std::iter::successors(chain.as_ref(), |cell| cell.inner.as_ref())
}

/// Creates a chain of items that are given from the inside outwards.
pub(super) fn of(items: impl Iterator<Item = Item>, side: Side) -> Chain {
    items.fold(None, |chain, item| Some(outside(chain, item, side)))
}

/// Replaces the part of a chain that begins `depth` items inside by the result of `change`.
pub(super) fn changed(chain: &Chain, depth: usize, side: Side, change: impl FnOnce(&Chain) -> Chain) -> Chain {
    let mut outer = Vec::with_capacity(depth);
    let mut inner = chain;
    while outer.len() < depth
        && let Some(cell) = inner
    {
        outer.push(cell.item);
        inner = &cell.inner;
    }
    outer.into_iter().rev().fold(change(inner), |chain, item| Some(outside(chain, item, side)))
}

/// The chain inside of the outermost item.
pub(super) fn inner(chain: &Chain) -> Chain {
    chain.as_ref().and_then(|cell| cell.inner.clone())
}

/// Returns true if two chains are the same object.
pub(super) fn is_same(one: &Chain, other: &Chain) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}
