//! Notifications of tasks. One notification is stored if no task waits.

use super::waiters::Waiters;
use crate::object::Object;
use crate::op::Kind;
use crate::tokio::executor;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

const OPEN: [bool; 2] = [true; 2];

/// The equivalent of `tokio::sync::Notify`.
pub struct Notify {
    object: Object,
    state: Mutex<State>,
}

struct State {
    /// Whether a notification arrived when no task waited.
    is_permitted: bool,
    /// The number of calls of [`Notify::notify_waiters`].
    rounds: u64,
    waiting: Waiters,
    /// Tasks that were notified individually and were not polled since then: their numbers, and whether `notify_last`
    /// notified them.
    notified: Vec<(u64, bool)>,
}

impl Notify {
    /// Creates an object without a stored notification.
    #[track_caller]
    pub const fn new() -> Notify {
        let state = State { is_permitted: false, rounds: 0, waiting: Waiters::new(), notified: Vec::new() };
        Notify { object: Object::new("Notify", Location::caller()), state: Mutex::new(state) }
    }

    /// The same as [`Notify::new`].
    #[track_caller]
    pub const fn const_new() -> Notify {
        Notify::new()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A wait for a notification. From now on it receives notifications of all waiters. It receives notifications of a
    /// single waiter after it is polled, or enabled.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        self.object.touch(Kind::Load);
        Notified { notify: self, rounds: self.state().rounds, wait: Wait::Idle, place: Location::caller() }
    }

    /// Notifies the task that has waited longest; if there is none, the next one that waits.
    #[track_caller]
    pub fn notify_one(&self) {
        self.object.touch(Kind::NotifyOne);
        self.notify(false);
    }

    /// Notifies the task that began to wait last; if there is none, the next one that waits.
    #[track_caller]
    pub fn notify_last(&self) {
        self.object.touch(Kind::NotifyOne);
        self.notify(true);
    }

    fn notify(&self, is_last: bool) {
        self.object.release();
        let mut state = self.state();
        let next = if is_last { state.waiting.pop_last() } else { state.waiting.pop_first() };
        let waker = next.map(|(number, waker)| {
            state.notified.push((number, is_last));
            waker
        });
        state.is_permitted |= waker.is_none();
        drop(state);
        executor::wake_all(waker);
    }

    /// Notifies all tasks that wait, but none that wait later.
    #[track_caller]
    pub fn notify_waiters(&self) {
        self.object.touch(Kind::NotifyAll);
        self.object.release();
        let mut state = self.state();
        state.rounds += 1;
        let wakers = state.waiting.take();
        drop(state);
        executor::wake_all(wakers);
    }
}

/// The equivalent of `tokio::sync::futures::Notified`.
#[must_use = "futures do nothing unless they are polled"]
pub struct Notified<'a> {
    notify: &'a Notify,
    rounds: u64,
    wait: Wait,
    place: &'static Location<'static>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wait {
    Idle,
    Waiting(u64),
    Done,
}

impl Notified<'_> {
    /// Begins to wait without being polled. Returns true if a notification was stored.
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        self.advance(Waker::noop()).is_ready()
    }

    fn advance(&mut self, waker: &Waker) -> Poll<()> {
        let notify = self.notify;
        if self.wait == Wait::Done {
            return Poll::Ready(());
        }
        notify.object.pause_at(Kind::Poll, self.place, || OPEN);
        let waker = waker.clone();
        let mut state = notify.state();
        let is_notified = match self.wait {
            Wait::Waiting(number) => {
                let one = state.notified.extract_if(.., |(own, _)| *own == number).count();
                one > 0 || state.rounds != self.rounds
            }
            _ => state.rounds != self.rounds || std::mem::take(&mut state.is_permitted),
        };
        if is_notified {
            drop(state);
            self.wait = Wait::Done;
            notify.object.acquire(true);
            return Poll::Ready(());
        }
        let number = if let Wait::Waiting(number) = self.wait { Some(number) } else { None };
        let (number, before) = state.waiting.leave(number, waker);
        drop(state);
        drop(before);
        self.wait = Wait::Waiting(number);
        Poll::Pending
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = self.advance(cx.waker());
        if polled.is_pending() {
            executor::awaits(Some(&self.notify.object), self.place);
        }
        polled
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        let Wait::Waiting(number) = self.wait else { return };
        let notify = self.notify;
        notify.object.pause_at(Kind::Release, self.place, || OPEN);
        let mut state = notify.state();
        let left = state.waiting.remove(number);
        let was_for_this = state.notified.extract_if(.., |(own, _)| *own == number).next();
        drop(state);
        drop(left);
        if let Some((_, is_last)) = was_for_this {
            // A notification for a single task is passed on to another one.
            notify.notify(is_last);
        }
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").field("is_permitted", &self.state().is_permitted).finish_non_exhaustive()
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notified").field("wait", &self.wait).finish_non_exhaustive()
    }
}
