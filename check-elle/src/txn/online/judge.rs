//! The interface of a judge, which checks one level event by event. It contains a workload's rules: what each
//! invocation and each completion adds to the version orders and to the graph.

use super::decode::{Mop, Vocabulary};
use super::time::{At, Cycle, Graph};
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::CycleExistsSpec;
use crate::exact::{self, Exact};
use crate::model::Model;
use crate::txn::expected::Expected;
use history_core::Interner;
use history_core::state::Parts;

/// Why a judge stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Violated(Violation),
    /// A value is written to a key a second time, so it is unknown which of the writes a read observed.
    Twice {
        key: i64,
        value: i64,
    },
    /// The writes of a transaction become known too late: it was open for so long that it was given up.
    Late,
}

/// A violation that a judge found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The type of an anomaly that needs no cycle; `None` for a cycle.
    pub(crate) direct: Option<AnomalyType>,
    /// The indices of the invocations of the transactions that are known to take part.
    pub(crate) indices: Vec<u64>,
    /// The earliest op that matters, as far as is known.
    pub(crate) begins: Option<At>,
    /// The key where the violation shows, and an element or a value of this key.
    pub(crate) key: Option<i64>,
    pub(crate) value: Option<i64>,
}

history_core::state!(struct Violation { direct, indices, begins, key, value });
history_core::state!(struct Kept { txns, values, given_up });
history_core::state!(parts Findings {
    keeps_going, goes_on, violations, has_unsaid, awaits, reads_unsaid, passed, is_contradicted, relates_by_reads,
    hides_reads;
    parts: ; same: prohibited
});

impl From<Cycle> for Violation {
    fn from(Cycle { indices, begins }: Cycle) -> Violation {
        Violation { direct: None, indices, begins: Some(begins), key: None, value: None }
    }
}

impl From<Cycle> for Stop {
    fn from(cycle: Cycle) -> Stop {
        Stop::Violated(cycle.into())
    }
}

impl Stop {
    /// An anomaly that needs no cycle.
    pub(crate) fn direct(anomaly: AnomalyType, index: u64, key: i64, value: Option<i64>) -> Stop {
        Stop::Violated(Violation { direct: Some(anomaly), indices: vec![index], begins: None, key: Some(key), value })
    }

    pub(crate) fn at_key(mut self, code: i64) -> Stop {
        if let Stop::Violated(violation) = &mut self {
            violation.key.get_or_insert(code);
        }
        self
    }
}

/// The maximum number of reads of unwritten values that are kept because a later op may write these values. Further
/// ones count only at the end.
const PASSED_MAX: usize = 10_000;

/// Violations after which a judge continued, and which anomalies are violations.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    prohibited: AnomalySet,
    keeps_going: bool,
    /// Whether the judge continued after a violation.
    pub(crate) goes_on: bool,
    /// The violations of the current event.
    violations: Vec<Violation>,
    /// Whether there is an operation whose writes are unknown.
    pub(crate) has_unsaid: bool,
    /// Whether such an operation is in flight, so that its writes may still become known.
    pub(crate) awaits: bool,
    /// Whether some value was read that no operation in flight can still report as its write.
    pub(crate) reads_unsaid: bool,
    /// Reads of values that no invocation had written by then, while such an operation existed; each with the index of
    /// the reader's completion.
    passed: Vec<(u64, Violation)>,
    /// Whether a read contradicts its own transaction at a level where this is not a violation.
    pub(crate) is_contradicted: bool,
    /// Whether a transaction read another transaction's write at a level where this adds no edge.
    pub(crate) relates_by_reads: bool,
    /// Whether a transaction has a read without an edge: it read a register again and observed another transaction's
    /// write.
    pub(crate) hides_reads: bool,
}

impl Findings {
    pub(crate) fn new(prohibited: AnomalySet) -> Findings {
        Findings {
            prohibited,
            keeps_going: false,
            goes_on: false,
            violations: Vec::new(),
            has_unsaid: false,
            awaits: false,
            reads_unsaid: false,
            passed: Vec::new(),
            is_contradicted: false,
            relates_by_reads: false,
            hides_reads: false,
        }
    }

    pub(crate) fn is_prohibited(&self, anomaly: AnomalyType) -> bool {
        self.prohibited.contains(anomaly)
    }

    /// Reports an anomaly that needs no cycle, if the level prohibits it.
    pub(crate) fn direct(&self, anomaly: AnomalyType, index: u64, key: i64, value: Option<i64>) -> Result<(), Stop> {
        if self.is_prohibited(anomaly) { Err(Stop::direct(anomaly, index, key, value)) } else { Ok(()) }
    }

