//! Models that can read recorded ops.

use crate::Model;
use history_core::{Datum, Op, Parts, Value};

/// A model of an object that a history was recorded of.
///
/// Each operation is decoded twice: when it is invoked, as one that may have any result; and when it completes, with
/// its result. A `fail` means that it did not happen, so it is not decoded; the value of an `info` is the reason why
/// the outcome is unknown, so its operation is that of its invocation. A completion without a value has its
/// invocation's.
pub trait Spec: Model + Send {
    /// The checker's name: `"cas-register"`.
    const NAME: &'static str;

    /// A description of what it decides, in one line.
    const SUMMARY: &'static str;

    /// The supported ops, for messages: `":read value, :write value"`.
    const OPS: &'static str;

    /// The ops whose results can be checked ([`Spec::shows`]), as a phrase for messages that follows "no":
    /// `"ok :read of a value"`.
    const SHOWN: &'static str;

    /// The valid values of `--initial`, for messages.
    const INITIAL: &'static str;

    /// What one part of a history needs from the others, for `minimize`.
    const PARTS: Parts = Parts::Unknown;

    /// Whether [`decode`](Spec::decode) uses an op's field `key`.
    const READS_KEY: bool = false;

    /// An assumption of a refusal that a user may not be aware of: one sentence.
    fn assumes(&self) -> Option<String> {
        None
    }

    /// Sets the state at the start.
    ///
    /// # Errors
    ///
    /// What is wrong with the value.
    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String>;

    /// The operation of an op. `invoked` is the decoded invocation, `None` for an invocation.
    ///
    /// The result is `None` if the op, as far as it is known, has no effect and no result: an invocation of a read; a
    /// read whose result is unknown.
    ///
    /// # Errors
    ///
    /// Why it is not an op of this object.
    fn decode(&mut self, op: &Op<'_>, invoked: Option<&Self::Op>) -> Result<Option<Self::Op>, String>;

    /// Whether an invocation leaves open what it changes, so that its `ok` completion may record any change.
    ///
    /// If it was decoded to an operation, that is what an `ok` completion without a value means. If the operation
    /// crashed, or was decoded to `None` and its `ok` has no value, it may have changed anything, and no later
    /// violation is certain.
    fn hides(&self, _invocation: &Op<'_>) -> bool {
        false
    }

    /// The part of the object that an operation changes at most whose invocation leaves open what it changes, or cannot
    /// be decoded. `None` if that is unknown. Violations of other parts are certain.
    fn hidden_part(&mut self, _invocation: &Op<'_>) -> Option<u64> {
        None
    }

    /// Whether an `ok` op of this function changes nothing, whatever its result is. If that cannot be decoded, the op
    /// is ignored, and only a violation of the others is certain.
    fn only_reads(&self, _op: &Op<'_>) -> bool {
        false
    }

    /// The places that an op accesses, in order, and whether it changes them, if it states so and
    /// [`decode`](Spec::decode) omits those whose result is unknown so far. A completion may contain results of what
    /// its invocation requested, and of nothing else: its accesses must be among those of its invocation, in the same
    /// order.
    fn places(&mut self, _op: &Op<'_>) -> Option<Vec<(i64, bool)>> {
        None
    }

    /// Whether a completion contradicts its invocation about what the operation changes, or where. `None` is as in
    /// [`decode`](Spec::decode). Only results may be new in a completion: the possible effects of an operation in
    /// flight must be known when it is invoked, or a later op could revoke a violation.
    fn contradicts(invoked: Option<&Self::Op>, done: Option<&Self::Op>) -> bool;

    /// What the result of an `ok` op shows, which was decoded to `done`. A history in which no result shows anything
    /// has no evidence.
    fn shows(&self, op: &Op<'_>, done: Option<&Self::Op>) -> Shows;

    /// Whether an operation, as its invocation was decoded, stores something that a result may show.
    fn fills(&self, op: &Self::Op) -> bool;

    /// An operation as a history would have it: `[:write 3]`.
    fn datum(&self, op: &Self::Op) -> Datum;
}

/// What a result shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Shows {
    /// Nothing: whatever the state of the object, this was right.
    Nothing,
    /// Nil instead of a value, which is right whatever the state of the object. It shows that the object was still
    /// empty if the operation began before one that [fills](Spec::fills) the object returned; and nothing else.
    Nil,
    /// Nil instead of a value, where the object never begins empty.
    Unknown,
    /// That the object was empty, which could be wrong if some operation fills the object.
    Absence,
    /// What was there.
    Something,
    /// The values of some parts of the object, and nil for others.
    Part,
}

/// The error for an op that is not one of `S`'s.
#[cold]
pub(super) fn unknown_op<S: Spec>(op: &Op<'_>) -> String {
    match op.f {
        Some(f) => format!("{} has no operation :{f}; expected {}", S::NAME, S::OPS),
        None => format!("the op has no :f: {} expects {}", S::NAME, S::OPS),
    }
}

/// The error for the value of an op.
#[cold]
pub(super) fn bad_value(op: &Op<'_>, expected: &str) -> String {
    format!("the value of :{} is {}; expected {expected}", op.f.unwrap_or("?"), op.value)
}

/// An operation of this function and value.
pub(super) fn call(f: &str, value: Datum) -> Datum {
    Datum::Vector(vec![Datum::keyword(f), value])
}
