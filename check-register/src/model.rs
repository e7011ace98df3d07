//! A model: the sequential behaviour of an object.

use crate::Shortcuts;
use crate::shortcuts::NoShortcuts;
use history_core::Budget;
use std::fmt::Debug;
use std::hash::Hash;

/// The sequential specification of an object.
///
/// It defines the behaviour of operations in sequence. A history of concurrent operations is linearizable to it if each
/// operation can be assigned an instant between its call and its return so that, in the order of these instants, the
/// model permits them all: Herlihy and Wing, "Linearizability: A Correctness Condition for Concurrent Objects" (TOPLAS
/// 1990).
///
/// An operation includes its result: `Op` is `Read(3)` rather than `Read`. An operation without a response is given
/// without its result, as one that may have had any.
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
    /// The state of the object. Equal states must behave in the same way.
    type State: Clone + Eq + Hash + Debug;

    /// An operation with its result.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;

    /// The states that an operation may lead to: an `Option` for most models, a `Vec` for those that may choose.
    type Next: IntoIterator<Item = Self::State>;

    /// The state at the start.
    fn init(&self) -> Self::State;

    /// The states that `op` may lead to from `state`; none if its result is not possible.
    ///
    /// A step that takes long should regularly check `budget.cancel` and the deadline ([`Budget::check`]), and return
    /// early when they are reached: its result is then not used.
    fn step(&self, state: &Self::State, op: &Self::Op, budget: &Budget) -> Self::Next;

    /// What the search may use in addition to [`Model::step`] to be faster: nothing, unless the model implements
    /// [`Shortcuts`] and returns itself here.
    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        &NoShortcuts
    }

    /// The description of an operation for the reader.
    fn describe_op(&self, op: &Self::Op) -> String {
        format!("{op:?}")
    }

    /// The description of a state for the reader.
    fn describe_state(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }

    /// The description of a part for the reader.
    fn describe_part(&self, part: u64) -> String {
        format!("part {part}")
    }
}

impl<M: Model + ?Sized> Model for &M {
    type State = M::State;
    type Op = M::Op;
    type Next = M::Next;

    fn init(&self) -> Self::State {
        M::init(self)
    }

    fn step(&self, state: &Self::State, op: &Self::Op, budget: &Budget) -> Self::Next {
        M::step(self, state, op, budget)
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        M::shortcuts(self)
    }

    fn describe_op(&self, op: &Self::Op) -> String {
        M::describe_op(self, op)
    }

    fn describe_state(&self, state: &Self::State) -> String {
        M::describe_state(self, state)
    }

    fn describe_part(&self, part: u64) -> String {
        M::describe_part(self, part)
    }
}

/// The effect of an operation on a register, for [`Shortcuts::access`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    /// It writes this value, whatever was there.
    Write(i64),
    /// It found this value.
    Read(i64),
}
