//! queue: every removed element was inserted before.
//!
//! Every `ok` dequeue returns an element that was enqueued before it and not yet dequeued. An enqueue counts from its
//! invocation on, whatever its outcome, because it may take effect long before it completes; an element that is
//! enqueued twice may be dequeued twice. The order of dequeues is not checked. Wrong dequeues are of two kinds:
//!
//! - `unexpected`: no earlier op had tried to enqueue this.
//! - `duplicated`: it was enqueued, but has already been dequeued as often.
//!
//! An enqueue without a value inserts the element of its `ok` completion. If that has no value either, or the outcome
//! is unknown, it may have inserted any element: later dequeues are not certainly wrong, and the history is not valid.
//!
//! An `ok` dequeue of something other than nil is **observed**: without one the verdict is unknown.
//!
//! A wrong dequeue removes nothing, so it makes no later dequeue wrong. After Jepsen's `checker/queue` with an
//! unordered queue, which stops at the first wrong one. Time is linear; memory: 12 bytes per element, plus the element.

use crate::elements::{ElemId, Elements};
use crate::fold::{self, Added, InFlight, Workload, WorkloadRun};
use crate::intervals::{NOTE_RUNS_MAX, interval_set};
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::cast::Cast as _;
use history_core::{
    Checker, Datum, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Pair, Report, Run, Verdict,
    Witness,
};
use std::collections::BTreeSet;

/// The queue checker. It has no options.
///
/// ```
/// use check_jepsen::queue::Queue;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :enqueue, :value 1}
///     {:process 1, :type :invoke, :f :dequeue} {:process 1, :type :ok, :f :dequeue, :value 1}
///     {:process 1, :type :invoke, :f :dequeue} {:process 1, :type :ok, :f :dequeue, :value 1}
/// ")?;
/// let report = Queue::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["duplicated"]);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Queue {}

impl Checker for Queue {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn summary(&self) -> &'static str {
        "A queue: no element is dequeued before it is enqueued, or more often."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Values)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(QueueRun::default())))
    }
}

/// The maximum number of times an element was inserted, and the number of times it was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Balance {
    put: u32,
    /// At most `put`.
    taken: u32,
    /// The number of wrong dequeues.
    wrong: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Bad {
    op: OpRef,
    id: ElemId,
    before: Balance,
}

#[derive(Clone, Debug, Default)]
struct QueueRun {
    elements: Elements,
    balances: Vec<Balance>,
    invocations: bool,
    /// Enqueues in flight.
    enqueues: InFlight<Added>,
    /// Enqueues in flight whose element is unknown so far, by the index of the invocation.
    awaited: BTreeSet<u64>,
    /// The first invocation of an enqueue that may have happened and whose element no op records.
    unrecorded: Option<u64>,
    /// Dequeues that are wrong unless an enqueue whose element is unknown so far explains them, in order: the first
    /// [`DOUBTFUL_MAX`].
    doubtful: Vec<Bad>,
    /// The number of further ones, which remain doubtful.
    more_doubtful: u64,
    attempts: u64,
    dequeues: u64,
    unexpected: Extremes<(), Bad>,
    duplicated: Extremes<u32, Bad>,
}

impl QueueRun {
    fn dequeue(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        if op.pair == Pair::Alone && !self.invocations {
            return Err(fold::unpaired());
        }
        self.dequeues += 1;
        let id = self.elements.id(op.value)?;
        self.balances.resize(self.elements.len(), Balance::default());
        let balance = &mut self.balances[id.at()];
        let before = *balance;
        if before.put == 0 && op.value.is_nil() {
            let reason = "an ok dequeue has no value; a dequeue of an empty queue should fail";
            return Err(OpFault::Undecodable(reason.into()));
        }
        if balance.taken < balance.put {
            balance.taken += 1;
            return Ok(());
        }
        let bad = Bad { op: OpRef::of(op), id, before };
        let is_doubtful = !self.awaited.is_empty() || self.unrecorded.is_some();
        let is_full = is_doubtful && self.doubtful.len() == DOUBTFUL_MAX;
        if is_full && self.unrecorded.is_none() {
            return Err(OpFault::Undecodable("enqueues without a value may explain too many dequeues".into()));
        }
        balance.wrong = balance.wrong.checked_add(1).ok_or_else(too_often)?;
        if is_full {
            self.more_doubtful += 1;
        } else if is_doubtful {
            self.doubtful.push(bad);
        } else {
            self.push(bad);
        }
        Ok(())
    }

