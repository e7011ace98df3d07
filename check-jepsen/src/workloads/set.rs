//! set: elements are added, and at the end all of them are read.
//!
//! Clients add elements; the last `ok` read shows the remaining ones. With the elements whose adds were invoked
//! (attempted) and those whose adds were `ok` (acknowledged), an element is
//!
//! - **lost** if it was acknowledged and is not in the last read,
//! - **unexpected** if it is in the last read and was never attempted,
//! - **recovered** if it is in the last read, and was attempted but not acknowledged. That is not an anomaly.
//!
//! An add whose invocation and `ok` completion have no value may have added any element. Unless it failed, no element
//! is certainly unexpected, and the history is not valid.
//!
//! The history is valid if none is lost and none is unexpected, and unknown if no read was `ok` after an add was
//! invoked: those reads are **observed**. Nothing is certain before the end, because any read may be followed by
//! another one. After Jepsen's `checker/set`.
//!
//! Time is linear. Memory: 27 bytes an element, plus the element itself, and the last read.

use crate::elements::{ElemId, Elements};
use crate::fold::{self, Added, InFlight, Workload, WorkloadRun};
use crate::intervals::{FILE_RUNS_MAX, NOTE_RUNS_MAX, interval_set};
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::cast::Cast as _;
use history_core::{
    Artifact, Checker, Datum, Expected, NextStep, Op, OpFault, OpKind, OpUse, OptionError, OptionSpec, Options, Pair,
    Report, Run, Value, Verdict, Witness,
};

/// The set checker. It has no options.
///
/// ```
/// use check_jepsen::set::Set;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :add, :value 1}
///     {:process 0, :type :invoke, :f :add, :value 2} {:process 0, :type :ok, :f :add, :value 2}
///     {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value #{2}}
/// ")?;
/// let report = Set::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly("lost").unwrap().count, 1);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Set {}

impl Checker for Set {
    fn name(&self) -> &'static str {
        "set"
    }

    fn summary(&self) -> &'static str {
        "Elements added to a set: the last read shows every acknowledged element, and none that was never added."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Values)
    }

    fn start(&self, _options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WorkloadRun::new(SetRun::default())))
    }
}

/// The facts about an element.
#[derive(Clone, Copy, Debug, Default)]
struct Element {
    attempted: bool,
    in_last_read: bool,
    acknowledged: bool,
}

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
struct SetRun {
    elements: Elements,
    /// By element.
    known: Vec<Element>,
    /// By element: the completion of its add, if it was acknowledged. May be shorter than the number of elements.
    added: Vec<OpRef>,
    /// Adds in flight.
    in_flight: InFlight<Added>,
    /// Whether no op records the element of an add that may have happened.
    in_doubt: bool,
    /// Whether some op adds: before that, reads are no evidence.
    has_added: bool,
    invocations: bool,
    reads: u64,
    last: Option<OpRef>,
    /// The index of the last read's invocation, if it has one.
    last_invoked: Option<u64>,
    /// The fault of the last read, if it cannot be decoded.
    last_unreadable: Option<String>,
    pairs: fold::Pairs,
    /// Whether the last read may be of one key of several.
    last_is_pair: bool,
    /// The content of the last read: its elements as ids, or as integers.
    last_ids: Vec<ElemId>,
    last_ints: Vec<i64>,
}

impl SetRun {
    fn element(&mut self, value: Value<'_>) -> Result<ElemId, OpFault> {
        let id = self.elements.id(value)?;
        self.known.resize(self.elements.len(), Element::default());
        Ok(id)
    }

