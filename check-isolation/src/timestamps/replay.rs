//! Replay: transactions in the order of their timestamps, each read compared with the state that it should have read.
//!
//! Chronos (Li et al., "Online Timestamp-based Transactional Isolation Checking of Database Systems", ICDE 2025),
//! axioms EXT and NOCONFLICT. Values are compared, not writers, so a value may be written twice. O(n log n) for the
//! sort; the rest is linear.

use super::clock::{Order, Point, Points, Timed, points};
use super::{Case, Fault};
use crate::decode::{Decoded, Holds, Row, VersionId, What};
use crate::ids::KeyId;
use history_core::cast::Cast as _;
use history_core::{IntMap, OpKind};

/// The results of the replay.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) reads: Vec<Case>,
    pub(super) overlaps: Vec<Case>,
    /// A read of a value that only a transaction without timestamps wrote, and that transaction.
    pub(super) open: Option<(Row, Row)>,
}

/// The current content of a key.
#[derive(Clone, Copy, Debug)]
struct State {
    /// The last writer; `Row::NONE` if there is none.
    writer: Row,
    points: Option<Points>,
    /// The version, for a register.
    version: VersionId,
    /// For a list, the number of elements, and how many of these agree with the longest read.
    length: u32,
    agrees: u32,
}

const FIRST: State = State { writer: Row::NONE, points: None, version: VersionId::NONE, length: 0, agrees: 0 };

struct Replay<'r> {
    run: &'r Decoded,
    state: Vec<State>,
    /// For each key, the current row if it has written the key, and the number of elements.
    own: Vec<(Row, u32)>,
    /// The possible writers of versions among transactions whose outcome and timestamp are unknown.
    unknown: IntMap<Row>,
    /// For each list, the first element that such a transaction may have appended, and that transaction.
    unknown_from: Vec<Option<(u32, Row)>>,
    order: Order,
    found: Found,
}

/// The versions that transactions with unknown outcome and timestamp may have written, each with one of these.
fn unknown(run: &Decoded) -> IntMap<Row> {
    let rows = (0..run.rows.len()).map(Row::new);
    let unknown = rows.filter(|row| run.rows.kind(*row) == OpKind::Info && run.rows.stamps(*row).commit.is_none());
    let mut versions = IntMap::default();
    for row in unknown {
        for mop in run.rows.mops(row) {
            if let What::Write(version) = mop.what() {
                versions.insert(version.number().into(), row);
            }
        }
    }
    versions
}

pub(super) fn replay(run: &Decoded, timed: &[Timed], order: Order) -> Found {
    let mut moments: Vec<(Point, bool, u32)> = Vec::with_capacity(2 * timed.len());
    for (at, txn) in timed.iter().enumerate() {
        moments.push((txn.points.reads, false, at.to_u32()));
        if txn.is_writer {
            moments.push((txn.points.writes, true, at.to_u32()));
        }
    }
    moments.sort_unstable();
    let keys = run.versions.key_codes.len();
    let (state, own) = (vec![FIRST; keys], vec![(Row::NONE, 0); keys]);
    let unknown = unknown(run);
    let first = |list: &Vec<VersionId>| {
        let writers = list.iter().map(|version| unknown.get(version.number().into()).copied());
        writers.enumerate().find_map(|(at, writer)| Some((at.to_u32(), writer?)))
    };
    let unknown_from = run.trunks.iter().map(first).collect();
    let mut replay = Replay { run, state, own, unknown, unknown_from, order, found: Found::default() };
    for (_, is_write, at) in moments {
        let txn = &timed[at.to_usize()];
        if is_write {
            replay.write(txn);
        } else if txn.kind == OpKind::Ok {
            replay.read(txn);
        }
    }
    replay.found
}

