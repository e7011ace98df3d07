//! From what a search placed to operations in order, checked against real time.

use super::part::{NEVER, Part};
use super::paths::Placed;

/// The operations of a linearization, a crashed one for every use of its class: the one called first. `None` if there are
/// not enough of them, or an operation comes before one that had returned when it was called.
pub(crate) fn place(part: &Part, placed: &[Placed]) -> Option<Vec<u32>> {
    let mut crashed: Vec<Vec<u32>> = vec![Vec::new(); part.crashed.len()];
    for (at, op) in part.ops.iter().enumerate().rev() {
        if op.is_crashed() {
            crashed[op.slot as usize].push(at as u32);
        }
    }
    let mut order = Vec::with_capacity(placed.len());
    for one in placed {
        order.push(match one {
            Placed::Op(op) => *op,
            Placed::Crashed(class) => crashed[*class as usize].pop()?,
            Placed::Marked(_) | Placed::Chosen(_) => continue,
        });
    }
    let mut first_return_after = NEVER;
    for op in order.iter().rev() {
        let op = &part.ops[*op as usize];
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
