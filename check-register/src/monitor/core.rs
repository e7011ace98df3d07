//! The reason for a refusal: values that contradict each other, as few as possible.
//!
//! A history of a collection remains valid if a value is omitted, with the operations that moved it. So each of the
//! contradicting values is either omitted permanently or must remain.

use super::moments::Moments;
use super::orders::order;
use super::{Collection, crashed, fifo, nothing::Empty, priority, stack};
use crate::{Conflict, Held};

/// Returns values that contradict each other, and possibly an operation that found the collection empty. `None` if the
/// contradiction depends on the number of crashed takes.
pub(super) fn find(moments: &Moments, collection: Collection) -> Option<Conflict<u32>> {
    let moments = &crashed::relaxed(moments);
    let core = Core { moments, collection };
    if let Some(values) = core.of_values() {
        return Some(Conflict::Values { values: core.held(values) });
    }
    let empty = Empty::of(moments);
    let at = moments.nothings.iter().position(|nothing| empty.first(nothing).is_none())?;
    let nothing = moments.nothings[at];
    let values = core.chain((nothing.call, nothing.ret), None);
    Some(Conflict::NeverEmpty { nothing: nothing.op, values: core.held(values) })
}

struct Core<'m> {
    moments: &'m Moments,
    collection: Collection,
}

impl Core<'_> {
    /// Values that contradict each other without any operation that found the collection empty.
    fn of_values(&self) -> Option<Vec<usize>> {
        match self.collection {
            Collection::Fifo => fifo::overtaken(self.moments).map(|(one, other)| vec![one, other]),
            Collection::Stack => {
                let rest = stack::rest(self.moments);
                (!rest.is_empty()).then(|| self.smallest(rest))
            }
            Collection::Priority => priority::hindered(self.moments).map(|at| {
                let value = &self.moments.values[at];
                let below = self.chain((value.take_call, value.take_ret), Some(value.priority));
                std::iter::once(at).chain(below).collect()
            }),
            Collection::Bag | Collection::Deque | Collection::Set => None,
        }
    }

    fn is_refused(&self, values: &[usize]) -> bool {
        let mut values = values.to_vec();
        values.sort_unstable();
        order(&self.moments.only(&values), self.collection).is_none()
    }

    /// Reduces values that contradict each other to a subset of which none can be omitted. Values that were moved last
    /// are tried first, in growing numbers, so that only the history since the first of them is decided.
    fn smallest(&self, mut values: Vec<usize>) -> Vec<usize> {
        let moved = |at: &usize| {
            let value = &self.moments.values[*at];
            if value.take_call < self.moments.end { value.take_ret } else { value.put_ret }
        };
        values.sort_unstable_by_key(|at| std::cmp::Reverse(moved(at)));
        let mut kept = Vec::new();
        while !self.is_refused(&kept) {
            let with = |count: usize| [&kept[..], &values[..count]].concat();
            let mut enough = 1;
            while enough < values.len() && !self.is_refused(&with(enough)) {
                enough *= 2;
            }
            // The first `few` values do not contradict each other, the first `enough` do.
            let (mut few, mut enough) = (enough / 2, enough.min(values.len()));
            while few + 1 < enough {
                let middle = usize::midpoint(few, enough);
                if self.is_refused(&with(middle)) {
                    enough = middle;
                } else {
                    few = middle;
                }
            }
            let Some(last) = enough.checked_sub(1) else { break };
            kept.push(values[last]);
            values.truncate(last);
        }
        kept.sort_unstable();
        kept
    }

    /// The fewest values whose spans cover every moment of an operation; only values below `below`, if it is given. Of
    /// the values whose span begins in time, the one whose span ends last is chosen, and so on.
    fn chain(&self, (call, ret): (u32, u32), below: Option<i64>) -> Vec<usize> {
        let is_below = |at: &usize| below.is_none_or(|priority| self.moments.values[*at].priority < priority);
        let mut by_start: Vec<usize> = (0..self.moments.values.len()).filter(is_below).collect();
        by_start.sort_unstable_by_key(|at| self.moments.values[*at].put_ret);
        let (mut chain, mut moment, mut last) = (Vec::new(), call, None);
        let mut by_start = by_start.into_iter().peekable();
        while moment < ret {
            while let Some(at) = by_start.next_if(|at| self.moments.values[*at].put_ret <= moment) {
                last = last.max(Some((self.moments.values[at].take_call, at)));
            }
            let Some((end, at)) = last.filter(|(end, _)| *end > moment) else { break };
            chain.push(at);
            moment = end;
        }
        chain
    }

    fn held(&self, values: Vec<usize>) -> Vec<Held<u32>> {
        values.into_iter().map(|at| self.moments.values[at].held()).collect()
    }
}
