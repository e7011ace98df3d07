//! One impossible read: when it occurs, and which value a register cannot have.
//!
//! An operation R cannot read a value if every write of it ended before some other write W began, and W took effect and
//! ended before R began: in any order that respects real time, W is between all writes of the value and R. A write of
//! unknown outcome never ends. If a read returns such a value, the history is not linearizable.

use super::values::UNWRITTEN;
use crate::ids::{index, wide};
use crate::rng::Rng;
use std::collections::BTreeMap;

/// The number of values whose writes are tracked. Larger values overwrite others, but are never chosen.
const TRACKED_MAX: u32 = 256;

/// The completed writes that began last, of two different values: at least one of them differs from a given value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overwriters([Option<(u64, i64)>; 2]);

impl Overwriters {
    fn add(&mut self, invoked: u64, value: i64) {
        let [first, second] = &mut self.0;
        match first {
            Some((last, of)) if *of == value => *last = invoked.max(*last),
            Some((last, _)) if *last > invoked => {
                if second.is_none_or(|(last, _)| last < invoked) {
                    *second = Some((invoked, value));
                }
            }
            _ => (*second, *first) = (*first, Some((invoked, value))),
        }
    }

    /// The beginning of the last write of another value.
    fn of_others(&self, value: i64) -> Option<u64> {
        self.0.iter().flatten().find(|(_, of)| *of != value).map(|(invoked, _)| *invoked)
    }
}

/// The writes of one value.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// The number of writes that have not ended, or have an unknown outcome.
    open: u32,
    /// The end of the last of the other writes; 0 if there is none.
    over: u64,
}

/// The writes to a register.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    /// The number of values; 0 if each is new.
    count: i64,
    written: BTreeMap<i64, Written>,
    overwriters: Overwriters,
}

impl Tracker {
    pub(super) fn new(values: u32) -> Tracker {
        let written = (0..i64::from(values.min(TRACKED_MAX))).map(|value| (value, Written::default())).collect();
        Tracker { count: values.into(), written, overwriters: Overwriters::default() }
    }

    /// The completed writes that an operation which is invoked now follows.
    pub(super) fn overwriters(&self) -> Overwriters {
        self.overwriters
    }

    /// Records the invocation of a write.
    pub(super) fn open(&mut self, value: i64) {
        if self.count == 0 {
            if self.written.len() == index(TRACKED_MAX) {
                // Each value is written once, so a value that is removed cannot occur again.
                self.written.pop_first();
            }
            self.written.insert(value, Written::default());
        }
        if let Some(written) = self.written.get_mut(&value) {
            written.open += 1;
        }
    }

    /// Records the end of a write whose outcome is known.
    pub(super) fn close(&mut self, value: i64, invoked: u64, now: u64, done: bool) {
        if let Some(written) = self.written.get_mut(&value) {
            written.open -= 1;
            if done {
                written.over = now;
            }
        }
        if done {
            self.overwriters.add(invoked, value);
        }
    }

    /// A value that the register cannot have had since the invocation of an operation that followed `overwriters`. To
    /// be called at the end of this operation.
    pub(super) fn impossible(&self, overwriters: Overwriters, rng: &mut Rng) -> Option<i64> {
        let is_impossible = |(value, written): &(&i64, &Written)| {
            let overwritten = overwriters.of_others(**value).is_some_and(|invoked| invoked > written.over);
            written.open == 0 && (overwritten || written.over == 0)
        };
        let all: Vec<i64> = self.written.iter().filter(is_impossible).map(|(value, _)| *value).collect();
        (!all.is_empty()).then(|| all[index(rng.below(wide(all.len())))])
    }
}

/// The time of the wrong read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The first operation that may be wrong.
    first: u64,
    /// The last operation that may be wrong. It uses an unwritten value if no impossible one is found.
    last: u64,
    done: bool,
}

impl Plan {
    pub(super) fn new(ops: u64, at: f64) -> Plan {
        #[expect(clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of at most 10^9 operations")]
        let first = (ops as f64 * at) as u64;
        let last = ops.saturating_sub(1);
        Plan { first: first.min(last), last, done: false }
    }

    /// Returns true if this operation must be a read.
    pub(super) fn wants_read(&self, number: u64) -> bool {
        !self.done && (number == self.first || number == self.last)
    }

    /// Returns true if this read may be the wrong one.
    pub(super) fn is_due(&self, number: u64) -> bool {
        !self.done && number >= self.first
    }

    /// The value to be returned instead, if this is the wrong read.
    pub(super) fn value(
        &mut self,
        tracker: &Tracker,
        overwriters: Overwriters,
        number: u64,
        rng: &mut Rng,
    ) -> Option<i64> {
        let value = tracker.impossible(overwriters, rng).or((number == self.last).then_some(UNWRITTEN));
        self.done = value.is_some();
        value
    }

    /// Records that the wrong read occurred.
    pub(super) fn finish(&mut self) {
        self.done = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn impossible(tracker: &Tracker, since: Overwriters) -> Vec<i64> {
        let mut rng = Rng::new(0, Purpose::Bug);
        let mut found: Vec<i64> = (0..200).filter_map(|_| tracker.impossible(since, &mut rng)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn a_value_overwritten_before_a_read_is_impossible() {
        let mut tracker = Tracker::new(3);
        assert_eq!(impossible(&tracker, tracker.overwriters()), [0, 1, 2], "nothing was written");
        tracker.open(0);
        assert_eq!(impossible(&tracker, tracker.overwriters()), [1, 2], "0 may be written at any moment");
        tracker.close(0, 1, 2, true);
        let before = tracker.overwriters();
        tracker.open(1);
        tracker.close(1, 3, 4, true);
        assert_eq!(
            impossible(&tracker, before),
            [2],
            "an operation that began before the second write may read the first value"
        );
        assert_eq!(impossible(&tracker, tracker.overwriters()), [0, 2]);
        tracker.open(0);
        assert_eq!(impossible(&tracker, tracker.overwriters()), [2], "the value is being written again");
        tracker.close(0, 5, 6, false);
        assert_eq!(impossible(&tracker, tracker.overwriters()), [0, 2], "that failed");
    }

    #[test]
    fn concurrent_writes_may_end_in_either_order() {
        let mut tracker = Tracker::new(3);
        tracker.open(0);
        tracker.open(1);
        tracker.close(1, 2, 3, true);
        tracker.close(0, 1, 4, true);
        assert_eq!(impossible(&tracker, tracker.overwriters()), [2]);
        // A write does not overwrite its own value.
        tracker.open(0);
        tracker.close(0, 5, 6, true);
        assert_eq!(impossible(&tracker, tracker.overwriters()), [1, 2]);
    }

    #[test]
    fn two_overwriters_are_enough() {
        let mut rng = Rng::new(5, Purpose::Bug);
        for _ in 0..2000 {
            let (mut overwriters, mut all) = (Overwriters::default(), Vec::new());
            for _ in 0..rng.below(8) {
                let (invoked, value) = (1 + rng.below(100), rng.below(3).cast_signed());
                overwriters.add(invoked, value);
                all.push((invoked, value));
            }
            for value in 0..3 {
                let last = all.iter().filter(|(_, of)| *of != value).map(|(invoked, _)| *invoked).max();
                assert_eq!(overwriters.of_others(value), last, "{value} of {all:?}");
            }
        }
    }
}
