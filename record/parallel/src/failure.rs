//! The report on a program that fails: what happened, under which schedule, and how to reproduce it.

mod page;
mod table;

use crate::Schedule;
use crate::execution::Outcome;
use crate::execution::cause::Cause;
use crate::op::Step;
use std::fmt;

/// A program failed under a schedule.
///
/// Its text is the complete report: what happened, the schedule as a table, and the string that replays it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The cause of the failure.
    pub cause: Cause,
    /// The schedule of the failure.
    pub schedule: Schedule,
    /// The execution's steps.
    pub steps: Vec<Step>,
    /// The number of executions up to this one.
    pub executions: u64,
    pub(crate) names: table::Names,
    /// Whether the failure's own schedule, followed again, did not reproduce the failure.
    pub(crate) is_unstable: bool,
}

/// The text for a failure that its own schedule does not reproduce.
pub(crate) const UNSTABLE: &str =
    "The same schedule did not fail again: the program depends on more than the schedule.";

impl Failure {
    pub(crate) fn new(cause: Cause, outcome: &Outcome, executions: u64) -> Failure {
        let mut names = table::Names::of(outcome);
        if let Cause::Race(race) = &cause {
            for access in &race.accesses {
                let note =
                    |step| (step, format!("{} the {} at line {}", access.kind.name(), race.what, access.place.line()));
                names.notes.extend(access.step.map(note));
            }
        }
        let (schedule, steps) = (Schedule::of(&outcome.steps), outcome.steps.clone());
        Failure { cause, schedule, steps, executions, names, is_unstable: false }
    }

    /// Returns true if the same schedule was followed again and did not reproduce this failure: the program depends on
    /// more than its schedule. [`simplify`](crate::simplify) and [`Parallel`](crate::property::Parallel) verify this.
    pub fn is_unstable(&self) -> bool {
        self.is_unstable
    }

    /// The number of preemptions: switches from a thread that could have continued.
    pub fn preemptions(&self) -> usize {
        self.steps.iter().filter(|step| step.is_preemption()).count()
    }

    /// The number of [picks](crate::scheduler::Pick) other than 0: surprises, and waiters other than the first.
    pub fn picks(&self) -> usize {
        self.steps.iter().flat_map(|step| step.picks.values()).filter(|value| **value > 0).count()
    }

    /// The schedule as a table: a column for each thread, a row for each step, `*` where a thread was preempted.
    pub fn table(&self) -> String {
        table::draw(&self.steps, &self.names)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.cause)?;
        if self.is_unstable {
            writeln!(f, "{UNSTABLE}\n")?;
        }
        writeln!(f, "execution {}, {} steps, {}:", self.executions, self.steps.len(), preemptions(self.preemptions()))?;
        writeln!(f, "{}\n", self.table())?;
        write!(f, "schedule, for scheduler::Replay: {}", self.schedule)
    }
}

/// A clause with the number of preemptions.
pub(crate) fn preemptions(count: usize) -> String {
    match count {
        0 => "no preemption".into(),
        1 => "1 preemption".into(),
        count => format!("{count} preemptions"),
    }
}

impl std::error::Error for Failure {}
