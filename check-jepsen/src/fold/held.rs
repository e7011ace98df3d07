//! Ops behind an invocation that stops a workload, held until it is known whether that failed: then it did not happen,
//! and they are looked at in their order.

use history_core::{Batch, BatchBuilder, HistoryError, NewOp, Op, OpKind, Pair, Position, Process, UndecodedOps};
use std::collections::{BTreeMap, VecDeque};

/// Ops that are held, at the most. Behind more, the invocation counts as one that may have happened.
const HELD_MAX: usize = 1 << 16;

/// An op of its own.
pub(super) struct HeldOp {
    batch: Batch,
    /// Its client's number in this history, if it has one. Numbers of clients with names fit no other history.
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

/// What waits, in order.
#[derive(Default)]
pub(super) struct Held {
    /// The invocation that all others wait for, by its index, and why.
    waits_for: Option<(u64, UndecodedOps)>,
    ops: VecDeque<HeldOp>,
    /// By the index of their invocation: how operations ended whose ends are or were held.
    ends: BTreeMap<u64, OpKind>,
}

/// What is to be done next.
pub(super) enum Next {
    /// This op is to be looked at.
    Look(Box<HeldOp>),
    /// The invocation of this index failed; its end is among what is held.
    Failed(u64, UndecodedOps),
    /// It may have happened: nothing behind it can be looked at.
    Stops(UndecodedOps),
    /// Nothing, so far.
    Nothing,
}

impl Held {
    pub(super) fn is_waiting(&self) -> bool {
        self.waits_for.is_some()
    }

    /// All ops to come wait for this invocation.
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

    /// The end: what is in flight may have happened.
    pub(super) fn finish(&mut self) -> Option<UndecodedOps> {
        self.waits_for.take().map(|(_, fault)| fault)
    }
}
