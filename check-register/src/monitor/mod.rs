//! Monitors: collections into which no value is put twice, decided in O(n log n), however many operations are in
//! flight.
//!
//! The search needs exponential time, but the problem is easy if no value is put in twice: Henzinger, Sezgin and
//! Vafeiadis, "Aspect-oriented linearizability proofs" (CONCUR 2013), for queues; Lee and Mathur, "Efficient
//! decrease-and-conquer linearizability monitoring" (OOPSLA 2025, arXiv 2410.04581) for all; Abdulla, Grahn, Jonsson,
//! Krishna and Mishra, "Efficient linearizability monitoring" (arXiv 2509.17795) for stacks. These do not cover crashed
//! operations; each module proves its own rules, and the tests compare them with all orders of small histories.
//!
//! A monitor runs before the search, on the same [`Part`]. Where none applies, the search decides.
//!
//! **Moments.** An operation takes effect at a point between its call and its return. Only points that directly follow
//! a call and precede a return matter: between two of these there are returns and then calls; an operation that takes
//! effect among the returns could as well have done so before them, one among the calls could after them, and all in
//! the same order. These points are the *moments*, numbered from 0, and an operation can take effect at those in a
//! range `call..ret`. One operation had returned when another was called if and only if its range ends before the
//! other's begins or exactly there. Initial values were inserted one after another, at moments before all others;
//! values that were never removed are removed at a last moment after all others, all at the same time.
//!
//! **Spans.** Between the last moment of its put and the first one of its take a value is present in any order: its
//! span is `put.ret..take.call`. If put and take have a moment in common the value does not affect other operations,
//! because put and take can then be adjacent: the value is *flushed*.
//!
//! **The first refusal.** A prefix of the history is decided like the whole. Operations that return later are pending:
//! a put may have happened or not; a take of a value that was inserted by then may happen at any time from its call on;
//! others are omitted. By bisection this finds the first return up to which there is no linearization, which is the one
//! that the search finds.

mod bag;
mod core;
mod crashed;
mod deque;
mod emission;
mod ends;
mod fifo;
mod moments;
mod nothing;
mod orders;
mod priority;
mod sets;
mod sheet;
mod stack;
mod tree;

use crate::Conflict;
use crate::search::part::{Event, Part};
use history_core::Budget;
use moments::Moments;
use sheet::Sheet;

/// The order in which a collection returns its values, for [`Shortcuts::collection`](crate::Shortcuts::collection).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Collection {
    /// In any order.
    Bag,
    /// The oldest first.
    Fifo,
    /// The youngest first.
    Stack,
    /// The least first: see [`Shortcuts::priority`](crate::Shortcuts::priority).
    Priority,
    /// The first or the last one: see [`Shortcuts::is_at_front`](crate::Shortcuts::is_at_front).
    Deque,
    /// All at the same time, without being removed.
    Set,
}

/// The effect of an operation on a collection, for [`Shortcuts::handling`](crate::Shortcuts::handling).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Handling<'a> {
    /// It inserted this value.
    Put(i64),
    /// It took this value out.
    Take(i64),
    /// It tried to remove a value, but the collection was empty.
    Nothing,
    /// It removed a value, or found the collection empty, which is unknown. Only for crashed operations.
    Any,
    /// It found all these values, sorted.
    All(&'a [i64]),
}

/// The object, in the form that monitors use.
pub(crate) struct Object<'a> {
    pub(crate) collection: Collection,
    /// The initial values: the oldest first, or sorted if they may be removed in any order.
    pub(crate) initial: &'a [i64],
    /// Whether the part concerns only some values, so that other initial values are omitted.
    pub(crate) is_part: bool,
    /// By value: its priority, if the least value is removed first.
    pub(crate) priority: &'a dyn Fn(i64) -> i64,
    /// By operation of the part: whether it acts at the front, if the collection has two ends.
    pub(crate) is_front: &'a dyn Fn(usize) -> bool,
    /// By operation of the part: its effect.
    pub(crate) handling: &'a dyn Fn(usize) -> Option<Handling<'a>>,
}

/// The result of a monitor.
pub(crate) enum Decided {
    /// A linearization.
    Linearizable(Vec<u32>),
    /// There is no linearization.
    Refused {
        /// The event up to and including which there is none.
        event: usize,
        /// Whether there is a linearization up to each earlier event.
        is_first: bool,
        /// The operations that contradict each other, if they are known.
        conflict: Option<Conflict<u32>>,
    },
}

/// The result for a prefix of a part.
enum Known {
    /// A linearization.
    Linearizable(Vec<u32>),
    /// There is no linearization.
    Refused,
    /// The monitor cannot decide.
    Unknown,
}

/// Returns a linearization of a part, or the first event up to which there is none and the reason; `None` if no monitor
/// can decide. O(n log n); O(n log^2 n) if there is no linearization.
pub(crate) fn decide(part: &Part, object: &Object<'_>, budget: &Budget) -> Option<Decided> {
    if object.collection == Collection::Set {
        let sets = sets::Sets::new(part, object)?;
        return first_refusal(part, budget, |end| sets.decide(part, end), |end| sets.conflict(part, end));
    }
    let sheet = Sheet::new(part, object)?;
    let tries = ends::Tries::new(part.ops.len(), budget);
    first_refusal(
        part,
        budget,
        |end| match Moments::new(part, &sheet, end) {
            Ok(moments) if object.collection == Collection::Deque => deque::decide(&moments, object.is_front, &tries),
            Ok(moments) => crashed::decide(&moments, object.collection),
            Err(_) => Known::Refused,
        },
        |end| match Moments::new(part, &sheet, end) {
            Ok(moments) if object.collection == Collection::Deque => deque::conflict(&moments, object.is_front),
            Ok(moments) => core::find(&moments, object.collection),
            Err(conflict) => Some(conflict),
        },
    )
}

/// Decides a part, given the decision for each prefix and the reason for each refusal. If the budget runs out, a
/// refusal may not be the first.
fn first_refusal(
    part: &Part,
    budget: &Budget,
    decide: impl Fn(usize) -> Known,
    conflict: impl FnOnce(usize) -> Option<Conflict<u32>>,
) -> Option<Decided> {
    match decide(part.events.len()) {
        Known::Linearizable(order) => return Some(Decided::Linearizable(order)),
        Known::Unknown => return None,
        Known::Refused => {}
    }
    // Up to `bad` events there is no linearization. Up to `good` events there is one, as far as is known.
    let (mut good, mut bad, mut is_first) = (0, part.events.len(), true);
    while good + 1 < bad {
        if budget.check(0, 0).is_err() {
            is_first = false;
            break;
        }
        let middle = usize::midpoint(good, bad);
        match decide(middle) {
            Known::Refused => bad = middle,
            Known::Linearizable(_) => (good, is_first) = (middle, true),
            Known::Unknown => (good, is_first) = (middle, false),
        }
    }
    let is_return = part.events.get(bad - 1).copied().is_some_and(Event::is_return);
    debug_assert!(is_return || !is_first, "a call refuses nothing");
    if !is_return {
        // A call refuses nothing: the refusal is at a return before it.
        bad = part.events[..bad].iter().rposition(|event| event.is_return())? + 1;
    }
    Some(Decided::Refused { event: bad - 1, is_first, conflict: conflict(bad) })
}
