//! Managed threads as their execution knows them.

use super::Execution;
use super::rounds::Rounds;
use crate::failure::Waiting;
use crate::ids::{byte, index};
use crate::op::{Kind, ObjectId, Op, ThreadId};

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
    /// Who waits for it to come to its first pause point.
    pub(super) starter: Option<ThreadId>,
    /// It is about to call an operation of the recorded history.
    pub(super) calling: bool,
    /// When the operation that it has not returned from was called.
    pub(crate) called: Option<u64>,
    /// Its last step.
    pub(super) last_step: Option<usize>,
    /// Whether it seems to spin.
    pub(super) rounds: Rounds,
    /// When its wait ends by itself.
    pub(super) deadline: Option<u64>,
    /// It continues because time passed, after so many steps.
    pub(super) late: Option<usize>,
    /// Picks of it that were surprises.
    pub(super) surprises: u32,
}

impl Thread {
    /// Whether it lets others go first: it says so, or seems to spin.
    pub(crate) fn yields(&self) -> bool {
        self.op.kind == Kind::Yield || self.rounds.seems_to_spin()
    }
}

impl Execution {
    /// The threads that are before an operation.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let threads = self.threads.iter().enumerate();
        let paused = threads.filter(|(_, thread)| thread.state == State::Paused);
        let waiting = paused.map(|(at, thread)| {
            let id = ThreadId(byte(at));
            let row = self.rows.get(index(thread.op.object.0));
            Waiting {
                thread: id,
                name: thread.name.clone(),
                kind: thread.op.kind,
                place: thread.op.place,
                object: row.map(|row| (row.what, row.made)),
                holder: row.and_then(|row| row.holder),
                is_ready: self.ready.contains(id),
            }
        });
        waiting.collect()
    }
}
