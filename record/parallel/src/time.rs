//! Time: in a managed thread, that of the execution; anywhere else, that of std.
//!
//! Without the feature `scheduled` this module is `std::time`. The clock of an execution starts at the same moment in
//! each, and does not advance while threads can continue. When none can, it advances to the earliest moment that a
//! thread waits for: the end of a [`sleep`](crate::thread::sleep), of `recv_timeout`, `wait_timeout` or `park_timeout`.
//! The schedule may also end such a wait while others could continue, as if they were slow; this advances the clock,
//! too. For a thread that reads the clock in a loop and changes nothing, it advances after 64 rounds.
//!
//! A wait that the schedule ends early ends where it begins, so the clock is never read between the two. There is no
//! `SystemTime`.

use crate::execution::Execution;
use crate::op::{Gate, Kind};
use crate::runtime;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::panic::Location;
use std::sync::OnceLock;

pub use std::time::Duration;

/// The moment at which clocks start. It is late enough for programs that subtract from it.
const START: Duration = Duration::from_hours(24 * 365);

/// The equivalent of [`std::time::Instant`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

impl Instant {
    /// This moment. In a managed thread it is a pause point, and the clock is that of the execution.
    #[track_caller]
    pub fn now() -> Instant {
        if runtime::is_managed() {
            runtime::pause_on(None, Kind::Now, Gate::Free, Location::caller());
        }
        Instant::unscheduled()
    }

    /// Returns the current moment as part of the current step.
    pub(crate) fn unscheduled() -> Instant {
        static BASE: OnceLock<std::time::Instant> = OnceLock::new();
        let passed = runtime::with(Execution::now);
        Instant(START + passed.unwrap_or_else(|| BASE.get_or_init(std::time::Instant::now).elapsed()))
    }

    /// The time from another moment to this one; zero if the other one is later.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The time from another moment to this one; `None` if the other one is later.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// The same as [`Instant::duration_since`].
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }

    /// The time since this moment.
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now() - *self
    }

    /// A later moment, if it can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// An earlier moment, if it can be represented.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, duration: Duration) -> Instant {
        self.checked_add(duration).expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, duration: Duration) -> Instant {
        self.checked_sub(duration).expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instant").field(&self.0.saturating_sub(START)).finish()
    }
}
