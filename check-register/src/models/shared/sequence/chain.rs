//! The ends of a sequence: short lists that share what they have in common, so that one more item at the end makes one
//! cell, and one less none.

use super::Item;
use super::summary::Summary;
use std::sync::Arc;

/// Items from the end of a sequence inwards.
pub(super) type Chain = Option<Arc<Cell>>;

pub(super) struct Cell {
    pub(super) item: Item,
    /// Those further inside.
    pub(super) inner: Chain,
    /// Of this item and those further inside, in the order of the sequence.
    pub(super) summary: Summary,
}

/// Which end of a sequence a chain is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Front,
    Back,
}

/// What is known of a chain's items together.
pub(super) fn summary(chain: &Chain) -> Summary {
    chain.as_ref().map_or(Summary::EMPTY, |cell| cell.summary)
}

pub(super) fn len(chain: &Chain) -> u32 {
    chain.as_ref().map_or(0, |cell| cell.summary.len)
}

/// One more item, outside of all.
pub(super) fn outside(inner: Chain, item: Item, side: Side) -> Arc<Cell> {
    let (own, rest) = (Summary::of(item), summary(&inner));
    let summary = if side == Side::Front { own.then(rest) } else { rest.then(own) };
    Arc::new(Cell { item, inner, summary })
}

/// The cells from the outside inwards.
pub(super) fn cells(chain: &Chain) -> impl Iterator<Item = &Arc<Cell>> {
    std::iter::successors(chain.as_ref(), |cell| cell.inner.as_ref())
}

/// A chain of items that are given from the inside outwards.
pub(super) fn of(items: impl Iterator<Item = Item>, side: Side) -> Chain {
    items.fold(None, |chain, item| Some(outside(chain, item, side)))
}

/// With a change `depth` items inside: `change` gives what takes the place of the chain from there on.
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

/// Whether two chains are one.
pub(super) fn is_same(one: &Chain, other: &Chain) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}
