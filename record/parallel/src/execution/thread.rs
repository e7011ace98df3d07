//! How an execution gets its threads, and on whose stack each runs.

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

/// Where a thread runs.
pub(crate) enum Host {
    /// On its own stack.
    Own(Job, StackSize),
    /// In a scope of a thread, which owns the body.
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

    /// Begins a scope of the running thread. Returns the thread and the scope's number, which increases.
    pub(crate) fn begin_scope(&mut self) -> (ThreadId, u32) {
        self.scopes += 1;
        (self.current, self.scopes)
    }

    /// The stack that runs next in a scope: that of a thread of the scope, or that of its owner, which may have further
    /// scopes. `None` if it is that of a thread outside.
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

    /// The threads that are before an operation.
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
