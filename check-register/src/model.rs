//! A model: what an object may do, one operation after another.

use crate::Shortcuts;
use crate::shortcuts::NoShortcuts;
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
/// An operation is given with its result: `Op` is `Read(3)` rather than `Read`. What was never answered is given
/// without its result, as an operation that may have had any.
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

    /// What the search may use besides [`Model::step`] to be faster: nothing, unless the model implements [`Shortcuts`]
    /// and returns itself here.
    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        &NoShortcuts
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

/// What an operation does to a register, for [`Shortcuts::access`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    /// It writes this value, whatever was there.
    Write(i64),
    /// It found this value.
    Read(i64),
}
