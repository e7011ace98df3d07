//! Determines which transactions must be committed before a transaction.

use super::super::super::versions::Versions;
use super::super::super::within::Touch;
use super::{Commits, GivenUp, Need, Why};
use crate::ids::{TxnId, VersionId};
use crate::txn::Txns;
use history_core::cast::Cast as _;
use std::ops::Range;

/// The number of an absent touch.
const NONE: u32 = u32::MAX;

/// The next need of a transaction.
pub(super) enum Next {
    Nothing,
    Needs(Need),
    /// It read a version that no transaction left behind.
    Impossible,
}

/// The readers of a version.
#[derive(Clone, Copy)]
pub(super) struct Readers {
    /// The last touch that read it.
    last: u32,
    /// The number of readers that are not committed.
    pub(super) open: u32,
    /// The number of transactions that had completed `ok` when the last reader was invoked.
    invoked: u32,
}

/// For a touch, the adjacent writers of the same key, and the previous reader of the same version.
#[derive(Clone, Copy)]
struct Neighbours {
    writer_before: u32,
    writer_after: u32,
    reader_before: u32,
}

/// The touches of all transactions, with the related ones.
pub(super) struct Touched<'a, M> {
    pub(super) versions: &'a Versions,
    pub(super) txns: &'a Txns<M>,
    pub(super) touches: &'a [Touch],
    /// For each transaction, the end of its touches.
    end: Vec<u32>,
    /// For each transaction, the number of transactions that completed `ok` before it.
    rank: Vec<u32>,
    /// For each version.
    pub(super) readers: Vec<Readers>,
    /// For each touch.
    next_to: Vec<Neighbours>,
    /// Whether some read returned another transaction's write.
    pub(super) shows_another: bool,
}

impl<'a, M: Copy> Touched<'a, M> {
    pub(super) fn new(versions: &'a Versions, txns: &'a Txns<M>, touches: &'a [Touch]) -> Touched<'a, M> {
        let mut oks = 0;
        let mut rank = |txn: TxnId| {
            let rank = oks;
            oks += u32::from(txns.is_ok(txn));
            rank
        };
        let mut touched = Touched {
            versions,
            txns,
            touches,
            end: Vec::with_capacity(txns.len()),
            rank: txns.ids().map(&mut rank).collect(),
            readers: vec![Readers { last: NONE, open: 0, invoked: 0 }; versions.version.len()],
            next_to: vec![Neighbours { writer_before: NONE, writer_after: NONE, reader_before: NONE }; touches.len()],
            shows_another: false,
        };
        let mut last_writer = vec![NONE; versions.key.len()];
        for (at, touch) in touches.iter().enumerate() {
            touched.end.resize(touch.txn.at(), at.to_u32());
            if touch.write().is_some() {
                let before = std::mem::replace(&mut last_writer[touch.key.at()], at.to_u32());
                touched.next_to[at].writer_before = before;
                if let Some(before) = touched.next_to.get_mut(before.to_usize()) {
                    before.writer_after = at.to_u32();
                }
            }
            if let Some(version) = touch.read() {
                let readers = &mut touched.readers[version.at()];
                touched.next_to[at].reader_before = std::mem::replace(&mut readers.last, at.to_u32());
                readers.open += 1;
                readers.invoked = readers.invoked.max(txns.oks_before(touch.txn).unwrap_or(0));
                touched.shows_another |= !versions.is_initial(version);
            }
        }
        touched.end.resize(txns.len(), touches.len().to_u32());
        touched
    }

    /// The range of a transaction's touches.
    #[inline]
    pub(super) fn range(&self, txn: TxnId) -> Range<usize> {
        let start = if txn.at() == 0 { 0 } else { self.end[txn.at() - 1].to_usize() };
        start..self.end[txn.at()].to_usize()
    }
}

impl<M: Copy> Commits<'_, M> {
    /// The next transaction that must be committed before `txn`, if there is one.
    pub(super) fn next(&mut self, txn: TxnId) -> Result<Next, GivenUp> {
        let (touches, range) = (self.touched.touches, self.touched.range(txn));
        for touch in &touches[range.clone()] {
            if let Some(version) = touch.read().filter(|version| self.current[touch.key.at()] != *version) {
                let writer = self.touched.versions.installer(version);
                let writer = writer.filter(|writer| self.is_open(*writer) && *writer != txn);
                return Ok(writer.map_or(Next::Impossible, always));
            }
        }
        for at in range {
            let touch = touches[at];
            let Some(written) = touch.write() else { continue };
            if let Some(other) = self.writer_before(at, written)? {
                return Ok(always(other));
            }
            let current = self.current[touch.key.at()];
            let is_reader = touch.read().is_some();
            if self.touched.readers[current.at()].open > u32::from(is_reader) {
                let writer = self.touched.versions.installer(current).filter(|_| !is_reader);
                let reader = self.open_reader(current, txn)?;
                return Ok(Next::Needs(Need { txn: reader, why: writer.map_or(Why::Always, Why::Reads) }));
            }
        }
        let assumed = self.assumed.before(txn).find(|(_, before)| self.is_open(*before));
        let need = |(number, before)| Next::Needs(Need { txn: before, why: Why::Assumed(number) });
        Ok(assumed.map_or(Next::Nothing, need))
    }

    /// Another writer of the key that is not committed, and that completed before some reader of this touch's write was
    /// invoked. Committed between the two, it would have been the one whose write that reader observed.
    fn writer_before(&mut self, at: usize, written: VersionId) -> Result<Option<TxnId>, GivenUp> {
        let invoked = self.touched.readers[written.at()].invoked;
        if invoked <= self.oks {
            // All writers that completed before that are committed.
            return Ok(None);
        }
        let mut other = self.touched.next_to[at].writer_before;
        while let Some(txn) = self.txn_of(other).filter(|txn| self.touched.rank[txn.at()] >= self.oks) {
            if self.is_over(txn, invoked) {
                return Ok(Some(txn));
            }
            self.spend(1)?;
            other = self.touched.next_to[other.to_usize()].writer_before;
        }
        let mut other = self.touched.next_to[at].writer_after;
        while let Some(txn) = self.txn_of(other).filter(|txn| self.touched.rank[txn.at()] < invoked) {
            if self.is_over(txn, invoked) {
                return Ok(Some(txn));
            }
            self.spend(1)?;
            other = self.touched.next_to[other.to_usize()].writer_after;
        }
        Ok(None)
    }

    /// Returns true if a transaction is not committed, and is among the first `oks` that completed `ok`.
    fn is_over(&self, txn: TxnId, oks: u32) -> bool {
        self.is_open(txn) && self.touched.txns.is_ok(txn) && self.touched.rank[txn.at()] < oks
    }

    fn txn_of(&self, touch: u32) -> Option<TxnId> {
        self.touched.touches.get(touch.to_usize()).map(|touch| touch.txn)
    }

    /// Another uncommitted reader of a version: the last one, because it was probably invoked last.
    fn open_reader(&mut self, version: VersionId, except: TxnId) -> Result<TxnId, GivenUp> {
        let mut touch = self.touched.readers[version.at()].last;
        loop {
            let reader = self.txn_of(touch).ok_or(GivenUp)?;
            if reader != except && self.is_open(reader) {
                return Ok(reader);
            }
            self.spend(1)?;
            touch = self.touched.next_to[touch.to_usize()].reader_before;
        }
    }
}

fn always(txn: TxnId) -> Next {
    Next::Needs(Need { txn, why: Why::Always })
}
