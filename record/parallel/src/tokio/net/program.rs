//! The program that a host runs whenever it is started: a closure that one thread calls at a time.

use crate::object::Object;
use crate::op::{Gate, Kind, ObjectId, Op};
use crate::runtime;
use crate::tokio::scope::Scope;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

type Body = Box<dyn FnMut(&Arc<Scope>) + Send>;

/// A closure that is removed while it is called. It may reach pause points, so no lock of std is held meanwhile.
pub(super) struct Program {
    body: Mutex<Option<Body>>,
    /// Its first gate is open while no thread calls it.
    object: Object,
}

/// The closure, which is restored even after a panic.
struct Called<'a> {
    program: &'a Program,
    body: Option<Body>,
    /// The number of steps before the call.
    steps: Option<usize>,
}

impl Program {
    pub(super) fn new(body: Body, made: &'static Location<'static>) -> Program {
        Program { body: Mutex::new(Some(body)), object: Object::new("program of a host", made) }
    }

    /// Calls it, after all others that do.
    pub(super) fn start(&self, scope: &Arc<Scope>, place: &'static Location<'static>) {
        let mut called = self.take(place);
        if let Some(body) = &mut called.body {
            body(scope);
        }
    }

    fn take(&self, place: &'static Location<'static>) -> Called<'_> {
        loop {
            // The lock is not held in the loop's body.
            let body = self.body.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(body) = body {
                self.object.set_gates([false, true]);
                let steps = runtime::with(|execution| execution.steps_taken());
                return Called { program: self, body: Some(body), steps };
            }
            // Two threads restart the host, or its program does so itself.
            assert!(
                runtime::is_managed(),
                "a host is restarted while its program starts, by a thread that cannot wait"
            );
            let op = |object| Op { kind: Kind::Lock, gate: Gate::First, object, also: ObjectId::NONE, place };
            self.object.pause_op(|| [false, true], op);
        }
    }
}

impl Drop for Called<'_> {
    fn drop(&mut self) {
        *self.program.body.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
        // In the step in which it was taken nobody has found it away.
        if self.steps != runtime::with(|execution| execution.steps_taken()) {
            self.program.object.touch_too(|| [true; 2]);
        }
        self.program.object.set_gates([true; 2]);
    }
}
