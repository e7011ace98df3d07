//! Adds threads to an execution, and determines on whose stack each runs.

use super::Execution;
use super::cause::Waiting;
use super::coroutine::{Job, StackSize};
use super::row::Row;
use crate::ids::{byte, index, small};
use crate::op::rounds::Rounds;
use crate::op::thread::{State, Thread};
use crate::op::{Gate, Kind, ObjectId, Op, THREADS_MAX, ThreadId, extra};
use std::cmp::Ordering;
use std::panic::Location;

/// The stack on which a thread runs.
pub(crate) enum Host {
    /// Its own stack.
    Own(Job, StackSize),
    /// A stack in a scope of this thread, which owns the body; the scope's number.
    Scope(ThreadId, u32),
}

impl Execution {
    pub(super) fn add_thread(
        &mut self,
        name: Option<String>,
        place: &'static Location<'static>,
        starter: Option<ThreadId>,
    ) -> (ThreadId, ObjectId) {
        assert!(self.threads.len() < THREADS_MAX, "an execution has no more than {THREADS_MAX} threads");
        let thread = ThreadId(byte(self.threads.len()));
        let object = ObjectId(small(self.rows.len()));
        self.rows.push(Row::new("thread", place, [false; 2]));
        let op = Op { kind: Kind::Yield, gate: Gate::Free, object: ObjectId::NONE, also: ObjectId::NONE, place };
        self.threads.push(Thread {
            state: State::Running,
            op,
            object,
            name,
            spawned: starter.and_then(|starter| Some((self.steps.len().checked_sub(1)?, starter))),
            starter,
            host: None,
            calling: false,
            called: None,
            last_step: None,
            wrote: 0,
            rounds: Rounds::default(),
            deadline: None,
            late: None,
            is_due: false,
            awaited: None,
            surprises: [0; 2],
            is_killed: false,
        });
        (thread, object)
    }

    pub(crate) fn spawn(
        &mut self,
        name: Option<String>,
        place: &'static Location<'static>,
        host: Host,
    ) -> (ThreadId, ObjectId) {
        let new = self.add_thread(name, place, Some(self.current));
        self.mark(extra::SPAWN);
        self.inherit(new.0);
        self.current = new.0;
        match host {
            Host::Own(body, size) => self.job = Some((body, size)),
            Host::Scope(owner, scope) => self.threads[new.0.at()].host = Some((owner, scope)),
        }
        new
    }

    /// Begins a scope of the running thread. Returns the thread and the scope's number; numbers increase.
    pub(crate) fn begin_scope(&mut self) -> (ThreadId, u32) {
        self.scopes += 1;
        (self.current, self.scopes)
    }

    /// The thread of a scope whose stack runs next, or the scope's owner, which may have further scopes. `None` if a
    /// thread outside of the scope runs next.
    pub(crate) fn turn_in(&self, owner: ThreadId, scope: u32) -> Option<ThreadId> {
        let mut thread = self.current;
        while thread != owner && !self.over {
            let (host, number) = self.threads[thread.at()].host?;
            if host == owner {
                return match number.cmp(&scope) {
                    Ordering::Equal => Some(thread),
                    Ordering::Greater => Some(owner),
                    Ordering::Less => None,
                };
            }
            thread = host;
        }
        (!self.over).then_some(owner)
    }

    /// The thread on whose stack the running thread ultimately runs.
    pub(super) fn outermost(&self) -> ThreadId {
        let mut thread = self.current;
        while let Some((host, _)) = self.threads[thread.at()].host {
            thread = host;
        }
        thread
    }

    /// The threads that wait before an operation.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let threads = self.threads.iter().enumerate();
        let paused = threads.filter(|(_, thread)| thread.state == State::Paused);
        let waiting = paused.map(|(at, thread)| {
            let id = ThreadId(byte(at));
            let object = thread.awaited.filter(|_| thread.op.kind == Kind::Pending).unwrap_or(thread.op.object);
            let row = self.rows.get(index(object.0));
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