impl Replay<'_> {
    fn read(&mut self, txn: &Timed) {
        for (at, mop) in self.run.rows.mops(txn.row).iter().enumerate() {
            let (own, count) = self.own[mop.key.at()];
            let own_count = if own == txn.row { count } else { 0 };
            let is_right = match mop.what() {
                What::Write(_) => {
                    self.own[mop.key.at()] = (txn.row, own_count + 1);
                    continue;
                }
                What::Unseen => continue,
                // Only in lists does a read after the transaction's own write contain writes of others.
                _ if self.run.holds != Some(Holds::Lists) && own == txn.row => continue,
                What::Contradicts(_) => false,
                What::First => self.is_state(mop.key, None, own_count),
                What::Read(number) => self.is_state(mop.key, Some(number), own_count),
            };
            if !is_right {
                self.note_read(txn, at, mop.key, mop.what());
            }
        }
    }

    /// Returns true if a read returns the current state, followed by `own` own elements.
    fn is_state(&self, key: KeyId, read: Option<u32>, own: u32) -> bool {
        let state = &self.state[key.at()];
        if self.run.holds == Some(Holds::Lists) {
            let length = read.unwrap_or(0);
            return length == state.length + own && state.agrees == state.length;
        }
        match read {
            Some(number) => state.version == number.into(),
            None => state.version == VersionId::NONE,
        }
    }

    fn note_read(&mut self, txn: &Timed, mop: usize, key: KeyId, what: What) {
        let state = self.state[key.at()];
        let own = self.own_count(txn.row, key);
        if self.shows_unknown(txn.row, key, what, own) {
            return;
        }
        let source = self.source(key, what, own);
        for writer in source.iter().filter(|writer| **writer != Row::NONE) {
            // It is unknown which of the two came last; that they are equal is reported separately. A failed
            // transaction never wrote it.
            let is_tied = |points: Points| self.commit(*writer).is_some_and(|commit| commit.at == points.writes.at);
            if *writer != state.writer && state.points.is_some_and(is_tied) {
                return;
            }
        }
        let (mop, source, expected) = (mop.to_u32(), source[0], state.writer);
        let fault = match (self.commit(source), state.points) {
            (Some(commit), _) if commit > txn.points.reads => Fault::Early { mop, source },
            (Some(commit), Some(newer)) if commit < newer.writes => Fault::Stale { mop, source, newer: expected },
            (None, Some(_)) if what == What::First => Fault::Stale { mop, source, newer: expected },
            _ => Fault::Read { mop, expected, source },
        };
        self.found.reads.push(Case { fault, row: txn.row });
    }

    /// The point at which the writes of a row take effect.
    fn commit(&self, row: Row) -> Option<Point> {
        let rows = &self.run.rows;
        let stamps = (row != Row::NONE && rows.kind(row) != OpKind::Fail).then(|| rows.stamps(row))?;
        points(self.order, stamps, true).map(|points| points.writes)
    }

    /// Returns true if a read returns a value that only a transaction without timestamps may have written: it is then
    /// unknown.
    fn shows_unknown(&mut self, row: Row, key: KeyId, what: What, own: u32) -> bool {
        let writer = match what {
            What::Read(length) if self.run.holds == Some(Holds::Lists) => {
                let unknown = self.unknown_from.get(key.at()).copied().flatten();
                unknown.filter(|(at, _)| *at + own < length).map(|(_, writer)| writer)
            }
            What::Read(number) => self.unknown.get(number.into()).copied(),
            _ => None,
        };
        if let Some(writer) = writer {
            self.found.open.get_or_insert((row, writer));
        }
        writer.is_some()
    }

    fn own_count(&self, row: Row, key: KeyId) -> u32 {
        let (own, count) = self.own[key.at()];
        if own == row { count } else { 0 }
    }

    /// The writers of the value that was read: two if it was written twice.
    fn source(&self, key: KeyId, what: What, own: u32) -> [Row; 2] {
        let version = match what {
            What::Read(length) if self.run.holds == Some(Holds::Lists) => {
                let last = length.checked_sub(own + 1);
                last.map(|last| self.run.trunks[key.at()][last.to_usize()])
            }
            What::Read(number) => Some(number.into()),
            _ => None,
        };
        version.map_or([Row::NONE; 2], |version| {
            let version = self.run.versions.get(version);
            [version.writer, version.again]
        })
    }

    fn write(&mut self, txn: &Timed) {
        for mop in self.run.rows.mops(txn.row) {
            let What::Write(version) = mop.what() else { continue };
            let state = &mut self.state[mop.key.at()];
            if state.writer != txn.row {
                if state.points.is_some_and(|points| points.writes > txn.points.reads && !txn.points.is_instant) {
                    let fault = Fault::Overlap { key: mop.key, other: state.writer };
                    self.found.overlaps.push(Case { fault, row: txn.row });
                }
                (state.writer, state.points) = (txn.row, Some(txn.points));
            }
            state.version = version;
            let trunk = self.run.trunks.get(mop.key.at()).map_or(&[][..], |trunk| &trunk[..]);
            if state.agrees == state.length && trunk.get(state.length.to_usize()) == Some(&version) {
                state.agrees += 1;
            }
            state.length += 1;
        }
    }
}