    fn add(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        if op.kind == OpKind::Invoke {
            if op.value.is_nil() {
                self.in_flight.put(op, Added::Unrecorded);
                return Ok(());
            }
            let id = self.element(op.value)?;
            self.known[id.at()].attempted = true;
            self.in_flight.put(op, Added::Element(id));
            return Ok(());
        }
        let added = self.in_flight.take(op.pair);
        let is_unrecorded = added == Some(Added::Unrecorded);
        if is_unrecorded && op.value.is_nil() {
            return Ok(());
        }
        // Without invocations, only completions show what was attempted.
        let attempts = op.pair == Pair::Alone && !self.invocations;
        if op.kind != OpKind::Ok && !attempts {
            return Ok(());
        }
        let id = fold::completed_element(op.value, added.and_then(Added::element), |value| self.element(value))?;
        let element = &mut self.known[id.at()];
        element.attempted |= attempts || is_unrecorded;
        if !element.attempted {
            return Err(fold::unpaired());
        }
        if op.kind == OpKind::Ok && !std::mem::replace(&mut element.acknowledged, true) {
            self.added.resize(self.added.len().max(id.at() + 1), OpRef::NONE);
            self.added[id.at()] = OpRef::of(op);
        }
        Ok(())
    }

    /// Stores a read: only the last one counts, and any may be the last.
    fn read(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        let SetRun { elements, last_ids, last_ints, .. } = self;
        self.reads += 1;
        self.last = Some(OpRef::of(op));
        self.last_invoked = match op.pair {
            Pair::Completes { invoked, .. } => Some(invoked),
            Pair::Invokes { .. } | Pair::Alone => None,
        };
        self.last_unreadable = None;
        self.last_is_pair = self.pairs.keyed(op.value).is_some();
        last_ids.clear();
        last_ints.clear();
        match fold::collection(op.value) {
            Ok(seq) => match seq.as_ints() {
                Some(ints) => last_ints.extend_from_slice(ints),
                None => elements.each(seq, |id| {
                    last_ids.push(id);
                    Ok(())
                })?,
            },
            Err(reason) => self.last_unreadable = Some(reason),
        }
        Ok(())
    }
}

impl Workload for SetRun {
    const EXPECTED: Expected =
        Expected { ops: ":add of an element, and :read of all elements", observation: "ok :read after an :add" };
    const ADDS: Option<&'static str> = Some("add");

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        self.invocations |= op.kind == OpKind::Invoke;
        match (op.f, op.kind) {
            (Some("add"), _) => {
                self.has_added = true;
                self.pairs.note(op);
                self.add(op).map(|()| OpUse::Understood)
            }
            (Some("read"), OpKind::Ok) => {
                self.read(op)?;
                Ok(if self.last_unreadable.is_some() { OpUse::PassedOver } else { fold::observed_if(self.has_added) })
            }
            (Some("read"), _) => Ok(OpUse::Understood),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn doubt(&mut self) {
        self.in_doubt = true;
    }

    fn report(mut self, whole: bool) -> Report {
        let mut report = Report::new("set", Verdict::Unknown);
        let Some(last) = self.last.filter(|_| whole) else { return report };
        let is_attempted = |id: &ElemId| self.known.get(id.at()).is_some_and(|element| element.attempted);
        if self.last_is_pair && self.last_ids.len() == 2 && !self.last_ids.iter().any(is_attempted) {
            self.last_unreadable = Some(fold::keyed("read"));
        }
        if let Some(reason) = &self.last_unreadable {
            let op = format!("the op at index {}", last.index);
            report.notes.push(format!("No verdict, because of {op}: {reason}."));
            report.add_next(NextStep::correct_op(&op));
            return report;
        }
        let ints = std::mem::take(&mut self.last_ints);
        // The integers fit into the history, so their ids fit too.
        let ids = ints.into_iter().filter_map(|int| self.elements.int(int).ok());
        self.last_ids.extend(ids);
        self.known.resize(self.elements.len(), Element::default());
        for id in &self.last_ids {
            self.known[id.at()].in_last_read = true;
        }
        self.judge(last, &mut report);
        report
    }
}

impl SetRun {
    fn those(&self, is: impl Fn(&Element) -> bool) -> impl Iterator<Item = ElemId> {
        let all = self.known.iter().enumerate();
        all.filter(move |(_, element)| is(element)).map(|(at, _)| ElemId::new(at))
    }

