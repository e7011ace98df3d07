//! Finds operations with a result that no other operation can have caused, in one pass over the history.
//!
//! Some operations need an effect of others: a read of a value needs a write of it, unless it is the register's initial
//! value. An effect can have come about if an operation with this effect was called, and the effect that this operation
//! itself needs can have come about. If an operation returns and its need cannot have been met by then, there is no
//! linearization up to this return. A search finds this only by trying all orders of the operations in flight.

use super::part::Part;
use crate::engine::ids::ClassId;
use history_core::hash::{HashMap, HashSet};

/// The effects that concern an operation, as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    /// Its own effect, if it changes the state.
    pub(crate) effect: Option<u64>,
    /// The effect that it needs.
    pub(crate) needs: Option<u64>,
}

/// The first return of an operation whose need cannot have been met, as a position in the part's events. O(n).
pub(crate) fn find_unmet(part: &Part, origin: impl Fn(ClassId) -> Origin) -> Option<usize> {
    let mut met: HashSet<u64> = HashSet::default();
    // By need: the effects that come about when it is met.
    let mut waiting: HashMap<u64, Vec<u64>> = HashMap::default();
    let mut news: Vec<u64> = Vec::new();
    for (at, event) in part.events.iter().enumerate() {
        let Origin { effect, needs } = origin(part.ops[event.op()].class);
        let is_met = needs.is_none_or(|needs| met.contains(&needs));
        if event.is_return() {
            if !is_met {
                return Some(at);
            }
            continue;
        }
        match (effect, needs) {
            (Some(effect), Some(needs)) if !is_met => waiting.entry(needs).or_default().push(effect),
            (Some(effect), _) => news.push(effect),
            (None, _) => {}
        }
        while let Some(effect) = news.pop() {
            if met.insert(effect) {
                news.extend(waiting.remove(&effect).unwrap_or_default());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ids::OpId;
    use crate::search::part::RawEvent;

    /// Takes operations as pairs of effect and need, and events as numbers of operations: called, or returned if
    /// negative.
    fn unmet(ops: &[(u64, u64)], events: &[i32]) -> Option<usize> {
        let event = |at: &i32| RawEvent {
            // Ids increase from call to call.
            id: OpId::new(events.iter().position(|other| *other == at.abs()).unwrap_or_default()),
            class: ClassId::new(crate::engine::ids::index(at.unsigned_abs())),
            is_return: *at < 0,
            returns: events.contains(&-at.abs()),
        };
        let some = |number: u64| (number > 0).then_some(number);
        let origin = |class: ClassId| {
            let (effect, needs) = ops[class.at() - 1];
            Origin { effect: some(effect), needs: some(needs) }
        };
        find_unmet(&Part::new(events.iter().map(event)), origin)
    }

    #[test]
    fn a_need_is_met_by_any_operation_that_was_called() {
        let ops = [(5, 0), (0, 5), (0, 6)];
        assert_eq!(unmet(&ops, &[1, 2, -2]), None);
        assert_eq!(unmet(&ops, &[2, 1, -2]), None);
        assert_eq!(unmet(&ops, &[2, -2, 3]), Some(1));
        assert_eq!(unmet(&ops, &[1, 2, 3, -2, -3, -1]), Some(4));
    }

    #[test]
    fn chains_are_followed_in_any_order_and_circles_are_not() {
        let ops = [(0, 4), (4, 3), (3, 2), (2, 0)];
        assert_eq!(unmet(&ops, &[1, 2, 3, 4, -1]), None);
        assert_eq!(unmet(&ops, &[1, 2, 3, -1, 4]), Some(3));
        assert_eq!(unmet(&[(1, 2), (2, 1), (0, 1)], &[1, 2, 3, -3]), Some(3));
    }
}
