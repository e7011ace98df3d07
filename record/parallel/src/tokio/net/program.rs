//! The program that a host runs whenever it is started: a closure that only one thread calls at a time.

use crate::object::Object;
use crate::op::{Gate, Kind, ObjectId, Op};
use crate::runtime;
use crate::tokio::scope::Scope;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

type Body = Box<dyn FnMut(&Arc<Scope>) + Send>;

/// A closure that is taken out while it runs. It may reach pause points, so no lock of std is held meanwhile.
pub(super) struct Program {
    body: Mutex<Option<Body>>,
    /// The object of the closure. Its first gate is open while no thread runs the closure.
    object: Object,
}

/// The closure while it runs. It is put back even after a panic.
struct Called<'a> {
    program: &'a Program,
    body: Option<Body>,
    /// The number of steps before the closure ran.
    steps: Option<usize>,
}

impl Program {
    pub(super) fn new(body: Body, made: &'static Location<'static>) -> Program {
        Program { body: Mutex::new(Some(body)), object: Object::new("program of a host", made) }
    }

    /// Runs the closure, after all threads that are running it.
    pub(super) fn start(&self, scope: &Arc<Scope>, place: &'static Location<'static>) {
        let mut called = self.take(place);
        if let Some(body) = &mut called.body {
            body(scope);
        }
    }

    fn take(&self, place: &'static Location<'static>) -> Called<'_> {
        loop {
            // The temporary guard is dropped before the loop's body.
            let body = self.body.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(body) = body {
                self.object.set_gates([false, true]);
                let steps = runtime::with(|execution| execution.steps_taken());
                return Called { program: self, body: Some(body), steps };
            }
            // Two threads restart the host, or its own program restarts it.
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
        // If the closure was put back in the step in which it was taken out, no thread has found it missing.
        if self.steps != runtime::with(|execution| execution.steps_taken()) {
            self.program.object.touch_too(|| [true; 2]);
        }
        self.program.object.set_gates([true; 2]);
    }
}
