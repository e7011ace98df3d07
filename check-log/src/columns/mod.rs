//! The history as columns: a row for each completion, and the data of each message.

mod id_map;
pub(crate) mod ids;
pub(crate) mod messages;
mod narrow;
pub(crate) mod sightings;

use history_core::{Client, Op, OpKind, Pair, Participants, Process};
pub(crate) use ids::{KeyId, MsgId, NO_OFFSET, NONE, OpId};
use narrow::Narrow;
use sightings::{Segment, Sightings};
use std::ops::Range;

/// The function of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Send,
    Poll,
    Txn,
    Assign,
    /// `:assign` with `:seek-to-beginning? true`.
    AssignFromStart,
    Subscribe,
}

impl Function {
    pub(crate) fn is_assignment(self) -> bool {
        matches!(self, Function::Assign | Function::AssignFromStart | Function::Subscribe)
    }
}

/// All ops, in the order of their completions; those without a completion come last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ops {
    kind: Vec<OpKind>,
    function: Vec<Function>,
    index: Narrow,
    /// By op: how many ops before the completion the invocation is in the history.
    invoked_before: Vec<u32>,
    process: Narrow,
    time_ns: Narrow,
    /// The time of the invocation.
    invoked_time_ns: Narrow,
    oks_before: Vec<u32>,
    /// The messages that each op shows.
    pub(crate) shown: Sightings,
    /// The clients of the history, and the number of its other ops.
    pub(crate) participants: Participants,
}

/// The data of an op except for its parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) kind: OpKind,
    pub(crate) function: Function,
    pub(crate) index: u64,
    pub(crate) invoked: Option<u64>,
    pub(crate) process: Option<i64>,
    pub(crate) time_ns: Option<i64>,
    pub(crate) invoked_time_ns: Option<i64>,
    pub(crate) oks_before: Option<u32>,
}

impl Row {
    /// The row of a completion, before whose invocation `oks_before` ops had completed `ok`.
    pub(crate) fn of(op: &Op<'_>, function: Function, oks_before: Option<u32>) -> Row {
        let (invoked, invoked_time_ns) = match op.pair {
            Pair::Completes { invoked, invoked_time_ns, .. } => (Some(invoked), invoked_time_ns),
            Pair::Alone | Pair::Invokes { .. } => (None, None),
        };
        let process = client(op);
        Row {
            kind: op.kind,
            function,
            index: op.index,
            invoked,
            process,
            time_ns: op.time,
            invoked_time_ns,
            oks_before,
        }
    }
}

/// The number of an op's client, if the history names it.
pub(crate) fn client(op: &Op<'_>) -> Option<i64> {
    match op.process {
        Process::Client(process) => Some(process),
        Process::Other(_) | Process::Unknown => None,
    }
}

impl Ops {
    pub(crate) fn len(&self) -> usize {
        self.kind.len()
    }

    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = OpId> + use<> {
        (0..self.len()).map(OpId::new)
    }

    /// Adds a row. The messages that it shows must be added too.
    pub(crate) fn push(&mut self, row: &Row) {
        self.kind.push(row.kind);
        self.function.push(row.function);
        self.index.push(i64::try_from(row.index).ok());
        let before = row.invoked.and_then(|invoked| u32::try_from(row.index - invoked).ok());
        self.invoked_before.push(before.unwrap_or(NONE));
        self.process.push(row.process);
        self.time_ns.push(row.time_ns);
        self.invoked_time_ns.push(row.invoked_time_ns);
        self.oks_before.push(row.oks_before.unwrap_or(NONE));
    }

    pub(crate) fn kind(&self, op: OpId) -> OpKind {
        self.kind[op.at()]
    }

    pub(crate) fn is_ok(&self, op: OpId) -> bool {
        self.kind(op) == OpKind::Ok
    }

    pub(crate) fn function(&self, op: OpId) -> Function {
        self.function[op.at()]
    }

    /// The index of the completion, or of the invocation if there is no completion.
    pub(crate) fn index(&self, op: OpId) -> u64 {
        self.index.get(op.at()).and_then(|index| u64::try_from(index).ok()).unwrap_or(u64::MAX)
    }

    /// The index of the invocation, if it is known.
    pub(crate) fn invoked(&self, op: OpId) -> Option<u64> {
        let before = self.invoked_before[op.at()];
        (before != NONE).then(|| self.index(op) - u64::from(before))
    }

    pub(crate) fn oks_before(&self, op: OpId) -> Option<u32> {
        let oks = self.oks_before[op.at()];
        (oks != NONE).then_some(oks)
    }

    pub(crate) fn process(&self, op: OpId) -> Option<i64> {
        self.process.get(op.at())
    }

    /// The process of an op, as the history names it.
    pub(crate) fn client(&self, op: OpId) -> Option<Client> {
        self.process(op).map(|process| self.participants.client(process))
    }

    pub(crate) fn time_ns(&self, op: OpId) -> Option<i64> {
        self.time_ns.get(op.at())
    }

    pub(crate) fn invoked_time_ns(&self, op: OpId) -> Option<i64> {
        self.invoked_time_ns.get(op.at())
    }

    /// The segments of an op, each with the places of its words.
    pub(crate) fn segments(&self, op: OpId) -> impl Iterator<Item = (Segment, Range<u32>)> + '_ {
        self.shown.segments(op)
    }
}
