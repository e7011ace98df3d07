//! Runs tasks under the scheduler: each task is a thread of the execution that polls a future and waits until its waker
//! is called.
//!
//! So a task is scheduled, replayed and reduced like any thread. Its waker is an object with a gate, which is open
//! while the task is woken. After a lost wake-up the gate remains closed, which is a deadlock; the report names the
//! place where the task awaits. A task may also be polled without a wake-up, if the schedule chooses so, and when the
//! first of its timers ends.
//!
//! A thread that calls a waker reaches a pause point before the call. This crate's own types call wakers within the
//! step that changes the object: the woken task may continue at any later time, so no behaviour is lost.

use crate::object::Object;
use crate::op::{Gate, Kind, ObjectId, Op, ThreadId};
use crate::runtime;
use crate::scheduler::Pick;
use crate::time::Instant;
use crate::tokio::turn::{Taken, Turn};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future that is polled by a thread.
pub(crate) struct Task {
    object: Object,
    place: &'static Location<'static>,
    /// The turn in a runtime of one thread, whose tasks are polled one at a time.
    turn: Option<Arc<Turn>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_woken: bool,
    /// Whether the task has woken itself since it was polled.
    is_again: bool,
    is_aborted: bool,
    /// The place where the task awaits.
    awaits: Option<&'static Location<'static>>,
    timers: Vec<Timer>,
    timers_made: u64,
    /// The OS thread that waits for the task outside of executions.
    parked: Option<std::thread::Thread>,
}

struct Timer {
    id: u64,
    deadline: Instant,
    waker: Waker,
}

/// The owner of new tasks: a runtime.
pub(crate) type Owner = Arc<dyn Any + Send + Sync>;

/// The task that a thread polls, if any, and the owner of new tasks.
#[derive(Clone)]
struct Current {
    task: Option<Arc<Task>>,
    owner: Option<Owner>,
}

thread_local! {
    /// The current tasks of the threads of the execution with this serial number.
    static MANAGED: RefCell<(u64, Vec<Option<Current>>)> = const { RefCell::new((0, Vec::new())) };
    /// The current task of this thread outside of executions.
    static OUTSIDE: RefCell<Option<Current>> = const { RefCell::new(None) };
    /// Threads that are calling wakers within a step, as a set.
    static QUIET: Cell<u64> = const { Cell::new(0) };
}

/// Replaces the current task of the caller's thread.
fn exchange(new: Option<Current>) -> Option<Current> {
    let managed = runtime::with(|execution| (execution.serial(), execution.current()));
    let Some((serial, thread)) = managed else { return OUTSIDE.replace(new) };
    MANAGED.with_borrow_mut(|(of, all)| {
        if *of != serial {
            // Values that an execution with cut-off threads has left are leaked, as its threads are.
            std::mem::forget(std::mem::take(all));
            *of = serial;
        }
        if all.len() <= thread.at() {
            all.resize(thread.at() + 1, None);
        }
        std::mem::replace(&mut all[thread.at()], new)
    })
}

fn current() -> Option<Current> {
    let current = exchange(None);
    exchange(current.clone());
    current
}

/// The task that the caller is part of.
pub(crate) fn task() -> Option<Arc<Task>> {
    current()?.task
}

/// The owner of new tasks of the caller.
pub(crate) fn context() -> Option<Owner> {
    current()?.owner
}

/// While this value lives, the thread polls a task or enters a runtime.
pub(crate) struct Entered(Option<Current>);

/// Sets the current task of the caller's thread, and the owner of new tasks.
pub(crate) fn enter(task: Option<Arc<Task>>, owner: Option<Owner>) -> Entered {
    Entered(exchange(Some(Current { task, owner })))
}

impl Drop for Entered {
    fn drop(&mut self) {
        exchange(self.0.take());
    }
}

fn thread_bit() -> u64 {
    runtime::with(|execution| execution.current()).map_or(0, |thread: ThreadId| 1 << thread.at())
}

/// Calls wakers within the current step.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    let (before, own) = (QUIET.get(), thread_bit());
    QUIET.set(before | own);
    wakers.into_iter().for_each(Waker::wake);
    QUIET.set(QUIET.get() & !own | before & own);
}

/// Records the object that the running task awaits, and the place.
pub(crate) fn awaits(object: Option<&Object>, place: &'static Location<'static>) {
    if let Some(task) = task() {
        task.state().awaits = Some(place);
        runtime::with(|execution| {
            let object = object.map(|object| execution.id_of(object, &|| [true; 2]));
            execution.set_awaited(object);
        });
    }
}

/// Blocks a thread that is part of no task until a future is complete.
#[track_caller]
pub(crate) fn block<F: Future>(future: F) -> F::Output {
    assert!(
        task().is_none(),
        "Cannot block the current thread from within a runtime: it polls a task, which could not be polled meanwhile"
    );
    let task = Task::new(Location::caller());
    let _entered = enter(Some(Arc::clone(&task)), context());
    task.run(pin!(future)).expect("no handle can abort the task")
}

impl Task {
    pub(crate) fn new(place: &'static Location<'static>) -> Arc<Task> {
        Task::of(None, place)
    }

    /// Creates a task: of a runtime of one thread, if `turn` is given.
    pub(crate) fn of(turn: Option<Arc<Turn>>, place: &'static Location<'static>) -> Arc<Task> {
        Arc::new(Task { object: Object::new("waker", place), place, turn, state: Mutex::default() })
    }

    /// Waits until no other task of a runtime of one thread is polled. `None` in other runtimes.
    pub(crate) fn take_turn(&self) -> Option<Taken<'_>> {
        self.turn.as_ref().map(|turn| turn.take(self.place))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gates(&self) -> [bool; 2] {
        [self.state().is_woken, true]
    }

