//! What is said of a program that fails: what happened, under which schedule, and how to see it again.

use crate::execution::Outcome;
use crate::op::{Kind, Step, ThreadId};
use crate::{Schedule, table};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;

/// Threads that a deadlock's report names, at most.
const WAITING_MAX: usize = 16;

/// Why an execution failed.
#[derive(Clone, Debug)]
pub enum Cause {
    /// A thread panicked.
    Panic {
        /// Which one.
        thread: ThreadId,
        /// What it said.
        message: String,
        /// Where, as `file:line:column`; empty if that is not known.
        place: String,
    },
    /// Some threads are not finished, and none can continue.
    Deadlock(Vec<Waiting>),
    /// The limit of steps was reached: threads wait for each other in circles, or the limit is too low.
    Livelock(Vec<Waiting>),
    /// The recorded history is not linearizable, and the reason.
    NotLinearizable(String),
    /// It could not be found out whether the recorded history is linearizable: the program is too large; and the
    /// reason.
    NotJudged(String),
    /// The same schedule led elsewhere the second time, and what differs.
    Nondeterminism(String),
    /// The scheduler had no answer: the schedule belongs to another program.
    NoChoice,
}

impl Cause {
    /// Whether two executions failed for the same reason: a panic at the same place, or a deadlock in which threads
    /// wait at the same places for the same objects. Of the other causes only the name is compared.
    pub fn is_like(&self, other: &Cause) -> bool {
        let place = |place: &Location<'_>| (place.file().to_owned(), place.line(), place.column());
        let waits = |waiting: &[Waiting]| -> BTreeSet<_> {
            let wait = |waiting: &Waiting| {
                let made = waiting.object.map(|(what, made)| (what, place(made)));
                (waiting.kind.name(), place(waiting.place), made, waiting.holder.is_some())
            };
            waiting.iter().map(wait).collect()
        };
        match (self, other) {
            (Cause::Panic { place: mine, .. }, Cause::Panic { place: theirs, .. }) => mine == theirs,
            (Cause::Deadlock(mine), Cause::Deadlock(theirs)) => waits(mine) == waits(theirs),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// A thread that has not finished, and what it is before.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Which one.
    pub thread: ThreadId,
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// What it is about to do.
    pub kind: Kind,
    /// Where in the program.
    pub place: &'static Location<'static>,
    /// With which object: what it is, and where it was made.
    pub object: Option<(&'static str, &'static Location<'static>)>,
    /// Who had the object last: the holder of a lock.
    pub holder: Option<ThreadId>,
    /// Whether it could continue.
    pub is_ready: bool,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.thread)?;
        if let Some(name) = &self.name {
            write!(f, " ({name})")?;
        }
        let state = if self.is_ready { "could go on" } else { "is blocked" };
        write!(f, " {state} at {}: {}", self.place, self.kind.name())?;
        if let Some((what, made)) = self.object {
            write!(f, " {what} made at {made}")?;
        }
        match self.holder {
            Some(holder) if holder == self.thread => write!(f, ", which it holds itself"),
            Some(holder) => write!(f, ", which thread {holder} holds"),
            None => Ok(()),
        }
    }
}

/// A program failed under a schedule.
///
/// Its text is the whole report: what happened, the schedule as a table, and the string that replays it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What happened.
    pub cause: Cause,
    /// The schedule under which it did.
    pub schedule: Schedule,
    /// The execution's steps.
    pub steps: Vec<Step>,
    /// Executions up to this one.
    pub executions: u64,
    pub(crate) names: table::Names,
}

impl Failure {
    pub(crate) fn new(cause: Cause, outcome: &Outcome, executions: u64) -> Failure {
        Failure {
            cause,
            schedule: Schedule::of(&outcome.steps),
            steps: outcome.steps.clone(),
            executions,
            names: table::Names::of(outcome),
        }
    }

    /// How often the baton was taken from a thread that could have gone on.
    pub fn preemptions(&self) -> usize {
        self.steps.iter().filter(|step| step.is_preemption()).count()
    }

    /// How many [picks](crate::scheduler::Pick) are not 0: surprises, and waiters that did not come first.
    pub fn picks(&self) -> usize {
        self.steps.iter().flat_map(|step| step.picks.values()).filter(|value| **value > 0).count()
    }

    /// The schedule as a table: a column for each thread, a row for each step, `*` where a thread was preempted.
    pub fn table(&self) -> String {
        table::draw(&self.steps, &self.names)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, waiting: &[Waiting]| {
            waiting.iter().take(WAITING_MAX).try_for_each(|waiting| write!(f, "\n  {waiting}"))?;
            match waiting.len().saturating_sub(WAITING_MAX) {
                0 => Ok(()),
                more => write!(f, "\n  and {more} more"),
            }
        };
        match self {
            Cause::Panic { thread, message, place } => {
                write!(f, "thread {thread} panicked")?;
                if !place.is_empty() {
                    write!(f, " at {place}")?;
                }
                write!(f, ": {message}")
            }
            Cause::Deadlock(waiting) => {
                f.write_str("deadlock: no thread can continue")?;
                list(f, waiting)
            }
            Cause::Livelock(waiting) => {
                f.write_str(
                    "reached the limit of steps: a livelock, or Settings::steps_max is too low for this program",
                )?;
                list(f, waiting)
            }
            Cause::NotLinearizable(why) | Cause::NotJudged(why) => f.write_str(why.trim_end()),
            Cause::Nondeterminism(what) => write!(
                f,
                "the program is not determined by its schedule: {what}\nLook for time, random numbers, addresses used as \
                 numbers, maps with random hashes, state that outlives an execution, and threads or locks of std."
            ),
            Cause::NoChoice => f.write_str("the schedule belongs to another program"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.cause)?;
        writeln!(f, "execution {}, {} steps, {}:", self.executions, self.steps.len(), preemptions(self.preemptions()))?;
        writeln!(f, "{}\n", self.table())?;
        write!(f, "schedule, for scheduler::Replay: {}", self.schedule)
    }
}

/// A number of preemptions, as a clause.
pub(crate) fn preemptions(count: usize) -> String {
    match count {
        0 => "no preemption".into(),
        1 => "1 preemption".into(),
        count => format!("{count} preemptions"),
    }
}

impl std::error::Error for Failure {}
