//! A queue that gives back values in any order: what was put in before it was taken out, and nothing found where
//! nothing was.

use super::emission::{self, Moved};
use super::moments::Moments;
use super::nothing::Empty;
use history_core::cast::Cast as _;

/// A linearization, if there is one: each operation as soon as it can.
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
