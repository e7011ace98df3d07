//! total-queue: whatever was put in comes out, if the queue is drained in the end.
//!
//! Order does not matter, but number does: what is enqueued twice should come out twice. With the enqueues that were
//! invoked (attempted), those that were `ok` (acknowledged), and the dequeues that were `ok`, all as multisets,
//!
//! - **lost** is what was acknowledged more often than dequeued,
//! - **unexpected** is what was dequeued and never attempted,
//! - **duplicated** is what was attempted, but dequeued more often than that,
//! - **recovered** is what was attempted and dequeued, more often than acknowledged.
//!
//! The history is valid if nothing is lost and nothing unexpected; a queue may deliver twice. An `ok` `:drain` dequeues
//! all elements of its value. Where a drain crashed, what is missing may be with it, and the verdict is unknown rather
//! than invalid. An `ok` dequeue without a value took at most one element: if more are missing than there are such
//! dequeues, some are lost. After Jepsen's `checker/total-queue`, which refuses crashed drains.
//!
//! An enqueue whose invocation and `ok` completion have no value may have enqueued any element. Unless it failed,
//! nothing is certainly unexpected, and the history is not valid.
//!
//! What is **observed** is an `ok` enqueue or dequeue of something else than nil, and an `ok` drain that took
//! something: without one the verdict is unknown.
//!
//! Nothing is certain before the end: what is missing may be dequeued, and what no op attempted may be enqueued later.
//!
//! Time is linear; memory: 40 bytes an element, plus the element itself.

use crate::elements::{ElemId, Elements};
use crate::fold::{self, Added, InFlight, Workload, WorkloadRun};
use crate::intervals::{FILE_RUNS_MAX, NOTE_RUNS_MAX, interval_set};
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::cast::Cast as _;
use history_core::{
    Anomaly, Artifact, Checker, Datum, Expected, NextStep, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec,
    Options, Pair, Report, Run, Value, Verdict, Witness,
};

/// The total-queue checker. It has no options.
///
/// ```
/// use check_jepsen::total_queue::TotalQueue;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :enqueue, :value 1} {:process 0, :type :ok, :f :enqueue, :value 1}
///     {:process 0, :type :invoke, :f :enqueue, :value 2} {:process 0, :type :ok, :f :enqueue, :value 2}
///     {:process 0, :type :invoke, :f :drain}             {:process 0, :type :ok, :f :drain, :value [2]}
/// ")?;
/// let report = TotalQueue::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly("lost").unwrap().count, 1);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TotalQueue {}

impl Checker for TotalQueue {
    fn name(&self) -> &'static str {
        "total-queue"
    }

    fn summary(&self) -> &'static str {
        "A queue that is drained at the end: every enqueued element is dequeued, and nothing else."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Values)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(TotalQueueRun::default())))
    }
}

/// How often an element was enqueued and dequeued.
#[derive(Clone, Copy, Debug)]
struct Element {
    attempted: u32,
    acknowledged: u32,
    dequeued: u32,
    /// For a lost element, an `ok` enqueue of it; for one that was dequeued more often than attempted, a dequeue of it.
    /// An element is never both, because an acknowledged enqueue was attempted.
    witness: OpRef,
}

impl Element {
    const NEW: Element = Element { attempted: 0, acknowledged: 0, dequeued: 0, witness: OpRef::NONE };

    fn lost(&self) -> u32 {
        self.acknowledged.saturating_sub(self.dequeued)
    }

    fn unexpected(&self) -> u32 {
        if self.attempted == 0 { self.dequeued } else { 0 }
    }

    fn duplicated(&self) -> u32 {
        if self.attempted == 0 { 0 } else { self.dequeued.saturating_sub(self.attempted) }
    }

    fn ok(&self) -> u32 {
        self.dequeued.min(self.attempted)
    }

    fn recovered(&self) -> u32 {
        self.ok().saturating_sub(self.acknowledged)
    }
}

/// Counts how often an element is of some kind.
type Count = fn(&Element) -> u32;

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
enum Flight {
    Enqueue(Added),
    Dequeue,
    Drain,
}

#[derive(Clone, Debug, Default)]
struct TotalQueueRun {
    elements: Elements,
    known: Vec<Element>,
    in_flight: InFlight<Flight>,
    invocations: bool,
    /// Whether no op records the element of an enqueue that may have happened.
    in_doubt: bool,
    pairs: fold::Pairs,
    crashed_drains: u64,
    crashed_dequeues: u64,
    /// The number of `ok` dequeues without the element that they took.
    silent_dequeues: u64,
    /// Whether some `ok` drain lacks the elements that it took.
    silent_drain: bool,
}

