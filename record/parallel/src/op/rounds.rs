//! Detects a thread that seems to spin: it returns to the same operation and has changed nothing.
//!
//! A loop that waits for another thread need not yield, and `std::hint::spin_loop` is not observed at all. So this
//! module detects that a thread is again before the same operation on the same object at the same place. The operation
//! to compare with is chosen as in Brent, "An Improved Monte Carlo Factorization Algorithm" (BIT 1980): it changes
//! after 1, 2, 4, ... steps, so a loop of n steps is detected after at most 3n of them.

use super::{Kind, ObjectId, Op};
use std::panic::Location;

/// The number of returns after which a thread is assumed to spin.
const REPEATS_MIN: u32 = 2;

/// An operation of a thread, and how often the thread has returned to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    anchor: Option<(Kind, ObjectId, &'static Location<'static>)>,
    steps: u32,
    steps_max: u32,
    repeats: u32,
}

impl Rounds {
    /// Records that the thread is before an operation.
    #[inline]
    pub(crate) fn come_to(&mut self, op: &Op) {
        let is_back = self.anchor.is_some_and(|(kind, object, place)| {
            kind == op.kind && object == op.object && std::ptr::eq(place, op.place)
        });
        if is_back {
            self.repeats += 1;
            self.steps = 0;
            return;
        }
        self.steps += 1;
        if self.steps >= self.steps_max {
            let steps_max = (2 * self.steps_max).max(1);
            *self = Rounds { anchor: Some((op.kind, op.object, op.place)), steps: 0, steps_max, repeats: 0 };
        }
    }

    #[inline]
    pub(crate) fn seems_to_spin(&self) -> bool {
        self.repeats >= REPEATS_MIN
    }
}
