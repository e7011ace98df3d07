//! Holds the ops after an invocation that stops a workload, until it is known whether the operation failed. If it did,
//! it did not happen, and the held ops are processed in their order.

use history_core::{Batch, BatchBuilder, HistoryError, NewOp, Op, OpKind, Pair, Position, Process, UndecodedOps};
use std::collections::{BTreeMap, VecDeque};

/// The maximum number of held ops. Beyond it, the invocation counts as one that may have happened.
const HELD_MAX: usize = 1 << 16;

/// A copy of an op.
pub(super) struct HeldOp {
    batch: Batch,
    /// The client's number in this history, if it has one. Numbers of clients with names are valid only in this
    /// history.
    client: Option<i64>,
    pair: Pair,
    position: Option<Position>,
}

impl HeldOp {
    fn new(op: &Op<'_>) -> Result<HeldOp, HistoryError> {
        let mut builder = BatchBuilder::new();
        let client = if let Process::Client(number) = op.process { Some(number) } else { None };
        let process = if client.is_some() { Process::Client(0) } else { op.process };
        builder.push_op(&NewOp { process, ..NewOp::from(op) })?;
        Ok(HeldOp { batch: builder.take(), client, pair: op.pair, position: op.position })
    }

    pub(super) fn op(&self) -> Op<'_> {
        let op = self.batch.op(0);
        let process = self.client.map_or(op.process, Process::Client);
        Op { process, pair: self.pair, position: self.position, ..op }
    }
}

/// The held ops, in order.
#[derive(Default)]
pub(super) struct Held {
    /// The index of the invocation for which all ops wait, and its fault.
    waits_for: Option<(u64, UndecodedOps)>,
    ops: VecDeque<HeldOp>,
    /// By the index of the invocation: how operations ended whose completions are or were held.
    ends: BTreeMap<u64, OpKind>,
}

/// The next action.
pub(super) enum Next {
    /// Process this op.
    Look(Box<HeldOp>),
    /// The invocation with this index failed; its completion is among the held ops.
    Failed(u64, UndecodedOps),
    /// The operation may have happened: no later op can be processed.
    Stops(UndecodedOps),
    /// Nothing can be done yet.
    Nothing,
}

impl Held {
    pub(super) fn is_waiting(&self) -> bool {
        self.waits_for.is_some()
    }

    /// Makes all following ops wait for this invocation.
    pub(super) fn wait_for(&mut self, index: u64, fault: UndecodedOps) {
        self.waits_for = Some((index, fault));
    }

    pub(super) fn push(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        if let Pair::Completes { invoked, .. } = op.pair {
            self.ends.insert(invoked, op.kind);
        }
        self.ops.push_back(HeldOp::new(op)?);
        Ok(())
    }

    pub(super) fn next(&mut self) -> Next {
        let Some((index, fault)) = self.waits_for.take() else {
            let Some(held) = self.ops.pop_front() else {
                self.ends.clear();
                return Next::Nothing;
            };
            return Next::Look(Box::new(held));
        };
        match self.ends.get(&index) {
            Some(OpKind::Fail) => Next::Failed(index, fault),
            None if self.ops.len() < HELD_MAX => {
                self.waits_for = Some((index, fault));
                Next::Nothing
            }
            Some(_) | None => Next::Stops(fault),
        }
    }

    /// Ends the history: an operation in flight may have happened.
    pub(super) fn finish(&mut self) -> Option<UndecodedOps> {
        self.waits_for.take().map(|(_, fault)| fault)
    }
}
