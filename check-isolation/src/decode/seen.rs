//! Transactions of registers as they arrive: nearly every read returns a value whose writer completed before, so the
//! writer is known immediately.
//!
//! A row is a transaction here until the history has ended; those that did not happen are then dropped. As soon as
//! something is not plain (a read that is wrong whatever the order, a value written twice), this ends, and
//! [`registers`](super::registers) looks at the rows.

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
}

impl Seen {
    /// Whether all is plain by now.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        !self.is_odd
    }

    /// Adds a write to the next row.
    #[inline]
    pub(super) fn write(&mut self, key: KeyId) {
        self.txns.push_write(key);
    }

    /// Adds a read to the next row: of a version, with the source it had some rows ago, or of the first state.
    #[inline]
    pub(super) fn read(&mut self, (row, key): (Row, KeyId), read: Option<(VersionId, Source)>, versions: &Versions) {
        if let Some(own) = versions.own(key, row) {
            self.is_odd |= Some(own) != read.map(|(version, _)| version);
            return;
        }
        let mut writer = TxnId::NONE;
        if let Some((version, source)) = read {
            // A source is final, but for there being none.
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

    /// Adds the row.
    pub(super) fn close(&mut self, row: NewRow) {
        let end = (row.kind == OpKind::Ok).then_some(row.index);
        self.txns.close(None, row.begin, end);
    }

    /// The transactions that happened, without their sessions, and their rows; none if not all of it is plain.
    pub(super) fn happened(mut self, rows: &Rows, versions: &Versions) -> Option<(Transactions, Vec<Row>)> {
        // Of another number of rows some are not of registers.
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
