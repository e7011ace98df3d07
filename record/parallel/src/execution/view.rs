//! Views: for each atomic the oldest message that may still be read, and for each thread the accesses to non-atomic
//! data that have happened before.
//!
//! Both parts are passed on together whenever one thread synchronizes with another. Only the first part passes through
//! sequentially consistent fences: their order is not part of happens-before.
//!
//! Every step copies or joins a view. So the views of small programs are five words without heap memory, and a copy
//! into an existing view reuses the heap memory of that view.

use crate::ThreadId;

/// The number of entries of each part that a view stores inline.
const FEW: usize = 4;

/// Numbers by index; 0 for those not set.
type Numbers = [u32; FEW];

/// The view of a thread, or the view that a message or an object carries.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// For each atomic, the oldest message that may be read.
    times: Numbers,
    /// For each thread, how many of its accesses to cells happened before.
    clock: Numbers,
    /// The entries for further atomics and threads.
    more: Option<Box<More>>,
}

/// The entries that a view does not store inline.
#[derive(Debug, Default)]
struct More {
    times: Vec<u32>,
    clock: Vec<u32>,
}

impl Clone for View {
    #[inline]
    fn clone(&self) -> View {
        let mut copy = View::default();
        copy.clone_from(self);
        copy
    }

    #[inline]
    fn clone_from(&mut self, from: &View) {
        self.times = from.times;
        self.clock = from.clock;
        if self.more.is_some() || from.more.is_some() {
            self.copy_more(from);
        }
    }
}

/// Sets each number to the larger one of both.
#[inline]
fn join(own: &mut Numbers, other: &Numbers) {
    for (own, other) in own.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

fn join_more(own: &mut Vec<u32>, other: &[u32]) {
    if own.len() < other.len() {
        own.resize(other.len(), 0);
    }
    for (own, other) in own.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

#[inline]
fn has_all_of(own: &Numbers, other: &Numbers) -> bool {
    own.iter().zip(other).all(|(own, other)| own >= other)
}

fn has_more_of(own: &[u32], other: &[u32]) -> bool {
    other.iter().enumerate().all(|(at, other)| own.get(at).copied().unwrap_or(0) >= *other)
}

/// The number at an index; adds zeros up to it if it is absent.
#[cold]
fn at_more(more: &mut Vec<u32>, index: usize) -> &mut u32 {
    if more.len() <= index {
        more.resize(index + 1, 0);
    }
    &mut more[index]
}

impl View {
    /// Resets the view to the initial one.
    pub(super) fn clear(&mut self) {
        self.clone_from(&View::default());
    }

    #[cold]
    fn copy_more(&mut self, from: &View) {
        let own = self.more.get_or_insert_default();
        let (times, clock) = from.more.as_deref().map_or((&[][..], &[][..]), |more| (&more.times, &more.clock));
        own.times.clear();
        own.times.extend_from_slice(times);
        own.clock.clear();
        own.clock.extend_from_slice(clock);
    }

    #[inline]
    pub(super) fn get(&self, atomic: usize) -> u32 {
        match atomic.checked_sub(FEW) {
            None => self.times[atomic],
            Some(index) => self.more.as_ref().and_then(|more| more.times.get(index)).copied().unwrap_or(0),
        }
    }

    #[inline]
    pub(super) fn raise(&mut self, atomic: usize, time: u32) {
        let own = match atomic.checked_sub(FEW) {
            None => &mut self.times[atomic],
            Some(index) => at_more(&mut self.more.get_or_insert_default().times, index),
        };
        *own = (*own).max(time);
    }

    #[inline]
    pub(super) fn join(&mut self, other: &View) {
        join(&mut self.times, &other.times);
        join(&mut self.clock, &other.clock);
        if let Some(more) = &other.more {
            let own = self.more.get_or_insert_default();
            join_more(&mut own.times, &more.times);
            join_more(&mut own.clock, &more.clock);
        }
    }

    /// Joins only the messages of a view, not its accesses.
    pub(super) fn join_times(&mut self, other: &View) {
        join(&mut self.times, &other.times);
        if let Some(more) = &other.more {
            join_more(&mut self.more.get_or_insert_default().times, &more.times);
        }
    }

    pub(super) fn has_all_of(&self, other: &View) -> bool {
        let more = |more: &More| has_more_of(self.more.as_ref().map_or(&[], |own| &own.times), &more.times);
        has_all_of(&self.times, &other.times)
            && other.more.as_deref().is_none_or(more)
            && self.is_no_earlier_than(other)
    }

    /// Returns true if all accesses in the other view happened before in this one.
    fn is_no_earlier_than(&self, other: &View) -> bool {
        let more = |more: &More| has_more_of(self.more.as_ref().map_or(&[], |own| &own.clock), &more.clock);
        has_all_of(&self.clock, &other.clock) && other.more.as_deref().is_none_or(more)
    }

    /// Returns true if the same accesses happened before in both views.
    pub(super) fn is_as_late_as(&self, other: &View) -> bool {
        self.is_no_earlier_than(other) && other.is_no_earlier_than(self)
    }

    /// The number of accesses of a thread that happened before.
    pub(super) fn accesses(&self, thread: ThreadId) -> u32 {
        match thread.at().checked_sub(FEW) {
            None => self.clock[thread.at()],
            Some(index) => self.more.as_ref().and_then(|more| more.clock.get(index)).copied().unwrap_or(0),
        }
    }

    /// Counts an access of a thread. Returns its number.
    pub(super) fn count_access(&mut self, thread: ThreadId) -> u32 {
        let own = match thread.at().checked_sub(FEW) {
            None => &mut self.clock[thread.at()],
            Some(index) => at_more(&mut self.more.get_or_insert_default().clock, index),
        };
        *own += 1;
        *own
    }
}

#[cfg(test)]
mod tests {
    use super::View;
    use crate::ThreadId;

    /// A view with these messages, and these accesses counted.
    fn view(times: &[(usize, u32)], accesses: &[u8]) -> View {
        let mut view = View::default();
        for (atomic, time) in times {
            view.raise(*atomic, *time);
        }
        for thread in accesses {
            _ = view.count_access(ThreadId(*thread));
        }
        view
    }

    #[test]
    fn small_and_large_views_behave_in_the_same_way() {
        for (low, high) in [(0, 1), (0, 9), (8, 9)] {
            let first = view(&[(low, 3), (high, 1)], &[0, 7]);
            let mut both = view(&[(low, 2), (high, 5)], &[7, 7]);
            assert!(!both.has_all_of(&first) && !first.has_all_of(&both));
            assert!(!both.is_as_late_as(&first));
            both.join(&first);
            assert_eq!((both.get(low), both.get(high)), (3, 5));
            assert_eq!([0, 7, 8].map(|thread| both.accesses(ThreadId(thread))), [1, 2, 0]);
            assert!(both.has_all_of(&first) && !first.has_all_of(&both));
            let mut times = View::default();
            times.join_times(&both);
            assert_eq!((times.get(low), times.get(high), times.accesses(ThreadId(7))), (3, 5, 0));
        }
    }

    #[test]
    fn a_copy_over_a_larger_view_keeps_no_entry_of_it() {
        let mut large = view(&[(2, 1), (20, 4)], &[30]);
        large.clone_from(&view(&[(1, 1)], &[2]));
        assert_eq!([1, 2, 20].map(|atomic| large.get(atomic)), [1, 0, 0]);
        assert_eq!([2, 30].map(|thread| large.accesses(ThreadId(thread))), [1, 0]);
        large.clear();
        assert!(View::default().has_all_of(&large));
    }
}
