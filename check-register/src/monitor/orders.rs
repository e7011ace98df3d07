//! A linearization without crashed takes, by the order in which the collection returns its values.

use super::moments::Moments;
use super::{Collection, bag, fifo, priority, stack};

/// A linearization, if there is one in which no crashed take takes anything.
pub(super) fn order(moments: &Moments, collection: Collection) -> Option<Vec<u32>> {
    match collection {
        Collection::Bag => bag::order(moments),
        Collection::Fifo => fifo::order(moments),
        Collection::Stack => stack::order(moments),
        Collection::Priority => priority::order(moments),
        Collection::Deque | Collection::Set => None,
    }
}