    /// The pause point of a new task before it is polled. Returns true if the task was aborted.
    pub(crate) fn start(&self) -> bool {
        self.object.pause_at(Kind::Start, self.place, || self.gates());
        self.state().is_aborted
    }

    /// Polls a future until it is complete; `None` if the task is aborted before.
    pub(crate) fn run<F: Future>(self: &Arc<Task>, mut future: Pin<&mut F>) -> Option<F::Output> {
        let mut output = None;
        self.poll_until(&mut |context| match future.as_mut().poll(context) {
            Poll::Ready(result) => {
                output = Some(result);
                true
            }
            Poll::Pending => false,
        });
        output
    }

    /// Polls until the future is complete or the task is aborted. Compiled only once, and not for each future.
    fn poll_until(self: &Arc<Task>, poll: &mut dyn FnMut(&mut Context<'_>) -> bool) {
        let waker = Waker::from(Arc::clone(self));
        loop {
            {
                let mut state = self.state();
                (state.is_again, state.awaits) = (false, None);
            }
            runtime::with(|execution| execution.set_awaited(None));
            let turn = self.take_turn();
            let is_done = poll(&mut Context::from_waker(&waker));
            drop(turn);
            if is_done {
                return;
            }
            self.wait();
            if self.state().is_aborted {
                return;
            }
        }
    }

    /// Waits until the task is woken or a timer ends.
    fn wait(&self) {
        let (place, is_again, deadline) = {
            let state = self.state();
            let deadline = state.timers.iter().map(|timer| timer.deadline).min();
            (state.awaits.unwrap_or(self.place), state.is_again, deadline)
        };
        if runtime::is_active() {
            let what = || "a destructor waits for a future while its thread panics".into();
            runtime::assert_can_wait(runtime::is_managed(), what);
            self.pause(place, is_again, deadline);
        } else {
            self.park(deadline);
        }
        self.fire();
    }

    fn pause(&self, place: &'static Location<'static>, is_again: bool, deadline: Option<Instant>) {
        let op = |kind, gate| move |object| Op { kind, gate, object, also: ObjectId::NONE, place };
        if is_again {
            // No other thread needs to wake the task, so it only yields to others.
            self.object.pause_op(|| self.gates(), op(Kind::Yield, Gate::Free));
        } else {
            let left = deadline.map(|deadline| deadline - Instant::unscheduled());
            let is_early = match left {
                Some(left) => runtime::times_out(left),
                None => runtime::pick(Pick::Wake, 2) == 1,
            };
            if let Some(left) = left.filter(|_| !is_early) {
                runtime::with(|execution| execution.set_deadline(left));
            }
            let gate = if is_early { Gate::Free } else { Gate::First };
            self.object.pause_op(|| self.gates(), op(Kind::Pending, gate));
        }
        self.object.acquire(true);
        self.state().is_woken = false;
        self.object.set_gates([false, true]);
    }

    /// Waits outside of executions until the task is woken or the time is over.
    fn park(&self, deadline: Option<Instant>) {
        self.state().parked = Some(std::thread::current());
        while !self.state().is_woken {
            match deadline.map(|deadline| deadline - Instant::unscheduled()) {
                Some(left) if left.is_zero() => break,
                Some(left) => std::thread::park_timeout(left),
                None => std::thread::park(),
            }
        }
        self.state().is_woken = false;
    }

    /// Calls the wakers of all timers that have ended.
    fn fire(&self) {
        if self.state().timers.is_empty() {
            return;
        }
        let now = Instant::unscheduled();
        let mut due: Vec<Timer> = self.state().timers.extract_if(.., |timer| timer.deadline <= now).collect();
        due.sort_by_key(|timer| (timer.deadline, timer.id));
        wake_all(due.into_iter().map(|timer| timer.waker));
        let mut state = self.state();
        (state.is_woken, state.is_again) = (false, false);
    }

    /// Adds a timer, which calls the waker at the deadline. Returns the timer's number.
    pub(crate) fn add_timer(&self, deadline: Instant, waker: Waker) -> u64 {
        let mut state = self.state();
        state.timers_made += 1;
        let id = state.timers_made;
        state.timers.push(Timer { id, deadline, waker });
        id
    }

    /// Removes a timer.
    pub(crate) fn remove_timer(&self, id: u64) {
        let removed: Vec<Timer> = self.state().timers.extract_if(.., |timer| timer.id == id).collect();
        drop(removed);
    }

    fn set_woken(&self) {
        self.object.release();
        let mut state = self.state();
        state.is_woken = true;
        let parked = state.parked.take();
        drop(state);
        self.object.set_gates([true, true]);
        if let Some(thread) = parked {
            thread.unpark();
        }
    }

    /// Ends the task at its next await point, or before it begins. If `is_part`, this happens within the current step.
    pub(crate) fn abort(&self, is_part: bool, place: &'static Location<'static>) {
        if is_part {
            self.object.touch_too(|| self.gates());
        } else {
            self.object.pause_at(Kind::Abort, place, || self.gates());
        }
        self.state().is_aborted = true;
        self.set_woken();
    }
}

impl Wake for Task {
    fn wake(self: Arc<Task>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Task>) {
        if task().is_some_and(|task| Arc::ptr_eq(&task, self)) {
            // No other thread is affected: the task continues anyway.
            let mut state = self.state();
            (state.is_woken, state.is_again) = (true, true);
            return;
        }
        if QUIET.get() & thread_bit() != 0 {
            self.object.touch_too(|| self.gates());
        } else {
            self.object.pause_at(Kind::Wake, self.place, || self.gates());
        }
        self.set_woken();
    }
}
