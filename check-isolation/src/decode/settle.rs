//! Turns rows into transactions that happened: who read from whom, and the anomalies that do not depend on the order.
//!
//! An `ok` transaction happened. A failed one did not. One whose outcome is unknown is taken to have happened exactly
//! if an `ok` transaction read one of its writes: any other can be omitted from every execution of every level, and the
//! rest is still one. Only the writes of such a transaction count: what it read is unknown, and every order provides
//! some values for it to have read.
//!
//! A transaction that could not be decoded is omitted. Each read that may have observed it is omitted as well: a read
//! of a value that it is known to have written and, unless all its writes are known, a read of a value without a writer
//! or of the first state, which it may have written again (for lists, unless the undecoded items are appends). An
//! execution of the whole history is also one of the rest, so anomalies of the rest are certain. A level that the rest
//! satisfies may be violated.
//! may be violated.
//!
//! A read of a value that was written twice is omitted too, because its source is unknown: an order that explains all
//! reads explains the others.

use super::decoded::Decoded;
use super::shown::{Ambiguous, DirectCase, Shown};
use super::{Holds, Row, lists, registers};
use crate::ids::{KeyId, TxnId};
use crate::transactions::{KnownOrder, NewTxn, Read, Transactions};
use history_core::cast::Cast as _;
use history_core::{IntMap, OpKind};

/// The transactions of a history, and its anomalies.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    pub(crate) txns: Transactions,
    /// The row of each transaction.
    pub(crate) rows: Vec<Row>,
    pub(crate) direct: Vec<DirectCase>,
    pub(crate) ambiguous: Option<Ambiguous>,
    /// External reads of `ok` transactions.
    pub(crate) read_count: u64,
}

pub(super) fn settle(run: &mut Decoded) -> Settled {
    let seen = std::mem::take(&mut run.seen);
    // If operations are missing, no row is regular.
    let happened = if run.is_partial { None } else { seen.happened(&run.rows, &run.versions) };
    if let Some((txns, rows)) = happened {
        let read_count = txns.all_reads().len().to_u64();
        let mut settled = Settled { txns, rows, read_count, ..Settled::default() };
        settled.set_sessions(run);
        return settled;
    }
    let mut shown = match run.holds {
        Some(Holds::Lists) => lists::shown(run),
        _ => registers::shown(run),
    };
    let mut settled = Settled {
        direct: std::mem::take(&mut shown.direct),
        ambiguous: shown.ambiguous,
        read_count: shown.reads.len().to_u64(),
        ..Settled::default()
    };
    let is_settled = settled.ambiguous.is_none() && !settled.direct.is_empty();
    if is_settled || settled.certain().has_direct() || run.settings.timestamps {
        return settled;
    }
    settled.take_rows(run, &shown);
    if run.holds == Some(Holds::Lists) {
        settled.take_orders(run, &shown);
    }
    settled
}

impl Settled {
    fn has_direct(&self) -> bool {
        !self.direct.is_empty()
    }

    /// The same without reads of values that were written twice.
    pub(crate) fn without_ambiguous(&self) -> Settled {
        let Settled { txns, rows, ambiguous, read_count, .. } = self;
        let (txns, rows) = (txns.clone(), rows.clone());
        Settled { txns, rows, direct: Vec::new(), ambiguous: *ambiguous, read_count: *read_count }
    }

    /// The anomalies that do not depend on which transaction wrote a value that was written twice.
    pub(crate) fn certain(&self) -> Settled {
        let is_certain = |case: &&DirectCase| case.is_certain || self.ambiguous.is_none();
        Settled { direct: self.direct.iter().filter(is_certain).copied().collect(), ..Settled::default() }
    }

    fn take_rows(&mut self, run: &Decoded, shown: &Shown) {
        let rows = &run.rows;
        let happened = |row: &Row| rows.kind(*row) == OpKind::Ok || shown.is_seen[row.at()];
        let mut txn_of = vec![TxnId::NONE; rows.len()];
        for row in rows.ids().filter(happened) {
            txn_of[row.at()] = TxnId::new(self.rows.len());
            self.rows.push(row);
        }
        let (mut reads, mut writes): (Vec<Read>, Vec<KeyId>) = (Vec::new(), Vec::new());
        for row in &self.rows {
            reads.clear();
            writes.clear();
            let from = if row.at() == 0 { 0 } else { shown.reads_end[row.at() - 1].to_usize() };
            for read in &shown.reads[from..shown.reads_end[row.at()].to_usize()] {
                let writer = if read.writer == Row::NONE { TxnId::NONE } else { txn_of[read.writer.at()] };
                reads.push(Read { key: read.key, writer });
            }
            writes.extend(rows.mops(*row).iter().filter(|mop| mop.is_write()).map(|mop| mop.key));
            let is_ok = rows.kind(*row) == OpKind::Ok;
            let (begin, end) = (Some(rows.begin(*row)), is_ok.then(|| rows.index(*row)));
            self.txns.push(&NewTxn { session: None, begin, end, reads: &reads, writes: &writes });
        }
        self.set_sessions(run);
    }

    /// Puts each transaction into the session of its process.
    fn set_sessions(&mut self, run: &Decoded) {
        let mut sessions: IntMap<u32> = IntMap::default();
        for (at, row) in self.rows.iter().enumerate() {
            let Some(process) = run.rows.process(*row) else { continue };
            let session = sessions.get(process).copied().unwrap_or_else(|| {
                let next = sessions.len().to_u32();
                sessions.insert(process, next);
                next
            });
            self.txns.set_session(TxnId::new(at), session);
        }
    }

    /// Adds the orders of writers that reads of lists show. Appends that no transaction read come after all of them.
    fn take_orders(&mut self, run: &Decoded, shown: &Shown) {
        debug_assert!(
            shown.appended.iter().all(|(_, row)| shown.is_seen[row.at()]),
            "a transaction whose write was read happened"
        );
        let txn_of = |row: Row| self.rows.binary_search(&row).map_or(TxnId::NONE, TxnId::new);
        let mut orders = Vec::new();
        let mut last = vec![Row::NONE; run.versions.key_codes.len()];
        for (key, row) in &shown.appended {
            let before = std::mem::replace(&mut last[key.at()], *row);
            if before != Row::NONE {
                orders.push(KnownOrder { key: *key, before: txn_of(before), after: txn_of(*row) });
            }
        }
        let mut appended = shown.appended.clone();
        appended.sort_unstable();
        for (at, row) in self.rows.iter().enumerate() {
            for key in self.txns.writes(TxnId::new(at)) {
                let before = last[key.at()];
                if before != Row::NONE && appended.binary_search(&(*key, *row)).is_err() {
                    orders.push(KnownOrder { key: *key, before: txn_of(before), after: TxnId::new(at) });
                }
            }
        }
        for order in orders {
            self.txns.push_order(order);
        }
    }
}
