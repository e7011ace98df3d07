//! The data about operations in a report: their clients, and their positions in the history.

use crate::engine::ids;
use crate::engine::ids::OpId;
use history_core::{Client, Participants, Process};

/// The recorded data of operations, by number. 28 bytes per operation.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// The first index of the history.
    first_index: u64,
    /// The clients of the history, and the number of its other ops.
    pub(super) participants: Participants,
    /// Processes whose numbers do not fit a [`Row`].
    large: Vec<i64>,
    ops: Vec<Row>,
    /// The times of the invocation and of the completion; empty until an op has a time.
    times: Vec<(i64, i64)>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    /// The number of the process; if it is negative, the position in `large`, or [`NOBODY`].
    process: i32,
    /// The index of the invocation, minus `first_index`.
    invoked: u32,
    /// The index of the completion, minus `first_index`.
    completed: u32,
}

const NONE: u32 = u32::MAX;
const NOBODY: i32 = i32::MIN;
const NO_TIME: i64 = i64::MIN;

/// An index that does not fit a `Row`.
#[derive(Debug)]
pub(super) struct TooLarge;

impl Recorded {
    /// Records an invocation, which begins the next operation.
    pub(super) fn invoke(&mut self, process: Process<'_>, index: u64, time: Option<i64>) -> Result<(), TooLarge> {
        if self.ops.is_empty() {
            self.first_index = index;
        }
        let process = match process {
            Process::Client(process) => {
                i32::try_from(process).ok().filter(|process| *process >= 0).unwrap_or_else(|| {
                    self.large.push(process);
                    // There are fewer than 2^30 operations.
                    i32::try_from(self.large.len()).map_or(NOBODY, |len| -len)
                })
            }
            Process::Other(_) | Process::Unknown => NOBODY,
        };
        let invoked = self.offset(index)?;
        self.ops.push(Row { process, invoked, completed: NONE });
        if time.is_some() || !self.times.is_empty() {
            self.times.resize(self.ops.len() - 1, (NO_TIME, NO_TIME));
            self.times.push((time.unwrap_or(NO_TIME), NO_TIME));
        }
        Ok(())
    }

    /// Records a completion.
    pub(super) fn complete(&mut self, op: OpId, index: u64, time: Option<i64>) -> Result<(), TooLarge> {
        self.ops[op.at()].completed = self.offset(index)?;
        if let (Some(times), Some(time)) = (self.times.get_mut(op.at()), time) {
            times.1 = time;
        }
        Ok(())
    }

    fn offset(&self, index: u64) -> Result<u32, TooLarge> {
        u32::try_from(index.wrapping_sub(self.first_index)).ok().filter(|offset| *offset != NONE).ok_or(TooLarge)
    }

    /// The number of operations.
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// The process of an operation, by number.
    pub(super) fn process(&self, op: usize) -> Option<i64> {
        match self.ops[op].process {
            NOBODY => None,
            process @ 0.. => Some(process.into()),
            large => self.large.get(ids::index(large.unsigned_abs()) - 1).copied(),
        }
    }

    /// The client of an operation, as the history names it.
    pub(super) fn client(&self, op: usize) -> Option<Client> {
        self.process(op).map(|process| self.participants.client(process))
    }

    /// The index of an operation's invocation.
    pub(super) fn invoked(&self, op: usize) -> u64 {
        self.first_index + u64::from(self.ops[op].invoked)
    }

    /// The index of an operation's completion.
    pub(super) fn completed(&self, op: usize) -> Option<u64> {
        let completed = self.ops[op].completed;
        (completed != NONE).then(|| self.first_index + u64::from(completed))
    }

    /// The times of an operation's invocation and completion.
    pub(super) fn times(&self, op: usize) -> (Option<i64>, Option<i64>) {
        let (invoked, completed) = self.times.get(op).copied().unwrap_or((NO_TIME, NO_TIME));
        let known = |time: i64| (time != NO_TIME).then_some(time);
        (known(invoked), known(completed))
    }
}
