//! Reads that wait for adds: whether an add happened that was in flight when a read completed is known when it ends.
//!
//! Adds are numbered by invocation and reads by completion. A read is settled when every add that was invoked before it
//! has ended, so reads are settled in order. An add that fails was counted for the reads that completed while it was in
//! flight, a range of numbers: the correction for each of them is recorded at the range's two ends, and summed up when
//! reads leave.
//!
//! A read may be certainly wrong long before it is settled. The distance of each read from either of its bounds only
//! decreases, and for all reads from some number on by the same amount: `Slack` detects when one of them is out of
//! bounds.

use super::slack::Slack;
use super::{Read, Sums};
use history_core::cast::Cast as _;
use std::collections::VecDeque;

/// An add: its number, and how many reads had come to wait by then.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddId {
    number: u64,
    reads: u64,
}

#[derive(Clone, Debug)]
struct Waiting {
    read: Read,
    /// Adds that were invoked before it.
    adds: u64,
    /// What fails from this read on, less what failed up to the one before.
    failed: Sums,
}

/// Reads that wait, in order of completion, and adds from the first that has not ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    reads: VecDeque<Waiting>,
    /// How many reads left.
    left: u64,
    /// What failed among the adds that were counted for the read that left last.
    failed: Sums,
    /// The same as `Waiting::failed`, of the next read to come.
    next_failed: Sums,
    /// Whether each add has ended; the first has not.
    adds: VecDeque<bool>,
    /// The number of the first of `adds`.
    first_add: u64,
    /// By read: how far it is below its upper bound, and above its lower one, if all adds in flight happened.
    below: Slack,
    above: Slack,
    /// Whether a read that waits, or did, is wrong even so. Then the distances are not used any more.
    is_violated: bool,
}

impl Pending {
    /// An add is invoked.
    pub(super) fn begin_add(&mut self) -> AddId {
        self.adds.push_back(false);
        AddId { number: self.first_add + self.adds.len().to_u64() - 1, reads: self.left + self.reads.len().to_u64() }
    }

    /// Processes the failure of an add in flight.
    pub(super) fn fail_add(&mut self, id: AddId, sums: Sums) {
        // A read that came after this add cannot have left.
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

    /// Whether a read that waits, or waited, is wrong whatever the outcome of the adds in flight.
    pub(super) fn is_violated(&self) -> bool {
        self.is_violated
    }

    /// An add ended, one way or another.
    pub(super) fn end_add(&mut self, id: AddId) {
        self.adds[(id.number - self.first_add).to_usize()] = true;
        while self.adds.front() == Some(&true) {
            self.adds.pop_front();
            self.first_add += 1;
        }
    }

    /// Whether a read that completes now is settled at once.
    pub(super) fn is_settled(&self) -> bool {
        self.adds.is_empty()
    }

    /// Adds a read that waits.
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

    /// The next read, if it is settled.
    pub(super) fn next_settled(&mut self) -> Option<Read> {
        if self.reads.front()?.adds > self.first_add { None } else { self.next() }
    }

    /// The next read; adds that are in flight are assumed to have happened.
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