impl TotalQueueRun {
    fn element(&mut self, value: Value<'_>) -> Result<ElemId, OpFault> {
        let id = self.elements.id(value)?;
        self.known.resize(self.elements.len(), Element::NEW);
        Ok(id)
    }

    /// Processes an enqueue. Returns true if it was acknowledged with an element other than nil.
    fn enqueue(&mut self, op: &Op<'_>) -> Result<bool, OpFault> {
        if op.kind == OpKind::Invoke {
            if op.value.is_nil() {
                self.in_flight.put(op, Flight::Enqueue(Added::Unrecorded));
                return Ok(false);
            }
            let id = self.element(op.value)?;
            self.in_flight.put(op, Flight::Enqueue(Added::Element(id)));
            one_more(&mut self.known[id.at()].attempted)?;
            return Ok(false);
        }
        let added = match self.in_flight.take(op.pair) {
            Some(Flight::Enqueue(added)) => Some(added),
            Some(Flight::Drain) => {
                return Err(OpFault::Blocking("the completion is an enqueue, its invocation a drain".into()));
            }
            Some(Flight::Dequeue) | None => None,
        };
        let is_unrecorded = added == Some(Added::Unrecorded);
        if is_unrecorded && op.value.is_nil() {
            return Ok(false);
        }
        // Without invocations, only completions show what was attempted.
        let attempts = op.pair == Pair::Alone && !self.invocations;
        if op.kind != OpKind::Ok && !attempts {
            return Ok(false);
        }
        let id = fold::completed_element(op.value, added.and_then(Added::element), |value| self.element(value))?;
        let element = &mut self.known[id.at()];
        if attempts || is_unrecorded {
            one_more(&mut element.attempted)?;
        } else if element.attempted == 0 {
            return Err(fold::unpaired());
        }
        if op.kind == OpKind::Ok {
            one_more(&mut element.acknowledged)?;
            if element.lost() > 0 {
                element.witness = OpRef::of(op);
            }
        }
        Ok(op.kind == OpKind::Ok && !self.elements.is_nil(id))
    }

    /// Processes a dequeue. Returns true if it took an element other than nil.
    fn dequeue(&mut self, op: &Op<'_>) -> Result<bool, OpFault> {
        if op.kind == OpKind::Invoke {
            self.in_flight.put(op, Flight::Dequeue);
            return Ok(false);
        }
        self.in_flight.take(op.pair);
        if op.kind == OpKind::Info {
            self.crashed_dequeues += 1;
        }
        if op.kind != OpKind::Ok {
            return Ok(false);
        }
        let id = self.element(op.value)?;
        if op.value.is_nil() && self.known[id.at()].attempted == 0 {
            self.silent_dequeues += 1;
            let reason = "an ok dequeue has no value; a dequeue of an empty queue should fail";
            return Err(OpFault::Undecodable(reason.into()));
        }
        taken(&mut self.known[id.at()], op)?;
        Ok(!op.value.is_nil())
    }

    /// Processes a drain. Returns true if it took an element other than nil.
    fn drain(&mut self, op: &Op<'_>) -> Result<bool, OpFault> {
        if op.kind == OpKind::Invoke {
            self.in_flight.put(op, Flight::Drain);
            return Ok(false);
        }
        if let Some(Flight::Enqueue(_)) = self.in_flight.take(op.pair) {
            return Err(OpFault::Blocking("the completion is a drain, its invocation an enqueue".into()));
        }
        if op.kind == OpKind::Info {
            self.crashed_drains += 1;
        }
        if op.kind != OpKind::Ok {
            return Ok(false);
        }
        let seq = fold::collection(op.value).map_err(|_| {
            self.silent_drain = true;
            OpFault::Undecodable(format!("expected a collection of the drained elements, found {}", op.value))
        })?;
        if let Some([key, values]) = self.pairs.keyed(op.value) {
            let ids = [self.element(key)?, self.element(values)?];
            if ids.iter().all(|id| self.known[id.at()].attempted == 0) {
                self.silent_drain = true;
                return Err(OpFault::Undecodable(fold::keyed("drain")));
            }
        }
        let TotalQueueRun { elements, known, .. } = self;
        elements.each(seq, |id| {
            if id.at() >= known.len() {
                known.resize(id.at() + 1, Element::NEW);
            }
            taken(&mut known[id.at()], op)
        })?;
        Ok(seq.iter().any(|element| !element.is_nil()))
    }
}

