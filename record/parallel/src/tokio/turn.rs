//! The turn in a runtime of one thread: its tasks are polled one at a time.

use crate::object::Object;
use crate::op::{Gate, Kind, ObjectId, Op};
use crate::runtime;
use std::panic::Location;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The turn of a runtime. The task that has it is polled.
pub(crate) struct Turn {
    object: Object,
    is_free: Mutex<bool>,
    /// Notified when the turn is free; only outside of executions.
    freed: Condvar,
}

/// While this value lives, no other task of the runtime is polled.
pub(crate) struct Taken<'a> {
    turn: &'a Turn,
    place: &'static Location<'static>,
}

impl Turn {
    pub(crate) fn new(made: &'static Location<'static>) -> Turn {
        Turn { object: Object::new("turn", made), is_free: Mutex::new(true), freed: Condvar::new() }
    }

    fn is_free(&self) -> MutexGuard<'_, bool> {
        self.is_free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn.
    pub(crate) fn take(&self, place: &'static Location<'static>) -> Taken<'_> {
        if runtime::is_active() {
            let gates = || [*self.is_free(), true];
            let op = |object| Op { kind: Kind::Lock, gate: Gate::First, object, also: ObjectId::NONE, place };
            self.object.pause_op(gates, op);
            self.object.acquire(true);
            *self.is_free() = false;
            self.object.set_gates([false, true]);
        } else {
            let free = self.freed.wait_while(self.is_free(), |is_free| !*is_free);
            *free.unwrap_or_else(PoisonError::into_inner) = false;
        }
        Taken { turn: self, place }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let turn = self.turn;
        if turn.object.pause_at(Kind::Unlock, self.place, || [false, true]) {
            // The turn protects no value, so the unlock counts as a read.
            runtime::look();
        }
        turn.object.release();
        *turn.is_free() = true;
        turn.object.set_gates([true; 2]);
        turn.freed.notify_one();
    }
}
