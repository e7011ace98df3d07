//! Determines without a graph whether some order of transactions agrees with dependencies and real time.
//!
//! Time is counted in transactions that completed `ok`. The **moment** of a transaction is the earliest time at which
//! it may have taken effect: its invocation, or the moment of a transaction on which it depends, if that is later. An
//! order exists if and only if dependencies form no cycle and no moment is after the completion of its transaction, if
//! that is `ok`:
//!
//! - A moment is the invocation of some transaction that precedes by dependencies. If it is after a completion, real
//!   time leads from the completion to that invocation, which closes a cycle.
//! - Otherwise order all transactions by their moments, and those with the same moment by dependencies. A transaction
//!   that completed `ok` before an invocation has an earlier moment.
//!
//! Nearly all dependencies are timely: on transactions that had completed `ok`. Their moments are not needed: if one of
//! those is after its completion, then so is, along the path that causes it, one with an untimely dependency. Only
//! transactions from which untimely dependencies lead are examined, and in turn those on which these depend, if they
//! had not completed `ok` when the other was invoked.

use super::{Dependencies, Txn};
use history_core::cast::Cast as _;

/// The moment of a transaction that was not examined.
const UNKNOWN: u32 = u32::MAX;
/// The moment of a transaction that is being examined.
const OPEN: u32 = u32::MAX - 1;

/// Returns true if such an order exists. O(transactions + untimely dependencies + dependencies of their sources).
pub(super) fn exists(txns: &[Txn], dependencies: &dyn Dependencies) -> bool {
    let mut schedule = Schedule::new(txns);
    let mut is_possible = true;
    dependencies.each_untimely(&mut |from, to| {
        is_possible = is_possible && schedule.allows(dependencies, from, to);
    });
    is_possible
}

struct Schedule<'a> {
    txns: &'a [Txn],
    /// The number of transactions that completed `ok` before each one.
    rank: Vec<u32>,
    moment: Vec<u32>,
    /// A path of transactions being examined: each depends on the next one.
    path: Vec<Frame>,
    /// The unexamined transactions on which those on the path depend.
    waiting: Vec<u32>,
}

struct Frame {
    txn: u32,
    /// The start of its own dependencies in `waiting`.
    start: usize,
}

impl Schedule<'_> {
    fn new(txns: &[Txn]) -> Schedule<'_> {
        let mut oks = 0;
        let rank = |txn: &Txn| {
            let rank = oks;
            oks += u32::from(txn.is_ok);
            rank
        };
        let rank = txns.iter().map(rank).collect();
        Schedule { txns, rank, moment: vec![UNKNOWN; txns.len()], path: Vec::new(), waiting: Vec::new() }
    }

    fn invoked(&self, txn: u32) -> u32 {
        self.txns[txn.to_usize()].oks_before.unwrap_or(0)
    }

    /// Returns true if a transaction may take effect at this moment.
    fn is_in_time(&self, txn: u32, moment: u32) -> bool {
        !self.txns[txn.to_usize()].is_ok || moment <= self.rank[txn.to_usize()]
    }

    /// Returns true if nothing known so far contradicts a dependency.
    fn allows(&mut self, dependencies: &dyn Dependencies, from: u32, to: u32) -> bool {
        let moment = self.moment[from.to_usize()];
        if moment != UNKNOWN {
            return self.is_in_time(to, moment);
        }
        self.open(dependencies, from);
        while let Some(Frame { txn, start }) = self.path.last() {
            let txn = *txn;
            if self.waiting.len() == *start {
                self.path.pop();
                let moment = self.latest(dependencies, txn);
                if !self.is_in_time(txn, moment) {
                    return false;
                }
                self.moment[txn.to_usize()] = moment;
                continue;
            }
            let Some(next) = self.waiting.pop() else { break };
            match self.moment[next.to_usize()] {
                OPEN => return false,
                UNKNOWN => self.open(dependencies, next),
                _ => {}
            }
        }
        self.is_in_time(to, self.moment[from.to_usize()])
    }

    /// Calls `call` for each transaction on which one depends and that had not completed `ok` when it was invoked.
    fn each_that_matters(&self, dependencies: &dyn Dependencies, txn: u32, call: &mut dyn FnMut(u32)) {
        let invoked = self.invoked(txn);
        dependencies.each_of(txn, &mut |from, _| {
            let is_past = self.txns[from.to_usize()].is_ok && self.rank[from.to_usize()] < invoked;
            if !is_past {
                call(from);
            }
        });
    }

    fn open(&mut self, dependencies: &dyn Dependencies, txn: u32) {
        self.moment[txn.to_usize()] = OPEN;
        let mut waiting = std::mem::take(&mut self.waiting);
        self.path.push(Frame { txn, start: waiting.len() });
        self.each_that_matters(dependencies, txn, &mut |from| waiting.push(from));
        self.waiting = waiting;
    }

    /// The moment of a transaction, given those of the transactions on which it depends.
    fn latest(&self, dependencies: &dyn Dependencies, txn: u32) -> u32 {
        let mut latest = self.invoked(txn);
        self.each_that_matters(dependencies, txn, &mut |from| latest = latest.max(self.moment[from.to_usize()]));
        latest
    }
}
