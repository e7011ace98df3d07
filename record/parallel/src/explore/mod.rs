//! Explores a program: runs it under schedule after schedule until it fails.

mod check;

pub(crate) use check::seed_from_environment;
pub use check::{Check, check};

use crate::execution::cause::Cause;
use crate::execution::coroutine::Pool;
use crate::execution::{Limits, Outcome};
use crate::failure::Failure;
use crate::ids::{small, wide};
use crate::op::{Picks, Step};
use crate::scheduler::{Ended, Exhaustive, Pick, Replay, Scheduler};
use crate::{REPLAY_VARIABLE, Schedule};
use crate::{runtime, thread};
use std::sync::Arc;

/// Limits of an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The maximum number of steps of one execution. An execution that reaches it fails: it is assumed to be a
    /// livelock.
    pub steps_max: usize,
    /// The number of executions, from the first on, that are repeated to verify that the program behaves in the same
    /// way under the same schedule.
    pub repeated: u64,
    /// The maximum number of executions of the search for a simpler failure.
    pub simplify_max: u64,
    /// The maximum number of surprises of each thread in one execution: waits that time out although others could
    /// continue, waits that end without a notification, and weak exchanges that fail without a reason. Each thread may
    /// in addition have as many faults of the simulated network ([`net::Fault`](crate::net::Fault)). A failure that
    /// needs more is not found by any search.
    pub surprises_max: u32,
    /// Whether loads may return older values where their orderings permit it.
    pub memory: Memory,
    /// Whether an execution fails if a value that it put into a [`sync::Arc`](crate::sync::Arc) still exists at its
    /// end: a cycle of pointers, or a leaked one. Only these are counted: not the pointers of std, boxes, or memory.
    pub leaks_fail: bool,
}

/// The values that loads of atomics return.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Memory {
    /// The values that the given orderings permit, as Rust defines them: `Relaxed` is relaxed.
    #[default]
    Weak,
    /// The newest value, for any ordering. This needs fewer executions.
    SequentiallyConsistent,
}

impl Settings {
    /// Sets [`Memory::SequentiallyConsistent`].
    #[must_use]
    pub fn sequentially_consistent(mut self) -> Settings {
        self.memory = Memory::SequentiallyConsistent;
        self
    }

    /// Unsets [`Settings::leaks_fail`].
    #[must_use]
    pub fn leaks_allowed(mut self) -> Settings {
        self.leaks_fail = false;
        self
    }
}

impl Default for Settings {
    /// 10,000 steps, 3 repeated executions, 2,000 to simplify, 1 surprise, weak memory, leaks fail.
    fn default() -> Settings {
        Settings {
            steps_max: 10_000,
            repeated: 3,
            simplify_max: 2_000,
            surprises_max: 1,
            memory: Memory::Weak,
            leaks_fail: true,
        }
    }
}

/// The result of an exploration that found no failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Explored {
    /// The number of executions, without those that are known to be equivalent to others.
    pub executions: u64,
    /// The number of further executions, which turned out to be equivalent to others, or to show only that a loop does
    /// not end by itself.
    pub redundant: u64,
    /// The number of steps of all executions.
    pub steps: u64,
    /// The number of steps of the longest execution.
    pub steps_max: usize,
    /// The maximum number of threads in an execution.
    pub threads_max: usize,
    /// The number of executions in which a thread had all the surprises that [`Settings::surprises_max`] permits and
    /// then reached a point where another one could have happened. If there are none, a larger limit shows nothing
    /// more.
    pub surprises_spent: u64,
    /// Whether all behaviours of the program were covered, within the bounds of the scheduler and with at most
    /// [`Settings::surprises_max`] surprises.
    ///
    /// A loop that yields and changes nothing is assumed to be endless after 64 rounds. A loop that changes something
    /// and yields for more than 16 rounds while other threads could continue makes the search incomplete. So does a
    /// loop that is assumed to be endless and locks a mutex that no thread visibly changes: it may change the value in
    /// the mutex through a shared reference.
    pub is_complete: bool,
}