    /// Adds a wrong dequeue.
    fn push(&mut self, bad: Bad) {
        if bad.before.put == 0 {
            self.unexpected.push_equal(bad);
        } else {
            self.duplicated.push(bad.before.wrong, bad);
        }
    }

    fn enqueue(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        self.attempts += 1;
        if op.value.is_nil() {
            self.enqueues.put(op, Added::Unrecorded);
            if let Pair::Invokes { .. } = op.pair {
                self.awaited.insert(op.index);
            } else {
                self.unrecorded.get_or_insert(op.index);
            }
            return Ok(());
        }
        let id = self.elements.id(op.value)?;
        self.balances.resize(self.elements.len(), Balance::default());
        let balance = &mut self.balances[id.at()];
        balance.put = balance.put.checked_add(1).ok_or_else(too_often)?;
        self.enqueues.put(op, Added::Element(id));
        Ok(())
    }

    fn enqueued(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        let added = self.enqueues.take(op.pair);
        if added == Some(Added::Unrecorded)
            && let Pair::Completes { invoked, .. } = op.pair
        {
            return self.end_unrecorded(op, invoked);
        }
        // Without invocations it is unknown when the enqueue began.
        if op.pair == Pair::Alone && !self.invocations {
            return Err(fold::unpaired());
        }
        if op.kind != OpKind::Ok {
            return Ok(());
        }
        let id = fold::completed_element(op.value, added.and_then(Added::element), |value| self.elements.id(value))?;
        self.balances.resize(self.elements.len(), Balance::default());
        // The enqueue may have begun at any time.
        if self.balances[id.at()].put == 0 { Err(fold::unpaired()) } else { Ok(()) }
    }

    /// Ends an enqueue whose invocation has no value.
    #[cold]
    fn end_unrecorded(&mut self, op: &Op<'_>, invoked: u64) -> Result<(), OpFault> {
        self.awaited.remove(&invoked);
        match op.kind {
            OpKind::Fail => {}
            OpKind::Ok if !op.value.is_nil() => self.put_late(op, invoked)?,
            _ => self.unrecorded = Some(self.unrecorded.map_or(invoked, |first| first.min(invoked))),
        }
        // No enqueue whose element is unknown began before these dequeues.
        let unknown = self.awaited.first().into_iter().chain(&self.unrecorded);
        let open = unknown.min().copied().unwrap_or(u64::MAX);
        let certain = self.doubtful.partition_point(|bad| bad.op.index < open);
        for bad in self.doubtful.drain(..certain).collect::<Vec<_>>() {
            self.push(bad);
        }
        Ok(())
    }

    /// Inserts the element of an enqueue that was invoked earlier: it explains the first doubtful dequeue since then.
    fn put_late(&mut self, op: &Op<'_>, invoked: u64) -> Result<(), OpFault> {
        let id = self.elements.id(op.value)?;
        self.balances.resize(self.elements.len(), Balance::default());
        let balance = &mut self.balances[id.at()];
        balance.put = balance.put.checked_add(1).ok_or_else(too_often)?;
        let mut explained = None;
        for (at, bad) in self.doubtful.iter_mut().enumerate() {
            if bad.id == id && bad.op.index > invoked {
                bad.before.put += 1;
                if explained.is_some() {
                    bad.before.taken += 1;
                    bad.before.wrong -= 1;
                } else {
                    explained = Some(at);
                }
            }
        }
        if let Some(at) = explained {
            self.doubtful.remove(at);
            balance.taken += 1;
            balance.wrong -= 1;
        }
        Ok(())
    }
}

