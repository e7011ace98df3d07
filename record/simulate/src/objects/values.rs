//! The values that clients write.

use crate::rng::Rng;

/// A value that is never written.
pub(super) const UNWRITTEN: i64 = -1;

/// Draws values to write.
#[derive(Debug)]
pub(super) struct Values {
    /// The number of values; 0 if each is new.
    count: u64,
    next: i64,
}

impl Values {
    pub(super) fn new(count: u32) -> Values {
        Values { count: count.into(), next: 0 }
    }

    /// Returns true if no value is drawn twice.
    pub(super) fn are_new(&self) -> bool {
        self.count == 0
    }

    /// Draws a value, which is not negative.
    pub(super) fn draw(&mut self, rng: &mut Rng) -> i64 {
        if self.count > 0 {
            return rng.below(self.count).cast_signed();
        }
        self.next += 1;
        self.next - 1
    }
}
