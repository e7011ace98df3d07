//! The time after a run in which its page can still be looked at: until an interrupt, if somebody sits at a terminal.

use std::io::IsTerminal as _;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The time after a run.
#[derive(Clone, Default)]
pub(crate) struct Rest(Arc<(Mutex<Stage>, Condvar)>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Before,
    During,
    Over,
}

impl Rest {
    /// Ends the rest, if it has begun. Whether it has.
    pub(crate) fn interrupt(&self) -> bool {
        let (stage, changed) = &*self.0;
        let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
        let is_rest = *stage != Stage::Before;
        if is_rest {
            *stage = Stage::Over;
            changed.notify_all();
        }
        is_rest
    }

    /// Rests until an interrupt, if standard error is a terminal; nowhere else is anybody who would end it.
    pub(crate) fn rest(&self, say: impl FnOnce()) {
        if std::io::stderr().is_terminal() {
            say();
            self.wait();
        }
    }

    fn wait(&self) {
        let (stage, changed) = &*self.0;
        let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
        *stage = Stage::During;
        while *stage != Stage::Over {
            stage = changed.wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_ends_the_rest_and_nothing_before() {
        let rest = Rest::default();
        assert!(!rest.interrupt(), "the run goes on");
        let other = rest.clone();
        let thread = std::thread::spawn(move || other.wait());
        while !rest.interrupt() {
            std::thread::yield_now();
        }
        thread.join().unwrap();
    }
}
