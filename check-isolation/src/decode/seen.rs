//! Transactions of registers as they come: nearly every read returns a value whose writer completed before, so whom it saw is known
//! at once.
//!
//! A row is a transaction here until the history has ended; those that did not happen are then dropped. As soon as something is not plain
//! (a read that is wrong whatever the order, a value written twice), this ends, and [`registers`](super::registers) looks at the rows.

use super::rows::{NewRow, Rows};
use super::versions::{VersionId, Versions};
use super::{Mop, Row, What};
use crate::ids::{KeyId, TxnId};
use crate::transactions::{NewTxn, Read, Transactions};
use history_core::OpKind;
use history_core::cast::Cast as _;

/// A read of a value whose writer had not completed by then.
#[derive(Clone, Copy, Debug)]
struct Late {
    /// Its position among all reads.
    read: u32,
    reader: Row,
    version: VersionId,
}

/// What the rows so far show, as long as all of it is plain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// A row each. The numbers of writers are those of rows.
    txns: Transactions,
    late: Vec<Late>,
    is_odd: bool,
    /// For each key, the row that wrote it last, and what.
    own: Vec<(Row, VersionId)>,
    reads: Vec<Read>,
    writes: Vec<KeyId>,
}

impl Seen {
    /// Adds a row, the next one, whose writes `versions` has.
    pub(super) fn push(&mut self, new: NewRow, row: Row, mops: &[Mop], rows: &Rows, versions: &Versions) {
        if self.is_odd {
            return;
        }
        self.reads.clear();
        self.writes.clear();
        let is_ok = new.kind == OpKind::Ok;
        for mop in mops {
            match mop.what() {
                What::Write(version) => {
                    self.own_mut(mop.key, (row, version));
                    self.writes.push(mop.key);
                }
                What::Read(number) if is_ok => self.look(row, mop.key, Some(number.into()), rows, versions),
                What::First if is_ok => self.look(row, mop.key, None, rows, versions),
                _ => {}
            }
        }
        let end = is_ok.then_some(new.index);
        let txn = NewTxn { session: None, begin: new.begin, end, reads: &self.reads, writes: &self.writes };
        self.txns.push(&txn);
    }

    fn own_mut(&mut self, key: KeyId, own: (Row, VersionId)) {
        if self.own.len() <= key.at() {
            self.own.resize(key.at() + 1, (Row::NONE, VersionId::NONE));
        }
        self.own[key.at()] = own;
    }

    /// Looks at a read; of the first state, if there is no version.
    fn look(&mut self, row: Row, key: KeyId, version: Option<VersionId>, rows: &Rows, versions: &Versions) {
        if let Some((writer, written)) = self.own.get(key.at())
            && *writer == row
        {
            self.is_odd |= Some(*written) != version;
            return;
        }
        let mut writer = TxnId::NONE;
        if let Some(version) = version {
            match versions.writer(version) {
                Row::NONE => {
                    let read = (self.txns.all_reads().len() + self.reads.len()).to_u32();
                    self.late.push(Late { read, reader: row, version });
                }
                seen => {
                    self.is_odd |= is_wrong(seen, row, version, rows, versions);
                    writer = TxnId::new(seen.at());
                }
            }
        }
        self.reads.push(Read { key, writer });
    }

    /// The transactions that happened, without their sessions, and their rows; none if not all of it is plain.
    pub(super) fn happened(mut self, rows: &Rows, versions: &Versions) -> Option<(Transactions, Vec<Row>)> {
        // Of another number of rows some are not of registers.
        if self.is_odd || self.txns.len() != rows.len() || versions.has_repeated() {
            return None;
        }
        for late in &self.late {
            let writer = versions.writer(late.version);
            if writer == Row::NONE || is_wrong(writer, late.reader, late.version, rows, versions) {
                return None;
            }
            self.txns.set_writer(late.read.to_usize(), TxnId::new(writer.at()));
        }
        let all: Vec<Row> = rows.ids().collect();
        let is_ok = |row: &Row| rows.kind(*row) == OpKind::Ok;
        if all.iter().all(is_ok) {
            return Some((self.txns, all));
        }
        let mut is_there: Vec<bool> = all.iter().map(is_ok).collect();
        for read in self.txns.all_reads().iter().filter(|read| read.writer != TxnId::NONE) {
            is_there[read.writer.at()] = true;
        }
        self.txns.retain(&is_there);
        Some((self.txns, all.into_iter().filter(|row| is_there[row.at()]).collect()))
    }
}

/// Whether a read of a row is wrong whatever the order.
fn is_wrong(writer: Row, reader: Row, version: VersionId, rows: &Rows, versions: &Versions) -> bool {
    writer == reader || versions.is_intermediate(version) || rows.kind(writer) == OpKind::Fail
}
