//! The equivalent of `tokio::time`: timers of tasks, on the clock of the execution; see [`time`](crate::time).
//!
//! A task that waits with timers continues when the first of them ends: when nothing else can happen, or early if the
//! schedule chooses so.

mod interval;

pub use interval::{Interval, MissedTickBehavior, interval, interval_at};

pub use crate::time::{Duration, Instant};

use super::executor::{self, Task};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

/// A moment later than any program waits for.
const FAR_FUTURE: Duration = Duration::from_hours(24 * 365 * 30);

/// Errors of this module.
pub mod error {
    /// The equivalent of `tokio::time::error::Elapsed`: the time-out ended.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Elapsed(pub(super) ());
}

impl fmt::Display for error::Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl std::error::Error for error::Elapsed {}

impl From<error::Elapsed> for std::io::Error {
    fn from(_: error::Elapsed) -> std::io::Error {
        std::io::ErrorKind::TimedOut.into()
    }
}

/// The equivalent of `tokio::time::Sleep`.
#[must_use = "futures do nothing unless they are polled"]
pub struct Sleep {
    deadline: Instant,
    place: &'static Location<'static>,
    /// The task that waits, and the number of its timer.
    timer: Option<(Arc<Task>, u64)>,
}

/// Waits for some time.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(after(duration))
}

/// Waits until a moment.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { deadline, place: Location::caller(), timer: None }
}

/// The moment after this duration.
fn after(duration: Duration) -> Instant {
    let now = Instant::unscheduled();
    now.checked_add(duration).unwrap_or(now + FAR_FUTURE)
}

impl Sleep {
    /// The moment at which the wait ends.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns true if the wait has ended.
    pub fn is_elapsed(&self) -> bool {
        Instant::unscheduled() >= self.deadline
    }

    /// Sets another moment at which the wait ends.
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.forget();
        self.deadline = deadline;
    }

    fn forget(&mut self) {
        if let Some((task, timer)) = self.timer.take() {
            task.remove_timer(timer);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.forget();
        if self.is_elapsed() {
            return Poll::Ready(());
        }
        let task = executor::task().expect(super::NO_RUNTIME);
        let timer = task.add_timer(self.deadline, cx.waker().clone());
        self.timer = Some((task, timer));
        executor::awaits(None, self.place);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.forget();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// Waits for a future, but no longer than this. The future is polled first.
///
/// # Errors
///
/// If the time-out ends first; the future is then dropped.
#[track_caller]
pub fn timeout<F: IntoFuture>(
    duration: Duration,
    future: F,
) -> impl Future<Output = Result<F::Output, error::Elapsed>> {
    timeout_at(after(duration), future)
}

/// The same until a moment.
///
/// # Errors
///
/// If the moment is reached first; the future is then dropped.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(
    deadline: Instant,
    future: F,
) -> impl Future<Output = Result<F::Output, error::Elapsed>> {
    let mut delay = sleep_until(deadline);
    let future = future.into_future();
    async move {
        let mut future = pin!(future);
        poll_fn(move |cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Ok(output));
            }
            Pin::new(&mut delay).poll(cx).map(|()| Err(error::Elapsed(())))
        })
        .await
    }
}
