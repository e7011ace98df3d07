//! Connects managed threads to their execution: stores what this OS thread is running, and contains the loop that runs
//! the managed threads.

use crate::execution::coroutine::{self, Coroutine, Job, Pool};
use crate::execution::row::Row;
use crate::execution::{self, Execution, Host, Kept, Limits, Outcome, View};
use crate::op::{Gate, Kind, ObjectId, Op, ThreadId};
use crate::scheduler::{Pick, Scheduler};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static EXECUTION: RefCell<Option<Execution>> = const { RefCell::new(None) };
    /// Whether a thread of the current execution was killed.
    static KILLS: Cell<bool> = const { Cell::new(false) };
    /// The memory that this OS thread keeps between two executions.
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
    /// The message and the place of the last panic.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// The number of stacks in this process that were leaked with threads cut off by failures.
static STACKS_LOST: AtomicUsize = AtomicUsize::new(0);

/// The maximum of that number. The system has room for some tens of thousands of stacks.
const STACKS_LOST_MAX: usize = 20_000;

/// While this value lives, the OS thread runs managed threads.
struct Active;

impl Active {
    fn new(execution: Execution) -> Active {
        EXECUTION.set(Some(execution));
        KILLS.set(false);
        ACTIVE.set(true);
        Active
    }

    fn end(active: Active) -> Execution {
        let execution = EXECUTION.take().expect("an execution was in progress");
        drop(active);
        execution
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.set(false);
        drop(EXECUTION.take());
    }
}

/// Returns true if the caller is a managed thread with active pause points. While a thread unwinds, its pause points
/// are not active: no other managed thread may run on an OS thread that is panicking.
#[inline]
pub(crate) fn is_managed() -> bool {
    ACTIVE.get() && !std::thread::panicking()
}

/// Returns true if the caller is a managed thread, unwinding or not.
#[inline]
pub(crate) fn is_active() -> bool {
    ACTIVE.get()
}

/// Accesses the current execution, if this is a managed thread.
pub(crate) fn with<R>(f: impl FnOnce(&mut Execution) -> R) -> Option<R> {
    if !ACTIVE.get() {
        return None;
    }
    EXECUTION.with_borrow_mut(|execution| execution.as_mut().map(f))
}

/// Returns the view of the running thread, to be attached to a message; only in executions.
pub(crate) fn hand_on() -> Option<View> {
    with(Execution::hand_on)
}

/// Adds the view of a message's sender to that of the running thread.
pub(crate) fn take_in(seen: Option<&View>) {
    if let Some(seen) = seen {
        with(|execution| execution.take_in(seen));
    }
}

/// Records that the current operation of the running thread changed nothing.
pub(crate) fn look() {
    if is_managed() {
        with(Execution::look);
    }
}

/// Fails if a thread that cannot wait would have to wait. If the thread unwinds, a second panic would abort the process
/// without a report; so the process ends with a report that contains the first panic and its schedule.
#[track_caller]
pub(crate) fn assert_can_wait(can_wait: bool, what: impl FnOnce() -> String) {
    if can_wait {
        return;
    }
    let (what, place) = (what(), Location::caller());
    assert!(is_active() && std::thread::panicking(), "{what}");
    let first = PANIC.take();
    let first = first.map_or("its host has crashed".to_owned(), |(message, at)| format!("a panic at {at}: {message}"));
    let schedule = with(|execution| execution.schedule()).unwrap_or_default();
    execution::end_process(&format!(
        "\nrecord-parallel: {what} (at {place}).\nThe thread unwinds because of {first}\nNobody else can run meanwhile, so \
         whatever it waits for would never come, and nothing can be unwound. The process ends.\n\nschedule, for \
         scheduler::Replay: {schedule}\n"
    ));
}

