//! One execution: managed threads, of which exactly one runs between two pause points.
//!
//! A thread pauses *before* each operation that other threads can observe. The operation waits for the scheduler's
//! decision. It is then executed together with all code up to the thread's next pause point: this is a step. So an
//! execution is a function of the program and of the scheduler's decisions. A thread that is spawned immediately runs
//! up to its first pause point, before its parent continues: nothing observable happens in this time.
//!
//! An object has **gates**, for which operations may have to wait: a mutex has a gate that is open while the mutex is
//! free, a channel has one for senders and one for receivers. A thread is ready if its operation's gate is open. So no
//! operation is tried in vain.

pub(crate) mod cause;
pub(crate) mod coroutine;
mod kept;
mod kill;
mod memory;
mod pick;
mod races;
pub(crate) mod row;
mod stuck;
mod tasks;
mod thread;
mod time;
mod view;

pub(crate) use kept::Kept;
pub(crate) use stuck::end_process;
pub(crate) use thread::Host;
pub(crate) use view::View;

use crate::ids::{index, small};
use crate::op::rounds::Rounds;
use crate::op::thread::{State, Thread};
use crate::op::{Gate, Kind, ObjectId, Op, Picks, Step, ThreadId, ThreadSet, extra};
use crate::scheduler::{Choice, Scheduler};
use cause::Cause;
use coroutine::{Job, StackSize};
use row::{OBJECTS_MAX, Row};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limits of one execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) steps_max: usize,
    pub(crate) surprises_max: u32,
    /// Whether loads may return older values.
    pub(crate) is_weak: bool,
    /// Whether a value that was allocated and is not freed at the end is a failure.
    pub(crate) leaks_fail: bool,
}

/// The state of an execution in progress.
pub(crate) struct Execution {
    serial: u64,
    threads: Vec<Thread>,
    rows: Vec<Row>,
    ready: ThreadSet,
    current: ThreadId,
    steps: Vec<Step>,
    scheduler: Option<Box<dyn Scheduler>>,
    every_step: bool,
    limits: Limits,
    /// Reports steps to the watchdog.
    noting: stuck::Noting,
    /// The body of a thread that is to start now, and the size of its stack.
    job: Option<(Job, StackSize)>,
    /// The number of scopes begun so far.
    scopes: u32,
    /// A thread whose body has just ended.
    done: Option<ThreadId>,
    /// The number of calls and returns in the recorded history so far.
    clock: u64,
    /// Nanoseconds since the beginning.
    now: u64,
    /// The number of threads with a deadline.
    timed: u32,
    /// The number of consecutive steps that changed nothing.
    idle: u32,
    memory: memory::Memory,
    races: races::Races,
    /// Steps that became possible because time passed, and the number of steps at that time.
    late: Vec<(usize, usize)>,
    /// Picks other than 0 and other remarks, each with its step.
    picked: Vec<(usize, pick::Remark)>,
    /// The values that steps read from their atomics and stored there.
    values: Vec<Value>,
    /// Whether the scheduler could not decide a pick.
    is_lost: bool,
    /// The number of surprises that the budget did not allow.
    refused: u32,
    /// Panics of tasks that were not reported to any other task.
    unseen: Vec<tasks::Unseen>,
    cause: Option<Cause>,
    over: bool,
}

/// The bits that a step read from its atomic, and those that it stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    /// The number of the step.
    pub(crate) step: u32,
    has: [bool; 2],
    bits: [u64; 2],
}

impl Value {
    #[inline]
    fn new(step: usize, before: Option<u64>, after: Option<u64>) -> Value {
        let bits = [before.unwrap_or(0), after.unwrap_or(0)];
        Value { step: small(step), has: [before.is_some(), after.is_some()], bits }
    }

    /// The value that was read.
    pub(crate) fn before(&self) -> Option<u64> {
        self.has[0].then_some(self.bits[0])
    }

    /// The value that was stored.
    pub(crate) fn after(&self) -> Option<u64> {
        self.has[1].then_some(self.bits[1])
    }
}

