//! Decodes recorded ops into events of operations on an object.

use super::hidden::{Hidden, earliest, hidden_place};
use crate::engine::ids;
use crate::models::{Shows, Spec};
use history_core::{
    Coverage, Expected, FunctionsInFlight, NextStep, Op, OpKind, OpUse, Pair, Report, UndecodedOps, UnreadKeys, Verdict,
};

/// Decodes the ops of clients in order, each with the data of its invocation.
///
/// ```
/// use check_register::models::{CasRegister, RegisterOp};
/// use check_register::{Decoder, DecodedEvent};
/// use history_core::History;
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :write, :value 1}
///     {:process 0, :type :info,   :f :write, :error :timeout}
/// ")?;
/// let (mut model, mut decoder) = (CasRegister::default(), Decoder::default());
/// let mut ops = history.ops();
/// let called = decoder.decode(&mut model, &ops.next().unwrap()).unwrap();
/// assert!(matches!(called, DecodedEvent::Called { op: Some(RegisterOp::Write(_)), .. }));
/// let crashed = decoder.decode(&mut model, &ops.next().unwrap()).unwrap();
/// assert!(matches!(crashed, DecodedEvent::Crashed { op: Some(RegisterOp::Write(_)), .. }));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<O> {
    /// Operations in flight, by slot.
    open: Vec<Option<InFlight<O>>>,
    functions: FunctionsInFlight,
    keys: UnreadKeys,
    /// The number of results that showed something.
    shown: Shown,
    /// The number of operations in flight that do not record what they may change.
    hidden_in_flight: usize,
    /// Such operations that may have happened, if their completions do not record it either.
    hidden: Hidden,
    /// The invocation of the last op, if only this op records what its operation changed.
    recorded_late: Option<u64>,
    /// The first of these that cannot be decoded at all.
    fault: Option<Fault>,
    coverage: Coverage,
    /// The first failed operation whose invocation cannot be decoded.
    ignored: Option<Fault>,
    /// The ops that cannot be decoded.
    ignored_ops: u64,
    ops: u64,
    /// `ok` reads whose results cannot be decoded.
    unread: UndecodedOps,
}

/// An invocation that cannot be decoded.
#[derive(Clone, Debug)]
struct Fault {
    index: u64,
    /// The position of the op, and the reason.
    place: String,
}

/// Counts of results that show something.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    returned: u64,
    something: u64,
    absence: u64,
    /// Results of nil: of operations that began before any operation that fills the object had returned, and of the
    /// others.
    early_nil: u64,
    late_nil: u64,
    /// The same as `early_nil`, of an object that never begins empty: they show nothing.
    early_unknown: u64,
    /// Operations that fill the object and may have happened, and whether one of them returned.
    filling: u64,
    is_filled: bool,
    /// Whether some op has a value.
    has_value: bool,
}

/// An operation that was invoked.
#[derive(Clone, Debug)]
struct InFlight<O> {
    op: Option<O>,
    /// See [`Spec::places`].
    places: Option<Vec<(i64, bool)>>,
    /// The index of its invocation, if this does not record what the operation changes.
    hidden: Option<u64>,
    /// The part of the object that it concerns, if it is hidden and concerns only one.
    hidden_part: Option<u64>,
    /// The fault, if it cannot be decoded; it is hidden then.
    fault: Option<Box<Fault>>,
    fills: bool,
    /// Whether an operation that fills the object had returned at its invocation.
    is_late: bool,
}

/// An event of an operation. Its slot is that of its ops: see [`Pair`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DecodedEvent<'d, O> {
    /// The operation is called.
    Called {
        /// Unique among those in flight.
        slot: usize,
        /// Its operation, with any result; `None` if that has no known effect.
        op: Option<&'d O>,
    },
    /// The operation returned.
    Returned {
        /// The slot of its call.
        slot: usize,
        /// Its operation; `None` if it does not matter.
        op: Option<O>,
    },
    /// The operation did not happen.
    Failed {
        /// The slot of its call.
        slot: usize,
    },
    /// The operation may have happened, and may still happen.
    Crashed {
        /// The slot of its call.
        slot: usize,
        /// Its effect in that case.
        op: Option<O>,
    },
}

