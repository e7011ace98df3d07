//! The interface of a judge, which checks a level event by event: a workload's rules of what each invocation and each
//! completion adds to its version orders and to the graph.

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

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// A type of anomaly that is found without cycles; a cycle else.
    pub(crate) direct: Option<AnomalyType>,
    /// Invocations, by index, of the transactions that are known to take part.
    pub(crate) indices: Vec<u64>,
    /// The earliest op that matters, as far as is known.
    pub(crate) begins: Option<At>,
    /// The key where it shows, and an element or a value of it.
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

/// Reads that may turn out to be of what was written, at the most. What is beyond them counts at the end.
const PASSED_MAX: usize = 10_000;

/// Violations after which a judge went on, where it may; and which anomalies are violations.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    prohibited: AnomalySet,
    keeps_going: bool,
    /// Whether it went on after one.
    pub(crate) goes_on: bool,
    /// Those of the event that is being judged.
    violations: Vec<Violation>,
    /// Whether there is an operation that may have written anything.
    pub(crate) has_unsaid: bool,
    /// Whether one of these is in flight, and may say it yet.
    pub(crate) awaits: bool,
    /// Whether none that is in flight may say that it wrote some value that was read.
    pub(crate) reads_unsaid: bool,
    /// First reads of what nobody wrote by then, while there was such an operation; by the op that completed.
    passed: Vec<(u64, Violation)>,
    /// Whether a read contradicts its transaction, where that is no violation.
    pub(crate) is_contradicted: bool,
    /// Whether a transaction read what another one wrote, where that is no edge.
    pub(crate) relates_by_reads: bool,
    /// Whether a transaction read what has no edge: what it read of a register again, and what others wrote.
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

    /// An anomaly that needs no cycle was found.
    pub(crate) fn direct(&self, anomaly: AnomalyType, index: u64, key: i64, value: Option<i64>) -> Result<(), Stop> {
        if self.is_prohibited(anomaly) { Err(Stop::direct(anomaly, index, key, value)) } else { Ok(()) }
    }

    /// A read showed what nobody was invoked to write, although all that completed before is known.
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

    /// What was read turns out to be written.
    pub(crate) fn said(&mut self, key: i64, value: i64) {
        self.passed.retain(|(_, read)| (read.key, read.value) != (Some(key), Some(value)));
    }

    /// Only operations that were invoked from this op on may have written what they do not say, or none: nobody wrote
    /// what was read before it. `awaited` is when the first one was invoked that is in flight.
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

    /// What the micro-ops of a transaction say of each other.
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

    /// Goes on after a violation if it may: what was left of the step that found it adds nothing.
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

/// What the micro-ops of one transaction say of each other that cannot be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inner {
    /// The key of the first read that contradicts its transaction.
    pub(crate) internal: Option<i64>,
    /// The key, and a value that is read before it is written.
    pub(crate) future_read: Option<(i64, i64)>,
    /// Whether a register was read again, and showed what the transaction neither read first nor wrote.
    pub(crate) hides_reads: bool,
}

/// What is asked for beside levels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether a read may show what nobody wrote.
    pub(crate) garbage_allowed: bool,
    exact: Exact,
}

impl Rules {
    pub(crate) fn of(expected: &Expected) -> Rules {
        Rules { garbage_allowed: expected.garbage_reads_allowed, exact: expected.exact }
    }

    /// What a level forbids: by name; or because no commit order has it, where one is looked for.
    pub(crate) fn prohibited(self, model: Model) -> AnomalySet {
        let mut prohibited = model.prohibited();
        if self.exact != Exact::No && exact::forbids_internal(model) {
            prohibited.insert(AnomalyType::INTERNAL);
        }
        prohibited
    }
}

/// When it is said what a transaction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// When it is invoked.
    First,
    /// When it ends: others may have read it, and written, since it was invoked.
    Late,
    /// When it fails.
    Failed,
}

/// What the last clean-up kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) txns: usize,
    /// Values that were left when keys were dropped last.
    pub(crate) values: usize,
    /// Transactions that were given up, by their numbers in the graph.
    pub(crate) given_up: Vec<u32>,
}

/// A judge of one level.
pub(crate) trait Judge: Parts + Clone + Send {
    /// The checker's name.
    const NAME: &'static str;
    /// Its micro-ops.
    const VOCABULARY: Vocabulary;
    /// How a value that was read from somewhere is called, and what it was never done with.
    const GARBAGE: &'static str;

