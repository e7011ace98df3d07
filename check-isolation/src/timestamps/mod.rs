//! Timestamps: whether the start and commit times of a store explain the reads of its transactions.
//!
//! This is a separate and stronger question than that of a level: these times must explain the history, not just some
//! order. So a mismatch refutes the times, not the level. Definitions are those of Chronos and Aion (Li et al., ICDE
//! 2025), with bases:
//!
//! - prefix: each transaction reads, of each key, the write with the greatest commit timestamp that is not after its
//!   start timestamp.
//! - snapshot isolation: the same, and of two transactions that write a key, one starts when the other has committed,
//!   or later.
//! - serializable: each transaction reads the write with the greatest commit timestamp before its own; one that writes
//!   nothing, not after its own.
//! - with sessions (real time): a transaction starts when the one before it in its session (each that had completed
//!   when it was invoked) has committed, or later; serializable: commits not before it.
//!
//! At each level a transaction commits no earlier than it starts, and the commit timestamps of two writers of a key
//! differ, as do those of a writer and of a transaction that reads the key at its own commit. A violation of one of the
//! last two rules, or of the rule of sessions and real time, is a fault of the clock and is reported as such.
//!
//! Transactions count if they are known to have happened: `ok` ones, and those with an unknown outcome that have a
//! commit timestamp. If only a transaction without a timestamp explains a read, the result is unknown.
//!
//! If some of these lack the timestamps that an order needs, no level is known to hold. Violations by the others are
//! certain: overlaps, ties and faults of the clock concern two transactions, or one, and the content of a key at some
//! time follows from the times of its writers. So reads are only ignored for keys that a transaction without timestamps
//! wrote.

mod clock;
mod online;
mod replay;
mod report;
mod skew;

pub(crate) use clock::{Stamps, stamps};
pub(crate) use online::Online;
pub(crate) use report::{ANOMALIES, report, violation};

use crate::decode::{Decoded, Row};
use crate::ids::KeyId;
use crate::level::{Axiom, Base};
use clock::{Order, Point, Points, Timed, points};
use history_core::OpKind;
use history_core::cast::Cast as _;

/// A case that timestamps do not explain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) fault: Fault,
    /// The transaction with the fault.
    pub(crate) row: Row,
}

/// The fault of a transaction; other rows are `Row::NONE` if there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// A read of a write that was committed too late for it.
    Early { mop: u32, source: Row },
    /// A read of a write that another transaction had overwritten by then.
    Stale { mop: u32, source: Row, newer: Row },
    /// Any other read that does not return the last write before it.
    Read {
        /// The position of the read in its transaction.
        mop: u32,
        /// The last writer by then.
        expected: Row,
        /// The writer of the value that was read.
        source: Row,
    },
    /// It wrote a key that another transaction wrote and committed after its start.
    Overlap { key: KeyId, other: Row },
    /// It committed before it started.
    Backwards,
    /// It started before the commit of the previous transaction in its session.
    Session { before: Row },
    /// The same for a transaction that had completed when it was invoked.
    RealTime { before: Row },
    /// Another transaction has the same commit timestamp, and their order matters.
    Tie { key: KeyId, other: Row },
}

impl Fault {
    /// Returns true if it is a read of a value that no op reports as its write.
    fn is_of_nobody(self, run: &Decoded, row: Row) -> bool {
        let Fault::Read { mop, source, .. } = self else { return false };
        let version = run.version_read(run.rows.mops(row)[mop.to_usize()]);
        source == Row::NONE && version.is_some_and(|version| run.versions.writer(version) == Row::NONE)
    }

    /// The key of a wrong read, in the transaction with the fault.
    fn key_read(self, run: &Decoded, row: Row) -> Option<KeyId> {
        match self {
            Fault::Early { mop, .. } | Fault::Stale { mop, .. } | Fault::Read { mop, .. } => {
                Some(run.rows.mops(row)[mop.to_usize()].key)
            }
            _ => None,
        }
    }
}

/// Transactions without the timestamps that an order needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    count: u64,
    of: u64,
    first: Row,
}

