//! From recorded ops to what happens to operations of an object.

use crate::engine::ids;
use crate::models::{Shows, Spec};
use history_core::{Coverage, Expected, FunctionsInFlight, NextStep, Op, OpKind, Pair, Report, UnreadKeys, Verdict};

/// Reads the ops of clients one after another, each with what its invocation said.
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
    /// What they all show.
    shown: Shown,
    /// How many of those in flight do not say what they may change.
    hidden_in_flight: usize,
    /// The index of the first such invocation that got no answer that says it, but may have happened.
    hidden: Option<u64>,
}

/// How many answers show what.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    returned: u64,
    something: u64,
    absence: u64,
    /// Nil, of operations that began when nothing that fills the object had returned, and of the others.
    early_nil: u64,
    late_nil: u64,
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
    /// Its index, if it does not say what it may change.
    hidden: Option<u64>,
    fills: bool,
    /// Whether one that fills the object had returned by then.
    is_late: bool,
}

/// What happens to an operation. Its slot is that of its ops: see [`Pair`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DecodedEvent<'d, O> {
    /// It is called.
    Called {
        /// Unique among those in flight.
        slot: usize,
        /// What it does, as one that may have any result; `None` if that says nothing.
        op: Option<&'d O>,
    },
    /// It returned.
    Returned {
        /// That of its call.
        slot: usize,
        /// What it did; `None` if it does not matter.
        op: Option<O>,
    },
    /// It did not happen.
    Failed {
        /// That of its call.
        slot: usize,
    },
    /// It may have happened, and may yet.
    Crashed {
        /// That of its call.
        slot: usize,
        /// What it then does.
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
            hidden: None,
        }
    }
}

impl<O> Decoder<O> {
    /// What an op of a client says.
    ///
    /// # Errors
    ///
    /// Why nothing can be said of what follows this op. What its invocation said stays in flight.
    pub fn decode<S: Spec<Op = O>>(&mut self, model: &mut S, op: &Op<'_>) -> Result<DecodedEvent<'_, O>, String> {
        self.shown.has_value |= !op.value.is_nil();
        self.functions.see(op)?;
        if !S::READS_KEY {
            self.keys.see(op);
        }
        match op.pair {
            Pair::Invokes { slot } => {
                let slot = ids::index(slot);
                let decoded = model.decode(op, None)?;
                let fills = decoded.as_ref().is_some_and(|op| model.fills(op));
                self.shown.filling += u64::from(fills);
                if slot >= self.open.len() {
                    self.open.resize_with(slot + 1, || None);
                }
                let hidden = (decoded.is_none() && model.hides(op)).then_some(op.index);
                self.hidden_in_flight += usize::from(hidden.is_some());
                let is_late = self.shown.is_filled;
                let places = model.places(op);
                let in_flight = self.open[slot].insert(InFlight { op: decoded, places, hidden, fills, is_late });
                Ok(DecodedEvent::Called { slot, op: in_flight.op.as_ref() })
            }
            Pair::Completes { slot, .. } => self.complete(model, op, ids::index(slot)),
            Pair::Alone if op.kind == OpKind::Invoke => {
                Err("the op has no process, so its completion is unknown".into())
            }
            Pair::Alone => Err("the completion has no invocation, so when the operation began is unknown".into()),
        }
    }

    fn complete<S: Spec<Op = O>>(
        &mut self,
        model: &mut S,
        op: &Op<'_>,
        slot: usize,
    ) -> Result<DecodedEvent<'_, O>, String> {
        let Some(in_flight) = self.open.get_mut(slot).and_then(Option::take) else {
            return Err("the completion has no invocation".into());
        };
        let invoked = in_flight.op.as_ref();
        self.hidden_in_flight -= usize::from(in_flight.hidden.is_some());
        let stays_hidden = op.kind != OpKind::Fail && (op.kind != OpKind::Ok || op.value.is_nil());
        if let Some(index) = in_flight.hidden.filter(|_| stays_hidden) {
            self.hidden = Some(self.hidden.map_or(index, |first| first.min(index)));
        }
        Ok(match op.kind {
            OpKind::Fail => {
                self.shown.filling -= u64::from(in_flight.fills);
                DecodedEvent::Failed { slot }
            }
            // What an `info` says in the place of a value is mostly why it failed.
            OpKind::Info | OpKind::Invoke => DecodedEvent::Crashed { slot, op: in_flight.op },
            OpKind::Ok => {
                let reason = match model.decode(op, invoked) {
                    Ok(done) if S::contradicts(invoked, done.as_ref()) => contradiction(model, invoked, done.as_ref()),
                    Ok(_) if is_elsewhere(in_flight.places.as_deref(), model.places(op).as_deref()) => ELSEWHERE.into(),
                    Ok(done) => {
                        self.shown.take(model.shows(op, done.as_ref()), &in_flight);
                        return Ok(DecodedEvent::Returned { slot, op: done });
                    }
                    Err(reason) => reason,
                };
                // What was invoked is in flight up to here, and may have happened.
                self.hidden_in_flight += usize::from(in_flight.hidden.is_some());
                self.open[slot] = Some(in_flight);
                return Err(reason);
            }
        })
    }

