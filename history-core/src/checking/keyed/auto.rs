//! Finding out whether a history has keys, on its first ops.
//!
//! Nothing is buffered: until it is decided, a run on the whole and the runs by key both see the ops. An invocation
//! that can be no op on one key decides at once for the whole; many that can, and none that cannot, decide for keys.
//! What values look like is not a proof, though: should a later op have no key after all, the verdict is unknown, not
//! wrong.

use super::{Form, Keyed, field};
use crate::checking::branch::{Branch, End};
use crate::error::HistoryError;
use crate::{Batch, Budget, Checker, Op, OpKind, OptionError, Options, Report, Run, Value};
use std::fmt;
use std::ops::ControlFlow;

/// Invocations after which a history is taken to have keys.
const INVOCATIONS: u32 = 256;

/// What was found out about a history's keys. Displays as a sentence, for the user to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It has some: each is judged on its own.
    Keyed {
        /// How many invocations were looked at.
        invocations: u32,
        /// What they all have.
        form: &'static str,
    },
    /// It is judged as a whole.
    Whole {
        /// Why.
        because: String,
    },
}

impl std::fmt::Display for Decision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Decision::Keyed { invocations, form } => {
                write!(f, "each key is checked separately: all {invocations} invocations have {form}")
            }
            Decision::Whole { because } => write!(f, "the history is checked as a whole: {because}"),
        }
    }
}

/// As [`Keyed`] if the ops look as if they had keys; else the checker's own run.
pub struct KeyedAuto<'c> {
    keyed: Branch<'c>,
    whole: Branch<'c>,
    form: Option<Form>,
    invocations: u32,
    /// The name of the checker, if it separates the keys itself.
    separates_itself: Option<String>,
    /// Which of the two, once it is decided.
    decided: Option<Way>,
    announce: Box<dyn FnMut(&Decision) + Send + 'c>,
}

impl fmt::Debug for KeyedAuto<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedAuto")
            .field("invocations", &self.invocations)
            .field("decided", &self.decided)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Keyed,
    Whole,
}

impl<'c> KeyedAuto<'c> {
    /// Begins a history, and reports the decision when it is made.
    ///
    /// # Errors
    ///
    /// If an option's value makes no sense to the checker.
    pub fn start(
        checker: &'c dyn Checker,
        options: &Options,
        announce: impl FnMut(&Decision) + Send + 'c,
    ) -> Result<KeyedAuto<'c>, OptionError> {
        Ok(KeyedAuto::new(checker, checker.start(options)?, Keyed::start(checker, options)?, announce))
    }

    /// The same of a history that is still being written: see [`Checker::start_online`].
    ///
    /// # Errors
    ///
    /// As [`KeyedAuto::start`].
    pub fn start_online(
        checker: &'c dyn Checker,
        options: &Options,
        announce: impl FnMut(&Decision) + Send + 'c,
    ) -> Result<KeyedAuto<'c>, OptionError> {
        let (whole, keyed) = (checker.start_online(options)?, Keyed::start_online(checker, options)?);
        Ok(KeyedAuto::new(checker, whole, keyed, announce))
    }

    fn new(
        checker: &dyn Checker,
        whole: Box<dyn Run>,
        keyed: Keyed<'c>,
        announce: impl FnMut(&Decision) + Send + 'c,
    ) -> KeyedAuto<'c> {
        let about = checker.about();
        let separates_itself = about.is_keyed || about.members.iter().any(|(_, member)| member.is_keyed);
        KeyedAuto {
            separates_itself: separates_itself.then(|| checker.name().to_owned()),
            keyed: Branch::new(Box::new(Keyed { guessed: true, ..keyed })),
            whole: Branch::new(whole),
            form: None,
            invocations: 0,
            decided: None,
            announce: Box::new(announce),
        }
    }

    /// Looks at an op of a client. Why it cannot be one on a single key, if so.
    fn obstacle(&mut self, op: &Op<'_>) -> Option<String> {
        if let Some(checker) = &self.separates_itself {
            return Some(format!("{checker} separates the keys itself"));
        }
        let form = match (self.form, op.kind) {
            (Some(form), _) => form,
            (None, OpKind::Invoke) => *self.form.insert(Form::of(op)),
            // Without invocations a list that was read looks like a pair.
            (None, _) => return Some(format!("the op at {} has no invocation", op.place())),
        };
        self.invocations += u32::from(op.kind == OpKind::Invoke);
        let has_one = match (form, op.kind) {
            // It is of the key of its invocation, whatever its value is.
            (_, OpKind::Fail | OpKind::Info) | (Form::Field, OpKind::Ok) => true,
            (Form::Field, OpKind::Invoke) if field(op).is_some() && is_nested(op.value) => {
                let what = "may be a transaction, whose micro-operations have keys of their own";
                return Some(format!("the op at {} {what}; --keyed checks each key separately", op.place()));
            }
            (Form::Field, OpKind::Invoke) => field(op).is_some(),
            (Form::Pair, kind) => match op.value.as_pair() {
                Some((key, value)) => is_atom(key) && (!is_cas(op.f) || value.is_nil() || value.as_pair().is_some()),
                None => kind == OpKind::Ok && op.value.is_nil(),
            },
        };
        (!has_one).then(|| format!("the op at {} does not have exactly one key", op.place()))
    }

    /// The way that was decided on, once it is.
    fn taken(&self) -> Option<&Branch<'c>> {
        Some(match self.decided? {
            Way::Keyed => &self.keyed,
            Way::Whole => &self.whole,
        })
    }

    fn decide(&mut self, way: Way, because: impl FnOnce() -> String) {
        self.decided = Some(way);
        let form = self.form.unwrap_or(Form::Pair).name();
        (self.announce)(&match way {
            Way::Keyed => Decision::Keyed { invocations: self.invocations, form },
            Way::Whole => Decision::Whole { because: because() },
        });
    }
}