    fn judge(&self, last: OpRef, report: &mut Report) {
        let lost = |element: &Element| element.acknowledged && !element.in_last_read;
        let unexpected = |element: &Element| element.in_last_read && !element.attempted;
        let recovered = |element: &Element| element.in_last_read && element.attempted && !element.acknowledged;
        let ok = |element: &Element| element.in_last_read && element.attempted;
        let extremes = |ids: &mut dyn Iterator<Item = ElemId>| {
            let mut extremes = Extremes::<(), ElemId>::default();
            ids.for_each(|id| extremes.push_equal(id));
            extremes
        };
        let strangers = extremes(&mut self.those(unexpected));
        let anomalies = [
            extremes(&mut self.those(lost)).anomaly("lost", |id| self.explain_lost(last, *id)),
            strangers.anomaly("unexpected", |id| self.explain_unexpected(last, *id)).filter(|_| !self.in_doubt),
        ];
        witness::add_anomalies(report, anomalies);
        report.verdict = if report.anomalies.is_empty() { Verdict::Valid } else { Verdict::Invalid };
        for (name, count) in report.anomalies.iter().map(|anomaly| (&anomaly.name, anomaly.count)) {
            let set = if name == "lost" {
                interval_set(&self.elements, self.those(lost), NOTE_RUNS_MAX)
            } else {
                interval_set(&self.elements, self.those(unexpected), NOTE_RUNS_MAX)
            };
            report.notes.push(format!("{count} {name}: {set}."));
        }
        if self.in_doubt && strangers.count > 0 {
            let set = interval_set(&self.elements, self.those(unexpected), NOTE_RUNS_MAX);
            report.notes.push(fold::wrong_unless(strangers.count, "unexpected", &set));
        }
        self.note_late(lost, report);
        let count = |is: &dyn Fn(&Element) -> bool| self.known.iter().filter(|element| is(element)).count().to_u64();
        report.counts = vec![
            ("attempt-count".into(), count(&|element| element.attempted)),
            ("acknowledged-count".into(), count(&|element| element.acknowledged)),
            ("ok-count".into(), count(&ok)),
            ("lost-count".into(), count(&lost)),
            ("unexpected-count".into(), count(&unexpected)),
            ("recovered-count".into(), count(&recovered)),
            ("read-count".into(), self.reads),
        ];
        let set = |ids: &mut dyn Iterator<Item = ElemId>| Datum::Str(interval_set(&self.elements, ids, FILE_RUNS_MAX));
        let sets = Datum::Map(vec![
            (Datum::keyword("ok"), set(&mut self.those(ok))),
            (Datum::keyword("lost"), set(&mut self.those(lost))),
            (Datum::keyword("unexpected"), set(&mut self.those(unexpected))),
            (Datum::keyword("recovered"), set(&mut self.those(recovered))),
        ]);
        report.artifacts.push(Artifact { path: "set.edn".into(), content: format!("{sets}\n").into_bytes() });
    }

    /// Adds a note on the lost elements that prove no loss, because the last read need not show them.
    fn note_late(&self, lost: impl Fn(&Element) -> bool, report: &mut Report) {
        let Some(invoked) = self.last_invoked else { return };
        let late = self.those(lost).filter(|id| self.added[id.at()].index > invoked).count().to_u64();
        if late > 0 {
            let lost = counted(late, "lost element");
            report.notes.push(format!(
                "{lost}: the add was acknowledged after the last read had begun, so this read need not show it. Read \
                 all elements once more when all adds have ended, or check with -m set-full, which compares each read \
                 with the adds before it."
            ));
        }
    }

    fn last_read(&self, last: OpRef) -> history_core::WitnessOp {
        last.named("R1", OpKind::Ok, self.elements.glimpse(self.last_ids.iter().copied()))
    }

    fn explain_lost(&self, last: OpRef, id: ElemId) -> Witness {
        let element = self.elements.datum(id);
        let sentences = [
            format!("A1 acknowledged that {element} was added"),
            format!("R1, the last read, lacks it: {element} is lost"),
        ];
        let add = self.added[id.at()].named("A1", OpKind::Ok, element.clone());
        witness::witness(vec![add, self.last_read(last)], vec![("element", element)], &sentences)
    }

    fn explain_unexpected(&self, last: OpRef, id: ElemId) -> Witness {
        let element = self.elements.datum(id);
        let sentence = format!("R1, the last read, shows {element}, but no op tried to add it");
        witness::witness(vec![self.last_read(last)], vec![("element", element)], &[sentence])
    }
}
