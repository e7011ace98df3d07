//! A history of independent keys: one run of a checker for each, and one verdict on all.
//!
//! Jepsen's `independent` tests exercise many objects at once, each op on one of them: its value is a pair
//! `[key value]`, or it has a field `:key`. A history is linearizable if and only if the part of each object is
//! (Herlihy and Wing, "Linearizability", TOPLAS 1990, theorem 1: locality), and checking small parts is much faster
//! than checking the whole. Serializability and similar levels are *not* local: the parts show no anomalies across
//! keys.
//!
//! The first invocation of a client determines which of the two forms of keys the history uses. The key of a completion
//! is that of its invocation. A pair that contradicts this, and an invocation without a key, end the history: the
//! verdict is unknown, unless some key is already invalid.
//!
//! Splitting changes only the value of an op. Slots stay valid, so each run can use them as for a whole history.

mod auto;
mod finish;
mod keys;
mod merge;
pub mod parts;

pub use auto::{Decision, KeyedAuto};

use super::branch::End;
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::{Budget, Checker, Op, OpKind, OptionError, Options, Pair, Participants, Report, Run, Value};
use keys::{KeyId, Keys};
use merge::Merged;
use std::fmt;
use std::ops::ControlFlow;

/// How ops state their key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `:value [key value]`, perhaps with a tag. The checker sees the value alone.
    Pair,
    /// `:key key`. The checker sees the op as it is.
    Field,
}

impl Form {
    /// The form of a history, from its first op of a client.
    pub fn of(op: &Op<'_>) -> Form {
        if field(op).is_some() { Form::Field } else { Form::Pair }
    }

    /// The key of an op, and the value without it.
    #[inline]
    pub fn written<'a>(self, op: &Op<'a>) -> Option<(Value<'a>, Value<'a>)> {
        match self {
            Form::Pair => op.value.as_pair(),
            Form::Field => field(op).map(|key| (key, op.value)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Form::Pair => "a value of the form [key value]",
            Form::Field => "a field :key",
        }
    }
}

fn field<'a>(op: &Op<'a>) -> Option<Value<'a>> {
    op.extra.get("key").filter(|key| !key.is_nil())
}

/// Checks each key of a history separately, with any checker.
///
/// The report is the checker's. Its verdict combines those on all keys ([`Verdict::and`](crate::Verdict::and)), except
/// keys of which nothing was observed ([`Coverage`](crate::Coverage)), unless nothing was observed of any key.
/// [`Report::keys`] has the keys that are not valid (all, if there are few), and witnesses name their key. A deadline
/// and a cancellation apply to all keys together, limits on states and bytes to each. Ops of processes that are not
/// clients belong to no key and are ignored.
///
/// O(1) per op in addition to the checker. Memory: that of the checker, for each key.
///
/// ```
/// use history_core::{
///     Budget, Checker, HistoryError, Keyed, Op, OptionError, OptionSpec, Options, Reader, Report, Run, Verdict,
/// };
/// use std::ops::ControlFlow;
///
/// /// Says that values never fall.
/// struct Rising;
/// struct Seen(i64, bool);
///
/// impl Checker for Rising {
///     # fn name(&self) -> &str { "rising" }
///     # fn summary(&self) -> &str { "Values never fall." }
///     # fn options(&self) -> &[OptionSpec] { &[] }
///     fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
///         Ok(Box::new(Seen(0, true)))
///     }
/// }
/// impl Run for Seen {
///     fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
///         let value = op.value.as_int().unwrap_or(self.0);
///         *self = Seen(value, self.1 && value >= self.0);
///         Ok(ControlFlow::Continue(()))
///     }
///     fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
///         Ok(Report::new("rising", if self.1 { Verdict::Valid } else { Verdict::Invalid }))
///     }
/// }
///
/// let text = "
///     {:process 0, :type :invoke, :f :w, :value [:x 5]} {:process 0, :type :ok, :f :w, :value [:x 5]}
///     {:process 0, :type :invoke, :f :w, :value [:y 2]} {:process 0, :type :ok, :f :w, :value [:y 1]}
/// ";
/// let run = Keyed::start(&Rising, &Options::new()).unwrap();
/// let report = history_core::check(Box::new(run), &mut Reader::new(text.as_bytes()), &Budget::default())?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// let verdicts: Vec<_> = report.keys.iter().map(|key| (key.key.to_string(), key.verdict)).collect();
/// assert_eq!(verdicts, [(":x".into(), Verdict::Valid), (":y".into(), Verdict::Invalid)]);
/// # Ok::<(), HistoryError>(())
/// ```
pub struct Keyed<'c> {
    checker: &'c dyn Checker,
    options: Options,
    placing: Placing,
    /// The run of each key.
    runs: Vec<KeyRun>,
    ops: u64,
    participants: Participants,
    /// The first key whose history was invalid before its end.
    violated: Option<KeyId>,
    /// The reason why the verdict cannot be `true` any more, for the first key with such a reason.
    doubt: Option<String>,
    /// The first op whose key cannot be determined, and the reason.
    trouble: Option<String>,
    /// Whether the keys were detected, not requested by the user. Then an op in `trouble` shows that the history may
    /// have no keys.
    guessed: bool,
    /// Set if the history is still being written: see [`Checker::start_online`].
    online: Option<Online>,
    /// The limit of the work of an op.
    budget: Budget,
}

