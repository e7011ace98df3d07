//! Limits how long a thread of a run waits: up to its own maximum, but hardly longer than the run.
//!
//! A request may take many seconds, and the end of a run should not be delayed by it. Every wait of a client or of the
//! nemesis therefore checks regularly whether the run is over, and then ends soon.

use crate::run::stop::Stop;
use std::cell::RefCell;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

thread_local! {
    /// The run of this thread.
    static RUN: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// The time between two checks whether the run is over.
pub(crate) const LOOK: Duration = Duration::from_millis(200);
/// How long a wait continues after the end of the run: most responses arrive in this time.
const GRACE: Duration = Duration::from_millis(500);

/// Makes this thread one of the run that this flag ends.
pub(crate) fn is_of(run: &Stop) {
    RUN.set(Some(run.clone()));
}

/// Runs `what` on this thread as a part of the run with this flag.
pub(crate) fn within<T>(run: &Stop, what: impl FnOnce() -> T) -> T {
    let before = RUN.replace(Some(run.clone()));
    let done = what();
    RUN.set(before);
    done
}

/// A wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    until: Instant,
}

impl Patience {
    /// A wait with this maximum.
    pub(crate) fn new(most: Duration) -> Patience {
        Patience { until: Instant::now() + most }
    }

    /// How long to wait before the next check; `None` if the wait is over.
    pub(crate) fn rest(&self) -> Option<Duration> {
        let ended = RUN.with_borrow(|run| run.as_ref().and_then(Stop::since));
        let until = ended.map_or(self.until, |ended| self.until.min(ended + GRACE));
        let rest = until.saturating_duration_since(Instant::now());
        (!rest.is_zero()).then(|| rest.min(LOOK))
    }
}

/// Sleeps, at most until shortly after the end of the run.
pub(crate) fn sleep(most: Duration) {
    let patience = Patience::new(most);
    while let Some(rest) = patience.rest() {
        thread::sleep(rest);
    }
}

/// Waits for something that another thread sends.
pub(crate) fn receive<T>(receiver: &Receiver<T>, most: Duration) -> Result<T, RecvTimeoutError> {
    let patience = Patience::new(most);
    loop {
        let Some(rest) = patience.rest() else { return Err(RecvTimeoutError::Timeout) };
        match receiver.recv_timeout(rest) {
            Err(RecvTimeoutError::Timeout) => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// If any of these waits took an hour, the test would not end.
    #[test]
    fn a_run_that_is_over_ends_its_waits() {
        let run = Stop::new();
        let ended = thread::spawn({
            let run = run.clone();
            move || {
                is_of(&run);
                let (_sender, receiver) = channel::<()>();
                let received = receive(&receiver, Duration::from_hours(1));
                sleep(Duration::from_hours(1));
                received
            }
        });
        run.set();
        assert_eq!(ended.join().unwrap(), Err(RecvTimeoutError::Timeout));
    }

    #[test]
    fn only_what_is_within_a_run_ends_with_it() {
        let run = Stop::new();
        run.set();
        within(&run, || sleep(Duration::from_hours(1)));
        assert!(RUN.with_borrow(Option::is_none));
    }

    #[test]
    fn what_was_sent_is_received() {
        let (sender, receiver) = channel();
        sender.send(3).unwrap();
        assert_eq!(receive(&receiver, Duration::from_hours(1)), Ok(3));
        drop(sender);
        assert_eq!(receive(&receiver, Duration::from_hours(1)), Err(RecvTimeoutError::Disconnected));
        assert_eq!(Patience::new(Duration::ZERO).rest(), None);
    }
}
