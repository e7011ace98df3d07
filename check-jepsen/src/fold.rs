//! The fold that all workloads share: it passes the clients' ops to the workload. An op that cannot be read prevents a
//! valid verdict.

mod held;

use crate::elements::ElemId;
use crate::witness;
use held::{Held, Next};
use history_core::cast::Cast as _;
use history_core::{
    Budget, Coverage, Expected, FunctionsInFlight, HistoryError, NAMELESS, NextStep, Op, OpFault, OpKind, OpUse, Pair,
    Participants, Report, Run, Seq, UndecodedOps, UnreadKeys, Value, Verdict,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// How one workload processes ops.
pub(crate) trait Workload: Clone + Send {
    /// The content that the history should have.
    const EXPECTED: Expected;

    /// Whether all ops are about one object, so that they should have the same `key` field.
    const IS_OF_ONE_OBJECT: bool = true;

    /// Whether a valid verdict rests on how each operation ended and when it began. This is unknown of an invocation
    /// without a process.
    const NEEDS_PROCESSES: bool = true;

    /// Whether [`OpFault::Blocking`] of an invocation changes nothing in the workload: if the operation fails, the
    /// following ops can still be processed.
    const HOLDS: bool = false;

    /// The function that adds an element or an amount, if its `ok` completion may have the value that the invocation
    /// lacks. If neither has it, the fold notes the op, unless it failed, and calls [`Workload::doubt`].
    const ADDS: Option<&'static str> = None;

    /// Processes the next op of a client, and returns how it was used.
    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault>;

    /// Processes the next op of another process, such as a nemesis.
    fn take_other(&mut self, op: &Op<'_>) {
        let _ = op;
    }

    /// An op of the function [`Workload::ADDS`] may have happened, and what it added is unknown. Called before the
    /// report, at most once.
    fn doubt(&mut self) {}

    /// Returns true if the history is invalid whatever follows. O(1). Once true it remains true, and the report is
    /// invalid, whether or not this was the whole history.
    fn is_violated(&self) -> bool {
        false
    }

    /// The end of the history. If not the whole history was processed, because more may follow or because of
    /// [`OpFault::Blocking`], the report may contain only what remains true whatever follows.
    fn report(self, whole: bool) -> Report;
}

/// The use of an op that the workload understands.
#[inline]
pub(crate) fn observed_if(observed: bool) -> OpUse {
    if observed { OpUse::Observed } else { OpUse::Understood }
}

/// The fault of an op in a history without invocations, or whose client has no name: its beginning or its end is
/// unknown.
#[cold]
pub(crate) fn unpaired() -> OpFault {
    OpFault::Blocking("the op has no invocation or completion, so which ops overlap it is unknown".into())
}

/// Why an add without a value cannot be decoded.
const UNRECORDED: &str = "neither the invocation nor an ok completion has a value, so what it added is unknown";

/// The elements of a value that is a collection: a vector, a list or a set.
#[inline]
pub(crate) fn collection(value: Value<'_>) -> Result<Seq<'_>, String> {
    match value {
        Value::Vector(seq) | Value::List(seq) | Value::Set(seq) => Ok(seq),
        other => Err(format!("expected a collection of elements as the read's value, found {}", other.kind())),
    }
}

/// Whether all values added or enqueued so far may be pairs of a key and an element.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pairs {
    some: bool,
    others: bool,
}

impl Pairs {
    /// Processes an addition. Its completion may lack the value, or contain the reason for a failure instead.
    pub(crate) fn note(&mut self, op: &Op<'_>) {
        if op.value.is_nil() || matches!(op.kind, OpKind::Fail | OpKind::Info) {
            return;
        }
        let is_pair = op.value.as_pair().is_some();
        self.some |= is_pair;
        self.others |= !is_pair;
    }

    /// The parts of `[key collection]`, the form of a read of a key, if it may be one.
    pub(crate) fn keyed(self, read: Value<'_>) -> Option<[Value<'_>; 2]> {
        keyed_pair(read).filter(|_| self.some && !self.others)
    }
}

/// `[key collection]`, the form in tests with several keys.
pub(crate) fn keyed_pair(value: Value<'_>) -> Option<[Value<'_>; 2]> {
    let (key, values) = value.as_pair()?;
    matches!(values, Value::Vector(_) | Value::List(_) | Value::Set(_)).then_some([key, values])
}

/// The reason why such an op has no meaning for a single set or queue.
pub(crate) fn keyed(what: &str) -> String {
    format!("the {what} is a pair of a key and a collection: check each key separately with --keyed")
}

/// The element of a completion: the id of its value, or the element of its invocation if it has no value.
#[inline]
pub(crate) fn completed_element(
    value: Value<'_>,
    invoked: Option<ElemId>,
    id: impl FnOnce(Value<'_>) -> Result<ElemId, OpFault>,
) -> Result<ElemId, OpFault> {
    if value.is_nil() {
        let nothing = || OpFault::Blocking("neither the op nor its invocation has a value".into());
        return invoked.ok_or_else(nothing);
    }
    let said = id(value)?;
    if invoked.is_some_and(|invoked| invoked != said) {
        return Err(OpFault::Blocking("the completion's value differs from its invocation's".into()));
    }
    Ok(said)
}

/// The note on elements that no op is known to have added, or not so often, beside an op that may have added any.
pub(crate) fn wrong_unless(count: u64, name: &str, set: &str) -> String {
    format!("{count} {name}, unless an op without a value added them: {set}.")
}

/// The element of an add in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    Element(ElemId),
    /// The invocation has no value. The `ok` completion may have it.
    Unrecorded,
}

impl Added {
    /// The element, if the invocation records it.
    pub(crate) fn element(self) -> Option<ElemId> {
        match self {
            Added::Element(id) => Some(id),
            Added::Unrecorded => None,
        }
    }
}

/// The part of the report that all histories have.
#[derive(Debug, Default)]
struct Tally {
    clients: u64,
    /// Whether the completion of some invocation is unknown, because it has no process.
    is_nameless: bool,
    participants: Participants,
    coverage: Coverage,
    undecoded: UndecodedOps,
    /// Undecoded invocations in flight, by index: if they fail, they did not happen.
    unread: BTreeMap<u64, UndecodedOps>,
    /// Undecoded ops that failed, and their number.
    ignored: UndecodedOps,
    ignored_ops: u64,
    /// Whether an op may have happened that does not say what it added.
    in_doubt: bool,
    keys: UnreadKeys,
}

/// A run of a workload on one history.
pub(crate) struct WorkloadRun<W> {
    workload: W,
    functions: FunctionsInFlight,
    tally: Tally,
    held: Held,
}

impl<W: Workload> WorkloadRun<W> {
    pub(crate) fn new(workload: W) -> WorkloadRun<W> {
        WorkloadRun {
            workload,
            functions: FunctionsInFlight::default(),
            tally: Tally::default(),
            held: Held::default(),
        }
    }
}

impl Tally {
    /// Records an op that cannot be decoded. An operation in flight may still fail.
    #[cold]
    fn note(&mut self, op: &Op<'_>, reason: &str, stops: bool) {
        self.coverage.count(op, OpUse::PassedOver);
        if let Pair::Invokes { .. } = op.pair
            && !stops
        {
            self.unread.insert(op.index, fault(op, reason, stops));
        } else {
            self.undecoded.push(op, reason, stops);
        }
    }

    /// Records failed ops that cannot be decoded.
    #[cold]
    fn ignore(&mut self, those: UndecodedOps, ops: u64) {
        self.ignored_ops += ops;
        self.ignored.extend([those]);
    }

    /// Records the invocation of an add without a value. Its completion may have the value.
    #[cold]
    fn await_value(&mut self, op: &Op<'_>) {
        let those = fault(op, UNRECORDED, false);
        if let Pair::Invokes { .. } = op.pair {
            self.unread.insert(op.index, those);
        } else {
            self.undecoded.extend([those]);
            self.in_doubt = true;
        }
    }

    /// Ends an operation whose invocation could not be decoded, if this op completes one. Returns true if the operation
    /// failed. `adds`: the function whose `ok` completion may have the value.
    #[cold]
    fn end(&mut self, op: &Op<'_>, adds: Option<&str>) -> bool {
        let Pair::Completes { invoked, .. } = op.pair else { return false };
        let Some(those) = self.unread.remove(&invoked) else { return false };
        if op.kind != OpKind::Fail {
            let has_value = adds.is_some() && op.f == adds && op.kind == OpKind::Ok && !op.value.is_nil();
            if !has_value {
                self.undecoded.extend([those]);
                self.in_doubt = true;
            }
            return false;
        }
        self.ignore(those, 2);
        true
    }

    /// Adds the tally to the workload's report.
    fn complete(&self, mut report: Report, coverage: impl FnOnce(&Coverage, &mut Report)) -> Report {
        self.undecoded.conclude(&mut report);
        if self.ignored_ops == self.clients && report.verdict != Verdict::Invalid {
            // All ops belong to something else.
            self.ignored.conclude(&mut report);
        }
        self.keys.conclude(&mut report);
        report.notes.extend(self.participants.note());
        if self.participants.has_names() {
            witness::name_clients(&mut report, &self.participants);
        }
        report.counts.push(("client-op-count".into(), self.clients));
        report.counts.push(("nonclient-op-count".into(), self.participants.others()));
        coverage(&self.coverage, &mut report);
        if self.is_nameless && report.verdict == Verdict::Valid {
            let (note, what) = NAMELESS;
            report.verdict = Verdict::Unknown;
            report.notes.insert(0, note.to_owned());
            report.add_next(NextStep::new(what));
        }
        report
    }
}

impl<W: Workload> Run for WorkloadRun<W> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.tally.participants.see(op) {
            self.workload.take_other(op);
            return Ok(ControlFlow::Continue(()));
        }
        self.tally.clients += 1;
        if W::IS_OF_ONE_OBJECT {
            self.tally.keys.see(op);
        }
        if self.tally.undecoded.has_stopped() {
            return Ok(ControlFlow::Break(()));
        }
        if self.held.is_waiting() {
            self.held.push(op)?;
            return self.go_on();
        }
        self.look(op)
    }

    fn is_violated(&self) -> bool {
        self.workload.is_violated()
    }

    fn violation(&self) -> Option<Report> {
        self.is_violated().then(|| self.tally.complete(self.workload.clone().report(false), Coverage::add_counts))
    }

    fn finish_early(self: Box<Self>, _budget: &Budget) -> Result<Report, HistoryError> {
        Ok(self.conclude(false))
    }

    fn finish(self: Box<Self>, _budget: &Budget) -> Result<Report, HistoryError> {
        Ok(self.conclude(true))
    }
}