    /// Whether some operation that may have happened does not say what it changed: then no violation is certain. O(1).
    pub fn has_hidden(&self) -> bool {
        self.hidden_in_flight > 0 || self.hidden.is_some()
    }

    /// Withdraws an invalid verdict where some operation that may have happened does not say what it changed.
    pub fn doubt(&self, report: &mut Report) {
        let in_flight = self.open.iter().flatten().filter_map(|in_flight| in_flight.hidden);
        let Some(first) = in_flight.chain(self.hidden).min().filter(|_| report.verdict == Verdict::Invalid) else {
            return;
        };
        let place = format!("the op at index {first}");
        report.verdict = Verdict::Unknown;
        report.anomalies.clear();
        report.take_figures();
        report.notes.push(format!(
            "No verdict, because of {place}: it may have happened, and neither its invocation nor its completion records what it did."
        ));
        report.add_next(NextStep::correct_op(&place));
    }

    /// Ends the report on a history of so many operations: a valid verdict is unknown if no answer showed anything that
    /// could have been wrong.
    pub fn conclude<S: Spec<Op = O>>(&self, operations: u64, report: &mut Report) {
        let Shown { something, absence, early_nil, late_nil, filling, .. } = self.shown;
        let observed = something + if filling > 0 { absence + early_nil } else { 0 };
        let coverage = Coverage::of_counts(operations, observed);
        coverage.conclude(&Expected { ops: S::OPS, observation: S::SHOWN }, report);
        self.keys.conclude(report);
        if report.verdict == Verdict::Invalid {
            return;
        }
        if self.shown.returned > 0 && observed + filling == 0 && !self.shown.has_value {
            report.notes.push("No op has a value: values must be in the field :value.".into());
        } else if something + absence == 0 && late_nil > 0 {
            let nils = early_nil + late_nil;
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

    /// Takes out the operations that are in flight, by slot, and what each may do.
    pub fn take_in_flight(&mut self) -> impl Iterator<Item = (usize, O)> {
        let open = std::mem::take(&mut self.open);
        self.hidden = open.iter().flatten().filter_map(|in_flight| in_flight.hidden).chain(self.hidden).min();
        self.hidden_in_flight = 0;
        let open = open.into_iter().enumerate();
        open.filter_map(|(slot, in_flight)| Some((slot, in_flight?.op?)))
    }
}

impl Shown {
    fn take<O>(&mut self, shows: Shows, of: &InFlight<O>) {
        self.returned += 1;
        self.is_filled |= of.fills;
        match shows {
            Shows::Nothing => {}
            Shows::Nil if of.is_late => self.late_nil += 1,
            Shows::Nil => self.early_nil += 1,
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

/// Whether some place of a completion is not in its turn among those of the invocation.
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
