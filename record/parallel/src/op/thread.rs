//! Managed threads: what each does next, and what its execution and schedulers know of it.

use super::rounds::Rounds;
use super::{Kind, ObjectId, Op, ThreadId};

/// What a thread is doing.
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
    /// What it does next; meaningful while it is paused.
    pub(crate) op: Op,
    /// Its own object: its first gate opens when it finishes, its second while it has a token to unpark.
    pub(crate) object: ObjectId,
    pub(crate) name: Option<String>,
    /// The step in which it was spawned, and who did.
    pub(crate) spawned: Option<(usize, ThreadId)>,
    /// Of a thread of a scope, the thread that has the scope, and which of its scopes it is.
    pub(crate) host: Option<(ThreadId, u32)>,
    /// Who waits for it to come to its first pause point.
    pub(crate) starter: Option<ThreadId>,
    /// It is about to call an operation of the recorded history.
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
    /// It continues because time passed, after so many steps.
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
    /// Whether it lets others go first: it says so, or seems to spin.
    #[inline]
    pub(crate) fn yields(&self) -> bool {
        self.op.kind == Kind::Yield || self.rounds.seems_to_spin()
    }
}
