//! The sources of the order of versions, each with the edges that it gives.
//!
//! If a source orders transactions, the last version of a key in the earlier one precedes the first version in the
//! later one. This holds for all pairs of transactions that touched the key, whatever the number of others between
//! them, because nothing orders their own first and last versions. The number of pairs may be quadratic; `timing` keeps
//! a reduction.

pub(super) mod timing;

use super::mop::Mop;
use super::touches::Touches;
use super::versions::Versions;
use super::within::Touch;
use crate::cycle_spec::Suffix;
use crate::ids::{KeyId, TxnId, VersionId};
use crate::txn::Txns;
use crate::txn::time::has_process_edges;
use history_core::hash::HashMap;
use std::collections::hash_map::Entry;
use timing::{Rows, Spans, Timing};

/// The requested sources, in addition to the one that is always in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    pub(crate) transaction_order: Option<Vec<u64>>,
    pub(crate) wfr_keys: bool,
    pub(crate) sequential_keys: bool,
    pub(crate) linearizable_keys: bool,
}

impl Sources {
    /// Returns true if anything is assumed except that every version follows the initial one.
    #[cfg(feature = "exact")]
    pub(crate) fn are_used(&self) -> bool {
        self.transaction_order.is_some() || self.wfr_keys || self.sequential_keys || self.linearizable_keys
    }

    /// The sources that order versions without a list of transactions and were not requested.
    pub(crate) fn unused(&self) -> Vec<Source> {
        let all = [
            (Source::WfrKeys, self.wfr_keys),
            (Source::SequentialKeys, self.sequential_keys),
            (Source::LinearizableKeys, self.linearizable_keys),
        ];
        all.into_iter().filter_map(|(source, used)| (!used).then_some(source)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The initial version comes before every other one.
    InitialState,
    TransactionOrder,
    WfrKeys,
    SequentialKeys,
    LinearizableKeys,
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Source::InitialState => "initial-state",
            Source::TransactionOrder => "transaction-order",
            Source::WfrKeys => "wfr-keys",
            Source::SequentialKeys => "sequential-keys",
            Source::LinearizableKeys => "linearizable-keys",
        }
    }
}

/// A version of a key, and a later one.
pub(crate) type Edge = (VersionId, VersionId);

/// The data from which the order of versions is inferred.
#[derive(Clone, Copy)]
pub(crate) struct Inference<'a> {
    pub(crate) versions: &'a Versions,
    pub(crate) txns: &'a Txns<Mop>,
    pub(crate) touches: &'a Touches,
}

impl Inference<'_> {
    /// Writes follow reads, within transactions.
    pub(crate) fn wfr(self) -> Vec<Edge> {
        let both = self.touches.all().iter().filter_map(|touch| touch.read().zip(touch.write()));
        both.filter(|(read, write)| read != write && !self.versions.is_initial(*read)).collect()
    }

    /// Versions follow the order of each process: its `ok` transactions, and the one that may have happened and ended
    /// the process.
    pub(crate) fn by_process(self) -> Timing {
        let mut rows: HashMap<(i64, KeyId), usize> = HashMap::default();
        let row = |touch: &Touch| {
            let process = self.txns.process(touch.txn)?;
            let next = rows.len();
            Some((*rows.entry((process, touch.key)).or_insert(next), *touch))
        };
        let placed: Vec<(usize, Touch)> = self.touches.all().iter().filter_map(row).collect();
        Timing::Rows(Rows::new(rows.len(), placed))
    }

    /// Returns true if [`by_process`](Inference::by_process) orders any two versions. Usually a short prefix shows
    /// that.
    pub(crate) fn processes_order_any(self) -> bool {
        // For each process and key, the last version of its first transaction, and whether a later one had another
        // version.
        let mut lasts: HashMap<(i64, KeyId), (VersionId, bool)> = HashMap::default();
        self.touches.all().iter().any(|touch| {
            let Some(process) = self.txns.process(touch.txn) else { return false };
            match lasts.entry((process, touch.key)) {
                Entry::Vacant(entry) => {
                    entry.insert((touch.last(), false));
                    false
                }
                Entry::Occupied(mut entry) => {
                    let (last, others) = entry.get_mut();
                    let is_after = *others || *last != touch.first();
                    *others |= *last != touch.last();
                    is_after
                }
            }
        })
    }

    /// Versions follow an order of transactions.
    pub(crate) fn by_order(self, order: &[TxnId]) -> Timing {
        let touches = order.iter().flat_map(|txn| self.touches.of(*txn));
        let placed = touches.map(|touch| (touch.key.at(), *touch)).collect();
        Timing::Rows(Rows::new(self.versions.key.len(), placed))
    }

    /// Versions follow real time; if some invocations are unknown, they follow the order of each process instead.
    pub(crate) fn by_clock(self) -> Timing {
        if has_process_edges(self.txns, Suffix::Realtime) { self.by_process() } else { Timing::Clock(self.spans()) }
    }

    /// The times at which versions existed.
    fn spans(self) -> Spans {
        let mut spans = Spans::new(self.versions.version.len());
        let mut oks = 0;
        let mut touches = self.touches.all().iter().peekable();
        for txn in self.txns.ids() {
            let is_ok = self.txns.is_ok(txn);
            while let Some(touch) = touches.next_if(|touch| touch.txn == txn) {
                let until = &mut spans.until[touch.first().at()];
                *until = (*until).max(self.txns.oks_before(txn).unwrap_or(0));
                if is_ok {
                    let since = &mut spans.since[touch.last().at()];
                    *since = (*since).min(oks);
                }
            }
            oks += u32::from(is_ok);
        }
        spans
    }
}
