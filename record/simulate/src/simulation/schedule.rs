//! A calendar of events on one simulated clock.

use crate::rng::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Future events, ordered by time. Events at one instant are in the order in which they were planned.
///
/// Planning an event and taking it are O(log events).
pub(crate) struct Schedule<E> {
    heap: BinaryHeap<Reverse<(u64, u64, E)>>,
    planned: u64,
}

impl<E: Ord> Schedule<E> {
    pub(crate) fn new() -> Schedule<E> {
        Schedule { heap: BinaryHeap::new(), planned: 0 }
    }

    /// Plans an event at a time in nanoseconds since the test began.
    pub(crate) fn at(&mut self, time_ns: u64, event: E) {
        // `planned` is unique, so events themselves are never compared.
        self.heap.push(Reverse((time_ns, self.planned, event)));
        self.planned += 1;
    }

    /// Takes the next event, with its time.
    pub(crate) fn next(&mut self) -> Option<(u64, E)> {
        self.heap.pop().map(|Reverse((time_ns, _, event))| (time_ns, event))
    }
}

/// A random duration in nanoseconds: uniform from the first number to the second one, both included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delay(pub(crate) u64, pub(crate) u64);

impl Delay {
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        rng.between(self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_by_time_and_then_by_planning() {
        let mut schedule = Schedule::new();
        for (time_ns, event) in [(5, 'z'), (3, 'y'), (5, 'a'), (3, 'b')] {
            schedule.at(time_ns, event);
        }
        let order: Vec<_> = std::iter::from_fn(|| schedule.next()).collect();
        assert_eq!(order, [(3, 'y'), (3, 'b'), (5, 'z'), (5, 'a')]);
    }
}
