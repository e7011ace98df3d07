//! queue: every removed element was inserted before.
//!
//! Every `ok` dequeue returns an element that was enqueued before it and not yet dequeued. An enqueue counts from its
//! invocation on, whatever its outcome, because it may take effect long before it completes; an element that is
//! enqueued twice may be dequeued twice. The order of dequeues is not checked. Wrong dequeues are of two kinds:
//!
//! - `unexpected`: no earlier op had tried to enqueue this.
//! - `duplicated`: it was enqueued, but has already been dequeued as often.
//!
//! An `ok` dequeue of something other than nil is **observed**: without one the verdict is unknown.
//!
//! A wrong dequeue removes nothing, so it makes no later dequeue wrong. After Jepsen's `checker/queue` with an
//! unordered queue, which stops at the first wrong one. Time is linear; memory: 12 bytes per element, plus the element.

use crate::elements::{ElemId, Elements};
use crate::fold::{self, InFlight, Workload, WorkloadRun};
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::{
    Checker, Datum, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Pair, Report, Run, Verdict,
    Witness,
};

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
    /// The elements of enqueues in flight.
    enqueues: InFlight<ElemId>,
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
        balance.wrong = balance.wrong.checked_add(1).ok_or_else(too_often)?;
        let bad = Bad { op: OpRef::of(op), id, before };
        if before.put == 0 {
            self.unexpected.push_equal(bad);
        } else {
            self.duplicated.push(before.wrong, bad);
        }
        Ok(())
    }
}

#[cold]
fn too_often() -> OpFault {
    OpFault::limit("the element is enqueued or dequeued more than 2^32 - 1 times")
}

impl Workload for QueueRun {
    const EXPECTED: Expected =
        Expected { ops: ":enqueue and :dequeue of an element", observation: "ok :dequeue of an element" };

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        self.invocations |= op.kind == OpKind::Invoke;
        match (op.f, op.kind) {
            (Some("enqueue"), OpKind::Invoke) => {
                self.attempts += 1;
                let id = self.elements.id(op.value)?;
                self.balances.resize(self.elements.len(), Balance::default());
                let balance = &mut self.balances[id.at()];
                balance.put = balance.put.checked_add(1).ok_or_else(too_often)?;
                self.enqueues.put(op, id);
                Ok(OpUse::Understood)
            }
            // Without invocations it is unknown when the enqueue began.
            (Some("enqueue"), _) if op.pair == Pair::Alone && !self.invocations => Err(fold::unpaired()),
            (Some("enqueue"), OpKind::Ok) => {
                let invoked = self.enqueues.take(op.pair);
                let id = fold::completed_element(op.value, invoked, |value| self.elements.id(value))?;
                self.balances.resize(self.elements.len(), Balance::default());
                // The enqueue may have begun at any time.
                if self.balances[id.at()].put == 0 { Err(fold::unpaired()) } else { Ok(OpUse::Understood) }
            }
            // It is unknown whether nil is an element.
            (Some("dequeue"), OpKind::Ok) => self.dequeue(op).map(|()| fold::observed_if(!op.value.is_nil())),
            (Some("enqueue" | "dequeue"), _) => Ok(OpUse::Understood),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn is_violated(&self) -> bool {
        self.unexpected.count + self.duplicated.count > 0
    }

    fn report(self, _whole: bool) -> Report {
        let mut report = Report::new("queue", Verdict::Valid);
        let anomalies = [
            self.unexpected.anomaly("unexpected", |bad| self.explain(bad)),
            self.duplicated.anomaly("duplicated", |bad| self.explain(bad)),
        ];
        witness::add_anomalies(&mut report, anomalies);
        if !report.anomalies.is_empty() {
            report.verdict = Verdict::Invalid;
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
