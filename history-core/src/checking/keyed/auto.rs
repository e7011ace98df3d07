//! Detection of keys in a history, from its first ops.
//!
//! No op is buffered: until the decision, both a run on the whole history and the runs per key receive the ops. An
//! invocation that cannot be an op on one key immediately decides for the whole; many that can, and none that cannot,
//! decide for keys. The form of values is no proof, however: if a later op has no key, the verdict is unknown, not
//! wrong.

use super::{Form, Keyed, field};
use crate::checking::branch::{Branch, End};
use crate::error::HistoryError;
use crate::{Batch, Budget, Checker, Op, OpKind, OptionError, Options, Report, Run, Value};
use std::fmt;
use std::ops::ControlFlow;

/// The number of invocations after which a history is assumed to have keys.
const INVOCATIONS: u32 = 256;

/// The decision on the keys of a history. It displays as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The history has keys: each is checked separately.
    Keyed {
        /// The number of invocations examined.
        invocations: u32,
        /// The form of their keys.
        form: &'static str,
    },
    /// The history is checked as a whole.
    Whole {
        /// The reason.
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

/// Behaves as [`Keyed`] if the ops seem to have keys; else as the checker's own run.
pub struct KeyedAuto<'c> {
    keyed: Branch<'c>,
    whole: Branch<'c>,
    form: Option<Form>,
    invocations: u32,
    /// The name of the checker, if it separates keys itself.
    separates_itself: Option<String>,
    /// The chosen way, once decided.
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
    /// Starts a run for one history, and reports the decision when it is made.
    ///
    /// # Errors
    ///
    /// If the checker does not accept the value of an option.
    pub fn start(
        checker: &'c dyn Checker,
        options: &Options,
        announce: impl FnMut(&Decision) + Send + 'c,
    ) -> Result<KeyedAuto<'c>, OptionError> {
        Ok(KeyedAuto::new(checker, checker.start(options)?, Keyed::start(checker, options)?, announce))
    }

    /// The same for a history that is still being written: see [`Checker::start_online`].
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

    /// Examines an op of a client. Returns why it cannot be an op on a single key, if so.
    fn obstacle(&mut self, op: &Op<'_>) -> Option<String> {
        if let Some(checker) = &self.separates_itself {
            return Some(format!("{checker} separates the keys itself"));
        }
        let form = match (self.form, op.kind) {
            (Some(form), _) => form,
            (None, OpKind::Invoke) => *self.form.insert(Form::of(op)),
            // Without its invocation, a list that was read has the same form as a pair.
            (None, _) => return Some(format!("the op at {} has no invocation", op.place())),
        };
        self.invocations += u32::from(op.kind == OpKind::Invoke);
        let has_one = match (form, op.kind) {
            // A completion has the key of its invocation, whatever its own value is.
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

    /// The chosen way, once decided.
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

/// Returns true if a value can be a key: a number or a name. The first item of a list of micro-ops is a list, so it
/// cannot.
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

/// Returns true if this may be a list of micro-ops, each of which has its own key.
fn is_nested(value: Value<'_>) -> bool {
    let first = value.as_seq().and_then(|items| items.iter().next());
    first.is_some_and(|first| first.as_seq().is_some())
}

/// Returns true if the value of this function is itself a pair: the expected value, and the new value.
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

    fn limit(&mut self, budget: &Budget) {
        self.keyed.limit(budget);
        self.whole.limit(budget);
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
