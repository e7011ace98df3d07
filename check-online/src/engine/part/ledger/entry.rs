//! An operation that moves a value.

use crate::engine::ops::{NEVER, OpIx, Seq};

/// The effect of an operation, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    Put(i64),
    Take(i64),
    /// It found the collection empty.
    Nothing,
    /// It removes a value, or finds the collection empty.
    Open,
    /// It did not happen.
    Failed,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// `NONE` if it inserted an initial value.
    pub(super) op: OpIx,
    pub(super) call: Seq,
    /// `NEVER` until it returns.
    pub(super) ret: Seq,
    pub(super) crashed: bool,
    pub(super) doing: Doing,
    /// The priority of the inserted value.
    pub(super) priority: i64,
    /// Whether it acts at the front, if the collection has two ends.
    pub(super) is_front: bool,
}

impl Entry {
    pub(super) fn is_open(&self) -> bool {
        self.ret == NEVER && !self.crashed && self.doing != Doing::Failed
    }
}
