//! closed-predicate: transactions with predicate reads, in a universe whose versions are all known.
//!
//! A predicate read returns the objects that match. It depends on the other objects as well: it read a version of each
//! that did not match. Which version that is follows if all versions of the object are known and only one of them does
//! not match.
//! Kingsbury's workload for Elle; Adya, "Weak Consistency" (MIT, 1999), section 3.1, for predicate dependencies.
//!
//! # The workload, as defined by Elle (`elle.closed-predicate`)
//!
//! - The first op, `{:f :init, :value {:x 1, :y 2}}`, creates the universe: the version that each key begins with. It
//!   is assumed to have happened before everything else. A key that it does not name is initially unborn.
//! - The other transactions consist of `[:insert k v]`, `[:w k v]`, `[:delete k]`, `[:r k v]` and `[:rp P {k v, ...}]`,
//!   a predicate read with its result. `P` is `:true`, `[:= v]` or `[:mod m r]`. An absent object never matches.
//! - Each key is mutated at most once after `init`. So there are two versions of each, in a known order.
//! - `ww` leads from the writer of a version to the transaction that replaced it, `wr` and `rw` from and to the
//!   transaction that read it (`:r`). `wrp` leads from the writer of the version that a predicate read selected, `rwp`
//!   to the writer of a later version that changes whether the object matches.
//! - A cycle with a single `rwp` is G-single, with more G-nonadjacent or G2; without any it has the names that end in
//!   `-item`.
//! - A predicate read that omits a key all of whose versions match is a `predicate-read-miss`.
//!
//! # Where this checker differs
//!
//! - Elle orders a key's versions as its writes appear in the history. Here the order is known if there is one
//!   mutation. If there are more, it is only known that the first version precedes the others, and the verdict is
//!   unknown unless it is decided exactly or invalid.
//! - A value that a predicate read returned was read: the transaction that replaces it follows by an `rw` of items.
//!   Elle has an `rwp`, and only if the new version does not match.
//! - Elle has `ww` only for inserts and deletions. Here also for `:w`.
//! - Besides cycles there are `internal` (a transaction's reads contradict its own writes or earlier reads), `G1a`,
//!   `G1b`, `garbage-read`, `future-read`, `lost-update`, `init-read-miss` (a read of nothing for a key that `init`
//!   created and no transaction deletes; in Elle only an `rw` to `init`), and `predicate-mismatch` (a predicate read
//!   returned an object that does not match).
//! - Elle treats a missing result of a predicate read as an empty one. Here such an `ok` op cannot be checked.
//!
//! # Reads that no version explains
//!
//! A predicate read may omit a key all of whose committed versions match (`predicate-read-miss`), and a read may return
//! nothing for a key that `init` created and no transaction deletes (`init-read-miss`). Such a read observed one of
//! these:
//!
//! - A write of a failed transaction (G1a), a write that its own transaction replaced (G1b), a later write of the
//!   reading transaction (future-read, a G1c), or a version that was never written (garbage-read, a G1). Each of these
//!   rules out read committed and all stronger levels.
//! - The state before `init`. As `init` precedes everything, it is visible to every transaction. A read that misses it
//!   is a cycle with a single rw, to `init`. That rules out read atomic, consistent view and all stronger levels; also
//!   repeatable read, unless the read is of a predicate. Read committed and monotonic atomic view permit old reads.
//!
//! So both anomalies rule out read atomic, consistent view and all stronger levels, and `init-read-miss` also
//! repeatable read. Other levels that forbid G1 are unknown: read committed, monotonic atomic view, and repeatable read
//! after a `predicate-read-miss`. Elle has `predicate-read-miss` only against serializable. If the result of a miss
//! fits a mutation that no read should have observed, no edge follows, because the cycle may not exist.
//!
//! # The meaning of `true`
//!
//! For a key with two versions, a read either excludes one of them, which gives an edge, or neither, and then no order
//! can contradict it, or both, which is an anomaly. So a history without anomalies and cycles fits the order that its
//! graph has: `serializable` and `strict-serializable` are decided both ways. `tests/it/predicates` compares this with
//! trying all orders, and levels below with their axioms.
//!
//! Monotonic atomic view concerns the order of a transaction's reads. The keys of one predicate read have none: if it
//! observed a part of a transaction and missed another part, the level is unknown unless other reads decide it.
//! Repeatable read permits misses of predicate reads, so in that case it does not imply monotonic atomic view.
//!
//! `run` decodes ops (`predicate`, `keys`), `reads` determines what each read shows about versions, `edges` builds the
//! graph from that, `crate::cycles::predicate` searches it, `witnesses` explains the results. Time is
//! O(predicate reads * keys), as each covers the universe.

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

/// The closed-predicate checker, with its options.
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
    /// Whether a read may return a value that was never written, because the store was not empty at the start.
    pub garbage_reads_allowed: bool,
    /// The maximum number of witnesses per type of anomaly. All anomalies are counted.
    pub witnesses_max: usize,
    /// Whether levels that the search for cycles leaves open are decided by a search for a commit order.
    pub exact: Exact,
}

impl Default for ClosedPredicate {
    /// Expects strict serializability.
    fn default() -> ClosedPredicate {
        let Expected { models, anomalies, garbage_reads_allowed, witnesses_max, exact, .. } = Expected::default();
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
            ..Expected::default()
        };
        Ok(Box::new(TxnRun::new(PredicateRun::new(expected.with_options(options)?))))
    }
}