    /// Handles a read of a value that no invocation writes. While some operation's writes are unknown, the read is
    /// kept.
    pub(crate) fn garbage(&mut self, index: u64, key: i64, value: i64) -> Result<(), Stop> {
        let found = self.direct(AnomalyType::GARBAGE_READ, index, key, Some(value));
        match found {
            Err(Stop::Violated(violation)) if self.has_unsaid => {
                if self.passed.len() < PASSED_MAX {
                    self.passed.push((index, violation));
                }
                Ok(())
            }
            found => found,
        }
    }

    /// Removes the reads of this value, because an operation turned out to write it.
    pub(crate) fn said(&mut self, key: i64, value: i64) {
        self.passed.retain(|(_, read)| (read.key, read.value) != (Some(key), Some(value)));
    }

    /// Updates which operations may still have unknown writes. All of them were invoked at or after `invoked`, so
    /// values that were read before it were written by no operation. `awaited` is the invocation of the earliest such
    /// operation that is in flight.
    pub(crate) fn unsaid_since(&mut self, invoked: Option<u64>, awaited: Option<u64>) -> Result<(), Stop> {
        (self.has_unsaid, self.awaits) = (invoked.is_some(), awaited.is_some());
        if self.passed.is_empty() {
            return Ok(());
        }
        let is_known = |(read, _): &(u64, Violation)| invoked.is_none_or(|invoked| *read < invoked);
        let known = self.passed.iter().take_while(|passed| is_known(passed)).count();
        let first = self.passed.drain(..known).next();
        let is_lost = |(read, _): &(u64, Violation)| awaited.is_none_or(|awaited| *read < awaited);
        self.reads_unsaid |= self.passed.first().is_some_and(is_lost);
        self.go_on(first.map_or(Ok(()), |(_, violation)| Err(Stop::Violated(violation))))
    }

    /// Processes what the micro-ops of one transaction show about each other.
    pub(crate) fn within(&mut self, index: u64, inner: Inner) -> Result<(), Stop> {
        self.hides_reads |= inner.hides_reads;
        if let Some(key) = inner.internal {
            self.is_contradicted |= !self.is_prohibited(AnomalyType::INTERNAL);
            let found = self.direct(AnomalyType::INTERNAL, index, key, None);
            self.go_on(found)?;
        }
        if let Some((key, value)) = inner.future_read {
            let found = self.direct(AnomalyType::FUTURE_READ, index, key, Some(value));
            self.go_on(found)?;
        }
        Ok(())
    }

    /// Continues after a violation if this is permitted. The rest of the step that found it adds nothing.
    pub(crate) fn go_on(&mut self, done: Result<(), Stop>) -> Result<(), Stop> {
        match done {
            Err(Stop::Violated(violation)) if self.keeps_going => {
                self.goes_on = true;
                self.violations.push(violation);
                Ok(())
            }
            done => done,
        }
    }
}

/// Contradictions between the micro-ops of one transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inner {
    /// The key of the first read that contradicts its transaction.
    pub(crate) internal: Option<i64>,
    /// The key, and a value that is read before it is written.
    pub(crate) future_read: Option<(i64, i64)>,
    /// Whether a register was read again and returned a value that the transaction neither read first nor wrote.
    pub(crate) hides_reads: bool,
}

/// Options that affect judging, in addition to the levels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether a read may return a value that no transaction wrote.
    pub(crate) garbage_allowed: bool,
    exact: Exact,
}

impl Rules {
    pub(crate) fn of(expected: &Expected) -> Rules {
        Rules { garbage_allowed: expected.garbage_reads_allowed, exact: expected.exact }
    }

    /// The anomalies that a level prohibits: by its definition, or because no commit order allows them, if one is
    /// searched.
    pub(crate) fn prohibited(self, model: Model) -> AnomalySet {
        let mut prohibited = model.prohibited();
        if self.exact != Exact::No && exact::forbids_internal(model) {
            prohibited.insert(AnomalyType::INTERNAL);
        }
        prohibited
    }
}

/// When a transaction's writes become known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// At its invocation.
    First,
    /// At its completion: others may have read the values, or written, since its invocation.
    Late,
    /// At its failure.
    Failed,
}

/// The state after the last clean-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) txns: usize,
    /// The number of values that remained when keys were last dropped.
    pub(crate) values: usize,
    /// Transactions that were given up, by their number in the graph.
    pub(crate) given_up: Vec<u32>,
}

/// A judge of one level.
pub(crate) trait Judge: Parts + Clone + Send {
    /// The checker's name.
    const NAME: &'static str;
    /// The checker's micro-ops.
    const VOCABULARY: Vocabulary;
    /// A word for a value that was read although no operation wrote it, and the verb for writing it.
    const GARBAGE: &'static str;