fn one_more(count: &mut u32) -> Result<(), OpFault> {
    *count = count.checked_add(1).ok_or_else(|| OpFault::limit("the element occurs more than 2^32 - 1 times"))?;
    Ok(())
}

fn taken(element: &mut Element, op: &Op<'_>) -> Result<(), OpFault> {
    one_more(&mut element.dequeued)?;
    if element.dequeued > element.attempted {
        element.witness = OpRef::of(op);
    }
    Ok(())
}

/// The next step if missing elements may have been taken.
const DRAIN: &str =
    "Record the elements that each drain took, also of one that did not end: take them one by one, with :dequeue.";

impl Workload for TotalQueueRun {
    const EXPECTED: Expected = Expected {
        ops: ":enqueue and :dequeue of an element, and :drain of several",
        observation: "ok :enqueue, :dequeue or :drain of an element",
    };
    const ADDS: Option<&'static str> = Some("enqueue");

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        self.invocations |= op.kind == OpKind::Invoke;
        let observed = match op.f {
            Some("enqueue") => {
                self.pairs.note(op);
                self.enqueue(op)?
            }
            Some("dequeue") => self.dequeue(op)?,
            Some("drain") => self.drain(op)?,
            _ => return Ok(OpUse::PassedOver),
        };
        Ok(fold::observed_if(observed))
    }

    fn doubt(&mut self) {
        self.in_doubt = true;
    }

    fn report(mut self, whole: bool) -> Report {
        let open = |is: fn(&Flight) -> bool| self.in_flight.iter().filter(|flight| is(flight)).count().to_u64();
        self.crashed_drains += open(|flight| matches!(flight, Flight::Drain));
        self.crashed_dequeues += open(|flight| matches!(flight, Flight::Dequeue));
        let mut report = Report::new("total-queue", Verdict::Valid);
        if !whole {
            // Later ops may dequeue elements that are missing so far, and enqueue elements that no op has enqueued so
            // far.
            return report;
        }
        let (mut lost, mut unexpected) = (Extremes::default(), Extremes::default());
        for (at, element) in self.known.iter().enumerate() {
            lost.push_times(element.lost(), ElemId::new(at));
            unexpected.push_times(element.unexpected(), ElemId::new(at));
        }
        let is_sure = self.crashed_drains == 0 && !self.silent_drain;
        let anomaly = match self.silent_dequeues {
            0 => lost.anomaly("lost", |id| self.explain_lost(*id)),
            silent => (lost.count > silent).then(|| self.some_lost(lost.count)),
        };
        let strangers = unexpected.anomaly("unexpected", |id| self.explain_unexpected(*id));
        let anomalies = [anomaly.filter(|_| is_sure), strangers.filter(|_| !self.in_doubt)];
        witness::add_anomalies(&mut report, anomalies);
        report.verdict = match report.anomalies.is_empty() {
            false => Verdict::Invalid,
            true if lost.count > 0 => Verdict::Unknown,
            true => Verdict::Valid,
        };
        self.notes(lost.count, &mut report);
        self.counts(&mut report);
        report
    }
}

impl TotalQueueRun {
    fn set(&self, of: impl Fn(&Element) -> u32, runs_max: usize) -> String {
        let those = self.known.iter().enumerate().filter(|(_, element)| of(element) > 0);
        interval_set(&self.elements, those.map(|(at, _)| ElemId::new(at)), runs_max)
    }

    fn notes(&self, lost: u64, report: &mut Report) {
        let count = |of: Count| self.known.iter().map(|element| u64::from(of(element))).sum::<u64>();
        let kinds: [(&str, Count); 3] =
            [("lost", Element::lost), ("unexpected", Element::unexpected), ("duplicated", Element::duplicated)];
        for (name, of) in kinds {
            let count = count(of);
            if count > 0 {
                let set = self.set(of, NOTE_RUNS_MAX);
                let is_in_doubt = self.in_doubt && name == "unexpected";
                report.notes.push(if is_in_doubt {
                    fold::wrong_unless(count, name, &set)
                } else {
                    format!("{count} {name}: {set}.")
                });
            }
        }
        if lost > 0 && self.crashed_drains > 0 {
            let drains = counted(self.crashed_drains, "drain");
            report
                .notes
                .push(format!("{drains} never returned the drained elements, so missing elements may not be lost."));
            report.add_next(NextStep::new(DRAIN));
        }
        if lost > 0 && self.crashed_dequeues > 0 {
            let dequeues = counted(self.crashed_dequeues, "dequeue");
            report.notes.push(format!("{dequeues} never completed and may have taken missing elements."));
        }
    }

