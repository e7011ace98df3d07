//! Whether transactions have an order that agrees with dependencies and real time, determined without a graph.
//!
//! Time is counted in transactions that completed `ok`. The **moment** of a transaction is the earliest time at which
//! it may have taken effect: that of its invocation, or of something on which it depends, if that is later. An order
//! exists if and only if dependencies form no cycle and no moment is after the completion of its transaction, if that
//! is `ok`:
//!
//! - A moment is the invocation of some transaction that precedes, by dependencies. If it is after a completion, real
//!   time leads from there to that invocation, and a cycle is closed.
//! - Otherwise order all by their moments, those of one moment by dependencies. A transaction that completed `ok`
//!   before an invocation has an earlier moment.
//!
//! Nearly all dependencies are timely: on transactions that completed `ok` before. Their moments need not be known: if
//! one of those is after its completion, so is, along the path that causes it, one whose dependency is untimely. Only
//! transactions from which such dependencies lead are examined, and in turn those on which these depend, as far as they
//! had not completed `ok` when the other was invoked.

use super::{Dependencies, Txn};
use history_core::cast::Cast as _;

/// The moment of a transaction that was not examined.
const UNKNOWN: u32 = u32::MAX;
/// The moment of one that is being examined.
const OPEN: u32 = u32::MAX - 1;

/// Whether there is an order. O(transactions + untimely dependencies + dependencies of those that these lead from).
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
    /// How many before each one completed `ok`.
    rank: Vec<u32>,
    moment: Vec<u32>,
    /// Transactions that are being looked at: each on which the one before it depends.
    path: Vec<Frame>,
    /// What those on the path depend on and what was not looked at yet.
    waiting: Vec<u32>,
}

struct Frame {
    txn: u32,
    /// Where its own begin in `waiting`.
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

    /// Whether a transaction may take effect so late.
    fn is_in_time(&self, txn: u32, moment: u32) -> bool {
        !self.txns[txn.to_usize()].is_ok || moment <= self.rank[txn.to_usize()]
    }

    /// Whether nothing is known yet that contradicts a dependency.
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

    /// Calls with all that a transaction depends on and that had not completed `ok` when it was invoked.
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

    /// The moment of a transaction, when those are known on which it depends.
    fn latest(&self, dependencies: &dyn Dependencies, txn: u32) -> u32 {
        let mut latest = self.invoked(txn);
        self.each_that_matters(dependencies, txn, &mut |from| latest = latest.max(self.moment[from.to_usize()]));
        latest
    }
}
