//! Objects that threads share. Each has two gates, and stores the place of its creation.

use crate::execution::Execution;
use crate::execution::row::{OBJECTS_MAX, Row};
use crate::ids::{small, wide};
use crate::op::{Gate, Kind, ObjectId, Op};
use crate::runtime;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

/// The part of a drop-in type that identifies it in executions. An object may outlive an execution, or be older; it has
/// another number in each execution.
#[derive(Debug)]
pub(crate) struct Object {
    /// The serial number of the last execution that used the object, and in the low bits the object's number in that
    /// execution.
    seen: AtomicU64,
    what: &'static str,
    made: &'static Location<'static>,
}

impl Object {
    pub(crate) const fn new(what: &'static str, made: &'static Location<'static>) -> Object {
        Object { seen: AtomicU64::new(0), what, made }
    }

    /// The object's number in the execution with this serial number; `open` returns the initial state of its gates.
    pub(crate) fn id(&self, serial: u64, rows: &mut Vec<Row>, open: &dyn Fn() -> [bool; 2]) -> ObjectId {
        let seen = self.seen.load(Ordering::Relaxed);
        let bits = OBJECTS_MAX.trailing_zeros();
        if seen >> bits == serial {
            return ObjectId(small(seen & (wide(OBJECTS_MAX) - 1)));
        }
        assert!(rows.len() < OBJECTS_MAX, "an execution used more than {OBJECTS_MAX} objects");
        let id = small(rows.len());
        rows.push(Row::new(self.what, self.made, open()));
        self.seen.store(serial << bits | u64::from(id), Ordering::Relaxed);
        ObjectId(id)
    }

    /// A pause point: waits until the schedule continues this thread and the gate is open. Returns true if this is a
    /// managed thread; otherwise does not wait.
    #[track_caller]
    #[inline]
    pub(crate) fn pause(&self, kind: Kind, gate: Gate, open: impl Fn() -> [bool; 2]) -> bool {
        runtime::is_active() && self.pause_active(kind, gate, Location::caller(), &open)
    }

    /// [`Object::pause`] in an execution. Compiled only once, and not for each type that an object protects.
    fn pause_active(
        &self,
        kind: Kind,
        gate: Gate,
        place: &'static Location<'static>,
        open: &dyn Fn() -> [bool; 2],
    ) -> bool {
        if !runtime::is_managed() {
            self.touch_active(open);
            return false;
        }
        runtime::pause(|serial, rows| {
            let object = self.id(serial, rows, open);
            Op { kind, gate, object, also: ObjectId::NONE, place }
        });
        true
    }

    /// A pause point of the operation that `op` creates from the object's number. Returns true if this is a managed
    /// thread.
    ///
    /// `open` returns the initial state of the gates.
    pub(crate) fn pause_op(&self, open: impl Fn() -> [bool; 2], op: impl FnOnce(ObjectId) -> Op) -> bool {
        if !runtime::is_managed() {
            return false;
        }
        runtime::pause(|serial, rows| op(self.id(serial, rows, &open)));
        true
    }

    /// A pause point of an operation that needs no gate, and is recorded at `place`: destructors have no caller.
    #[inline]
    pub(crate) fn pause_at(&self, kind: Kind, place: &'static Location<'static>, open: impl Fn() -> [bool; 2]) -> bool {
        runtime::is_active() && self.pause_active(kind, Gate::Free, place, &open)
    }

    /// Records that the current step also accesses this object, which its operation does not name. An operation of a
    /// thread that unwinds does the same, since it is not a separate step. Both count as changes even if they only
    /// read, since few programs have such steps.
    #[inline]
    pub(crate) fn touch_too(&self, open: impl Fn() -> [bool; 2]) {
        self.touch_active(&open);
    }

    /// The same as [`Object::touch_too`], but without passing on the view of the thread.
    pub(crate) fn touch_alone(&self, open: impl Fn() -> [bool; 2]) {
        runtime::with(|execution| {
            let id = execution.id_of(self, &open);
            execution.touch(id);
        });
    }

    /// Stores the view of this thread as that of a thread that does not change the object; only in executions.
    pub(crate) fn release_apart(&self) {
        runtime::with(|execution| {
            let id = execution.id_of(self, &|| [true; 2]);
            execution.release_apart(id);
        });
    }

    fn touch_active(&self, open: &dyn Fn() -> [bool; 2]) {
        runtime::with(|execution| {
            let id = execution.id_of(self, open);
            execution.touch(id);
            // Like any operation, it passes on views.
            execution.release(id);
            execution.acquire(id, false);
        });
    }

    /// Adds the views of threads that changed this object; if this thread is about to change it, also those of threads
    /// that only read it. Only in executions.
    pub(crate) fn acquire(&self, to_change: bool) {
        runtime::with(|execution| {
            let id = execution.id_of(self, &|| [true; 2]);
            execution.acquire(id, to_change);
        });
    }

    /// Records that the value of this object is allocated, or freed; only in executions.
    pub(crate) fn set_live(&self, is_live: bool) {
        runtime::with(|execution| {
            let id = execution.id_of(self, &|| [true; 2]);
            execution.set_live(id, is_live);
        });
    }

    /// Records that this object is unlocked and was not borrowed mutably; only in executions.
    pub(crate) fn keep(&self) {
        runtime::with(|execution| {
            let id = execution.id_of(self, &|| [true; 2]);
            execution.keep(id);
        });
    }

    /// Stores the view of this thread as that of a thread that changes the object; only in executions.
    pub(crate) fn release(&self) {
        runtime::with(|execution| {
            let id = execution.id_of(self, &|| [true; 2]);
            execution.release(id);
        });
    }

    /// A pause point of an operation that needs no gate, on an object without gates.
    #[track_caller]
    #[inline]
    pub(crate) fn touch(&self, kind: Kind) -> bool {
        self.pause(kind, Gate::Free, || [true; 2])
    }

    /// Opens or closes the first gate and the second. Does nothing for objects that no managed thread has used.
    pub(crate) fn set_gates(&self, open: [bool; 2]) {
        runtime::with(|execution| {
            let seen = self.seen.load(Ordering::Relaxed);
            let bits = OBJECTS_MAX.trailing_zeros();
            if seen >> bits == execution.serial() {
                execution.set_gates(ObjectId(small(seen & (wide(OBJECTS_MAX) - 1))), open);
            }
        });
    }
}

impl Execution {
    /// The number of an object, which this execution may not have used before.
    pub(crate) fn id_of(&mut self, object: &Object, open: &dyn Fn() -> [bool; 2]) -> ObjectId {
        let (serial, rows) = self.objects();
        object.id(serial, rows, open)
    }
}
