//! The results of rows: external reads, anomalies that do not depend on the order, and the order of writers in lists.

use super::Row;
use crate::ids::KeyId;
use history_core::cast::Cast as _;

/// An anomaly that does not depend on the order. Each rules out every level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direct {
    /// A read returned a value that only a failed transaction wrote.
    G1a,
    /// A read returned a value that its writer overwrote.
    G1b,
    /// The elements of two transactions are interleaved in a list.
    G0,
    /// A read returned a value that was never written.
    ThinAirRead,
    /// A read returned a value that the transaction itself wrote later.
    FutureRead,
    /// A read after the transaction's own write does not return that write.
    Internal,
    /// Two reads of a list, of which neither is a prefix of the other.
    IncompatibleOrder,
    /// A list that contains one element twice.
    DuplicateElements,
}

impl Direct {
    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Direct::G1a => "G1a",
            Direct::G1b => "G1b",
            Direct::G0 => "G0",
            Direct::ThinAirRead => "thin-air-read",
            Direct::FutureRead => "future-read",
            Direct::Internal => "internal",
            Direct::IncompatibleOrder => "incompatible-order",
            Direct::DuplicateElements => "duplicate-elements",
        }
    }
}

/// An anomaly of such a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectCase {
    pub(crate) what: Direct,
    pub(crate) reader: Row,
    /// The position of the read in its transaction.
    pub(crate) mop: u32,
    /// The other transaction involved; `Row::NONE` if there is none.
    pub(crate) other: Row,
    /// Whether it does not depend on which transactions wrote the values that were written twice.
    pub(crate) is_certain: bool,
}

/// A value that was read and written twice: the source of the read is unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ambiguous {
    pub(crate) key: KeyId,
    pub(crate) code: i64,
    pub(crate) writers: [Row; 2],
    pub(crate) reader: Row,
}

/// An external read of a row, and the writer of the value: `Row::NONE` for the first state.
#[derive(Clone, Copy, Debug)]
pub(super) struct External {
    pub(super) key: KeyId,
    pub(super) writer: Row,
}

/// The results of the rows, before those that happened are selected.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// External reads, row by row.
    pub(super) reads: Vec<External>,
    /// Nondecreasing; the last entry is `reads.len()`.
    pub(super) reads_end: Vec<u32>,
    pub(super) direct: Vec<DirectCase>,
    pub(super) ambiguous: Option<Ambiguous>,
    /// The writers of the elements in reads of lists: by key, in the order of the list.
    pub(super) appended: Vec<(KeyId, Row)>,
    /// For each row, whether some read returned a write of it.
    pub(super) is_seen: Vec<bool>,
}

impl Shown {
    /// Removes the reads of some keys.
    pub(super) fn drop_reads(&mut self, is_dropped: impl Fn(KeyId) -> bool) {
        let (mut kept, mut from) = (Vec::new(), 0);
        for end in &mut self.reads_end {
            kept.extend(self.reads[from..end.to_usize()].iter().filter(|read| !is_dropped(read.key)));
            from = end.to_usize();
            *end = kept.len().to_u32();
        }
        self.reads = kept;
    }

    /// Records a case that depends on which transaction wrote which value.
    pub(super) fn case(&mut self, what: Direct, reader: Row, mop: usize, other: Row) {
        let is_certain = matches!(what, Direct::Internal | Direct::IncompatibleOrder | Direct::ThinAirRead);
        self.direct.push(DirectCase { what, reader, mop: mop.to_u32(), other, is_certain });
    }

    /// Records a case that depends only on the writer of one value, which was written once.
    pub(super) fn certain_case(&mut self, what: Direct, reader: Row, mop: usize, other: Row) {
        self.direct.push(DirectCase { what, reader, mop: mop.to_u32(), other, is_certain: true });
    }
}