/// A pause point of the running thread, before the operation that `op` creates from the execution's serial number and
/// objects.
#[inline]
pub(crate) fn pause(op: impl FnOnce(u64, &mut Vec<Row>) -> Op) {
    let switch = EXECUTION.with_borrow_mut(|execution| {
        let Some(execution) = execution else { return false };
        execution.pause_with(op)
    });
    if switch {
        coroutine::suspend();
    }
    if KILLS.get() && with(Execution::dies) == Some(true) {
        resume_unwind(Box::new(Killed));
    }
}

/// The panic payload of a thread of a host that has crashed.
struct Killed;

/// Ends another thread: at its current pause point, or at the next one where it holds no lock.
pub(crate) fn kill(thread: ThreadId) {
    KILLS.set(true);
    with(|execution| execution.kill(thread));
}

/// A pause point of the running thread before an operation on the object of a thread, or on no object.
pub(crate) fn pause_on(object: Option<ObjectId>, kind: Kind, gate: Gate, place: &'static Location<'static>) {
    let object = object.unwrap_or(ObjectId::NONE);
    pause(|_, _| Op { kind, gate, object, also: ObjectId::NONE, place });
}

/// The same before an operation that needs no gate. In a thread that unwinds, the operation is part of the current
/// step.
pub(crate) fn pause_or_touch(object: ObjectId, kind: Kind, place: &'static Location<'static>) {
    if is_managed() {
        pause_on(Some(object), kind, Gate::Free, place);
    } else {
        with(|execution| {
            execution.touch(object);
            if kind == Kind::Unpark { execution.release_apart(object) } else { execution.release(object) }
        });
    }
}

/// The scheduler's pick among `options` options; 0 outside of executions.
#[track_caller]
pub(crate) fn pick(pick: Pick, options: u32) -> u32 {
    let place = Location::caller();
    if is_managed() && with(|execution| execution.needs_step(pick)) == Some(true) {
        pause_on(None, Kind::Pick, Gate::Free, place);
    }
    with(|execution| execution.pick(pick, options)).unwrap_or(0)
}

/// The same within the current step; 0 if the step has no room for the pick.
pub(crate) fn pick_within(pick: Pick, options: u32) -> u32 {
    with(|execution| execution.pick(pick, options)).unwrap_or(0)
}

/// Returns true if the scheduler ends a wait by a time-out although other threads could continue. The clock then
/// advances to the end of the wait.
#[track_caller]
pub(crate) fn times_out(time: Duration) -> bool {
    let is_out = pick(Pick::TimeOut, 2) == 1;
    if is_out {
        with(|execution| execution.jump(time));
    }
    is_out
}

/// Starts a managed thread from a managed thread. [`run_thread`] must run its body.
pub(crate) fn spawn(
    name: Option<String>,
    place: &'static Location<'static>,
    host: impl FnOnce() -> Host,
) -> (ThreadId, ObjectId) {
    before_spawn(place);
    start(name, place, host())
}

fn before_spawn(place: &'static Location<'static>) {
    if with(|execution| execution.is_calling()) == Some(true) {
        // The first effect of an operation that others see may come from the new thread, so the operation must be
        // called before.
        pause_on(None, Kind::Spawn, Gate::Free, place);
    }
}

fn start(name: Option<String>, place: &'static Location<'static>, host: Host) -> (ThreadId, ObjectId) {
    let new = with(|execution| execution.spawn(name, place, host)).expect("the caller is managed");
    // The new thread runs up to its first pause point.
    coroutine::suspend();
    new
}

/// A panic that was caught.
pub(crate) struct Caught {
    pub(crate) payload: Box<dyn std::any::Any + Send>,
    pub(crate) message: String,
    pub(crate) place: String,
}

impl Caught {
    /// Returns true if the thread was killed and has not panicked.
    pub(crate) fn is_killed(&self) -> bool {
        self.payload.is::<Killed>()
    }
}

/// Catches a panic, so that it does not fail the execution.
pub(crate) fn catch<T>(body: impl FnOnce() -> T) -> Result<T, Caught> {
    PANIC.set(None);
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let message = describe(&*payload);
        // The last panic may be a different one, which the body itself caught while it unwound with this one.
        let place = PANIC.take().filter(|(last, _)| *last == message).map(|(_, place)| place).unwrap_or_default();
        Caught { payload, message, place }
    })
}