    /// The assumption that bounds memory at strict serializability, if one is needed.
    const BOUND: Option<&'static str>;

    /// Whether the judge supports levels that a whole history may satisfy although a prefix violates them.
    const TAKES_BACK: bool;

    /// The workload's settings.
    type Settings: Clone + Send;

    /// Replaces values in the settings by their codes.
    fn resolve(_: &mut Self::Settings, _: &mut Interner) {}

    /// Judges a level. If a history `lacks_invocations`, none of its ops has one.
    fn new(level: CycleExistsSpec, settings: &Self::Settings, lacks_invocations: bool) -> Self;

    /// Begins a transaction. Returns the number that represents it until it completes.
    fn invoke(&mut self, at: At, process: Option<i64>, mops: &[Mop]) -> Result<u32, Stop>;

    /// Adds the writes of a transaction that is about to end with the op `index`; its invocation did not contain them.
    fn declare(&mut self, txn: u32, index: u64, mops: &[Mop], said: Said) -> Result<(), Stop>;

    /// Ends a transaction that happened. `codes` contains the values that it read.
    fn complete(&mut self, txn: u32, index: u64, mops: &[Mop], codes: &[i64]) -> Result<(), Stop>;

    /// Ends a transaction that failed.
    fn fail(&mut self, txn: u32) -> Result<(), Stop>;

    /// Ends a transaction that may have happened.
    fn crash(&mut self, txn: u32) -> Result<(), Stop>;

    /// Ends the history.
    fn conclude(&mut self) {}

    /// The findings, and whether the judge continues after a violation.
    fn findings(&mut self) -> &mut Findings;

    /// Returns true if a read contradicts its own transaction at a level where this is not a violation.
    fn is_contradicted(&self) -> bool;

    /// Returns true if a transaction read another transaction's write and no edge represents this.
    fn relates_by_reads(&self) -> bool {
        false
    }

    /// Returns true if a value was read that only an operation whose writes stay unknown can have written.
    fn reads_unsaid(&self) -> bool;

    /// Returns true if some reads have no edges.
    fn hides_reads(&self) -> bool {
        false
    }

    /// Continues after each violation from now on.
    fn keep_going(&mut self) {
        self.findings().keeps_going = true;
        self.graph_mut().keeps_going = true;
    }

    /// Takes the violations after which the judge continued.
    fn take_violations(&mut self) -> Vec<Violation> {
        let cycles = std::mem::take(&mut self.graph_mut().cycles);
        let mut violations = std::mem::take(&mut self.findings().violations);
        violations.extend(cycles.into_iter().map(Violation::from));
        violations
    }

    fn graph(&self) -> &Graph;

    fn graph_mut(&mut self) -> &mut Graph;

    /// Returns true if the judge discards transactions that no later event can make part of a violation: memory is
    /// bounded.
    fn forgets(&self) -> bool;

    /// Discards all transactions and versions that can be discarded now.
    fn forget(&mut self);

    /// Drops keys that were last named before the op `op`, the longest unnamed first, until at most `values` values
    /// remain.
    fn drop_keys(&mut self, op: u64, values: usize);

    /// The state after the last clean-up.
    fn kept(&mut self) -> &mut Kept;

    /// The number of keys in memory.
    fn keys(&self) -> usize;

    /// The number of values of all keys in memory.
    fn values(&self) -> usize;

    /// The number of keys that were named again after they were dropped.
    fn renamed(&self) -> u64;

    /// Returns true if some `ok` transaction read a key that some transaction writes: evidence for `true`.
    fn has_read(&self) -> bool;

    /// The code of a key, and a value of this key that was read although no invocation writes it.
    fn garbage(&self) -> Option<(i64, i64)>;

    /// Returns a judge that continues from this state and chooses a version order where this one cannot infer any.
    /// Returns one at most once, and only when it is needed.
    fn fork(&mut self) -> Option<Self> {
        None
    }

    /// Checks, if the judge chooses orders, whether the orders not chosen yet can still be chosen.
    fn settle(&mut self) {}

    /// The number of choices so far.
    fn chosen(&self) -> u64 {
        0
    }

    /// Reverses these choices, each identified by the number of choices before it.
    fn turn(&mut self, _: &[u64]) {}

    /// A key whose version order is unknown, if the level is not known to hold without it.
    fn unordered_key(&self) -> Option<i64>;

    /// Such a key whose order no later event can reveal. O(1).
    fn lost_key(&self) -> Option<i64> {
        None
    }
}