/// Runs a program under the schedules of a scheduler, and stops at the first failure.
///
/// The program must be a function of its schedule: it creates the data shared by its threads in each execution, and
/// uses threads, locks and atomics of [`thread`](crate::thread) and [`sync`](crate::sync). All of its threads run on
/// the caller's, in turns.
///
/// # Errors
///
/// A thread panicked, no thread could continue, an execution had too many steps, two threads raced for data that is not
/// atomic, something leaked, or the program behaved differently under the same schedule. The failure is returned as it
/// was found; [`simplify`] searches for one with fewer preemptions.
///
/// # Panics
///
/// If it is called from a managed thread.
///
/// ```
/// use record_parallel::scheduler::Exhaustive;
/// use record_parallel::sync::Mutex;
/// use record_parallel::{Cause, Settings, explore, thread};
/// use std::sync::Arc;
///
/// // Two threads lock two locks, each in another order.
/// let failure = explore(&Settings::default(), Exhaustive::new(), || {
///     let both = Arc::new((Mutex::new(()), Mutex::new(())));
///     let other = Arc::clone(&both);
///     let thread = thread::spawn(move || {
///         let _second = other.1.lock().unwrap();
///         let _first = other.0.lock().unwrap();
///     });
///     let first = both.0.lock().unwrap();
///     let second = both.1.lock().unwrap();
///     drop((first, second));
///     thread.join().unwrap();
/// })
/// .unwrap_err();
/// let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
/// assert_eq!(waiting.len(), 2);
/// assert_eq!(waiting[0].holder, Some(waiting[1].thread));
/// ```
pub fn explore<S: Scheduler + 'static>(
    settings: &Settings,
    scheduler: S,
    program: impl Fn() + Send + Sync + 'static,
) -> Result<Explored, Box<Failure>> {
    Explorer::new(*settings, Arc::new(program)).explore(Box::new(scheduler))
}

/// Searches for a failure for the same reason ([`Cause::is_like`]) with as few preemptions as possible; returns the
/// given failure if it finds none.
///
/// If the same schedule does not reproduce the failure, it is returned immediately, and the report says so: then some
/// state of the failed execution remains, such as a `static` lock that a thread still holds, or the program depends on
/// more than the schedule, and later results say nothing about the program.
///
/// Schedules without any preemption are tried first, then those with one, and so on; of those with equally many, the
/// ones with fewer [picks](crate::scheduler::Pick) other than 0 come first. [`Settings::simplify_max`] limits all of
/// them together. At the end, each thread's consecutive steps are reduced while that leads to the same failure: a loop
/// that waits then has one round instead of a hundred.
pub fn simplify(
    settings: &Settings,
    failure: Box<Failure>,
    program: impl Fn() + Send + Sync + 'static,
) -> Box<Failure> {
    Explorer::new(*settings, Arc::new(program)).simplify(failure)
}

/// A number below `options`, which must not be 0: each number under some schedule, 0 under one without surprises.
///
/// Code that takes its numbers from this function instead of a random generator is tested with all of them, and its
/// failures can be reproduced. Outside of executions, the number is random.
///
/// ```
/// use record_parallel::scheduler::Exhaustive;
/// use record_parallel::{Settings, choose, explore};
///
/// let program = || assert_ne!(choose(6), 5);
/// let failure = explore(&Settings::default(), Exhaustive::new(), program).unwrap_err();
/// assert_eq!((failure.executions, failure.schedule.to_string().as_str()), (6, "a?5"));
/// ```
#[track_caller]
pub fn choose(options: u32) -> u32 {
    assert!(options > 0, "there is no number below 0");
    if !runtime::is_active() {
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), options);
        return small(random % u64::from(options));
    }
    if options <= Picks::OPTIONS_MAX {
        return runtime::pick(Pick::Number, options);
    }
    let high = choose(options.div_ceil(Picks::OPTIONS_MAX)) * Picks::OPTIONS_MAX;
    high + choose((options - high).min(Picks::OPTIONS_MAX))
}

/// The maximum number of executions in the search for a failure with fewer steps.
const SHORTER_MAX: u64 = 200;

/// The maximum number of stacks that these executions may leak in total.
const STACKS_MAX: usize = 500;

