//! The time after a run in which its page is still served: until an interrupt.

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
    /// Ends the rest, if it has begun. Returns whether it had begun.
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

    /// Waits until an interrupt. Interrupts are handled from the call of `say` on.
    #[cfg_attr(all(not(feature = "serve"), not(test)), expect(dead_code, reason = "only a page has a rest"))]
    pub(crate) fn rest(&self, say: impl FnOnce()) {
        let (stage, changed) = &*self.0;
        let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
        *stage = Stage::During;
        say();
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
        let thread = std::thread::spawn(move || other.rest(|| {}));
        while !rest.interrupt() {
            std::thread::yield_now();
        }
        thread.join().unwrap();
    }
}
