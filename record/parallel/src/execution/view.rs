//! Views: which message of each atomic is the oldest that may still be read, and which accesses of each thread to data
//! that is not atomic have happened before.
//!
//! Both parts travel together wherever one thread synchronizes with another. Only the first part goes through fences
//! that are sequentially consistent: their order is no order of what happens before what.
//!
//! Every message has a view, so those of small programs hold no memory of their own.

use crate::ThreadId;

/// Numbers that a view holds in place.
const FEW: usize = 4;

/// Numbers by index, the first ones in place; 0 where none was set.
#[derive(Clone, Debug, Default)]
struct Numbers {
    few: [u32; FEW],
    many: Vec<u32>,
}

impl Numbers {
    #[inline]
    fn get(&self, index: usize) -> u32 {
        match index.checked_sub(FEW) {
            None => self.few[index],
            Some(index) => self.many.get(index).copied().unwrap_or(0),
        }
    }

    #[inline]
    fn at(&mut self, index: usize) -> &mut u32 {
        match index.checked_sub(FEW) {
            None => &mut self.few[index],
            Some(index) => {
                if self.many.len() <= index {
                    self.many.resize(index + 1, 0);
                }
                &mut self.many[index]
            }
        }
    }

    #[inline]
    fn join(&mut self, other: &Numbers) {
        for (own, other) in self.few.iter_mut().zip(&other.few) {
            *own = (*own).max(*other);
        }
        if self.many.len() < other.many.len() {
            self.many.resize(other.many.len(), 0);
        }
        for (own, other) in self.many.iter_mut().zip(&other.many) {
            *own = (*own).max(*other);
        }
    }

    fn has_all_of(&self, other: &Numbers) -> bool {
        (0..FEW + other.many.len()).all(|index| self.get(index) >= other.get(index))
    }
}

/// What a thread knows, or what it hands on.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// By atomic, the oldest message that may be read.
    times: Numbers,
    /// By thread, how many of its accesses to cells happened before.
    clock: Numbers,
}

impl View {
    pub(super) fn get(&self, atomic: usize) -> u32 {
        self.times.get(atomic)
    }

    pub(super) fn raise(&mut self, atomic: usize, time: u32) {
        let own = self.times.at(atomic);
        *own = (*own).max(time);
    }

    pub(super) fn join(&mut self, other: &View) {
        self.times.join(&other.times);
        self.clock.join(&other.clock);
    }

    /// The same without what happened before.
    pub(super) fn join_times(&mut self, other: &View) {
        self.times.join(&other.times);
    }

    pub(super) fn has_all_of(&self, other: &View) -> bool {
        self.times.has_all_of(&other.times) && self.clock.has_all_of(&other.clock)
    }

    /// Whether the same accesses happened before.
    pub(super) fn is_as_late_as(&self, other: &View) -> bool {
        self.clock.has_all_of(&other.clock) && other.clock.has_all_of(&self.clock)
    }

    /// How many accesses of a thread happened before.
    pub(super) fn accesses(&self, thread: ThreadId) -> u32 {
        self.clock.get(thread.at())
    }

    /// Counts an access of a thread. Returns its number.
    pub(super) fn count_access(&mut self, thread: ThreadId) -> u32 {
        let own = self.clock.at(thread.at());
        *own += 1;
        *own
    }
}