/// The number of steps that two executions have in common from the beginning.
fn common(first: &[Step], second: &[Step]) -> usize {
    let same = |a: &Step, b: &Step| {
        a.thread == b.thread
            && a.op.kind == b.op.kind
            && a.op.object == b.op.object
            && a.op.place == b.op.place
            && a.extras == b.extras
            && a.picks == b.picks
    };
    first.iter().zip(second).take_while(|(a, b)| same(a, b)).count()
}

/// Returns true if a failure equals an earlier one, step by step.
pub(crate) fn is_again(failure: &Failure, again: &Failure) -> bool {
    let (steps, common) = (failure.steps.len(), common(&failure.steps, &again.steps));
    again.cause.is_like(&failure.cause) && common == steps && again.steps.len() == steps
}

/// A program with the state shared by its executions.
pub(crate) struct Explorer {
    settings: Settings,
    program: Arc<dyn Fn() + Send + Sync>,
    pool: Pool,
}

impl Explorer {
    pub(crate) fn new(settings: Settings, program: Arc<dyn Fn() + Send + Sync>) -> Explorer {
        Explorer { settings, program, pool: Pool::default() }
    }

    /// Sets the program that runs next.
    pub(crate) fn set_program(&mut self, program: Arc<dyn Fn() + Send + Sync>) {
        self.program = program;
    }

    /// Runs the program once.
    pub(crate) fn run(&mut self, scheduler: Box<dyn Scheduler>) -> Outcome {
        let program = Arc::clone(&self.program);
        let job = Box::new(move || {
            runtime::run_thread(Box::new(|| {
                program();
                // Values that the program owns are dropped before its thread ends.
                drop(program);
                thread::end_locals();
            }));
        });
        let Settings { steps_max, surprises_max, memory, leaks_fail, .. } = self.settings;
        let limits = Limits { steps_max, surprises_max, is_weak: memory == Memory::Weak, leaks_fail };
        runtime::run(&mut self.pool, scheduler, limits, job)
    }

    pub(crate) fn explore(&mut self, scheduler: Box<dyn Scheduler>) -> Result<Explored, Box<Failure>> {
        self.explore_until(scheduler, |_| {})
    }

    /// Explores until an execution fails, by itself or because `judge` rejects it.
    pub(crate) fn explore_until(
        &mut self,
        mut scheduler: Box<dyn Scheduler>,
        mut judge: impl FnMut(&mut Outcome),
    ) -> Result<Explored, Box<Failure>> {
        let mut explored = Explored::default();
        while scheduler.begin() {
            let mut outcome = self.run(scheduler);
            let number = explored.executions + explored.redundant + 1;
            judge(&mut outcome);
            if let Some(mut cause) = outcome.cause.take() {
                if let (Cause::NoChoice, Some(why)) = (&cause, outcome.scheduler.error()) {
                    cause = Cause::Nondeterminism(why);
                }
                return Err(Box::new(Failure::new(cause, &outcome, number)));
            }
            if number <= self.settings.repeated {
                self.repeat(&outcome, number)?;
            }
            explored.steps += wide(outcome.steps.len());
            explored.surprises_spent += u64::from(outcome.is_spent);
            explored.steps_max = explored.steps_max.max(outcome.steps.len());
            explored.threads_max = explored.threads_max.max(outcome.threads.len());
            let Outcome { scheduler: back, steps, threads, late, .. } = &mut outcome;
            let counts = back.end(&Ended { steps, threads, late });
            if let Some(why) = back.error() {
                return Err(Box::new(Failure::new(Cause::Nondeterminism(why), &outcome, number)));
            }
            scheduler = runtime::recycle(outcome);
            *(if counts { &mut explored.executions } else { &mut explored.redundant }) += 1;
        }
        explored.is_complete = scheduler.is_complete();
        Ok(explored)
    }

    /// Follows the schedule of an execution again. Fails at the first difference.
    fn repeat(&mut self, first: &Outcome, number: u64) -> Result<(), Box<Failure>> {
        let mut replay = Box::new(Replay::new(&Schedule::in_full(&first.steps)));
        replay.begin();
        let second = self.run(replay);
        let what = |step: Option<&Step>| match step {
            None => "nothing more".to_owned(),
            Some(step) => format!("{:?} of thread {} at {}", step.op.kind.name(), step.thread, step.op.place),
        };
        let common = common(&first.steps, &second.steps);
        let difference = if common < first.steps.len().max(second.steps.len()) {
            format!(
                "step {} was {} in the first run and {} in a second run of the same schedule",
                common + 1,
                what(first.steps.get(common)),
                what(second.steps.get(common))
            )
        } else if let Some(cause) = &second.cause {
            format!("it passed in the first run and failed in a second run of the same schedule: {cause}")
        } else {
            return Ok(());
        };
        Err(Box::new(Failure::new(Cause::Nondeterminism(difference), &second, number)))
    }

