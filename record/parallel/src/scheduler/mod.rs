//! Schedulers: they choose the next thread, and make the choices that the program leaves open. One scheduler per file.

mod exhaustive;
mod fairness;
mod pct;
mod pick;
mod random;
mod reduced;
mod replay;
pub(crate) mod rng;
mod round_robin;
pub(crate) mod schedule;

pub use exhaustive::Exhaustive;
pub use pct::{Pct, miss_probability};
pub use pick::Pick;
pub use random::Random;
pub use reduced::Reduced;
pub use replay::Replay;
pub use round_robin::RoundRobin;

use crate::op::thread::Thread;
use crate::op::{ObjectId, Step};
use crate::{ThreadId, ThreadSet};

/// Decides which thread continues at each pause point.
///
/// A scheduler must be a function of its parameters and of its input, so that executions can be repeated.
///
/// ```
/// use record_parallel::scheduler::{Choice, Scheduler};
/// use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use record_parallel::{Settings, ThreadId, explore, thread};
/// use std::sync::Arc;
///
/// /// Continues the thread that was spawned last.
/// struct Latest { left: u32 }
///
/// impl Scheduler for Latest {
///     fn begin(&mut self) -> bool {
///         self.left = self.left.saturating_sub(1);
///         self.left > 0
///     }
///
///     fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
///         choice.ready().iter().last()
///     }
/// }
///
/// let explored = explore(&Settings::default(), Latest { left: 3 }, || {
///     let number = Arc::new(AtomicU32::new(0));
///     let other = Arc::clone(&number);
///     let adder = thread::spawn(move || other.fetch_add(1, SeqCst));
///     number.fetch_add(1, SeqCst);
///     assert_eq!(adder.join().unwrap(), 0, "the adder came first");
/// });
/// assert_eq!(explored.unwrap().executions, 2);
/// ```
pub trait Scheduler {
    /// Prepares for the next execution. Returns whether there is one.
    fn begin(&mut self) -> bool;

    /// The thread that continues: one of those that are ready. `None` ends the search with [`Scheduler::error`].
    ///
    /// This method is called only if more than one thread is ready, unless [`Scheduler::wants_every_step`] returns
    /// true.
    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId>;

    /// The outcome of a choice that the program leaves open: a number below `options`, of which 0 is the usual case.
    /// `None` ends the search with [`Scheduler::error`].
    ///
    /// The pick belongs to the step of the thread that [`Scheduler::next`] returned last, or that was the only one
    /// ready.
    fn pick(&mut self, pick: Pick, options: u32) -> Option<u32> {
        let _ = (pick, options);
        Some(0)
    }

    /// Returns true if `next` is also called if only one thread is ready.
    fn wants_every_step(&self) -> bool {
        false
    }

    /// Examines an execution that has ended. Returns whether it counts: it does not if it is known to be equivalent to
    /// an earlier one.
    fn end(&mut self, ended: &Ended<'_>) -> bool {
        let _ = ended;
        true
    }

    /// Returns true if all behaviours of the program were covered, within the bounds of the scheduler.
    fn is_complete(&self) -> bool {
        false
    }

    /// The reason why the scheduler could not choose, or why an execution that has [ended](Scheduler::end) is a failure
    /// nevertheless.
    fn error(&self) -> Option<String> {
        None
    }
}

/// The options of a scheduler.
#[derive(Debug)]
pub struct Choice<'a> {
    pub(crate) ready: ThreadSet,
    pub(crate) current: Option<ThreadId>,
    pub(crate) yielded: bool,
    pub(crate) threads: &'a [Thread],
    pub(crate) steps: &'a [Step],
    pub(crate) steps_max: usize,
}

impl Choice<'_> {
    /// The threads that can continue; at least one.
    pub fn ready(&self) -> ThreadSet {
        self.ready
    }

    /// The thread that took the last step, if it can continue.
    pub fn current(&self) -> Option<ThreadId> {
        self.current
    }

    /// Returns true if [`Choice::current`] yields to others, or seems to spin: it has returned to the same operation
    /// several times, and has changed nothing.
    pub fn yielded(&self) -> bool {
        self.yielded
    }

    /// The number of steps taken so far in this execution.
    pub fn step(&self) -> usize {
        self.steps.len()
    }

    /// The threads that can continue, without one that yields to the others.
    pub fn willing(&self) -> ThreadSet {
        match self.current {
            Some(current) if self.yielded && self.ready.len() > 1 => self.ready.without(current),
            _ => self.ready,
        }
    }

    /// The thread that continues without a preemption: the current thread. If it yields, the ready thread whose last
    /// step is the longest ago, so that threads that spin do not yield to each other forever. If it cannot continue,
    /// the ready thread with the lowest number.
    pub fn undisturbed(&self) -> Option<ThreadId> {
        let willing = self.willing();
        match self.current {
            Some(current) if willing.contains(current) => Some(current),
            Some(_) => willing.iter().min_by_key(|thread| self.threads[thread.at()].last_step),
            None => willing.first(),
        }
    }
}

/// An execution that has ended.
#[derive(Debug)]
pub struct Ended<'a> {
    pub(crate) steps: &'a [Step],
    pub(crate) threads: &'a [Thread],
    /// Steps that became possible because time passed, and the number of steps at that time.
    pub(crate) late: &'a [(usize, usize)],
}

impl Ended<'_> {
    /// The steps of the execution.
    pub fn steps(&self) -> &[Step] {
        self.steps
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    pub(crate) fn object_of(&self, thread: ThreadId) -> ObjectId {
        self.threads[thread.at()].object
    }
}