impl<O> Default for Decoder<O> {
    fn default() -> Decoder<O> {
        Decoder {
            open: Vec::new(),
            functions: FunctionsInFlight::default(),
            keys: UnreadKeys::default(),
            shown: Shown::default(),
            hidden_in_flight: 0,
            hidden: Hidden::default(),
            recorded_late: None,
            fault: None,
            coverage: Coverage::default(),
            ignored: None,
            ignored_ops: 0,
            ops: 0,
            unread: UndecodedOps::default(),
        }
    }
}

impl<O> Decoder<O> {
    /// Decodes an op of a client.
    ///
    /// An invocation that cannot be decoded does not record what it changes. If the operation fails, it did not happen
    /// and is ignored; otherwise see [`Decoder::first_hidden`].
    ///
    /// # Errors
    ///
    /// Why nothing can be concluded after this op. The operation of its invocation remains in flight.
    pub fn decode<S: Spec<Op = O>>(&mut self, model: &mut S, op: &Op<'_>) -> Result<DecodedEvent<'_, O>, String> {
        self.ops += 1;
        self.recorded_late = None;
        self.shown.has_value |= !op.value.is_nil();
        self.functions.see(op)?;
        if !S::READS_KEY {
            self.keys.see(op);
        }
        match op.pair {
            Pair::Invokes { slot } => Ok(self.invoke(model, op, ids::index(slot))),
            Pair::Completes { slot, .. } => self.complete(model, op, ids::index(slot)),
            Pair::Alone if op.kind == OpKind::Invoke => {
                Err("the op has no process, so its completion is unknown".into())
            }
            Pair::Alone => Err("the completion has no invocation, so when the operation began is unknown".into()),
        }
    }

    fn invoke<S: Spec<Op = O>>(&mut self, model: &mut S, op: &Op<'_>, slot: usize) -> DecodedEvent<'_, O> {
        let (decoded, fault) = match model.decode(op, None) {
            Ok(decoded) => (decoded, None),
            Err(reason) => (None, Some(Box::new(Fault::new(op, &reason)))),
        };
        let fills = decoded.as_ref().is_some_and(|op| model.fills(op));
        self.shown.filling += u64::from(fills);
        if slot >= self.open.len() {
            self.open.resize_with(slot + 1, || None);
        }
        let is_hidden = fault.is_some() || model.hides(op);
        let hidden = is_hidden.then_some(op.index);
        let hidden_part = if is_hidden { model.hidden_part(op) } else { None };
        self.hidden_in_flight += usize::from(is_hidden);
        let is_late = self.shown.is_filled;
        let places = if fault.is_some() { None } else { model.places(op) };
        let in_flight = InFlight { op: decoded, places, hidden, hidden_part, fault, fills, is_late };
        let in_flight = self.open[slot].insert(in_flight);
        DecodedEvent::Called { slot, op: in_flight.op.as_ref() }
    }

    fn complete<S: Spec<Op = O>>(
        &mut self,
        model: &mut S,
        op: &Op<'_>,
        slot: usize,
    ) -> Result<DecodedEvent<'_, O>, String> {
        let Some(mut in_flight) = self.open.get_mut(slot).and_then(Option::take) else {
            return Err("the completion has no invocation".into());
        };
        self.hidden_in_flight -= usize::from(in_flight.hidden.is_some());
        if in_flight.fault.is_some() {
            return Ok(self.complete_undecoded(op, slot, in_flight));
        }
        let invoked = in_flight.op.as_ref();
        match op.kind {
            OpKind::Info | OpKind::Invoke => self.keep_hidden(&in_flight),
            // It records nil, which may be what the operation wrote.
            OpKind::Ok if op.value.is_nil() && in_flight.op.is_none() => self.keep_hidden(&in_flight),
            OpKind::Ok | OpKind::Fail => {}
        }
        Ok(match op.kind {
            OpKind::Fail => {
                self.shown.filling -= u64::from(in_flight.fills);
                DecodedEvent::Failed { slot }
            }
            // The value of an `info` is usually the reason why it failed.
            OpKind::Info | OpKind::Invoke => DecodedEvent::Crashed { slot, op: in_flight.op },
            OpKind::Ok => {
                // An invocation that records nothing is contradicted by nothing.
                let is_hidden = in_flight.hidden.is_some();
                let reason = match model.decode(op, invoked) {
                    Ok(done) if !is_hidden && S::contradicts(invoked, done.as_ref()) => {
                        contradiction(model, invoked, done.as_ref())
                    }
                    Ok(_) if is_elsewhere(in_flight.places.as_deref(), model.places(op).as_deref()) => ELSEWHERE.into(),
                    Ok(done) => {
                        if is_hidden && S::contradicts(invoked, done.as_ref()) {
                            self.recorded_late = in_flight.hidden;
                            let fills = done.as_ref().is_some_and(|done| model.fills(done));
                            in_flight.fills = fills;
                            self.shown.filling += u64::from(fills);
                        }
                        self.shown.take(model.shows(op, done.as_ref()), &in_flight);
                        return Ok(DecodedEvent::Returned { slot, op: done });
                    }
                    Err(reason) => reason,
                };
                if in_flight.op.is_none() && in_flight.hidden.is_none() && model.only_reads(op) {
                    return Ok(self.ignore_read(op, slot, &reason));
                }
                // The invoked operation is in flight up to this op, and may have happened.
                self.hidden_in_flight += usize::from(in_flight.hidden.is_some());
                self.open[slot] = Some(in_flight);
                return Err(reason);
            }
        })
    }

    /// Handles the end of an operation whose invocation cannot be decoded. A failed operation did not happen, so it
    /// does not matter what it was.
    #[cold]
    fn complete_undecoded(&mut self, op: &Op<'_>, slot: usize, in_flight: InFlight<O>) -> DecodedEvent<'_, O> {
        // Counts both ops of the operation.
        self.coverage.count(op, OpUse::PassedOver);
        self.coverage.count(op, OpUse::PassedOver);
        self.ignored_ops += 2;
        if op.kind == OpKind::Fail {
            Fault::keep_first(&mut self.ignored, in_flight.fault);
            return DecodedEvent::Failed { slot };
        }
        self.keep_hidden(&in_flight);
        Fault::keep_first(&mut self.fault, in_flight.fault);
        DecodedEvent::Crashed { slot, op: None }
    }

    /// Handles an `ok` read whose result cannot be decoded. A read changes nothing, so omitting it can only add orders
    /// of the other operations: a violation without it is a violation, but a valid result without it proves nothing.
    #[cold]
    fn ignore_read(&mut self, op: &Op<'_>, slot: usize, reason: &str) -> DecodedEvent<'_, O> {
        self.coverage.count(op, OpUse::PassedOver);
        self.ignored_ops += 1;
        self.shown.returned += 1;
        self.unread.push(op, reason, false);
        DecodedEvent::Returned { slot, op: None }
    }

    /// Records that an operation may have happened whose invocation does not record what it changed, and whose
    /// completion does not either.
    fn keep_hidden(&mut self, in_flight: &InFlight<O>) {
        self.hidden.keep(in_flight.hidden, in_flight.hidden_part);
    }

    /// The index of the invocation of the last op, if only this op records what its operation changed. A violation that
    /// was found before this op may be wrong: see [`Decoder::doubt_since`].
    pub fn recorded_late(&self) -> Option<u64> {
        self.recorded_late
    }

    /// Records that no violation is certain that was found since this invocation.
    pub fn doubt_since(&mut self, invoked: u64) {
        self.hidden.doubt_since(invoked);
    }

    /// The index of the first invocation that does not record what it changed, of an operation that may have happened.
    ///
    /// The operation takes effect after its invocation. So if no order explains the ops that returned before, that is
    /// certain; no other violation is.
    pub fn first_hidden(&self) -> Option<u64> {
        earliest(self.hidden.first(), self.hidden_in_flight(|_| true))
    }

    /// The same, without the operations that are known to change only other parts of the object than this one.
    pub fn first_hidden_of(&self, part: u64) -> Option<u64> {
        earliest(self.hidden.first_of(part), self.hidden_in_flight(|hidden| hidden == part))
    }

    /// The first of these in flight, without those that change only one part, unless `is_of` returns true for it.
    fn hidden_in_flight(&self, is_of: impl Fn(u64) -> bool) -> Option<u64> {
        if self.hidden_in_flight == 0 {
            return None;
        }
        let concerned = self.in_flight().filter(|in_flight| in_flight.hidden_part.is_none_or(&is_of));
        concerned.filter_map(|in_flight| in_flight.hidden).min()
    }

    fn in_flight(&self) -> impl Iterator<Item = &InFlight<O>> {
        self.open.iter().flatten()
    }

    /// The position of the first operation that cannot be decoded and may have happened, with the reason: then no
    /// history can be valid.
    pub fn undecoded(&self) -> Option<&str> {
        let in_flight = self.in_flight().filter_map(|in_flight| in_flight.fault.as_deref());
        in_flight.chain(&self.fault).min_by_key(|fault| fault.index).map(|fault| fault.place.as_str())
    }

    /// The note on a violation that was certain before [`Decoder::first_hidden`].
    pub fn note_on_earlier<S: Spec<Op = O>>(&self, model: &S) -> Option<String> {
        let first = self.first_hidden()?;
        let in_flight = self.in_flight().filter_map(|in_flight| in_flight.fault.as_deref());
        let fault = in_flight.chain(&self.fault).find(|fault| fault.index == first);
        let place = fault.map_or_else(|| self.place(first), |fault| fault.place.clone());
        let mut parts: Vec<u64> = self.hidden.parts().collect();
        parts.extend(self.in_flight().filter_map(|in_flight| in_flight.hidden_part));
        parts.sort_unstable();
        parts.dedup();
        Some(match (earliest(self.hidden.anywhere(), self.hidden_in_flight(|_| false)), &parts[..]) {
            (None, [part]) => {
                format!("Of {}, the verdict covers only the ops before {place}", model.describe_part(*part))
            }
            (None, parts) => format!(
                "Of {} parts such as {}, the verdict covers only the first ops, because of {place}",
                parts.len(),
                model.describe_part(parts[0])
            ),
            (Some(_), _) => format!("The verdict covers only the ops before {place}"),
        })
    }

    /// Describes the position of an op that does not record what it changed.
    fn place(&self, index: u64) -> String {
        hidden_place(index, self.hidden.is_doubted(index))
    }

    /// Replaces a verdict by unknown if some operation may have happened and does not record what it changed.
    pub fn doubt(&self, report: &mut Report) {
        let Some(first) = self.first_hidden() else { return };
        let place = self.undecoded().map_or_else(|| self.place(first), str::to_owned);
        report.verdict = Verdict::Unknown;
        report.anomalies.clear();
        report.take_figures();
        report.notes.push(format!("No verdict, because of {place}"));
        report.add_next(NextStep::correct_op(&place));
    }

    /// Completes the report on a history: a valid verdict becomes unknown if no result showed anything that could have
    /// been wrong.
    pub fn conclude<S: Spec<Op = O>>(&self, report: &mut Report) {
        let Shown { something, absence, early_nil, late_nil, early_unknown, filling, .. } = self.shown;
        let observed = something + if filling > 0 { absence + early_nil } else { 0 };
        if let Some(fault) = self.ignored.as_ref().filter(|_| self.ignored_ops == self.ops) {
            // All ops are ops of another workload.
            report.verdict = Verdict::Unknown;
            report.notes.push(format!("No verdict, because of {}", fault.place));
            report.add_next(NextStep::correct_op(&fault.place));
            return self.coverage.add_counts(report);
        }
        self.unread.conclude(report);
        let mut coverage = self.coverage.clone();
        coverage.add_understood(self.ops - self.ignored_ops, observed);
        coverage.conclude(&Expected { ops: S::OPS, observation: S::SHOWN }, report);
        self.keys.conclude(report);
        if report.verdict == Verdict::Invalid {
            return;
        }
        if self.shown.returned > 0 && observed + filling == 0 && !self.shown.has_value {
            report.notes.push("No op has a value: values must be in the field :value.".into());
        } else if something + absence == 0 && late_nil > 0 {
            let nils = early_nil + late_nil + early_unknown;
            report.notes.push(format!(
                "All results ({nils}) are nil, which shows nothing about earlier writes: values must be in the field \
                 :value."
            ));
        } else if late_nil > 0 {
            let what = match late_nil {
                1 => "1 ok result is nil or contains nil, of an operation that began after a write had returned"
                    .to_owned(),
                nils => format!(
                    "{nils} ok results are nil or contain nil, of operations that began after a write had returned"
                ),
            };
            report.notes.push(format!(
                "{what}. Nil means that a result is unknown, so it was compared with nothing. If nil means that the \
                 object was empty, record another value for that, and pass it to --initial."
            ));
        }
    }

    /// Removes the operations in flight, by slot, with the possible effect of each.
    pub fn take_in_flight(&mut self) -> impl Iterator<Item = (usize, O)> {
        let open = std::mem::take(&mut self.open);
        for in_flight in open.iter().flatten() {
            self.keep_hidden(in_flight);
            Fault::keep_first(&mut self.fault, in_flight.fault.clone());
        }
        self.hidden_in_flight = 0;
        let open = open.into_iter().enumerate();
        open.filter_map(|(slot, in_flight)| Some((slot, in_flight?.op?)))
    }
}

impl Fault {
    #[cold]
    fn new(op: &Op<'_>, reason: &str) -> Fault {
        Fault { index: op.index, place: format!("the op at {}: {reason}.", op.place()) }
    }

    fn keep_first(kept: &mut Option<Fault>, other: Option<Box<Fault>>) {
        if let Some(other) = other
            && kept.as_ref().is_none_or(|kept| other.index < kept.index)
        {
            *kept = Some(*other);
        }
    }
}

impl Shown {
    fn take<O>(&mut self, shows: Shows, of: &InFlight<O>) {
        self.returned += 1;
        self.is_filled |= of.fills;
        match shows {
            Shows::Nothing => {}
            Shows::Nil | Shows::Unknown if of.is_late => self.late_nil += 1,
            Shows::Nil => self.early_nil += 1,
            Shows::Unknown => self.early_unknown += 1,
            Shows::Absence => self.absence += 1,
            Shows::Something => self.something += 1,
            Shows::Part => {
                self.something += 1;
                self.late_nil += u64::from(of.is_late);
            }
        }
    }
}

const ELSEWHERE: &str = "the completion reads or writes other keys than its invocation, or in another order";

/// Returns true if the places of a completion are not among those of the invocation, in the same order.
fn is_elsewhere(invoked: Option<&[(i64, bool)]>, completed: Option<&[(i64, bool)]>) -> bool {
    let (Some(invoked), Some(completed)) = (invoked, completed) else { return false };
    let mut left = invoked.iter();
    !completed.iter().all(|place| left.any(|other| other == place))
}

#[cold]
fn contradiction<S: Spec>(model: &S, invoked: Option<&S::Op>, done: Option<&S::Op>) -> String {
    let said = |op: Option<&S::Op>| op.map_or("no change".into(), |op| model.datum(op).to_string());
    format!("the completion contradicts its invocation: {} was invoked, {} completed", said(invoked), said(done))
}
