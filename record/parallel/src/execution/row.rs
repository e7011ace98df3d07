//! The state of the objects that threads share in an execution.

use crate::ThreadId;
use std::panic::Location;

/// The maximum number of objects in one execution.
pub(crate) const OBJECTS_MAX: usize = 1 << 24;

/// The state of an object in an execution.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) made: &'static Location<'static>,
    /// Whether each gate is open.
    pub(crate) open: [bool; 2],
    /// The threads whose operation needs each gate, as a set.
    pub(crate) waiters: [u64; 2],
    /// The thread that last closed the first gate.
    pub(crate) holder: Option<ThreadId>,
    /// The number of steps at that time.
    pub(crate) held_since: usize,
    /// Whether the object's value was allocated in this execution and not dropped so far.
    pub(crate) is_live: bool,
}

impl Row {
    #[inline]
    pub(crate) fn new(what: &'static str, made: &'static Location<'static>, open: [bool; 2]) -> Row {
        Row { what, made, open, waiters: [0; 2], holder: None, held_since: 0, is_live: false }
    }
}