/// Runs the body of a thread and reports its end to the execution. Compiled only once, and not for each thread of a
/// program.
pub(crate) fn run_thread(body: Box<dyn FnOnce() + '_>) {
    // No thread observes incomplete effects of the body, since a panic ends the execution.
    match catch(body) {
        Ok(()) => _ = with(Execution::finish),
        Err(caught) => _ = with(|execution| execution.panic(caught.message, caught.place)),
    }
}

/// The message of a panic.
pub(crate) fn describe(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(its payload is not text)").to_owned()
}

/// Replaces the panic hook, so that panics of managed threads are not printed in each of thousands of executions. The
/// report of the execution contains them once.
fn keep_panics_quiet() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if is_active() {
                let place = info.location().map(ToString::to_string).unwrap_or_default();
                PANIC.set(Some((describe(info.payload()), place)));
            } else {
                before(info);
            }
        }));
    });
}

/// Runs a program once.
pub(crate) fn run(pool: &mut Pool, scheduler: Box<dyn Scheduler>, limits: Limits, program: Job) -> Outcome {
    assert!(!is_active(), "an execution cannot start inside another one");
    assert!(!std::thread::panicking(), "an execution cannot start while a thread panics");
    let lost = STACKS_LOST.load(Ordering::Relaxed);
    assert!(
        lost <= STACKS_LOST_MAX,
        "failed executions have leaked {lost} threads in this process, which is the maximum"
    );
    keep_panics_quiet();
    let kept = KEPT.take().unwrap_or_else(Kept::new);
    kept.set_active(true);
    let active = Active::new(Execution::new(scheduler, limits, kept, program));
    let mut coroutines: Vec<Option<Coroutine>> = Vec::new();
    let turns = catch_unwind(AssertUnwindSafe(|| while !take_turn(pool, &mut coroutines) {}));
    if let Err(payload) = turns {
        if !coroutine::is_overflow(&*payload) {
            resume_unwind(payload);
        }
        with(Execution::overflow);
    }
    let execution = Active::end(active);
    // Threads that were cut off keep their stacks. To unwind them would run destructors in an order that is not in the
    // schedule, and some destructors would wait for each other.
    for coroutine in coroutines.into_iter().flatten() {
        std::mem::forget(coroutine);
        STACKS_LOST.fetch_add(1, Ordering::Relaxed);
    }
    KEPT.with_borrow_mut(|kept| {
        let outcome = execution.into_outcome(kept);
        if let Some(kept) = kept {
            kept.set_active(false);
        }
        outcome
    })
}

/// Keeps the memory of an execution's lists for the next execution. Returns the execution's scheduler.
pub(crate) fn recycle(outcome: Outcome) -> Box<dyn Scheduler> {
    KEPT.with_borrow_mut(|kept| match kept {
        Some(kept) => kept.take(outcome),
        None => outcome.scheduler,
    })
}

/// Runs the thread whose turn it is, up to its next pause point. Returns true if the execution is over.
fn take_turn(pool: &mut Pool, coroutines: &mut Vec<Option<Coroutine>>) -> bool {
    let (current, job) = with(Execution::turn).expect("an execution is in progress");
    if coroutines.len() <= current.at() {
        coroutines.resize_with(current.at() + 1, || None);
    }
    if let Some((job, size)) = job {
        coroutines[current.at()] = Some(pool.get(job, size));
    }
    if let Some(coroutine) = &mut coroutines[current.at()] {
        coroutine.resume();
    }
    let (done, over) = with(Execution::turn_over).expect("an execution is in progress");
    // A thread of a scope has no entry here: the owner of the scope keeps its stack.
    if let Some(coroutine) = done.and_then(|thread| coroutines.get_mut(thread.at())?.take()) {
        pool.put(coroutine);
    }
    over
}
