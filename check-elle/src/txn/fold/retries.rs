//! Values that a failed transaction wrote, and that a later one wrote again, as in a retry.
//!
//! A transaction that failed did not happen, so such a value has one writer: an explanation that attributes each read
//! of the value to the later write explains the history. If there is no such explanation, either the history is
//! violated, or some read shows the failed write, which is a G1a. So where G1a is prohibited, the history is violated
//! in any case, and the levels that it is known to violate are those that G1a violates as well.
//!
//! Where G1a is not prohibited, the write counts as one of two with the same value. So it does if a read showed the
//! value before the later transaction was invoked (or completed, if its invocation is unknown): such a read is a G1a
//! for an observer, but levels without real time would not rule it out.

use crate::anomaly::AnomalyType;
use crate::ids::TxnId;
use crate::lattice;
use crate::model::ModelSet;
use crate::txn::Txns;
use crate::txn::expected::Expected;
use history_core::{Report, Verdict};

/// A write of a value that only a failed transaction wrote before. `V` identifies a value of a key.
#[derive(Clone, Debug)]
pub(crate) struct Retry<V> {
    pub(crate) failed: TxnId,
    /// What the later transaction wrote, and what reads of the value show.
    pub(crate) shared: V,
    /// What the failed transaction wrote: a value of its own, which no read shows.
    pub(crate) own: V,
}

/// Retries of which it is unknown whether a read shows the failed write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubted {
    /// The first value, with its key.
    pub(crate) value: String,
    pub(crate) key: String,
    /// The indices of the failed op and of the later one.
    pub(crate) ops: [u64; 2],
    /// How many there are.
    pub(crate) count: usize,
}

/// An op that writes values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// True for a completion.
    pub(crate) completes: bool,
    /// True for a completion without an invocation.
    pub(crate) is_alone: bool,
    /// Whether the op may write a value again that a failed transaction wrote, if no read has shown the value yet.
    pub(crate) may_retry: bool,
}

/// Returns true if reads of a value may be attributed to its later write.
pub(crate) fn are_trusted(expected: &Expected) -> bool {
    let models = expected.models.iter().copied().collect();
    lattice::prohibited(models, expected.anomalies).contains(AnomalyType::G1A)
}

impl Doubted {
    /// Returns what is doubted, if anything. `is_doubtful` returns true if a read shows a value, and a transaction that
    /// may have happened wrote it; `names` returns the names of its key and of itself, and its writer.
    pub(crate) fn of<V: Copy, M: Copy>(
        retries: &[Retry<V>],
        txns: &Txns<M>,
        is_doubtful: impl Fn(V) -> bool,
        names: impl Fn(V) -> (String, String, TxnId),
    ) -> Option<Doubted> {
        let mut doubtful = retries.iter().filter(|retry| is_doubtful(retry.shared));
        let first = doubtful.next()?;
        let (key, value, writer) = names(first.shared);
        let ops = [txns.index(first.failed), txns.index(writer)];
        Some(Doubted { value, key, ops, count: 1 + doubtful.count() })
    }

    /// The levels that a violated history is known to violate.
    pub(crate) fn certain() -> ModelSet {
        lattice::rules_out(AnomalyType::G1A.into())
    }

    /// Adds what the report rests on.
    pub(crate) fn conclude(&self, report: &mut Report) {
        report.is_partial |= report.verdict == Verdict::Invalid;
        let Doubted { value, key, ops: [failed, later], count } = self;
        let others = match count - 1 {
            0 => String::new(),
            1 => " There is one more such value.".to_owned(),
            n => format!(" There are {n} more such values."),
        };
        report.notes.push(format!(
            "A transaction that failed (index {failed}) wrote {value} to key {key}, and a later one (index {later}) \
             wrote it again.{others} Reads are attributed to the later write. If one shows the failed write instead, \
             that is a G1a."
        ));
    }
}
