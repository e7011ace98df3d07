//! The sources of version orders, each edge by its definition, and which sources contradict each other.

use super::{external_read, external_write};
use crate::log::{Log, Txn};
use crate::workload::Version;
use history_core::Datum;

/// Assumptions about the store, from which the order of a key's versions follows. It is always assumed that every key
/// has the same initial version.
///
/// ```
/// use elle_certify::Sources;
///
/// let sources = Sources { wfr_keys: true, linearizable_keys: true, ..Sources::default() };
/// assert_eq!(sources.transaction_order, None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sources {
    /// A transaction's read of a key comes before its write to it.
    pub wfr_keys: bool,
    /// The versions of each key follow the order of each process.
    pub sequential_keys: bool,
    /// The versions of each key follow real time.
    pub linearizable_keys: bool,
    /// The versions of each key follow this order of transactions: the index of each one's completion, or of its
    /// invocation. Of several places of a transaction the first counts.
    pub transaction_order: Option<Vec<u64>>,
    /// The value of the initial version of every key.
    pub initial: Datum,
}

impl Default for Sources {
    /// No assumptions except that keys are initially nil.
    fn default() -> Sources {
        Sources {
            wfr_keys: false,
            sequential_keys: false,
            linearizable_keys: false,
            transaction_order: None,
            initial: Datum::Nil,
        }
    }
}

/// A version of a key and one that came after it.
pub(super) type Edge = (Version, Version);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source<'a> {
    InitialState,
    TransactionOrder(&'a [u64]),
    WfrKeys,
    SequentialKeys,
    LinearizableKeys,
}

/// The requested sources without those that contradict previous ones.
pub(super) struct InUse<'a> {
    sources: Vec<Source<'a>>,
    /// For each omitted source, those in use before it, and the source itself.
    pub(super) refused: Vec<Vec<Source<'a>>>,
}

/// Adds the sources one after another, except those that would order some versions of a key in a cycle.
pub(super) fn in_use<'a>(log: &Log, asked: &'a Sources) -> InUse<'a> {
    let order = asked.transaction_order.as_deref();
    let sources = [
        Some(Source::InitialState),
        order.map(Source::TransactionOrder),
        asked.wfr_keys.then_some(Source::WfrKeys),
        asked.sequential_keys.then_some(Source::SequentialKeys),
        asked.linearizable_keys.then_some(Source::LinearizableKeys),
    ];
    let keys = keys(log);
    let mut used = InUse { sources: Vec::new(), refused: Vec::new() };
    for source in sources.into_iter().flatten() {
        let mut tried = used.sources.clone();
        tried.push(source);
        if keys.iter().any(|key| has_cycle(&edges(log, &tried, key))) {
            used.refused.push(tried);
        } else {
            used.sources = tried;
        }
    }
    used
}

impl InUse<'_> {
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.sources.iter().map(Source::name).collect()
    }

    /// The order of a key's versions by the sources in use.
    pub(super) fn edges(&self, log: &Log, key: &Datum) -> Vec<Edge> {
        edges(log, &self.sources, key)
    }
}

/// All keys of a history, without duplicates.
pub(super) fn keys(log: &Log) -> Vec<Datum> {
    let mut keys: Vec<Datum> = Vec::new();
    for mop in log.txns.iter().flat_map(|txn| &txn.mops) {
        if !keys.contains(mop.key()) {
            keys.push(mop.key().clone());
        }
    }
    keys
}

/// The order of a key's versions by these sources.
pub(super) fn edges(log: &Log, sources: &[Source<'_>], key: &Datum) -> Vec<Edge> {
    let all = sources.iter().flat_map(|source| source.edges(log, key));
    all.filter(|(version, next)| version != next).collect()
}

/// The versions that follow a version, directly or indirectly.
pub(super) fn reached(edges: &[Edge], from: &Version) -> Vec<Version> {
    let mut reached: Vec<Version> = Vec::new();
    let mut todo = vec![from];
    while let Some(version) = todo.pop() {
        for (_, next) in edges.iter().filter(|(v, _)| v == version) {
            if !reached.contains(next) {
                reached.push(next.clone());
                todo.push(next);
            }
        }
    }
    reached
}

fn has_cycle(edges: &[Edge]) -> bool {
    edges.iter().any(|(version, _)| reached(edges, version).contains(version))
}

impl Source<'_> {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Source::InitialState => "initial-state",
            Source::TransactionOrder(_) => "transaction-order",
            Source::WfrKeys => "wfr-keys",
            Source::SequentialKeys => "sequential-keys",
            Source::LinearizableKeys => "linearizable-keys",
        }
    }

    /// The source's order of a key's versions. An edge from a version to itself has no meaning.
    fn edges(&self, log: &Log, key: &Datum) -> Vec<Edge> {
        let txns = || log.txns.iter().filter(|txn| touches(log, txn, key));
        match self {
            Source::InitialState => {
                let versions = txns().flat_map(|txn| [external_read(log, txn, key), external_write(txn, key)]);
                versions.flatten().map(|version| (Version::of_value(None), version)).collect()
            }
            Source::TransactionOrder(order) => {
                let place = |txn: &Txn| order.iter().position(|i| *i == txn.index || Some(*i) == txn.invoked);
                let mut placed: Vec<(usize, &Txn)> = txns().filter_map(|txn| Some((place(txn)?, txn))).collect();
                placed.sort_by_key(|(place, _)| *place);
                let later = |at: usize| placed[at + 1..].iter().map(|(_, txn)| *txn);
                let pairs = (0..placed.len()).flat_map(|at| later(at).map(move |txn| (at, txn)));
                pairs.filter_map(|(at, later)| edge(log, placed[at].1, later, key)).collect()
            }
            Source::WfrKeys => {
                let own = |txn| Some((external_read(log, txn, key)?, external_write(txn, key)?));
                txns().filter_map(own).collect()
            }
            Source::SequentialKeys => {
                let later = |txn| txns().filter(move |later| Txn::is_before_in_process(txn, later));
                txns().flat_map(|txn| later(txn).filter_map(|later| edge(log, txn, later, key))).collect()
            }
            Source::LinearizableKeys => {
                let later = |txn| txns().filter(move |later| Txn::is_before_in_time(txn, later));
                txns().flat_map(|txn| later(txn).filter_map(|later| edge(log, txn, later, key))).collect()
            }
        }
    }
}

/// Returns true if a transaction read or wrote a key, as far as it may have happened.
fn touches(log: &Log, txn: &Txn, key: &Datum) -> bool {
    external_read(log, txn, key).or(external_write(txn, key)).is_some()
}

/// The edge from a transaction's last version of a key to a later transaction's first one.
fn edge(log: &Log, txn: &Txn, later: &Txn, key: &Datum) -> Option<Edge> {
    let last = external_write(txn, key).or(external_read(log, txn, key))?;
    let first = external_read(log, later, key).or(external_write(later, key))?;
    Some((last, first))
}
