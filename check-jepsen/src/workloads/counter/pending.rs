//! Reads that wait for adds: whether an add in flight at a read's completion happened is known only when the add ends.
//!
//! Adds are numbered by invocation and reads by completion. A read is settled when every add that was invoked before it
//! has ended, so reads are settled in order. An add that fails was counted for the reads that completed while it was in
//! flight, a range of numbers: the correction for each of them is recorded at the range's two ends, and summed up when
//! reads leave.
//!
//! A read may be certainly wrong long before it is settled. The distances of each read from its two bounds only
//! decrease, and all reads from some number on lose the same amount: `Slack` detects when one of them is out of bounds.

use super::slack::Slack;
use super::{Read, Sums};
use history_core::cast::Cast as _;
use std::collections::VecDeque;

/// An add: its number, and the number of reads that had been added by then.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddId {
    number: u64,
    reads: u64,
}

#[derive(Clone, Debug)]
struct Waiting {
    read: Read,
    /// The number of adds that were invoked before it.
    adds: u64,
    /// The failed adds counted for this read, minus those counted for the previous one.
    failed: Sums,
}

/// The waiting reads, in order of completion, and the adds from the first one that has not ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    reads: VecDeque<Waiting>,
    /// The number of reads that were removed.
    left: u64,
    /// The failed adds that were counted for the last removed read.
    failed: Sums,
    /// The same as `Waiting::failed`, for the next read to be added.
    next_failed: Sums,
    /// Whether each add has ended; the first one has not.
    adds: VecDeque<bool>,
    /// The number of the first of `adds`.
    first_add: u64,
    /// For each read, its distance from the upper bound, and from the lower one, if all adds in flight happened.
    below: Slack,
    above: Slack,
    /// Whether some read, waiting or removed, is wrong even so. Then the distances are no longer used.
    is_violated: bool,
}

impl Pending {
    /// Adds an add at its invocation.
    pub(super) fn begin_add(&mut self) -> AddId {
        self.adds.push_back(false);
        AddId { number: self.first_add + self.adds.len().to_u64() - 1, reads: self.left + self.reads.len().to_u64() }
    }

    /// Processes the failure of an add in flight.
    pub(super) fn fail_add(&mut self, id: AddId, sums: Sums) {
        // A read that was added after this add cannot have been removed.
        if let Some(first) = self.reads.get_mut((id.reads - self.left).to_usize()) {
            first.failed = first.failed.plus(sums);
            self.next_failed = self.next_failed.less(sums);
        }
        if !self.is_violated {
            self.below.lower(id.reads, sums.positive);
            self.above.lower(id.reads, -sums.negative);
            self.is_violated = self.below.is_below_zero() || self.above.is_below_zero();
        }
    }

    /// Returns true if some read, waiting or removed, is wrong whatever the outcome of the adds in flight.
    pub(super) fn is_violated(&self) -> bool {
        self.is_violated
    }

    /// Records that an add ended, with any outcome.
    pub(super) fn end_add(&mut self, id: AddId) {
        self.adds[(id.number - self.first_add).to_usize()] = true;
        while self.adds.front() == Some(&true) {
            self.adds.pop_front();
            self.first_add += 1;
        }
    }

    /// Returns true if a read that completes now is settled immediately.
    pub(super) fn is_settled(&self) -> bool {
        self.adds.is_empty()
    }

    /// Adds a waiting read.
    pub(super) fn push(&mut self, read: Read) {
        let adds = self.first_add + self.adds.len().to_u64();
        let (place, (lower, upper)) = (self.left + self.reads.len().to_u64(), read.bounds());
        self.is_violated |= !(lower..=upper).contains(&read.value);
        if !self.is_violated {
            self.below.push(place, upper - read.value);
            self.above.push(place, read.value - lower);
        }
        self.reads.push_back(Waiting { read, adds, failed: std::mem::take(&mut self.next_failed) });
    }

    /// Removes the next read, if it is settled.
    pub(super) fn next_settled(&mut self) -> Option<Read> {
        if self.reads.front()?.adds > self.first_add { None } else { self.next() }
    }

    /// Removes the next read; adds in flight are assumed to have happened.
    pub(super) fn next(&mut self) -> Option<Read> {
        let Waiting { mut read, failed, .. } = self.reads.pop_front()?;
        self.left += 1;
        self.below.forget(self.left);
        self.above.forget(self.left);
        self.failed = self.failed.plus(failed);
        read.possible = read.possible.less(self.failed);
        Some(read)
    }
}