    /// Runs the program under one schedule, given as text.
    pub(crate) fn replay(&mut self, text: &str) -> Result<Explored, Box<Failure>> {
        let schedule: Schedule = text.parse().unwrap_or_else(|error| panic!("{REPLAY_VARIABLE}: {error}"));
        let repeated = std::mem::replace(&mut self.settings.repeated, 1);
        let explored = self.explore(Box::new(Replay::new(&schedule)));
        self.settings.repeated = repeated;
        explored
    }

    pub(crate) fn simplify(&mut self, mut failure: Box<Failure>) -> Box<Failure> {
        if matches!(failure.cause, Cause::Nondeterminism(_) | Cause::NoChoice) {
            return failure;
        }
        let (most, picks) = (failure.preemptions(), failure.picks());
        if !self.fails_again(&failure) {
            failure.is_unstable = true;
            return failure;
        }
        let (all, reserved) = (self.settings.simplify_max, SHORTER_MAX.min(self.settings.simplify_max / 4));
        let calmer = self.calm(failure, (most, picks), all - reserved);
        self.shorten(calmer, reserved)
    }

    /// Searches for the same failure with fewer preemptions and picks than these, in this many executions.
    fn calm(&mut self, failure: Box<Failure>, (most, picks): (usize, usize), mut left: u64) -> Box<Failure> {
        let bounds = (0..=most).flat_map(|preemptions| (0..=picks).map(move |picks| (preemptions, picks)));
        for (preemptions, picks) in bounds.take_while(|bound| *bound != (most, picks)) {
            let bound = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let scheduler = Exhaustive::new().preemptions_max(bound(preemptions)).picks_max(bound(picks));
            match self.explore(Box::new(scheduler.executions_max(left))) {
                Err(simpler) if simpler.cause.is_like(&failure.cause) => {
                    return Box::new(Failure { executions: failure.executions, ..*simpler });
                }
                Err(_) => return failure,
                Ok(explored) => left -= explored.executions + explored.redundant,
            }
            if left == 0 {
                break;
            }
        }
        failure
    }

    /// Searches for a shorter execution with no more preemptions and picks, in this many executions. Each may leak the
    /// stacks of threads that the failure cuts off, so there are few of them.
    fn shorten(&mut self, mut failure: Box<Failure>, left: u64) -> Box<Failure> {
        // An execution that ends at the limit of steps always has the same length.
        if matches!(failure.cause, Cause::Livelock(_)) {
            return failure;
        }
        let threads = failure.steps.iter().map(|step| step.thread.at()).max().map_or(1, |last| last + 1);
        let mut left = left.min(wide(STACKS_MAX / threads));
        let mut at = 0;
        while let Some(steps) = failure.schedule.run(at) {
            let fewer = (0..).map(|bits| 1 << bits).take_while(|fewer| *fewer < steps);
            for fewer in fewer {
                if left == 0 {
                    return failure;
                }
                left -= 1;
                let replay = Replay::as_far_as_possible(&failure.schedule.with_run(at, fewer));
                let Err(shorter) = self.explore(Box::new(replay)) else { continue };
                let is_no_worse = shorter.preemptions() <= failure.preemptions() && shorter.picks() <= failure.picks();
                if is_no_worse && shorter.steps.len() < failure.steps.len() && shorter.cause.is_like(&failure.cause) {
                    failure = Box::new(Failure { executions: failure.executions, ..*shorter });
                    break;
                }
            }
            at += 1;
        }
        failure
    }

    /// Returns true if the same schedule leads to the same failure, step by step.
    fn fails_again(&mut self, failure: &Failure) -> bool {
        let replay = Replay::new(&Schedule::in_full(&failure.steps));
        let Err(again) = self.explore(Box::new(replay)) else { return false };
        is_again(failure, &again)
    }
}