    /// What bounds memory at strict serializability, if that needs something.
    const BOUND: Option<&'static str>;

    /// Whether it judges levels at which what a beginning of a history violates, the whole may obey.
    const TAKES_BACK: bool;

    /// What a workload needs to know about a history.
    type Settings: Clone + Send;

    /// Gives values among the settings their codes.
    fn resolve(_: &mut Self::Settings, _: &mut Interner) {}

    /// Judges a level. If a history `lacks_invocations`, none of its ops has one.
    fn new(level: CycleExistsSpec, settings: &Self::Settings, lacks_invocations: bool) -> Self;

    /// A transaction is invoked. The number that represents it until it completes.
    fn invoke(&mut self, at: At, process: Option<i64>, mops: &[Mop]) -> Result<u32, Stop>;

    /// What a transaction wrote that is about to end, by an op of this index; its invocation did not say so.
    fn declare(&mut self, txn: u32, index: u64, mops: &[Mop], said: Said) -> Result<(), Stop>;

    /// A transaction happened. `codes` has what it read.
    fn complete(&mut self, txn: u32, index: u64, mops: &[Mop], codes: &[i64]) -> Result<(), Stop>;

    /// A transaction failed.
    fn fail(&mut self, txn: u32) -> Result<(), Stop>;

    /// Whether a transaction happened is unknown.
    fn crash(&mut self, txn: u32) -> Result<(), Stop>;

    /// No later event comes.
    fn conclude(&mut self) {}

    /// What it found, and whether it goes on.
    fn findings(&mut self) -> &mut Findings;

    /// Whether a read contradicts its transaction, where that is no violation.
    fn is_contradicted(&self) -> bool;

    /// Whether a transaction read what another one wrote, where no edge says so.
    fn relates_by_reads(&self) -> bool {
        false
    }

    /// Whether a value was read that only an operation which never said so may have written.
    fn reads_unsaid(&self) -> bool;

    /// Whether some reads have no edges.
    fn hides_reads(&self) -> bool {
        false
    }

    /// Goes on after each violation from now on.
    fn keep_going(&mut self) {
        self.findings().keeps_going = true;
        self.graph_mut().keeps_going = true;
    }

    /// Takes the violations after which it went on.
    fn take_violations(&mut self) -> Vec<Violation> {
        let cycles = std::mem::take(&mut self.graph_mut().cycles);
        let mut violations = std::mem::take(&mut self.findings().violations);
        violations.extend(cycles.into_iter().map(Violation::from));
        violations
    }

    fn graph(&self) -> &Graph;

    fn graph_mut(&mut self) -> &mut Graph;

    /// Whether it forgets what no later event can make part of a violation, so that memory has a bound.
    fn forgets(&self) -> bool;

    /// Forgets what can be forgotten now.
    fn forget(&mut self);

    /// Drops keys that were named before an op and not since, that for longest first, until so many values are left.
    fn drop_keys(&mut self, op: u64, values: usize);

    /// What is kept, and what was when it was last looked at.
    fn kept(&mut self) -> &mut Kept;

    /// Keys that are there.
    fn keys(&self) -> usize;

    /// Values that are kept of all keys.
    fn values(&self) -> usize;

    /// Keys that were named again after they were dropped.
    fn renamed(&self) -> u64;

    /// Whether some `ok` transaction read a key that some transaction writes: evidence for `true`.
    fn has_read(&self) -> bool;

    /// The code of a key, and a value of it that was read and that no invocation writes.
    fn garbage(&self) -> Option<(i64, i64)>;

    /// A judge that goes on from here, and chooses an order of versions where this one cannot know any; once, and only
    /// if it needs one from now on.
    fn fork(&mut self) -> Option<Self> {
        None
    }

    /// Looks, if it chooses, whether what it has not chosen yet can still be chosen.
    fn settle(&mut self) {}

    /// How often it chose.
    fn chosen(&self) -> u64 {
        0
    }

    /// Makes these choices, by how many it made before, the other way round.
    fn turn(&mut self, _: &[u64]) {}

    /// A key of which the order of versions is not known, where a level is not known to hold without it.
    fn unordered_key(&self) -> Option<i64>;

    /// Such a key of which no later event can show the order. O(1).
    fn lost_key(&self) -> Option<i64> {
        None
    }
}
