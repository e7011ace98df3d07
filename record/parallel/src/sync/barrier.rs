//! A barrier: each thread that arrives waits for the other threads.

use crate::object::Object;
use crate::op::{Gate, Kind, Op, ThreadId};
use crate::runtime;
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// The equivalent of [`std::sync::Barrier`].
pub struct Barrier {
    object: Object,
    inner: std::sync::Barrier,
    size: usize,
    /// The managed threads that wait.
    waiting: Mutex<Vec<ThreadId>>,
}

/// The equivalent of [`std::sync::BarrierWaitResult`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns true if this is the one thread that gets `true`: under a schedule, the last to arrive.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Creates a barrier for this number of threads.
    #[track_caller]
    pub const fn new(size: usize) -> Barrier {
        Barrier {
            object: Object::new("Barrier", Location::caller()),
            inner: std::sync::Barrier::new(size),
            size,
            waiting: Mutex::new(Vec::new()),
        }
    }

    /// Waits until all have arrived.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        if !self.object.touch(Kind::Arrive) {
            // A thread that unwinds does not wait.
            return BarrierWaitResult(!runtime::is_active() && self.inner.wait().is_leader());
        }
        let place = Location::caller();
        let me = runtime::with(|execution| execution.current()).expect("the thread has reached a pause point");
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() + 1 >= self.size {
            for thread in waiting.drain(..) {
                runtime::with(|execution| execution.redirect(thread, |op| op.gate = Gate::Free));
            }
            return BarrierWaitResult(true);
        }
        waiting.push(me);
        drop(waiting);
        let op = |object| Op { kind: Kind::Pass, gate: Gate::Shut, object, also: object, place };
        self.object.pause_op(|| [true; 2], op);
        BarrierWaitResult(false)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
