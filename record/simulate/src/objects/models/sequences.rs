//! Queues, stacks, deques and priority queues: elements are inserted, and removed in an order that depends on the
//! object.

use super::{Model, Outcome, Want};
use crate::ids::{index, wide};
use crate::objects::flight::{Ask, Flight};
use crate::objects::object::Object;
use crate::objects::values::Values;
use crate::rng::{Chance, Rng};
use std::collections::VecDeque;

/// A queue, a stack or a deque (from front to back), initially empty.
pub(in crate::objects) struct Sequence {
    pub(in crate::objects) object: Object,
    pub(in crate::objects) values: Values,
    /// The share of operations that remove an element.
    pub(in crate::objects) takes: Chance,
    /// The number of elements from which on clients insert no more.
    pub(in crate::objects) capacity: u32,
    /// Whether a take that finds nothing succeeds with nil, and does not fail.
    pub(in crate::objects) empty_ok: bool,
}

impl Sequence {
    /// An element of a priority queue. New elements are not in order.
    fn priority(&mut self, rng: &mut Rng) -> i64 {
        /// An odd number (Knuth's), so that different numbers remain different modulo a power of two.
        const FACTOR: i64 = 2_654_435_761;
        let element = self.values.draw(rng);
        if self.values.are_new() { element.wrapping_mul(FACTOR) & ((1 << 31) - 1) } else { element }
    }

    fn take(&self, state: &mut VecDeque<i64>, flight: &Flight) -> Option<i64> {
        match self.object {
            Object::Stack => state.pop_back(),
            Object::Deque if flight.ask == Ask::PopBack => state.pop_back(),
            Object::PriorityQueue => {
                let least = state.iter().enumerate().min_by_key(|(_, element)| **element)?.0;
                state.remove(least)
            }
            Object::UnorderedQueue if !state.is_empty() => {
                state.swap_remove_back(index(flight.pick % wide(state.len())))
            }
            _ => state.pop_front(),
        }
    }
}

impl Model for Sequence {
    /// The elements, oldest first.
    type State = VecDeque<i64>;

    fn fresh(&self) -> VecDeque<i64> {
        VecDeque::new()
    }

    fn draw(&mut self, state: &VecDeque<i64>, flight: &mut Flight, want: Want, rng: &mut Rng) {
        let full = state.len() >= index(self.capacity);
        let takes = rng.happens(self.takes) || full || want == Want::Read;
        flight.ask = match (self.object, takes) {
            (Object::Stack, true) => Ask::Pop,
            (Object::Stack, false) => Ask::Push(self.values.draw(rng)),
            (Object::Deque, true) if rng.happens(Chance::HALF) => Ask::PopFront,
            (Object::Deque, true) => Ask::PopBack,
            (Object::Deque, false) if rng.happens(Chance::HALF) => Ask::PushFront(self.values.draw(rng)),
            (Object::Deque, false) => Ask::PushBack(self.values.draw(rng)),
            (Object::PriorityQueue, true) => Ask::DeleteMin,
            (Object::PriorityQueue, false) => Ask::Insert(self.priority(rng)),
            (_, true) => Ask::Dequeue,
            (_, false) => Ask::Enqueue(self.values.draw(rng)),
        };
    }

    fn apply(&mut self, state: &mut VecDeque<i64>, flight: &mut Flight) -> Outcome {
        match flight.ask {
            Ask::Enqueue(element) | Ask::Push(element) | Ask::PushBack(element) | Ask::Insert(element) => {
                state.push_back(element);
                return Outcome::Done;
            }
            Ask::PushFront(element) => {
                state.push_front(element);
                return Outcome::Done;
            }
            Ask::Drain => {
                flight.items.clear();
                flight.items.extend(state.drain(..));
                return Outcome::Done;
            }
            _ => {}
        }
        flight.seen = self.take(state, flight);
        if flight.seen.is_some() || self.empty_ok { Outcome::Done } else { Outcome::Refused }
    }

    fn last(&self) -> Option<Ask> {
        (self.object == Object::TotalQueue).then_some(Ask::Drain)
    }

    /// An element is lost if it is removed by an operation without a known result.
    fn is_sure(&self, flight: &Flight) -> bool {
        self.object == Object::TotalQueue && matches!(flight.ask, Ask::Dequeue | Ask::Drain)
    }

    fn disorder(&mut self, state: &mut VecDeque<i64>) {
        if let Some(before) = state.len().checked_sub(2) {
            state.swap(before, before + 1);
        }
    }
}