/// The online properties of a run of one key.
struct Online {
    decides_early: bool,
    growth: Option<String>,
}

impl fmt::Debug for Keyed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.runs.len();
        f.debug_struct("Keyed").field("form", &self.placing.form).field("keys", &keys).finish_non_exhaustive()
    }
}

/// The keys of the ops so far, and the state that determines the key of the next op.
#[derive(Default)]
struct Placing {
    form: Option<Form>,
    keys: Keys,
    /// The key of the op in flight in each slot.
    in_flight: Vec<KeyId>,
}

struct KeyRun {
    run: Box<dyn Run>,
    /// The index of the key's first op.
    first: u64,
    /// Whether the key's verdict can no longer change.
    settled: bool,
}

/// Why the key of an op cannot be determined.
enum Unplaced {
    Because(String),
    Error(HistoryError),
}

impl From<HistoryError> for Unplaced {
    fn from(error: HistoryError) -> Unplaced {
        Unplaced::Error(error)
    }
}

impl Placing {
    /// Returns the key of an op, and the value that the checker receives.
    fn place<'a>(&mut self, op: &Op<'a>) -> Result<(KeyId, Value<'a>), Unplaced> {
        let form = *self.form.get_or_insert_with(|| Form::of(op));
        let written = form.written(op);
        let invoked = match op.pair {
            Pair::Completes { slot, .. } => self.in_flight.get(slot.to_usize()).copied(),
            _ => None,
        };
        let went_wrong = matches!(op.kind, OpKind::Fail | OpKind::Info);
        match (written, invoked) {
            (Some((key, value)), None) => Ok((self.keys.id(key)?, value)),
            (Some((key, value)), Some(invoked)) if self.keys.find(key) == Some(invoked) => Ok((invoked, value)),
            (None, Some(invoked)) if form == Form::Field || op.value.is_nil() => Ok((invoked, op.value)),
            // The value of a failed or crashed op may be an error message, whatever its form; it is not compared.
            (_, Some(invoked)) if went_wrong => Ok((invoked, Value::Nil)),
            (Some((key, _)), Some(invoked)) => Err(Unplaced::Because(format!(
                "the completion has the key {}, its invocation the key {}",
                keys::shown(&key.to_datum()),
                keys::shown(self.keys.datum(invoked))
            ))),
            (None, _) => Err(Unplaced::Because(format!("the op has no key; expected {}", form.name()))),
        }
    }

    /// Stores the key of an invocation.
    #[inline]
    fn invoke(&mut self, op: &Op<'_>, key: KeyId) {
        if let Pair::Invokes { slot } = op.pair {
            let slot = slot.to_usize();
            if slot >= self.in_flight.len() {
                self.in_flight.resize(slot + 1, key);
            }
            self.in_flight[slot] = key;
        }
    }
}

/// Why the key of an op cannot be determined, as a phrase for notes.
fn trouble(op: &Op<'_>, reason: &str) -> String {
    format!("the op at {}: {reason}.", op.place())
}

