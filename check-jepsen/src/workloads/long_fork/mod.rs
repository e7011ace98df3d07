//! long-fork: no two reads of a group of keys observe its writes in different orders.
//!
//! Clients write each key at most once, and read groups of keys at once: `[[:w 3 1]]`, `[[:r 3 1] [:r 4 nil]]`. Under
//! serializability, and under snapshot isolation, writes happen in one order, and every read returns some prefix of it:
//! of two reads of one group, one **shows** (as other than `nil`) every key that the other shows. If neither does,
//! there is a **long fork**: the reads observed two writes in different orders. Parallel snapshot isolation permits
//! that.
//!
//! Sorted by the number of keys they show, the reads of a group have no fork exactly if each shows all that the one
//! before it shows, because inclusion is transitive. So it is enough to compare neighbours; reads that are equal are
//! one.
//!
//! # Keys that take several values
//!
//! If keys take several values, each written once, a value ends when the next one is written. So in the order of writes
//! the reads that show one value of a key are adjacent, and those that show `nil` come first, with the initial state.
//! If no order of a group's reads has this property, they forked, two of them or more: three reads may be possible in
//! pairs and not together. If there is one, then it is also an order of writes that explains all reads of the group.
//! That is the consecutive-ones property of the sets of reads that show one value, which PQ-trees decide in time almost
//! linear (Booth and Lueker 1976). Two reads alone are impossible if and only if they fork as above, so forks are
//! searched for first; otherwise a smallest set of reads that cannot be ordered is reported, or one all of whose reads
//! are needed if that would take long. Jepsen's authors describe this form and leave it open, for the closed loops in
//! it; `general` enables it.
//!
//! # What is refused
//!
//! The assumptions of the method are verified, and the verdict is unknown if they do not hold: each read is of as many
//! different keys as a group has, each key is written at most once (by invocations, whatever their outcome; by
//! completions in a history that has no invocations), a completion has the writes, or the keys to read, of its
//! invocation, no key has two values in reads, or is read in two groups, and `nil` is never written. With `general`
//! each value is written to a key at most once. Transactions are recognized by their content, not by their `:f`, and
//! those that both read and write cannot be checked.
//!
//! An `ok` read of two keys or more that shows at least one of them is **observed**: without one the verdict is
//! unknown, because nothing could fork.
//!
//! An anomaly found before an op for which a history is rejected remains, if there are invocations: reads that
//! completed before a write was invoked do not depend on it. So two reads that fork are a violation whatever follows.
//! Whether more than two cannot be ordered is determined only at the end.
//!
//! After Jepsen's `jepsen.tests.long-fork`. Time is linear but for the sorting of different reads. Memory: 16 bytes a
//! key of a group, and for each different read of one 40 bytes and 4 a key.

mod explain;
mod forks;
mod order;
mod pq_tree;
mod rows;
mod run;
mod seen;
mod smallest;
#[cfg(test)]
mod tests;

use crate::fold::WorkloadRun;
use history_core::{Checker, OptionError, OptionKind, OptionSpec, Options, Run};
use run::LongForkRun;

/// The long-fork checker, and its options.
///
/// ```
/// use check_jepsen::long_fork::LongFork;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :write, :value [[:w 0 1]]}
///     {:process 1, :type :invoke, :f :write, :value [[:w 1 1]]}
///     {:process 2, :type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]}
///     {:process 2, :type :ok, :f :read, :value [[:r 0 1] [:r 1 nil]]}
///     {:process 3, :type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]}
///     {:process 3, :type :ok, :f :read, :value [[:r 0 nil] [:r 1 1]]}
/// ")?;
/// let report = LongFork::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert!(report.anomalies[0].witnesses[0].explanation.contains("R1 shows 0, but not 1"));
///
/// // Three values that are the same in two reads each: any two reads can be put in order, all three cannot.
/// let history = History::parse("
///     {:process 0, :type :ok, :f :read, :value [[:r 0 1] [:r 1 1] [:r 2 1]]}
///     {:process 0, :type :ok, :f :read, :value [[:r 0 1] [:r 1 2] [:r 2 2]]}
///     {:process 0, :type :ok, :f :read, :value [[:r 0 2] [:r 1 1] [:r 2 2]]}
/// ")?;
/// let report = LongFork { general: true, ..LongFork::default() }.check(&history)?;
/// assert_eq!(report.anomalies[0].witnesses[0].ops.len(), 3);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongFork {
    /// The number of keys in a group; if absent, the number in the first `ok` read. At least 1.
    pub group_size: Option<u32>,
    /// Whether keys may take several values, each of which is written to a key once.
    pub general: bool,
}

const GROUP_SIZE: OptionSpec =
    OptionSpec::new("group-size", OptionKind::Integer, "Number of keys per group, which are read together.")
        .with_value_name("KEYS")
        .with_default("as many as the first read shows");

const GENERAL: OptionSpec = OptionSpec::new(
    "general",
    OptionKind::Flag,
    "Allow several values per key: reads must fit an order in which equal values of a key are adjacent.",
);

impl Checker for LongFork {
    fn name(&self) -> &'static str {
        "long-fork"
    }

    fn summary(&self) -> &'static str {
        "Keys written once and read in groups: no two reads see the writes in different orders."
    }

    fn options(&self) -> &[OptionSpec] {
        &[GROUP_SIZE, GENERAL]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Reads)
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let mut settings = *self;
        settings.general |= options.flag(GENERAL.name);
        if let Some(size) = options.integer(GROUP_SIZE.name)? {
            let size = u32::try_from(size).ok().filter(|size| *size > 0);
            settings.group_size =
                Some(size.ok_or_else(|| {
                    OptionError::new(GROUP_SIZE.name, "a group has at least 1 key, and fewer than 2^32")
                })?);
        }
        Ok(Box::new(WorkloadRun::new(LongForkRun::new(settings))))
    }
}
