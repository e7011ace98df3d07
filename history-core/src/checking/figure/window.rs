//! The window: which operations to show of a history that is too large for a page.
//!
//! The failure has the highest priority, then the ends of the orders that lead to it, then the operations that were in
//! progress or recent at that time, and a few later ones.

use super::{BARS_MAX, Order, Step};
use crate::cast::Cast;

/// The part of a history that a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The operations shown, ascending: their positions are those of their bars.
    pub ops: Vec<u32>,
    /// The first and the last number to show, for [`Timeline::extent`](super::Timeline::extent).
    pub extent: (i64, i64),
    /// How many operations the history has.
    pub ops_count: usize,
}

impl Window {
    /// The bar of an operation, if it is shown. Takes logarithmic time.
    pub fn bar(&self, op: u32) -> Option<u32> {
        self.ops.binary_search(&op).ok().map(Cast::to_u32)
    }

    /// Whether all operations are shown.
    pub fn is_whole(&self) -> bool {
        self.ops.len() == self.ops_count
    }

    /// A sentence about the omitted operations; `None` if all are shown.
    pub fn note(&self) -> Option<String> {
        let (shown, count) = (self.ops.len(), self.ops_count);
        (!self.is_whole()).then(|| format!("The page shows {shown} of {count} operations: those around the failure."))
    }

    /// The number of steps to omit at the beginning of an order, so that all other steps are of operations shown.
    pub fn skipped(&self, order: &[u32]) -> usize {
        order.iter().rposition(|op| self.bar(*op).is_none()).map_or(0, |last| last + 1)
    }

    /// An order as bars: `state` returns the state after a given number of steps, and is called only for the steps
    /// shown.
    ///
    /// ```
    /// use history_core::figure::window;
    ///
    /// let window = window(3, |op| (op as i64, Some(op as i64 + 1)), 2, &[&[0, 1]], 2);
    /// assert_eq!(window.ops, [1, 2]);
    /// let order = window.order(&[0, 1], |steps| format!("after {steps}"));
    /// assert_eq!((order.skipped, order.before.as_str()), (1, "after 1"));
    /// assert_eq!((order.steps[0].bar, order.steps[0].state.as_str()), (0, "after 2"));
    /// ```
    pub fn order(&self, order: &[u32], mut state: impl FnMut(usize) -> String) -> Order {
        let skipped = self.skipped(order);
        let (left_out, shown) = order.split_at(skipped);
        let steps = shown.iter().filter_map(|op| self.bar(*op)).enumerate();
        Order {
            skipped: skipped.to_u64(),
            earlier: left_out.iter().filter_map(|op| self.bar(*op)).collect(),
            before: state(skipped),
            steps: steps.map(|(nth, bar)| Step { bar, state: state(skipped + nth + 1) }).collect(),
            refusal: String::new(),
        }
    }
}

/// Chooses the operations around a failure.
///
/// A history has `ops_count` operations, and `span` returns the start and the end of each; `around` is the operation
/// that could not be placed, or else the last one of interest. `orders` are the linearizations on the page. At most
/// `bars_max` operations are chosen, and at most [`BARS_MAX`]; all, if the history has no more. Of these, a quarter is
/// reserved for the last steps of all orders, and an eighth for operations that start after the end of `around`.
///
/// Linear time, and four bytes per operation.
///
/// # Panics
///
/// If `around` or an operation of `orders` is not below `ops_count`, or `ops_count` is not below `u32::MAX`.
pub fn window(
    ops_count: usize,
    span: impl Fn(u32) -> (i64, Option<i64>),
    around: u32,
    orders: &[&[u32]],
    bars_max: usize,
) -> Window {
    assert!(around.to_usize() < ops_count && ops_count < u32::MAX.to_usize());
    let bars_max = bars_max.clamp(1, BARS_MAX);
    let (start, end) = span(around);
    if ops_count <= bars_max {
        let ops: Vec<u32> = (0..ops_count.to_u32()).collect();
        let last = ops.iter().map(|op| span(*op)).map(|(start, end)| end.unwrap_or(start)).max();
        let first = ops.iter().map(|op| span(*op).0).min();
        return Window { ops, extent: (first.unwrap_or(start), last.unwrap_or(start)), ops_count };
    }
    let mut chosen = vec![around];
    if !orders.is_empty() {
        let steps_max = bars_max / 4 / orders.len();
        for order in orders {
            chosen.extend(order.iter().rev().take(steps_max));
        }
        chosen.sort_unstable();
        chosen.dedup();
    }
    let must = chosen.clone();
    let is_new = |op: &u32| must.binary_search(op).is_err();
    let end = end.unwrap_or(start);
    let (mut before, mut after): (Vec<u32>, Vec<u32>) =
        (0..ops_count.to_u32()).filter(is_new).partition(|op| span(*op).0 <= end);
    // Space that operations after the failure do not need goes to those before it, and the other way round.
    let room = bars_max.saturating_sub(chosen.len());
    let after_max = (bars_max / 8).max(room.saturating_sub(before.len())).min(room);
    keep(&mut after, after_max, |op| (span(op).0, op));
    // Chooses by the end of operations: from the first chosen one on, no completed operation is missing, however long
    // it took.
    let recent = |op: u32| {
        let (start, end) = span(op);
        end.unwrap_or(start)
    };
    keep(&mut before, room - after.len(), |op| (std::cmp::Reverse(recent(op)), std::cmp::Reverse(op)));
    // Crashed operations may have begun long before. The page begins where no operation is missing, or where `around`
    // begins.
    let from = before.iter().map(|op| recent(*op)).min().unwrap_or(start).min(start);
    chosen.append(&mut before);
    chosen.append(&mut after);
    chosen.sort_unstable();
    let until = chosen.iter().map(|op| span(*op)).map(|(start, end)| end.unwrap_or(start)).max().unwrap_or(end);
    Window { ops: chosen, extent: (from, until), ops_count }
}

/// Keeps the first `count` operations, ordered by a key.
fn keep<K: Ord>(ops: &mut Vec<u32>, count: usize, key: impl Fn(u32) -> K) {
    if count < ops.len() {
        if count > 0 {
            ops.select_nth_unstable_by_key(count - 1, |op| key(*op));
        }
        ops.truncate(count);
    }
}
