//! closed-predicate: transactions with predicate reads, in a universe of which every version is known.
//!
//! A predicate read shows the objects that match. It depends on the others as well: that one did not match was a
//! version of it, too. Which version, follows where all versions of an object are known and only one of them does not
//! match. Kingsbury's workload for Elle; Adya, "Weak Consistency" (MIT, 1999), section 3.1, for predicate dependencies.
//!
//! # The workload, as Elle has it (`elle.closed-predicate`)
//!
//! - The first op, `{:f :init, :value {:x 1, :y 2}}`, creates the universe: the version that each key begins with. It
//!   is trusted to have happened before everything else. A key that it does not name begins unborn.
//! - The others are transactions of `[:insert k v]`, `[:w k v]`, `[:delete k]`, `[:r k v]` and `[:rp P {k v, ...}]`, a
//!   predicate read with what it showed. `P` is `:true`, `[:= v]` or `[:mod m r]`. Nothing that is absent matches.
//! - Each key is mutated at most once after `init`. So there are two versions of each, in a known order.
//! - `ww` leads from who wrote a version to who replaced it, `wr` and `rw` from and to who read it (`:r`). `wrp` leads
//!   from who wrote the version that a predicate read selected, `rwp` to who wrote a later version that changes whether
//!   the object matches.
//! - A cycle with a single `rwp` is G-single, with more G-nonadjacent or G2; without any it has the names that end in
//!   `-item`.
//! - A predicate read that omits a key all of whose versions match is a `predicate-read-miss`.
//!
//! # Where this checker differs
//!
//! - Elle orders a key's versions as its writes appear in the history. Here the order is known if there is one
//!   mutation; if there are more, only that the first version comes before the others, and the verdict is unknown
//!   unless it is decided exactly or invalid.
//! - A value that a predicate read showed was read: who replaces it follows by an `rw` of items. Elle has an `rwp`, and
//!   only if the new version does not match.
//! - Elle has `ww` only for inserts and deletions. Here also for `:w`.
//! - Beside cycles there are `internal` (a transaction's reads contradict its own writes or earlier reads), `G1a`,
//!   `G1b`, `garbage-read`, `future-read`, `lost-update`, `init-read-miss` (a read of nothing where `init` had created
//!   something that nobody deletes; in Elle an `rw` to `init` only), and `predicate-mismatch` (a predicate read showed
//!   what does not match).
//! - Elle takes a missing result of a predicate read for an empty one. Here such an `ok` op cannot be judged.
//!
//! # Reads that no version explains
//!
//! A predicate read may omit a key of which all versions match that others left (`predicate-read-miss`), and a read may
//! show nothing where `init` had created something that nobody deletes (`init-read-miss`). Such a read saw one of
//! these:
//!
//! - What a failed transaction did (G1a), what its writer replaced (G1b), what its own transaction did later
//!   (future-read, a G1c), or what nobody did (garbage-read, a G1). Each of these rules out read committed and all that
//!   is stronger.
//! - The time before `init`. As `init` comes before everything, it is visible to every transaction. A read that misses
//!   it is a cycle with a single rw, to `init`. That rules out read atomic, consistent view and all that is stronger;
//!   repeatable read too, unless the read is of a predicate. Read committed and monotonic atomic view allow old reads.
//!
//! So both anomalies rule out read atomic, consistent view and all that is stronger, and `init-read-miss` repeatable
//! read. Other levels that forbid G1 are unknown: read committed, monotonic atomic view, and repeatable read after a
//! `predicate-read-miss`. Elle has `predicate-read-miss` only against serializable. No edge follows from a miss that a
//! mutation fits which nobody should have seen, as the cycle may not be there.
//!
//! # What `true` means
//!
//! Of a key with two versions, a read either excludes one of them, which gives an edge, or neither, and then no order
//! can contradict it, or both, which is an anomaly. So a history without anomalies and cycles fits the order that its
//! graph has: `serializable` and `strict-serializable` are decided both ways. `tests/it/predicates` compares this with
//! trying all orders, and levels below with their axioms.
//!
//! Monotonic atomic view is about the order of a transaction's reads. The keys of one predicate read have none: where
//! it saw a part of a transaction and missed another part, the level is unknown unless other reads decide it.
//! Repeatable read allows what predicate reads miss, so it does not imply monotonic atomic view where they do.
//!
//! `run` decodes ops (`predicate`, `keys`), `reads` says what each read shows of versions, `edges` makes the graph of
//! that, `crate::cycles::predicate` searches it, `witnesses` explains. Time is O(predicate reads * keys), as each
//! covers the universe.

mod analysis;
mod edges;
#[cfg(feature = "exact")]
mod happened;
mod keys;
mod mop;
mod predicate;
mod reads;
mod run;
mod witnesses;

use crate::anomaly::AnomalySet;
use crate::exact::{EXACT, Exact};
use crate::model::Model;
use crate::txn::expected::{self, Expected};
use crate::txn::fold::TxnRun;
use history_core::{About, Checker, OptionError, OptionSpec, Options, Run};
use run::PredicateRun;

/// The closed-predicate checker, and what is asked of it.
///
/// ```
/// use check_elle::closed_predicate::ClosedPredicate;
/// use history_core::{Checker, History};
///
/// // Each inserted what the other's predicate read did not show.
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :txn, :value [[:rp :true nil] [:insert :x 1]]}
///     {:process 1, :type :invoke, :f :txn, :value [[:rp :true nil] [:insert :y 2]]}
///     {:process 0, :type :ok, :f :txn, :value [[:rp :true {}] [:insert :x 1]]}
///     {:process 1, :type :ok, :f :txn, :value [[:rp :true {}] [:insert :y 2]]}
/// ")?;
/// let report = ClosedPredicate::default().check(&history)?;
/// assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G2"]);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedPredicate {
    /// The models that the history is expected to obey.
    pub consistency_models: Vec<Model>,
    /// Anomalies that are not expected in addition to those that the models forbid.
    pub anomalies: AnomalySet,
    /// Whether a read may show what was never written, because the store was not empty at the start.
    pub garbage_reads_allowed: bool,
    /// Witnesses given for each type of anomaly, at the most. All are counted.
    pub witnesses_max: usize,
    /// Whether levels that the search for cycles leaves open are decided by looking for a commit order.
    pub exact: Exact,
}

impl Default for ClosedPredicate {
    /// Expects strict serializability.
    fn default() -> ClosedPredicate {
        let Expected { models, anomalies, garbage_reads_allowed, witnesses_max, exact } = Expected::default();
        ClosedPredicate { consistency_models: models, anomalies, garbage_reads_allowed, witnesses_max, exact }
    }
}

const OPTIONS: &[OptionSpec] =
    &[expected::CONSISTENCY_MODELS, expected::ANOMALIES, expected::ALLOW, expected::MAX_WITNESSES, EXACT];

impl Checker for ClosedPredicate {
    fn name(&self) -> &'static str {
        "closed-predicate"
    }

    fn summary(&self) -> &'static str {
        "Isolation of transactions with predicate reads, where all versions of all keys are known."
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn about(&self) -> About {
        crate::txn::about()
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let expected = Expected {
            models: self.consistency_models.clone(),
            anomalies: self.anomalies,
            garbage_reads_allowed: self.garbage_reads_allowed,
            witnesses_max: self.witnesses_max,
            exact: self.exact,
        };
        Ok(Box::new(TxnRun::new(PredicateRun::new(expected.with_options(options)?))))
    }
}
