//! Managed threads: the next operation of each, and its state for the execution and schedulers.

use super::rounds::Rounds;
use super::{Kind, ObjectId, Op, ThreadId};

/// The state of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// It has the baton, or has spawned the one that has it.
    Running,
    /// It is before an operation: ready if the gate is open, blocked on the object if not.
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
    /// Its own object: its first gate opens when the thread finishes, its second while it has a token to unpark.
    pub(crate) object: ObjectId,
    pub(crate) name: Option<String>,
    /// The step in which it was spawned, and its parent.
    pub(crate) spawned: Option<(usize, ThreadId)>,
    /// For a thread of a scope, the owner of the scope, and which of its scopes it is.
    pub(crate) host: Option<(ThreadId, u32)>,
    /// The thread that waits for it to reach its first pause point.
    pub(crate) starter: Option<ThreadId>,
    /// Whether it is about to call an operation of the recorded history.
    pub(crate) calling: bool,
    /// When the operation that it has not returned from was called.
    pub(crate) called: Option<u64>,
    /// Its last step.
    pub(crate) last_step: Option<usize>,
    /// How many steps there were when it last wrote to a cell; 0 if it has not.
    pub(crate) wrote: usize,
    /// Whether it seems to spin.
    pub(crate) rounds: Rounds,
    /// When its wait ends by itself.
    pub(crate) deadline: Option<u64>,
    /// The number of steps after which it continued because time passed.
    pub(crate) late: Option<usize>,
    /// It continues because another thread's wait has moved the clock.
    pub(crate) is_due: bool,
    /// What it awaits, if it polls a task.
    pub(crate) awaited: Option<ObjectId>,
    /// Picks of it that were surprises: those of the network are the second number.
    pub(crate) surprises: [u32; 2],
    /// It is to end at its next pause point, as part of a host that has crashed.
    pub(crate) is_killed: bool,
}

impl Thread {
    /// Whether it yields to others: explicitly, or because it seems to spin.
    #[inline]
    pub(crate) fn yields(&self) -> bool {
        self.op.kind == Kind::Yield || self.rounds.seems_to_spin()
    }
}