    fn counts(&self, report: &mut Report) {
        let kinds: [(&'static str, Count); 8] = [
            ("attempt-count", |element| element.attempted),
            ("acknowledged-count", |element| element.acknowledged),
            ("dequeue-count", |element| element.dequeued),
            ("ok-count", Element::ok),
            ("lost-count", Element::lost),
            ("unexpected-count", Element::unexpected),
            ("duplicated-count", Element::duplicated),
            ("recovered-count", Element::recovered),
        ];
        let count = |of: Count| self.known.iter().map(|element| u64::from(of(element))).sum();
        report.counts = kinds.into_iter().map(|(name, of)| (name.into(), count(of))).collect();
        let sets = ["lost", "unexpected", "duplicated", "recovered"];
        let sets = sets.into_iter().zip([Element::lost, Element::unexpected, Element::duplicated, Element::recovered]);
        let sets = sets.map(|(name, of)| (Datum::keyword(name), Datum::Str(self.set(of, FILE_RUNS_MAX))));
        let content = format!("{}\n", Datum::Map(sets.collect())).into_bytes();
        report.artifacts.push(Artifact { path: "total-queue.edn".into(), content });
    }

    fn facts(&self, id: ElemId) -> Vec<(&'static str, Datum)> {
        let Element { attempted, acknowledged, dequeued, .. } = self.known[id.at()];
        vec![
            ("element", self.elements.datum(id)),
            ("attempted", attempted.into()),
            ("acknowledged", acknowledged.into()),
            ("dequeued", dequeued.into()),
        ]
    }

    fn explain_lost(&self, id: ElemId) -> Witness {
        let (element, known) = (self.elements.datum(id), self.known[id.at()]);
        let enqueued = counted(known.acknowledged.into(), "time");
        let sentences = match known.dequeued {
            0 => vec![
                format!("E1 acknowledged that {element} was enqueued"),
                "No dequeue returned it: it is lost".into(),
            ],
            dequeued => vec![
                format!("{element} was enqueued {enqueued}, last by E1"),
                format!("It was dequeued only {}: the rest is lost", counted(dequeued.into(), "time")),
            ],
        };
        witness::witness(vec![known.witness.named("E1", OpKind::Ok, element)], self.facts(id), &sentences)
    }

    /// The anomaly if more elements are missing than unspecified dequeues took: each took at most one.
    fn some_lost(&self, missing: u64) -> Anomaly {
        /// The maximum number of elements in a witness.
        const SHOWN_MAX: usize = 8;
        let those = self.known.iter().enumerate().filter(|(_, element)| element.lost() > 0);
        let named = |(nth, (at, known)): (usize, (usize, &Element))| {
            known.witness.named(&format!("E{}", nth + 1), OpKind::Ok, self.elements.datum(ElemId::new(at)))
        };
        let ops: Vec<_> = those.take(SHOWN_MAX).enumerate().map(named).collect();
        let count = missing - self.silent_dequeues;
        let dequeues = counted(self.silent_dequeues, "ok dequeue");
        let sentences = [
            format!("{} were acknowledged and not dequeued, as far as the history shows", counted(missing, "element")),
            format!("{dequeues} without a value may have taken one each, so at least {count} of them must be lost"),
        ];
        let facts = vec![("missing", missing.into()), ("unknown-dequeues", self.silent_dequeues.into())];
        Anomaly { name: "lost".into(), count, witnesses: vec![witness::witness(ops, facts, &sentences)] }
    }

    fn explain_unexpected(&self, id: ElemId) -> Witness {
        let (element, known) = (self.elements.datum(id), self.known[id.at()]);
        let sentence = format!("D1 returned {element}, but no op tried to enqueue it");
        witness::witness(vec![known.witness.named("D1", OpKind::Ok, element)], self.facts(id), &[sentence])
    }
}