/// The result of an execution.
pub(crate) struct Outcome {
    pub(crate) scheduler: Box<dyn Scheduler>,
    pub(crate) steps: Vec<Step>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) rows: Vec<Row>,
    pub(crate) late: Vec<(usize, usize)>,
    pub(crate) picked: Vec<(usize, pick::Remark)>,
    pub(crate) values: Vec<Value>,
    /// Whether a higher limit would have allowed a thread one more surprise.
    pub(crate) is_spent: bool,
    pub(crate) cause: Option<Cause>,
}

static SERIAL: AtomicU64 = AtomicU64::new(1);

impl Execution {
    pub(crate) fn new(scheduler: Box<dyn Scheduler>, limits: Limits, kept: Kept, program: Job) -> Execution {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        assert!(serial < 1 << (64 - OBJECTS_MAX.trailing_zeros()), "executions are counted in 40 bits");
        let Kept { noting, mut memory, threads, rows, steps, values } = kept;
        memory.begin(limits.is_weak);
        let mut execution = Execution {
            serial,
            threads,
            rows,
            ready: ThreadSet::default(),
            current: ThreadId(0),
            steps,
            every_step: scheduler.wants_every_step(),
            scheduler: Some(scheduler),
            limits,
            noting,
            job: None,
            scopes: 0,
            done: None,
            clock: 0,
            now: 0,
            timed: 0,
            idle: 0,
            memory,
            races: races::Races::default(),
            late: Vec::new(),
            picked: Vec::new(),
            values,
            is_lost: false,
            refused: 0,
            unseen: Vec::new(),
            cause: None,
            over: false,
        };
        execution.add_thread(None, Location::caller(), None);
        execution.job = Some((program, StackSize::default()));
        execution
    }

    /// Returns the thread whose stack runs next, and its body if it is to start.
    pub(crate) fn turn(&mut self) -> (ThreadId, Option<(Job, StackSize)>) {
        (self.outermost(), self.job.take())
    }

    /// Returns the thread whose body has ended in this turn, and whether the execution is over.
    pub(crate) fn turn_over(&mut self) -> (Option<ThreadId>, bool) {
        (self.done.take(), self.over)
    }

    /// Returns the result. Memory that the next execution can reuse is stored in `kept`.
    pub(crate) fn into_outcome(self, kept: &mut Option<Kept>) -> Outcome {
        let Execution { threads, rows, steps, scheduler, late, picked, values, refused, cause, .. } = self;
        let (noting, memory) = (self.noting, self.memory);
        *kept = Some(Kept::of(noting, memory));
        let scheduler = scheduler.expect("the scheduler was only lent");
        Outcome { scheduler, steps, threads, rows, late, picked, values, is_spent: refused > 0, cause }
    }

    /// Records that the running thread changes an object that its operation does not name.
    pub(crate) fn touch(&mut self, object: ObjectId) {
        if let Some(step) = self.steps.last_mut() {
            step.touch(object);
        }
    }

    /// Records that the operation of the last step changed nothing.
    pub(crate) fn look(&mut self) {
        self.mark(extra::LOOKED);
    }

    /// Sets a bit in the events of the last step.
    fn mark(&mut self, bit: u16) {
        if let Some(step) = self.steps.last_mut() {
            step.extras |= bit;
        }
    }

    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// The schedule up to here.
    pub(crate) fn schedule(&self) -> crate::Schedule {
        crate::Schedule::of(&self.steps)
    }

