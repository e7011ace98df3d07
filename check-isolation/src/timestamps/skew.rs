//! Impossible timestamps: a commit before its start, times that contradict the order of a session or real time, and
//! equal times of two writes that need an order.

use super::clock::{Order, Point, Points, Timed};
use super::{Case, Fault};
use crate::decode::{Decoded, Row, What};
use crate::level::Base;
use history_core::cast::Cast as _;
use history_core::{IntMap, OpKind};

/// Returns true if a transaction may directly follow another one according to the clock: the earlier one was over by
/// then.
pub(super) fn is_after(order: Order, before: Points, after: Points) -> bool {
    let both_at_once = before.is_instant && after.is_instant;
    match order {
        Order::Commits => before.writes <= after.writes,
        Order::Snapshots if both_at_once => before.writes.at <= after.reads.at,
        Order::Snapshots => before.writes <= after.reads,
    }
}

/// Transactions that committed before they started.
pub(super) fn backwards(run: &Decoded, timed: &[Timed]) -> Vec<Case> {
    let is_backwards = |txn: &&Timed| {
        let stamps = run.rows.stamps(txn.row);
        matches!((stamps.start, stamps.commit), (Some(start), Some(commit)) if commit < start)
    };
    timed.iter().filter(is_backwards).map(|txn| Case { fault: Fault::Backwards, row: txn.row }).collect()
}

/// Transactions that do not follow the previous one in their session, or, in real time, all that had completed.
pub(super) fn against(run: &Decoded, timed: &[Timed], order: Order, base: Base) -> Vec<Case> {
    let mut cases = Vec::new();
    if base != Base::None {
        against_sessions(run, timed, order, &mut cases);
    }
    if base == Base::RealTime {
        against_real_time(run, timed, order, &mut cases);
    }
    cases
}

fn against_sessions(run: &Decoded, timed: &[Timed], order: Order, cases: &mut Vec<Case>) {
    let mut last: IntMap<u32> = IntMap::default();
    for (at, txn) in timed.iter().enumerate() {
        let Some(process) = run.rows.process(txn.row) else { continue };
        if let Some(before) = last.get(process) {
            let before = &timed[before.to_usize()];
            if !is_after(order, before.points, txn.points) {
                cases.push(Case { fault: Fault::Session { before: before.row }, row: txn.row });
            }
        }
        last.insert(process, at.to_u32());
    }
}

fn against_real_time(run: &Decoded, timed: &[Timed], order: Order, cases: &mut Vec<Case>) {
    let by = |key: fn(&Decoded, Row) -> u64| {
        let mut all: Vec<(u64, u32)> =
            timed.iter().enumerate().map(|(at, txn)| (key(run, txn.row), at.to_u32())).collect();
        all.sort_unstable();
        all
    };
    let ends = by(|run, row| run.rows.index(row));
    let mut ends = ends.iter().filter(|(_, at)| timed[at.to_usize()].kind == OpKind::Ok).peekable();
    let mut latest: Option<&Timed> = None;
    for (begin, at) in by(|run, row| run.rows.begin(row)) {
        while let Some((_, over)) = ends.next_if(|(end, _)| *end < begin) {
            let over = &timed[over.to_usize()];
            if latest.is_none_or(|latest| over.points.writes > latest.points.writes) {
                latest = Some(over);
            }
        }
        let txn = &timed[at.to_usize()];
        if let Some(before) = latest.filter(|before| !is_after(order, before.points, txn.points)) {
            // Within a session it was reported already.
            let process = run.rows.process(before.row);
            if process.is_none() || process != run.rows.process(txn.row) {
                cases.push(Case { fault: Fault::RealTime { before: before.row }, row: txn.row });
            }
        }
    }
}

/// Transactions with the same commit timestamp, one of which writes a key that the other writes or reads at that
/// timestamp.
pub(super) fn ties(run: &Decoded, timed: &[Timed], order: Order) -> Vec<Case> {
    let mut writers: Vec<(Point, Row, bool)> = timed
        .iter()
        .filter(|txn| txn.is_writer)
        .map(|txn| (txn.points.writes, txn.row, txn.points.is_instant))
        .collect();
    writers.sort_unstable();
    let mut cases = Vec::new();
    // For each key, its writer in the current group, and whether that one also reads at that time.
    let mut written = vec![(u32::MAX, Row::NONE, false); run.versions.key_codes.len()];
    for (number, group) in writers.chunk_by(|a, b| a.0.at == b.0.at).enumerate().filter(|(_, group)| group.len() > 1) {
        let number = number.to_u32();
        for (_, row, is_instant) in group {
            for mop in run.rows.mops(*row) {
                let place = &mut written[mop.key.at()];
                if !mop.is_write() || (place.0, place.1) == (number, *row) {
                    continue;
                }
                if place.0 == number {
                    cases.push(Case { fault: Fault::Tie { key: mop.key, other: place.1 }, row: *row });
                } else {
                    *place = (number, *row, *is_instant);
                }
            }
        }
        let read_then = group.iter().filter(|(_, _, is_instant)| *is_instant || order == Order::Commits);
        for (_, row, _) in read_then {
            for mop in run.rows.mops(*row).iter().filter(|mop| !mop.is_write() && mop.what() != What::Unseen) {
                let (group, other, is_instant) = written[mop.key.at()];
                if group == number && other != *row && is_instant {
                    cases.push(Case { fault: Fault::Tie { key: mop.key, other }, row: *row });
                }
            }
        }
    }
    cases
}
