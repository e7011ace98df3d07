//! Builds transactions of registers as ops arrive: nearly every read returns a value whose writer completed before, so
//! the writer is known immediately.
//!
//! Here each row is a transaction until the history has ended; rows that did not happen are then dropped. On the first
//! irregularity (a read that is wrong in every order, a value written twice) this ends, and
//! [`registers`](super::registers) examines the rows instead.

use super::Row;
use super::rows::{NewRow, Rows};
use super::versions::{Source, VersionId, Versions};
use crate::ids::{KeyId, TxnId};
use crate::transactions::{Read, Transactions};
use history_core::OpKind;
use history_core::cast::Cast as _;

/// A read of a value whose writer had not completed by then.
#[derive(Clone, Copy, Debug)]
struct Late {
    /// The position among all reads.
    read: u32,
    reader: Row,
    version: VersionId,
}

/// The results of the rows so far, as long as all of them are regular.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// One per row. The numbers of writers are those of rows.
    txns: Transactions,
    late: Vec<Late>,
    is_odd: bool,
}

impl Seen {
    /// Returns true if all rows so far are regular.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        !self.is_odd
    }

    /// Adds a write to the next row.
    #[inline]
    pub(super) fn write(&mut self, key: KeyId) {
        self.txns.push_write(key);
    }

    /// Adds a read to the next row: of a version, with the source that was looked up earlier, or of the first state.
    #[inline]
    pub(super) fn read(&mut self, (row, key): (Row, KeyId), read: Option<(VersionId, Source)>, versions: &Versions) {
        if let Some(own) = versions.own(key, row) {
            self.is_odd |= Some(own) != read.map(|(version, _)| version);
            return;
        }
        let mut writer = TxnId::NONE;
        if let Some((version, source)) = read {
            // A source is final, except that `Nobody` may change.
            let source = if source == Source::Nobody { versions.source(version) } else { source };
            match source {
                Source::Row(source) => writer = TxnId::new(source.at()),
                Source::Hidden => self.is_odd = true,
                Source::Nobody => {
                    let read = self.txns.all_reads().len().to_u32();
                    self.late.push(Late { read, reader: row, version });
                }
            }
        }
        self.txns.push_read(Read { key, writer });
    }

    /// Completes the row.
    pub(super) fn close(&mut self, row: NewRow) {
        let end = (row.kind == OpKind::Ok).then_some(row.index);
        self.txns.close(None, row.begin, end);
    }

    /// The transactions that happened, without their sessions, and their rows; `None` if some row is irregular.
    pub(super) fn happened(mut self, rows: &Rows, versions: &Versions) -> Option<(Transactions, Vec<Row>)> {
        // If the numbers of rows differ, some rows are not of registers.
        if self.is_odd || self.txns.len() != rows.len() || versions.has_repeated() {
            return None;
        }
        for late in &self.late {
            match versions.source(late.version) {
                Source::Row(writer) if writer != late.reader => {
                    self.txns.set_writer(late.read.to_usize(), TxnId::new(writer.at()));
                }
                _ => return None,
            }
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
