//! A model: what an object may do, one operation after another.

use crate::Settling;
use history_core::Budget;
use std::fmt::Debug;
use std::hash::Hash;

/// The sequential specification of an object.
///
/// It says what one operation after another may do. A history of concurrent operations is linearizable to it if each
/// operation can be given an instant between its call and its return so that, taken in the order of these instants, the
/// model admits them all: Herlihy and Wing, "Linearizability: A Correctness Condition for Concurrent Objects" (TOPLAS
/// 1990).
///
/// An operation is given with its result: `Op` is `Read(3)` rather than `Read`. What was never answered is given without
/// its result, as an operation that may have had any.
///
/// ```
/// use check_register::{Model, Operation, check};
/// use history_core::{Budget, Verdict};
///
/// /// A counter whose `increment` returns what it counted to.
/// struct Counter;
///
/// impl Model for Counter {
///     type State = u64;
///     type Op = u64;
///     type Next = Option<u64>;
///
///     fn init(&self) -> u64 {
///         0
///     }
///
///     fn step(&self, state: &u64, counted_to: &u64, _: &Budget) -> Option<u64> {
///         (state + 1 == *counted_to).then_some(state + 1)
///     }
/// }
///
/// // Two increments at one time that both counted to 1.
/// let lost = [Operation::new(0, 1, 0, 5), Operation::new(1, 1, 2, 6)];
/// assert_eq!(check(&Counter, &lost, &Budget::default()).verdict(), Verdict::Invalid);
/// ```
pub trait Model: Sync {
    /// What the object remembers. Equal states are those that behave alike.
    type State: Clone + Eq + Hash + Debug;

    /// An operation with its result.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;

    /// The states that an operation may lead to: an `Option` for most models, a `Vec` for those that may choose.
    type Next: IntoIterator<Item = Self::State>;

    /// The state at the start.
    fn init(&self) -> Self::State;

    /// The states that `op` may lead to from `state`; none if the object could not have answered so.
    ///
    /// A step that takes long should look at `budget.cancel` and at the deadline now and then ([`Budget::check`]), and
    /// return early when they say so: whatever it then returns is not used.
    fn step(&self, state: &Self::State, op: &Self::Op, budget: &Budget) -> Self::Next;

    /// Whether an operation never changes the state, whatever the state is. The search then need not try when it is best
    /// placed: the first instant that admits it is.
    fn reads_only(&self, op: &Self::Op) -> bool {
        let _ = op;
        false
    }

    /// What others must see of an operation for it to matter whether it happened, as a number; `None` if there is no such
    /// number. A crashed operation is left out of the search as soon as nobody can see it any more.
    ///
    /// For all operations of the same effect it must hold that, if none of those behind one in a linearization sees
    /// the effect, the model admits the others without it as well.
    fn effect(&self, op: &Self::Op) -> Option<u64> {
        let _ = op;
        None
    }

    /// Puts the effects that an operation may see into `effects`: see [`Model::effect`]. Returns whether it may see
    /// any effect whatever.
    fn sees(&self, op: &Self::Op, effects: &mut Vec<u64>) -> bool {
        let _ = (op, effects);
        true
    }

    /// The effect by number ([`Model::effect`]) without which no state that the object can come to admits the
    /// operation; `None` if there is none, or if [`Model::init`] has it. So an operation that found what nobody can
    /// have brought about is refused at once.
    fn needs(&self, op: &Self::Op) -> Option<u64> {
        let _ = op;
        None
    }

    /// Whether an operation's effect by number may still be seen after another operation has changed the state. A
    /// crashed operation whose effect does not last is tried only where an operation in flight may see it, and is not
    /// admitted without it. So `false` may also be said where the operation can be put off until just before the
    /// first one that sees it, like an add to a set.
    fn effect_lasts(&self, op: &Self::Op) -> bool {
        let _ = op;
        true
    }

    /// Whether `op` may see that `other` happened, which has no effect by number: as for [`Model::effect`], if none
    /// of those behind it in a linearization may see it, the model must admit them without it as well.
    fn may_see(&self, op: &Self::Op, other: &Self::Op) -> bool {
        let _ = (op, other);
        true
    }

    /// A state that stands for `state` with a crashed operation which may take effect at any time from now on, or
    /// never; `None` if the search should try where it may matter, which in the worst case takes time exponential in
    /// the number of such operations. Which it is depends on the operation alone.
    ///
    /// Operations that returned must find in such a state just what they could find if any of the pending operations
    /// had taken effect by then: [`Model::step`] gives the states (that again stand for others) that they may lead
    /// to. An operation of [`Model::reads_only`] may lead to another state there, if it shows that something took
    /// effect.
    ///
    /// Pending operations need not see each other: if one that is pending is seen by no operation that returned and
    /// by no crashed one that the search tries, it may be left out. [`Queue`](crate::models::Queue)s are an example.
    fn pend(&self, state: &Self::State, op: &Self::Op) -> Option<Self::State> {
        let _ = (state, op);
        None
    }

    /// The same for an operation that is called now and returns later: the state remembers it under the number
    /// `flight`, which no other one that is in flight has, until [`Model::end`]. It is not tried by the search, but
    /// takes effect as the steps of others show.
    /// So it must be one that every state admits, with nothing to return: no return of it is ever refused.
    fn begin(&self, state: &Self::State, op: &Self::Op, flight: u32) -> Option<Self::State> {
        let _ = (state, op, flight);
        None
    }

    /// The state as an operation that [`Model::begin`] remembered returns: by now it must have taken effect.
    fn end(&self, state: &Self::State, op: &Self::Op, flight: u32) -> Self::State {
        let _ = (op, flight);
        state.clone()
    }

    /// Whether an operation that is admitted before the [`Model::end`] of another is also admitted, with the same
    /// effect on all others, behind it. Most are; but who finds that something is not there must come before it is.
    fn may_wait(&self, op: &Self::Op) -> bool {
        let _ = op;
        false
    }

    /// Says which operations that states remembered took effect, and where: at a step that shows it, or at the last.
    /// It is called for every step of a linearization in order, if anything was remembered; the answers are part of
    /// what is found. All that [`Model::end`] was told of must be named.
    fn settle(&self, settling: &mut Settling<'_, Self::State, Self::Op>) {
        let _ = settling;
    }

    /// The part of the object that an operation is about; `None` if it is about the whole of it. If every operation
    /// of a history is about some part, each part is checked on its own, from the state of [`Model::init`]. So
    /// operations on different parts must not see each other (Herlihy and Wing's locality; Horn and Kroening, "Faster
    /// linearizability checking via P-compositionality", FORTE 2015).
    fn part(&self, op: &Self::Op) -> Option<u64> {
        let _ = op;
        None
    }

    /// What an operation does, if the object is a register of numbers (or of whatever was numbered): each part's operations
    /// then may be decided in O(n log n) where no value is written twice and none is the initial one. `None` for any other
    /// operation.
    fn access(&self, op: &Self::Op) -> Option<Access> {
        let _ = op;
        None
    }

    /// What reads of a register find before the first write: see [`Model::access`]. `None` if none can be told from it.
    fn initial_access(&self) -> Option<i64> {
        None
    }

    /// What a reader is shown of an operation.
    fn describe_op(&self, op: &Self::Op) -> String {
        format!("{op:?}")
    }

    /// What a reader is shown of a state.
    fn describe_state(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }

    /// What a reader is shown of a part.
    fn describe_part(&self, part: u64) -> String {
        format!("part {part}")
    }
}

/// What an operation does to a register, for [`Model::access`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    /// It writes this value, whatever was there.
    Write(i64),
    /// It found this value.
    Read(i64),
}
