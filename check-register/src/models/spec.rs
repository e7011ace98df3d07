//! Models that can read recorded ops.

use crate::Model;
use history_core::{Datum, Op, Parts, Value};

/// A model of an object that a history was recorded of.
///
/// Each operation is decoded twice: when it is invoked, as one that may have any result; and when it completes, with
/// its result. A `fail` means that it did not happen, so none is decoded; what the value of an `info` says is why the
/// outcome is unknown, so its operation is that of its invocation. A completion without a value has its invocation's.
pub trait Spec: Model + Send {
    /// The checker's name: `"cas-register"`.
    const NAME: &'static str;

    /// What it decides, in one line.
    const SUMMARY: &'static str;

    /// The ops it knows, for messages: `":read value, :write value"`.
    const OPS: &'static str;

    /// The ops that show something ([`Spec::shows`]), for messages, behind "no": `"ok :read of a value"`.
    const SHOWN: &'static str;

    /// What `--initial` may be, for messages.
    const INITIAL: &'static str;

    /// What one part of a history needs from the others, for whoever makes histories smaller.
    const PARTS: Parts = Parts::Unknown;

    /// Whether [`decode`](Spec::decode) looks at an op's field `key`.
    const READS_KEY: bool = false;

    /// What a refusal rests on besides the history, if a user may not be aware of it: one sentence.
    fn assumes(&self) -> Option<String> {
        None
    }

    /// Sets the state at the start.
    ///
    /// # Errors
    ///
    /// What is wrong with the value.
    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String>;

    /// What an op does. `invoked` is what its invocation was decoded to, `None` for an invocation.
    ///
    /// The result is `None` if the op, as far as it is known, says nothing and changes nothing: an invocation of a
    /// read; a read whose result is not known.
    ///
    /// # Errors
    ///
    /// Why it is none of this object's ops.
    fn decode(&mut self, op: &Op<'_>, invoked: Option<&Self::Op>) -> Result<Option<Self::Op>, String>;

    /// Whether an invocation, which was decoded to `None`, does not say whether it changes anything. If such an
    /// operation may have happened and nothing else says what it did, no violation is certain.
    fn hides(&self, _invocation: &Op<'_>) -> bool {
        false
    }

    /// Whether an `ok` op of this function changes nothing, whatever its result is. If that cannot be decoded, the op is
    /// ignored, and only a violation of the others is certain.
    fn only_reads(&self, _op: &Op<'_>) -> bool {
        false
    }

    /// The places that an op accesses, in order, and whether it changes them, if it says so and
    /// [`decode`](Spec::decode) leaves out those whose result is not known yet. A completion may give results of what
    /// its invocation asked for, and of nothing else: its accesses must be among those of its invocation, in the same
    /// order.
    fn places(&mut self, _op: &Op<'_>) -> Option<Vec<(i64, bool)>> {
        None
    }

    /// Whether a completion says something else than its invocation about what the operation changes, or where. `None`
    /// is as in [`decode`](Spec::decode). Only results may be new in a completion: what an operation in flight may do
    /// must be known when it is invoked, or a later op could take a violation back.
    fn contradicts(invoked: Option<&Self::Op>, done: Option<&Self::Op>) -> bool;

    /// What the answer of an `ok` op shows, which was decoded to `done`. A history in which no answer shows anything
    /// says nothing.
    fn shows(&self, op: &Op<'_>, done: Option<&Self::Op>) -> Shows;

    /// Whether an operation, as its invocation was decoded, leaves something that an answer may show.
    fn fills(&self, op: &Self::Op) -> bool;

    /// An operation as a history would have it: `[:write 3]`.
    fn datum(&self, op: &Self::Op) -> Datum;
}

/// What an answer shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Shows {
    /// Nothing: whatever the object holds, this was right.
    Nothing,
    /// Nil in the place of a value, which is right whatever the object holds. It shows that nothing was there yet if
    /// the operation began before one that [fills](Spec::fills) the object returned; and nothing else.
    Nil,
    /// That nothing was there, which could be wrong if some operation fills the object.
    Absence,
    /// What was there.
    Something,
    /// What was there of some parts of the object, and nil in the place of others.
    Part,
}

/// What is wrong with an op that is not one of `S`'s.
#[cold]
pub(super) fn unknown_op<S: Spec>(op: &Op<'_>) -> String {
    match op.f {
        Some(f) => format!("{} has no operation :{f}; expected {}", S::NAME, S::OPS),
        None => format!("the op has no :f: {} expects {}", S::NAME, S::OPS),
    }
}

/// What is wrong with the value of an op.
#[cold]
pub(super) fn bad_value(op: &Op<'_>, expected: &str) -> String {
    format!("the value of :{} is {}; expected {expected}", op.f.unwrap_or("?"), op.value)
}

/// An operation of this function and value.
pub(super) fn call(f: &str, value: Datum) -> Datum {
    Datum::Vector(vec![Datum::keyword(f), value])
}
