//! The moment at which a task has to check its condition again.

use crate::time::Instant;
use crate::tokio::time::{Sleep, sleep_until};
use std::future::Future;
use std::pin::Pin;
use std::task::Context;

/// A timer, or none.
#[derive(Debug, Default)]
pub(super) struct Timer(Option<Sleep>);

impl Timer {
    /// Sets the moment at which the task is woken. It replaces the one that was set before.
    pub(super) fn set(&mut self, at: Option<Instant>, cx: &mut Context<'_>) {
        self.0 = None;
        if let Some(at) = at {
            let mut sleep = sleep_until(at);
            if Pin::new(&mut sleep).poll(cx).is_ready() {
                cx.waker().wake_by_ref();
            }
            self.0 = Some(sleep);
        }
    }
}