    pub(crate) fn steps_taken(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn current(&self) -> ThreadId {
        self.current
    }

    pub(crate) fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.at()]
    }

    /// The serial number of the execution, and the objects used so far.
    #[inline]
    pub(crate) fn objects(&mut self) -> (u64, &mut Vec<Row>) {
        (self.serial, &mut self.rows)
    }

    /// Records that the running thread holds an object.
    pub(crate) fn hold(&mut self, object: ObjectId) {
        let row = &mut self.rows[index(object.0)];
        (row.holder, row.held_since) = (Some(self.current), self.steps.len());
    }

    /// Records the unlock of an object that was not borrowed mutably. Nothing has changed under the lock unless the
    /// running thread has written to a cell since it acquired the lock.
    pub(crate) fn keep(&mut self, object: ObjectId) {
        if self.threads[self.current.at()].wrote < self.rows[index(object.0)].held_since {
            self.mark(extra::LOOKED | extra::GUARDS);
        }
    }

    /// Records that the value of an object is allocated, or freed.
    pub(crate) fn set_live(&mut self, object: ObjectId, is_live: bool) {
        self.rows[index(object.0)].is_live = is_live;
    }

    pub(crate) fn set_gates(&mut self, object: ObjectId, open: [bool; 2]) {
        let row = &mut self.rows[index(object.0)];
        for (gate, &open) in open.iter().enumerate() {
            row.open[gate] = open;
            if open {
                self.ready.0 |= row.waiters[gate];
            } else {
                self.ready.0 &= !row.waiters[gate];
            }
        }
    }

    /// Sets or removes a thread's token, without which `park` waits.
    pub(crate) fn set_token(&mut self, thread: ThreadId, has: bool) {
        let object = self.threads[thread.at()].object;
        let finished = self.rows[index(object.0)].open[0];
        self.set_gates(object, [finished, has]);
    }

    /// The gate of an object that an operation needs; `None` if it needs none.
    fn gate(op: &Op) -> Option<usize> {
        match op.gate {
            Gate::First => Some(0),
            Gate::Second => Some(1),
            Gate::Free | Gate::Shut => None,
        }
    }

    /// Makes a thread wait before an operation.
    fn stand(&mut self, thread: ThreadId, op: Op) {
        self.threads[thread.at()].op = op;
        if op.gate == Gate::Free {
            self.ready.insert(thread);
        } else if let Some(gate) = Execution::gate(&op) {
            let row = &mut self.rows[index(op.object.0)];
            row.waiters[gate] |= 1 << thread.0;
            if row.open[gate] {
                self.ready.insert(thread);
            }
        }
    }

    /// Removes a thread's next operation from the lists of waiting threads, and returns it.
    fn leave(&mut self, thread: ThreadId) -> Op {
        let op = self.threads[thread.at()].op;
        self.ready.remove(thread);
        if let Some(gate) = Execution::gate(&op) {
            self.rows[index(op.object.0)].waiters[gate] &= !(1 << thread.0);
        }
        op
    }

    /// Changes the operation before which a paused thread waits.
    pub(crate) fn redirect(&mut self, thread: ThreadId, change: impl FnOnce(&mut Op)) {
        let mut op = self.leave(thread);
        self.clear_deadline(thread);
        change(&mut op);
        self.stand(thread, op);
    }

    /// Pauses the running thread before an operation. Returns true if another thread runs next.
    #[inline]
    pub(crate) fn pause_with(&mut self, op: impl FnOnce(u64, &mut Vec<Row>) -> Op) -> bool {
        if self.over {
            return true;
        }
        let op = op(self.serial, &mut self.rows);
        let me = self.current;
        let thread = &mut self.threads[me.at()];
        thread.state = State::Paused;
        let starter = thread.starter.take();
        let is_idle = op.kind != Kind::Yield && thread.last_step.is_some_and(|last| self.steps[last].is_idle());
        if is_idle {
            thread.rounds.come_to(&op);
        } else {
            thread.rounds = Rounds::default();
        }
        self.stand(me, op);
        match starter {
            Some(starter) => {
                self.current = starter;
                true
            }
            None => self.hand_over(Some(me)),
        }
    }

    /// The cause of failure if no thread can continue; `None` if all have finished without one.
    fn failure_at_end(&self) -> Option<Cause> {
        if self.threads.iter().any(|thread| thread.state == State::Paused) {
            return Some(Cause::Deadlock(self.waiting()));
        }
        let leaked = if self.limits.leaks_fail { self.leaked() } else { Vec::new() };
        (!leaked.is_empty()).then_some(Cause::Leak(leaked))
    }

    /// Continues the thread that the scheduler chooses. Returns true if this is not the thread `from`.
    fn hand_over(&mut self, from: Option<ThreadId>) -> bool {
        if self.is_lost {
            self.cause = Some(Cause::NoChoice);
            self.over = true;
            return true;
        }
        self.tick();
        let ready = self.ready;
        let current = from.filter(|from| ready.contains(*from));
        let Some(first) = ready.first() else {
            self.over = true;
            self.cause = self.unseen_panic().or_else(|| self.failure_at_end());
            return true;
        };
        let yielded = current.is_some_and(|current| self.threads[current.at()].yields());
        if self.steps.len() >= self.limits.steps_max {
            self.cause = self.unseen_panic().or_else(|| Some(Cause::Livelock(self.waiting())));
            self.over = true;
            return true;
        }
        let (mut next, mut extras) = (first, extra::UNDISTURBED);
        if self.every_step || ready.len() > 1 {
            let (threads, steps, steps_max) = (&self.threads[..], &self.steps[..], self.limits.steps_max);
            let choice = Choice { ready, current, yielded, threads, steps, steps_max };
            let undisturbed = choice.undisturbed();
            let chosen = self.scheduler.as_mut().and_then(|scheduler| scheduler.next(&choice));
            match chosen {
                Some(chosen) if ready.contains(chosen) => next = chosen,
                _ => {
                    self.cause = Some(Cause::NoChoice);
                    self.over = true;
                    return true;
                }
            }
            if undisturbed != Some(next) {
                extras = 0;
            }
        }
        if current.is_some_and(|current| current != next && !yielded) {
            extras |= extra::PREEMPTION;
        }
        let op = self.leave(next);
        self.clear_deadline(next);
        let thread = &mut self.threads[next.at()];
        if let Some(since) = thread.late.take() {
            self.late.push((self.steps.len(), since));
            extras |= extra::LATE;
        }
        if std::mem::take(&mut thread.is_due) {
            extras |= extra::TIMED;
        }
        if thread.rounds.seems_to_spin() {
            extras |= extra::SPINS;
        }
        thread.state = State::Running;
        thread.last_step = Some(self.steps.len());
        if thread.calling {
            thread.calling = false;
            thread.called = Some(self.clock);
            self.clock += 1;
            extras |= extra::CALL;
        }
        self.synchronize(next, &op);
        self.noting.step(next, op.place);
        self.steps.push(Step { op, thread: next, extras, picks: Picks::default() });
        self.current = next;
        Some(next) != from
    }

    /// Records that the running thread is about to call an operation of the recorded history. The call belongs to its
    /// first step.
    pub(crate) fn call(&mut self) {
        self.threads[self.current.at()].calling = true;
    }

    /// Returns true if the running thread has reached no pause point since [`Execution::call`].
    pub(crate) fn is_calling(&self) -> bool {
        self.threads[self.current.at()].calling
    }

    /// Records that the running thread returns from an operation. Returns the times of the call and of the return.
    pub(crate) fn return_from_call(&mut self) -> (u64, u64) {
        self.mark(extra::RETURN);
        let now = self.clock;
        self.clock += 1;
        let called = self.threads[self.current.at()].called.take();
        (called.unwrap_or(now), now)
    }

    /// Records that the running thread has ended.
    pub(crate) fn finish(&mut self) {
        let me = self.current;
        if self.over {
            // The execution ended while the thread unwound.
            self.done = Some(me);
            return;
        }
        let thread = &mut self.threads[me.at()];
        thread.state = State::Finished;
        let object = thread.object;
        let starter = thread.starter.take();
        if let Some(last) = thread.last_step {
            self.steps[last].extras |= extra::FINISH;
        }
        self.release(object);
        let parked = self.rows[index(object.0)].open[1];
        self.set_gates(object, [true, parked]);
        self.done = Some(me);
        match starter {
            Some(starter) => self.current = starter,
            None => _ = self.hand_over(None),
        }
    }

    /// Ends the execution because the running thread needed more stack than it has.
    pub(crate) fn overflow(&mut self) {
        let thread = &self.threads[self.current.at()];
        self.cause = Some(Cause::Overflow { thread: self.current, name: thread.name.clone(), place: thread.op.place });
        self.over = true;
    }

    /// Ends the execution because the running thread has panicked.
    pub(crate) fn panic(&mut self, message: String, place: String) {
        let me = self.current;
        self.threads[me.at()].state = State::Panicked;
        self.cause.get_or_insert(Cause::Panic { thread: me, message, place });
        self.done = Some(me);
        self.over = true;
    }
}
