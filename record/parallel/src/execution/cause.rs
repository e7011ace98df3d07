//! Why an execution failed, and the explanation in the report.

use crate::op::{Kind, ThreadId};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;

/// The maximum number of threads that the report on a deadlock names.
const WAITING_MAX: usize = 16;

/// The maximum number of leaks that a report names.
const LEAKED_MAX: usize = 16;

/// Why an execution failed.
#[derive(Clone, Debug)]
pub enum Cause {
    /// A thread panicked.
    Panic {
        /// The thread.
        thread: ThreadId,
        /// The message of the panic.
        message: String,
        /// The place, as `file:line:column`; empty if unknown.
        place: String,
    },
    /// A thread needed more stack than it has.
    Overflow {
        /// The thread.
        thread: ThreadId,
        /// Its name, if it has one.
        name: Option<String>,
        /// Its last pause point before the panic, or where it was spawned.
        place: &'static Location<'static>,
    },
    /// Some threads are not finished, and none can continue.
    Deadlock(Vec<Waiting>),
    /// The limit of steps was reached: threads wait for each other in circles, or the limit is too low.
    Livelock(Vec<Waiting>),
    /// Two threads accessed an [`UnsafeCell`](crate::cell::UnsafeCell), at least one of them to write, and neither
    /// access happens before the other.
    Race(Race),
    /// Values allocated through [`sync::Arc`](crate::sync::Arc) that still exist at the end: the type of each, and
    /// where it was created.
    Leak(Vec<(&'static str, &'static Location<'static>)>),
    /// The recorded history is not linearizable, and the reason.
    NotLinearizable(String),
    /// The recorded history is not sequentially consistent, and the reason.
    NotSequential(String),
    /// It could not be decided whether the recorded history is correct: the program is too large; with the reason.
    NotJudged(String),
    /// The same schedule had another result the second time; with the difference.
    Nondeterminism(String),
    /// The scheduler could not choose: the schedule belongs to another program.
    NoChoice,
}

impl Cause {
    /// Returns true if two executions failed for the same reason: a panic at the same place, or a deadlock in which
    /// threads wait at the same places for the same objects; a race between the same places; a leak of values created
    /// at the same places. For other causes only the name is compared.
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
            (Cause::Overflow { place: mine, .. }, Cause::Overflow { place: theirs, .. }) => {
                place(mine) == place(theirs)
            }
            (Cause::Deadlock(mine), Cause::Deadlock(theirs)) => waits(mine) == waits(theirs),
            (Cause::Race(mine), Cause::Race(theirs)) => {
                let places = |race: &Race| BTreeSet::from(race.accesses.each_ref().map(|access| place(access.place)));
                place(mine.made) == place(theirs.made) && places(mine) == places(theirs)
            }
            (Cause::Leak(mine), Cause::Leak(theirs)) => {
                let places = |leaked: &[(_, &Location<'_>)]| -> BTreeSet<_> {
                    leaked.iter().map(|(_, made)| place(made)).collect()
                };
                places(mine) == places(theirs)
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
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
            Cause::Overflow { thread, name, place } => {
                write!(f, "thread {thread}")?;
                if let Some(name) = name {
                    write!(f, " ({name})")?;
                }
                write!(f, " needs more stack than it has, after {place}\nThread::Builder::stack_size gives it more.")
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
            Cause::Race(race) => {
                write!(f, "data race on the {} made at {}", race.what, race.made)?;
                race.accesses.iter().try_for_each(|access| write!(f, "\n  {access}"))?;
                f.write_str("\n  neither access happens before the other")
            }
            Cause::Leak(leaked) => {
                f.write_str("leak: what was allocated is not freed at the end")?;
                leaked.iter().take(LEAKED_MAX).try_for_each(|(what, made)| write!(f, "\n  {what} made at {made}"))?;
                match leaked.len().saturating_sub(LEAKED_MAX) {
                    0 => Ok(()),
                    more => write!(f, "\n  and {more} more"),
                }
            }
            Cause::NotLinearizable(why) | Cause::NotSequential(why) | Cause::NotJudged(why) => {
                f.write_str(why.trim_end())
            }
            Cause::Nondeterminism(what) => write!(
                f,
                "the program is not determined by its schedule: {what}\nLook for time, random numbers, addresses used as \
                 numbers, maps with random hashes, state that outlives an execution, and threads or locks of std."
            ),
            Cause::NoChoice => f.write_str("the schedule belongs to another program"),
        }
    }
}

/// Two accesses to data that is not atomic, neither of which happens before the other.
#[derive(Clone, Debug)]
pub struct Race {
    /// The type of the accessed data.
    pub what: &'static str,
    /// Where the data was created.
    pub made: &'static Location<'static>,
    /// The accesses, in the order of the execution.
    pub accesses: [Access; 2],
}

/// An access to data that is not atomic.
#[derive(Clone, Debug)]
pub struct Access {
    /// The thread.
    pub thread: ThreadId,
    /// The thread's name, if it has one.
    pub name: Option<String>,
    /// The kind of the access.
    pub kind: AccessKind,
    /// The place in the program.
    pub place: &'static Location<'static>,
    /// The step that the access was part of.
    pub(crate) step: Option<usize>,
}

/// The kind of an access to data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// The data is created, which is a write.
    Make,
    /// The data is read.
    Read,
    /// The data is written.
    Write,
}

impl AccessKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            AccessKind::Make => "makes",
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.thread)?;
        if let Some(name) = &self.name {
            write!(f, " ({name})")?;
        }
        write!(f, " {} it at {}", self.kind.name(), self.place)
    }
}

/// A thread that has not finished, and its next operation.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadId,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its next operation.
    pub kind: Kind,
    /// The place in the program.
    pub place: &'static Location<'static>,
    /// The object of the operation: its type, and where it was created.
    pub object: Option<(&'static str, &'static Location<'static>)>,
    /// The thread that last acquired the object: the holder of a lock.
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
