//! Converts the steps of a search into operations in order, and verifies the order against real time.

use super::part::{NEVER, Part};
use super::paths::Placed;
use crate::engine::ids;

/// The operations of a linearization. Each use of a crashed class becomes its earliest unused operation. `None` if a
/// class has too few operations, or an operation comes before one that had returned when it was called.
pub(crate) fn place(part: &Part, placed: &[Placed]) -> Option<Vec<u32>> {
    let mut crashed: Vec<Vec<u32>> = vec![Vec::new(); part.crashed.len()];
    for (at, op) in part.ops.iter().enumerate().rev() {
        if op.is_crashed() {
            crashed[ids::index(op.slot)].push(ids::number(at));
        }
    }
    let mut order = Vec::with_capacity(placed.len());
    for one in placed {
        order.push(match one {
            Placed::Op(op) => *op,
            Placed::Crashed(class) => crashed[ids::index(*class)].pop()?,
            Placed::Marked(_) | Placed::Chosen(_) => continue,
        });
    }
    let mut first_return_after = NEVER;
    for op in order.iter().rev() {
        let op = &part.ops[ids::index(*op)];
        if op.call > first_return_after {
            return None;
        }
        first_return_after = first_return_after.min(op.ret);
    }
    Some(order)
}

/// The operations that returned, in this order.
pub(crate) fn operations(placed: &[Placed]) -> Vec<u32> {
    placed.iter().filter_map(|one| if let Placed::Op(op) = one { Some(*op) } else { None }).collect()
}