/// The maximum number of dequeues that are kept because enqueues of unknown elements may explain them.
const DOUBTFUL_MAX: usize = 1 << 12;

#[cold]
fn too_often() -> OpFault {
    OpFault::limit("the element is enqueued or dequeued more than 2^32 - 1 times")
}

impl Workload for QueueRun {
    const EXPECTED: Expected =
        Expected { ops: ":enqueue and :dequeue of an element", observation: "ok :dequeue of an element" };
    const ADDS: Option<&'static str> = Some("enqueue");

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        self.invocations |= op.kind == OpKind::Invoke;
        match (op.f, op.kind) {
            (Some("enqueue"), OpKind::Invoke) => self.enqueue(op).map(|()| OpUse::Understood),
            (Some("enqueue"), _) => self.enqueued(op).map(|()| OpUse::Understood),
            // It is unknown whether nil is an element.
            (Some("dequeue"), OpKind::Ok) => self.dequeue(op).map(|()| fold::observed_if(!op.value.is_nil())),
            (Some("dequeue"), _) => Ok(OpUse::Understood),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn is_violated(&self) -> bool {
        self.unexpected.count + self.duplicated.count > 0
    }

    fn report(self, whole: bool) -> Report {
        let mut report = Report::new("queue", Verdict::Valid);
        let anomalies = [
            self.unexpected.anomaly("unexpected", |bad| self.explain(bad)),
            self.duplicated.anomaly("duplicated", |bad| self.explain(bad)),
        ];
        witness::add_anomalies(&mut report, anomalies);
        if !report.anomalies.is_empty() {
            report.verdict = Verdict::Invalid;
        }
        if whole {
            self.note_doubtful(&mut report);
        }
        report.counts = vec![
            ("attempt-count".into(), self.attempts),
            ("dequeue-count".into(), self.dequeues),
            ("unexpected-count".into(), self.unexpected.count),
            ("duplicated-count".into(), self.duplicated.count),
        ];
        report
    }
}

impl QueueRun {
    /// Adds a note on the dequeues that only an enqueue of an unknown element explains.
    fn note_doubtful(&self, report: &mut Report) {
        for (name, is_unexpected) in [("unexpected", true), ("duplicated", false)] {
            let those = || self.doubtful.iter().filter(|bad| (bad.before.put == 0) == is_unexpected);
            let count = those().count().to_u64();
            if count > 0 {
                let set = interval_set(&self.elements, those().map(|bad| bad.id), NOTE_RUNS_MAX);
                report.notes.push(fold::wrong_unless(count, name, &set));
            }
        }
        if self.more_doubtful > 0 {
            let dequeues = counted(self.more_doubtful, "later dequeue");
            report.notes.push(format!("{dequeues} also needed an op without a value to be right."));
        }
    }

    fn explain(&self, bad: &Bad) -> Witness {
        let element = self.elements.datum(bad.id);
        let Balance { put, taken, wrong } = bad.before;
        let taken = u64::from(taken) + u64::from(wrong);
        let sentence = if put == 0 {
            format!("D1 returned {element} before any enqueue of it began")
        } else {
            format!(
                "Before D1 completed, {element} was enqueued at most {} and dequeued {}. However, D1 returned it once \
                 more",
                counted(put.into(), "time"),
                counted(taken, "time")
            )
        };
        let op = bad.op.named("D1", OpKind::Ok, element.clone());
        let facts = vec![("element", element), ("enqueued", Datum::from(put)), ("dequeued-before", Datum::from(taken))];
        witness::witness(vec![op], facts, &[sentence])
    }
}
