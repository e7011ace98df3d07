//! A collection that returns its values in any order: a value must be inserted before it is removed, and an operation
//! that found nothing needs a moment at which the collection is empty.

use super::emission::{self, Moved};
use super::moments::Moments;
use super::nothing::Empty;
use history_core::cast::Cast as _;

/// A linearization, if there is one: each operation as early as possible.
pub(super) fn order(moments: &Moments) -> Option<Vec<u32>> {
    let empty = Empty::of(moments).firsts(moments)?;
    let moved = |(at, value): (usize, &super::moments::Value)| Moved {
        value: at.to_u32(),
        put: value.put_call,
        take: value.take_call,
    };
    let moved: Vec<Moved> = moments.values.iter().enumerate().map(moved).collect();
    Some(emission::order(moments, &moved, &empty))
}
