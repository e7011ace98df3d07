//! Recorded transactions as columns: one row each, their micro-ops in one flat vector.

use super::{Mop, Row};
use crate::timestamps::Stamps;
use history_core::cast::Cast as _;
use history_core::{Client, OpKind, Participants};

/// An absent process, index or time.
const NOTHING: i64 = i64::MIN;

/// All transactions that happened, may have happened, or failed after they wrote something: in the order of their
/// completions, those without a completion at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    kind: Vec<OpKind>,
    index: Vec<u64>,
    process: Vec<i64>,
    time_ns: Vec<i64>,
    /// The index of the invocation; 0 if it is unknown, because no completion precedes 0 either.
    begin: Vec<u64>,
    /// The timestamps in the completions; empty if timestamps are not checked.
    stamps: Vec<Stamps>,
    /// Nondecreasing; the last entry is `mops.len()`.
    mops_end: Vec<u32>,
    mops: Vec<Mop>,
    pub(crate) participants: Participants,
    /// Whether the invocation of some transaction that may have happened is unknown.
    lacks_invocations: bool,
    /// Whether the process of some transaction that happened is unknown.
    lacks_processes: bool,
}

/// A row to add.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewRow {
    pub(super) kind: OpKind,
    pub(super) index: u64,
    pub(super) process: Option<i64>,
    pub(super) time_ns: Option<i64>,
    pub(super) begin: Option<u64>,
    /// Present if timestamps are checked.
    pub(super) stamps: Option<Stamps>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.kind.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = Row> + use<> {
        (0..self.len()).map(Row::new)
    }

    pub(super) fn push(&mut self, row: NewRow, mops: &[Mop]) -> Row {
        let id = Row::new(self.len());
        self.kind.push(row.kind);
        self.index.push(row.index);
        self.process.push(row.process.unwrap_or(NOTHING));
        self.time_ns.push(row.time_ns.unwrap_or(NOTHING));
        self.begin.push(row.begin.unwrap_or(0));
        self.lacks_invocations |= row.begin.is_none() && row.kind != OpKind::Fail;
        self.lacks_processes |= row.process.is_none() && row.kind == OpKind::Ok;
        self.stamps.extend(row.stamps);
        self.mops.extend_from_slice(mops);
        self.mops_end.push(self.mops.len().to_u32());
        id
    }

    pub(crate) fn kind(&self, row: Row) -> OpKind {
        self.kind[row.at()]
    }

    /// The index of the completion, or of the invocation if there is no completion.
    pub(crate) fn index(&self, row: Row) -> u64 {
        self.index[row.at()]
    }

    pub(crate) fn process(&self, row: Row) -> Option<i64> {
        let process = self.process[row.at()];
        (process != NOTHING).then_some(process)
    }

    /// The row's process as the history names it.
    pub(crate) fn client(&self, row: Row) -> Option<Client> {
        self.process(row).map(|process| self.participants.client(process))
    }

    pub(crate) fn time_ns(&self, row: Row) -> Option<i64> {
        let time = self.time_ns[row.at()];
        (time != NOTHING).then_some(time)
    }

    pub(crate) fn begin(&self, row: Row) -> u64 {
        self.begin[row.at()]
    }

    /// Returns true if the invocation of some transaction that may have happened is unknown.
    pub(crate) fn lacks_invocations(&self) -> bool {
        self.lacks_invocations
    }

    /// Returns true if the process of some transaction that happened is unknown.
    pub(crate) fn lacks_processes(&self) -> bool {
        self.lacks_processes
    }

    /// The timestamps in the row's completion.
    pub(crate) fn stamps(&self, row: Row) -> Stamps {
        self.stamps.get(row.at()).copied().unwrap_or_default()
    }

    #[inline]
    pub(crate) fn mops(&self, row: Row) -> &[Mop] {
        let from = if row.at() == 0 { 0 } else { self.mops_end[row.at() - 1].to_usize() };
        &self.mops[from..self.mops_end[row.at()].to_usize()]
    }

    /// The number of micro-ops.
    pub(crate) fn mop_count(&self) -> usize {
        self.mops.len()
    }
}
