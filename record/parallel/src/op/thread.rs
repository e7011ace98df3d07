//! Managed threads: the next operation of each, and the state that executions and schedulers need.

use super::rounds::Rounds;
use super::{Kind, ObjectId, Op, ThreadId};

/// The state of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// The thread runs, or waits for a thread that it has spawned to reach its first pause point.
    Running,
    /// The thread is before an operation: ready if the gate is open, blocked on the object if not.
    Paused,
    Finished,
    Panicked,
}

/// A managed thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) state: State,
    /// The next operation; valid while the thread is paused.
    pub(crate) op: Op,
    /// The thread's own object: its first gate opens when the thread finishes; its second gate is open while the thread
    /// has a token from `unpark`.
    pub(crate) object: ObjectId,
    pub(crate) name: Option<String>,
    /// The step in which the thread was spawned, and its parent.
    pub(crate) spawned: Option<(usize, ThreadId)>,
    /// For a thread of a scope: the owner of the scope, and the scope's number.
    pub(crate) host: Option<(ThreadId, u32)>,
    /// The thread that waits for this one to reach its first pause point.
    pub(crate) starter: Option<ThreadId>,
    /// Whether the thread is about to call an operation of the recorded history.
    pub(crate) calling: bool,
    /// The time of the call of an operation that has not returned.
    pub(crate) called: Option<u64>,
    /// The number of the thread's last step.
    pub(crate) last_step: Option<usize>,
    /// The number of steps when the thread last wrote to a cell; 0 if it has not.
    pub(crate) wrote: usize,
    /// Determines whether the thread seems to spin.
    pub(crate) rounds: Rounds,
    /// The time at which the thread's wait ends by itself.
    pub(crate) deadline: Option<u64>,
    /// The number of steps after which it continued because time passed.
    pub(crate) late: Option<usize>,
    /// Whether the thread continues because another thread's wait has advanced the clock.
    pub(crate) is_due: bool,
    /// The object that the thread awaits, if it polls a task.
    pub(crate) awaited: Option<ObjectId>,
    /// The number of surprises picked in this thread: the network's are counted second.
    pub(crate) surprises: [u32; 2],
    /// Whether the thread ends at its next pause point, because its host has crashed.
    pub(crate) is_killed: bool,
}

impl Thread {
    /// Returns true if the thread yields to others: explicitly, or because it seems to spin.
    #[inline]
    pub(crate) fn yields(&self) -> bool {
        self.op.kind == Kind::Yield || self.rounds.seems_to_spin()
    }
}
