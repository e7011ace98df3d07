//! Ticks at equal intervals.

use super::{Duration, Instant, Sleep, sleep_until};
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The equivalent of `tokio::time::MissedTickBehavior`: what an [`Interval`] does when a tick was awaited too late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MissedTickBehavior {
    /// The missed ticks follow each other immediately.
    #[default]
    Burst,
    /// The next tick is a period after the late one.
    Delay,
    /// The missed ticks are omitted.
    Skip,
}

/// The equivalent of `tokio::time::Interval`.
#[derive(Debug)]
pub struct Interval {
    period: Duration,
    delay: Sleep,
    behavior: MissedTickBehavior,
}

/// Ticks with this period; the first one is immediate.
///
/// # Panics
///
/// If the period is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(Instant::unscheduled(), period)
}

/// The same from a moment on.
///
/// # Panics
///
/// If the period is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(!period.is_zero(), "`period` must be non-zero.");
    Interval { period, delay: sleep_until(start), behavior: MissedTickBehavior::default() }
}

impl Interval {
    /// Waits for the next tick. Returns its scheduled moment.
    #[track_caller]
    pub fn tick(&mut self) -> impl Future<Output = Instant> + '_ {
        self.delay.place = Location::caller();
        poll_fn(|cx| self.poll_tick(cx))
    }

    /// The same, for manually implemented futures.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        if Pin::new(&mut self.delay).poll(cx).is_pending() {
            return Poll::Pending;
        }
        let (set, now) = (self.delay.deadline, Instant::unscheduled());
        // tokio tolerates delays up to 5 ms, since real timers are imprecise.
        let next = if now > set + Duration::from_millis(5) {
            match self.behavior {
                MissedTickBehavior::Burst => set + self.period,
                MissedTickBehavior::Delay => now + self.period,
                MissedTickBehavior::Skip => {
                    let late = (now - set).as_nanos() % self.period.as_nanos();
                    now + self.period - Duration::from_nanos(u64::try_from(late).unwrap_or(u64::MAX))
                }
            }
        } else {
            set + self.period
        };
        Pin::new(&mut self.delay).reset(next);
        Poll::Ready(set)
    }

    /// Sets the next tick to a period from now.
    pub fn reset(&mut self) {
        self.reset_at(Instant::unscheduled() + self.period);
    }

    /// Makes the next tick immediate.
    pub fn reset_immediately(&mut self) {
        self.reset_at(Instant::unscheduled());
    }

    /// Sets the next tick to this time from now.
    pub fn reset_after(&mut self, after: Duration) {
        self.reset_at(Instant::unscheduled() + after);
    }

    /// Sets the next tick to this moment.
    pub fn reset_at(&mut self, deadline: Instant) {
        Pin::new(&mut self.delay).reset(deadline);
    }

    /// The time between ticks.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// The handling of late ticks.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.behavior
    }

    /// Sets the handling of late ticks.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.behavior = behavior;
    }
}