impl<'c> Keyed<'c> {
    /// Starts a run for a history whose ops all have keys.
    ///
    /// # Errors
    ///
    /// If the checker does not accept the value of an option.
    pub fn start(checker: &'c dyn Checker, options: &Options) -> Result<Keyed<'c>, OptionError> {
        checker.start(options)?;
        Ok(Keyed {
            checker,
            options: options.clone(),
            placing: Placing::default(),
            runs: Vec::new(),
            ops: 0,
            participants: Participants::new(),
            violated: None,
            doubt: None,
            trouble: None,
            guessed: false,
            online: None,
            budget: Budget::default(),
        })
    }

    /// The same for a history that is still being written: each key has a run of [`Checker::start_online`].
    ///
    /// # Errors
    ///
    /// As [`Keyed::start`].
    pub fn start_online(checker: &'c dyn Checker, options: &Options) -> Result<Keyed<'c>, OptionError> {
        let run = checker.start_online(options)?;
        let growth = run.growth().map(|growth| format!("For each key: {growth}"));
        let online = Some(Online { decides_early: run.decides_early(), growth });
        Ok(Keyed { online, ..Keyed::start(checker, options)? })
    }

    fn new_run(&self) -> Result<Box<dyn Run>, HistoryError> {
        let run = match self.online {
            Some(_) => self.checker.start_online(&self.options),
            None => self.checker.start(&self.options),
        };
        // The checker started a run with the same options before, so an error here is unexpected.
        let mut run = run.map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))?;
        run.limit(&self.budget);
        Ok(run)
    }

    /// Returns true if the history was assumed to have keys, and may have none.
    fn has_no_keys(&self) -> bool {
        self.guessed && self.trouble.is_some()
    }
}

impl Run for Keyed<'_> {
    #[inline]
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if !self.participants.see(op) || self.trouble.is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        let (key, value) = match self.placing.place(op) {
            Ok(placed) => placed,
            Err(Unplaced::Error(error)) => return Err(error),
            Err(Unplaced::Because(reason)) => {
                self.trouble = Some(trouble(op, &reason));
                return Ok(ControlFlow::Break(()));
            }
        };
        self.ops += 1;
        if key.at() == self.runs.len() {
            let run = self.new_run()?;
            self.runs.push(KeyRun { run, first: op.index, settled: false });
        }
        self.placing.invoke(op, key);
        let run = &mut self.runs[key.at()];
        if !run.settled {
            let seen = run.run.observe(&Op { value, ..*op });
            run.settled = seen.map_err(|error| of_key(error, &self.placing.keys, key))?.is_break();
            if self.violated.is_none() && run.run.is_violated() {
                self.violated = Some(key);
            }
            if self.doubt.is_none() {
                self.doubt = run.run.doubt().map(|doubt| of_key_said(&doubt, &self.placing.keys, key));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn limit(&mut self, budget: &Budget) {
        self.budget = budget.clone();
    }

    fn is_violated(&self) -> bool {
        self.violated.is_some() && !self.has_no_keys()
    }

    fn decides_early(&self) -> bool {
        self.online.as_ref().is_some_and(|online| online.decides_early)
    }

    fn growth(&self) -> Option<String> {
        self.online.as_ref()?.growth.clone()
    }

    fn doubt(&self) -> Option<String> {
        self.doubt.clone().filter(|_| !self.has_no_keys())
    }

    fn violation(&self) -> Option<Report> {
        let key = self.violated.filter(|_| !self.has_no_keys())?;
        let mut merged = Merged::new(self.checker.name().to_owned(), 1);
        merged.add(self.placing.keys.datum(key), self.runs[key.at()].run.violation()?);
        Some(finish::resting(merged.into_report(), self.trouble.as_deref()))
    }

    fn finish_early(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        finish::finish(*self, budget, End::Early)
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        finish::finish(*self, budget, End::Whole)
    }
}

#[cold]
fn of_key(mut error: HistoryError, keys: &Keys, key: KeyId) -> HistoryError {
    error.message = of_key_said(&error.message, keys, key);
    error
}

#[cold]
fn of_key_said(what: &str, keys: &Keys, key: KeyId) -> String {
    format!("of key {}: {what}", keys::shown(keys.datum(key)))
}