impl<W: Workload> WorkloadRun<W> {
    /// Processes the next op.
    fn look(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        let understood = self.functions.see(op).map_err(OpFault::Blocking);
        let taken = understood.and_then(|()| self.workload.take(op));
        let is_ignored = !self.tally.unread.is_empty() && self.tally.end(op, W::ADDS);
        match taken {
            Err(OpFault::Error(error)) => return Err(error),
            _ if is_ignored => self.tally.coverage.count(op, OpUse::PassedOver),
            Ok(op_use) => {
                self.tally.coverage.count(op, op_use);
                let is_nameless = op.kind == OpKind::Invoke && op.pair == Pair::Alone && op_use != OpUse::PassedOver;
                self.tally.is_nameless |= W::NEEDS_PROCESSES && is_nameless;
                if op.kind == OpKind::Invoke && W::ADDS.is_some() && op.f == W::ADDS && op.value.is_nil() {
                    self.tally.await_value(op);
                }
            }
            Err(OpFault::Undecodable(reason)) if op.kind == OpKind::Fail => self.ignore(op, &reason),
            Err(OpFault::Blocking(reason)) if W::HOLDS && is_failed(op) => self.ignore(op, &reason),
            Err(OpFault::Blocking(reason)) if W::HOLDS && matches!(op.pair, Pair::Invokes { .. }) => {
                self.tally.coverage.count(op, OpUse::PassedOver);
                self.held.wait_for(op.index, fault(op, &reason, true));
            }
            Err(OpFault::Undecodable(reason)) => self.tally.note(op, &reason, false),
            Err(OpFault::Blocking(reason)) => {
                self.tally.note(op, &reason, true);
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Records a failed op: it had no effect.
    #[cold]
    fn ignore(&mut self, op: &Op<'_>, reason: &str) {
        self.tally.coverage.count(op, OpUse::PassedOver);
        self.tally.ignore(fault(op, reason, false), 1);
    }

    /// Processes the held ops as far as possible.
    #[cold]
    fn go_on(&mut self) -> Result<ControlFlow<()>, HistoryError> {
        loop {
            match self.held.next() {
                Next::Nothing => return Ok(ControlFlow::Continue(())),
                Next::Failed(index, those) => _ = self.tally.unread.insert(index, those),
                Next::Stops(those) => {
                    self.tally.undecoded.extend([those]);
                    return Ok(ControlFlow::Break(()));
                }
                Next::Look(held) => {
                    if self.look(&held.op())?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
    }

    fn conclude(mut self, is_over: bool) -> Report {
        // Operations without a completion may have happened.
        let unread = std::mem::take(&mut self.tally.unread);
        self.tally.in_doubt |= !unread.is_empty();
        self.tally.undecoded.extend(unread.into_values());
        self.tally.undecoded.extend(self.held.finish());
        let WorkloadRun { mut workload, tally, .. } = self;
        if W::ADDS.is_some() && tally.in_doubt {
            workload.doubt();
        }
        let whole = is_over && !tally.undecoded.has_stopped();
        // Ops after one that stopped the checker were not counted.
        let has_stopped = tally.undecoded.has_stopped();
        tally.complete(workload.report(whole), |coverage, report| {
            if !has_stopped {
                return coverage.conclude(&W::EXPECTED, report);
            }
            if report.verdict != Verdict::Unknown {
                report.next.clear();
            }
            coverage.add_counts(report);
        })
    }
}

/// The fault of an op that cannot be decoded.
#[cold]
fn fault(op: &Op<'_>, reason: &str, stops: bool) -> UndecodedOps {
    let mut those = UndecodedOps::default();
    those.push(op, reason, stops);
    those
}

/// Returns true if an op shows that an operation did not happen.
fn is_failed(op: &Op<'_>) -> bool {
    op.kind == OpKind::Fail && matches!(op.pair, Pair::Completes { .. })
}

/// Data of a workload about operations in flight: by slot, with the index of the invocation.
#[derive(Clone, Debug)]
pub(crate) struct InFlight<T>(Vec<Option<(u64, T)>>);

impl<T> Default for InFlight<T> {
    fn default() -> InFlight<T> {
        InFlight(Vec::new())
    }
}

impl<T> InFlight<T> {
    /// Stores data about an invocation, while it is in flight.
    #[inline]
    pub(crate) fn put(&mut self, op: &Op<'_>, what: T) {
        if let Pair::Invokes { slot } = op.pair {
            let slot = slot.to_usize();
            if slot >= self.0.len() {
                self.0.resize_with(slot + 1, || None);
            }
            self.0[slot] = Some((op.index, what));
        }
    }

    /// The data stored for a completion's invocation, if any. Data of another one, which completed as an op that the
    /// workload ignores, is dropped.
    #[inline]
    pub(crate) fn take(&mut self, pair: Pair) -> Option<T> {
        let Pair::Completes { slot, invoked, .. } = pair else { return None };
        let (index, what) = self.0.get_mut(slot.to_usize())?.take()?;
        (index == invoked).then_some(what)
    }

    /// The data of ops still in flight.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten().map(|(_, what)| what)
    }
}