/// Keys of histories are numbers and names. What is first in a list of micro-ops is one of these.
fn is_atom(value: Value<'_>) -> bool {
    matches!(
        value,
        Value::Int(_)
            | Value::Big(_)
            | Value::Float(_)
            | Value::Str(_)
            | Value::Keyword(_)
            | Value::Symbol(_)
            | Value::Char(_)
    )
}

/// Whether this may be a list of micro-ops, which have keys of their own.
fn is_nested(value: Value<'_>) -> bool {
    let first = value.as_seq().and_then(|items| items.iter().next());
    first.is_some_and(|first| first.as_seq().is_some())
}

/// Whether the value of this function is itself a pair: what is expected, and what is to come.
fn is_cas(f: Option<&str>) -> bool {
    matches!(f, Some("cas" | "compare-and-set" | "compare-and-swap"))
}

impl Run for KeyedAuto<'_> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if self.decided.is_none() && op.process.is_client() {
            if let Some(because) = self.obstacle(op) {
                self.decide(Way::Whole, || because);
            } else if self.invocations >= INVOCATIONS {
                self.decide(Way::Keyed, String::new);
            }
        }
        match self.decided {
            Some(Way::Keyed) => self.keyed.observe(op),
            Some(Way::Whole) => self.whole.observe(op),
            None => {
                self.keyed.feed(op);
                self.whole.feed(op);
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    fn observe_batch(&mut self, batch: &Batch) -> Result<ControlFlow<()>, HistoryError> {
        match self.decided {
            Some(Way::Keyed) => self.keyed.observe_batch(batch),
            Some(Way::Whole) => self.whole.observe_batch(batch),
            None => batch.each(&mut |op| self.observe(op)),
        }
    }

    fn is_violated(&self) -> bool {
        self.taken().is_some_and(Branch::is_violated)
    }

    fn doubt(&self) -> Option<String> {
        self.taken()?.doubt()
    }

    fn violation(&self) -> Option<Report> {
        self.taken()?.violation()
    }

    fn finish_early(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.finish_at(budget, End::Early)
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.finish_at(budget, End::Whole)
    }
}

impl KeyedAuto<'_> {
    fn finish_at(mut self, budget: &Budget, end: End) -> Result<Report, HistoryError> {
        if self.decided.is_none() {
            let way = if self.invocations > 0 { Way::Keyed } else { Way::Whole };
            self.decide(way, || "nothing was invoked".into());
        }
        let KeyedAuto { keyed, whole, decided, .. } = self;
        let branch = if decided == Some(Way::Keyed) { keyed } else { whole };
        branch.finish(budget, end)
    }
}
