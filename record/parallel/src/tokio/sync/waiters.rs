//! Tasks that wait for a change: each stores a waker, in the order of arrival.

use std::collections::VecDeque;
use std::task::Waker;

/// The wakers of waiting tasks, in the order of arrival.
#[derive(Debug)]
pub(super) struct Waiters {
    all: VecDeque<(u64, Waker)>,
    made: u64,
}

impl Waiters {
    pub(super) const fn new() -> Waiters {
        Waiters { all: VecDeque::new(), made: 0 }
    }

    /// Stores a waker, or replaces the one with this number. Returns its number, and the replaced waker to drop.
    pub(super) fn leave(&mut self, number: Option<u64>, waker: Waker) -> (u64, Option<Waker>) {
        if let Some((number, own)) = self.all.iter_mut().find(|(own, _)| Some(*own) == number) {
            return (*number, Some(std::mem::replace(own, waker)));
        }
        self.made += 1;
        self.all.push_back((self.made, waker));
        (self.made, None)
    }

    /// Removes the waker with this number.
    pub(super) fn remove(&mut self, number: u64) -> Option<Waker> {
        let at = self.all.iter().position(|(own, _)| *own == number)?;
        self.all.remove(at).map(|(_, waker)| waker)
    }

    /// Removes the waker that arrived first.
    pub(super) fn pop_first(&mut self) -> Option<(u64, Waker)> {
        self.all.pop_front()
    }

    /// Removes the waker that arrived last.
    pub(super) fn pop_last(&mut self) -> Option<(u64, Waker)> {
        self.all.pop_back()
    }

    /// Removes all wakers.
    pub(super) fn take(&mut self) -> Vec<Waker> {
        self.all.drain(..).map(|(_, waker)| waker).collect()
    }
}
