//! A linearization without crashed takes, chosen by the order in which the collection returns its values.

use super::moments::Moments;
use super::{Collection, bag, fifo, priority, stack};

/// A linearization in which no crashed take removes a value, if there is one.
pub(super) fn order(moments: &Moments, collection: Collection) -> Option<Vec<u32>> {
    match collection {
        Collection::Bag => bag::order(moments),
        Collection::Fifo => fifo::order(moments),
        Collection::Stack => stack::order(moments),
        Collection::Priority => priority::order(moments),
        Collection::Deque | Collection::Set => None,
    }
}