/// The results for one order of all transactions by their timestamps.
#[derive(Debug)]
struct Ordered {
    order: Order,
    timed: Vec<Timed>,
    missing: Option<Missing>,
    found: replay::Found,
    /// The reader of a value that only an op with unknown writes can have written.
    unsaid: Option<Row>,
    ties: Vec<Case>,
    backwards: Vec<Case>,
}

/// The order of the transactions at a level; `None` for a level without a definition by timestamps.
fn order_of(axiom: Axiom) -> Option<Order> {
    match axiom {
        Axiom::Prefix | Axiom::Snapshot => Some(Order::Snapshots),
        Axiom::Serializable => Some(Order::Commits),
        _ => None,
    }
}

impl Ordered {
    fn new(run: &Decoded, order: Order) -> Ordered {
        let mut timed = Vec::new();
        // The keys that are written at unknown times.
        let mut is_vague = vec![false; run.versions.key_codes.len()];
        let (mut missing, mut count, mut first) = (0, 0, Row::NONE);
        for row in run.rows.ids() {
            let (kind, stamps) = (run.rows.kind(row), run.rows.stamps(row));
            let is_known = kind == OpKind::Ok || kind == OpKind::Info && stamps.commit.is_some();
            if !is_known {
                continue;
            }
            count += 1;
            let is_writer = run.rows.mops(row).iter().any(|mop| mop.is_write());
            if let Some(points) = points(order, stamps, is_writer) {
                timed.push(Timed { row, points, is_writer, kind });
            } else {
                missing += 1;
                let written = run.rows.mops(row).iter().filter(|mop| mop.is_write());
                written.for_each(|mop| is_vague[mop.key.at()] = true);
                first = if first == Row::NONE { row } else { first };
            }
        }
        let mut found = replay::replay(run, &timed, order);
        let is_unsaid = |case: &Case| run.unsaid.is_some() && case.fault.is_of_nobody(run, case.row);
        let unsaid = found.reads.iter().find(|case| is_unsaid(case)).map(|case| case.row);
        found.reads.retain(|case| !is_unsaid(case));
        found.reads.retain(|case| case.fault.key_read(run, case.row).is_none_or(|key| !is_vague[key.at()]));
        let (ties, backwards) = (skew::ties(run, &timed, order), skew::backwards(run, &timed));
        let missing = (missing > 0).then_some(Missing { count: missing, of: count, first });
        Ordered { order, timed, missing, found, unsaid, ties, backwards }
    }

    /// The begins and commits of transactions, in the order of timestamps; a single moment if they coincide.
    fn moments(&self, run: &Decoded) -> Vec<String> {
        let mut moments: Vec<(Point, usize, bool)> = Vec::new();
        for (at, txn) in self.timed.iter().enumerate() {
            let Points { reads, writes, is_instant } = txn.points;
            match self.order {
                Order::Commits => moments.push((writes, at, true)),
                // A transaction that begins and commits at the same time does so without anything in between.
                Order::Snapshots => {
                    moments.extend([(reads, at, false), (if is_instant { reads } else { writes }, at, true)]);
                }
            }
        }
        moments.sort_unstable();
        let moment = |(_, at, is_commit): (Point, usize, bool)| {
            let index = run.rows.index(self.timed[at].row);
            match (self.order, is_commit) {
                (Order::Commits, _) => index.to_string(),
                (Order::Snapshots, true) => format!("commit {index}"),
                (Order::Snapshots, false) => format!("begin {index}"),
            }
        };
        moments.into_iter().map(moment).collect()
    }

    /// The faults at a level, the worst first.
    fn cases(&self, run: &Decoded, axiom: Axiom, base: Base) -> Vec<Case> {
        let mut cases = self.found.reads.clone();
        if axiom == Axiom::Snapshot {
            cases.extend(&self.found.overlaps);
        }
        cases.extend(&self.backwards);
        cases.extend(skew::against(run, &self.timed, self.order, base));
        cases.extend(&self.ties);
        cases
    }
}
