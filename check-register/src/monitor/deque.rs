//! A double-ended queue whose values are inserted and removed at both ends: conditions that refute it.
//!
//! No polynomial rule that decides it is known to us. But leaving out a value, with the operations that moved it,
//! leaves a history of a deque: who is left meets no more than before. So of the values that came in at one end and
//! left at one end, what is left is a history of a queue or a stack; and all of it is one of a bag. If one of these is
//! refused, so is the whole.
//!
//! Of two values that came in or left at different ends, one may be in the way of the other: see [`CROSSING`]. What is
//! not refuted so is linearizable if [`ends`] finds an order. What remains is left to the search.
//!
//! Values that nobody took out are in the histories of both ends, for they may be thought to leave at either behind all
//! others. If a crashed take may have taken them, they are in none; nor are those then whose take is pending. If two
//! takes of a value are pending, each may have happened, at its end: the value is left out.

use super::ends::{self, Tries};
use super::moments::{Moments, Value};
use super::sheet::NONE;
use super::{Collection, Known, core, crashed};
use crate::Conflict;
use history_core::cast::Cast as _;

/// The collections that a deque contains: at which end values come in and leave, by whether it is the front.
const CONTAINED: [(bool, bool, Collection); 4] = [
    (false, true, Collection::Fifo),
    (true, false, Collection::Fifo),
    (false, false, Collection::Stack),
    (true, true, Collection::Stack),
];

/// At which end a value came in and left, by whether it is the front.
type Way = (bool, bool);

/// What happens to one value at no moment at which another one is there.
#[derive(Clone, Copy)]
enum Part {
    Put,
    Take,
    /// All that is between these two.
    Span,
}

/// This happens to values of the first way at no moment at which one of the second way is there for certain: one of the
/// two would have to leave while the other one is outside of it.
const CROSSING: [(Way, Part, Way); 6] = [
    // Each is in the way of the other.
    ((false, true), Part::Span, (true, false)),
    ((true, false), Part::Span, (false, true)),
    // It would be behind the other one, which leaves at the back, and leave at the front.
    ((false, true), Part::Put, (false, false)),
    ((true, false), Part::Put, (true, true)),
    // The other one is in front of it.
    ((false, true), Part::Take, (true, true)),
    ((true, false), Part::Take, (false, false)),
];

/// Whether a beginning of a history is certainly none of a deque. `is_front` says of an operation at which end it acts.
pub(super) fn decide(moments: &Moments, is_front: &dyn Fn(usize) -> bool, tries: &Tries<'_>) -> Known {
    let sure = moments.without_contested();
    if refused(&sure, is_front).is_some() || crossing(&sure, is_front).is_some() {
        return Known::Refused;
    }
    let found = ends::order(moments, is_front, tries).or_else(|| {
        // What will be taken may as well stay for now.
        let open = moments.any_pending().then(|| moments.pending_as_open())?;
        ends::order(&open, is_front, tries)
    });
    found.map_or(Known::Unknown, Known::Linearizable)
}

/// What contradicts itself, if that is known.
pub(super) fn conflict(moments: &Moments, is_front: &dyn Fn(usize) -> bool) -> Option<Conflict<u32>> {
    let moments = &moments.without_contested();
    if let Some((part, collection)) = refused(moments, is_front) {
        return core::find(&part, collection);
    }
    let values = crossing(moments, is_front)?;
    Some(Conflict::Values { values: values.map(|at| moments.values[at].held()).to_vec() })
}

/// Two values that are in each other's way, in the order of their puts.
fn crossing(moments: &Moments, is_front: &dyn Fn(usize) -> bool) -> Option<[usize; 2]> {
    let of_way = |way: Way| -> Vec<usize> {
        (0..moments.values.len()).filter(|at| is_of(moments, &moments.values[*at], way, is_front)).collect()
    };
    CROSSING.into_iter().find_map(|(way, part, other)| {
        let mut others = of_way(other);
        others.sort_by_key(|at| moments.values[*at].put_ret);
        // Of the first so many, the one that is there for certain the longest.
        let mut longest: Vec<usize> = Vec::with_capacity(others.len());
        for at in &others {
            let before =
                longest.last().copied().filter(|it| moments.values[*it].take_call >= moments.values[*at].take_call);
            longest.push(before.unwrap_or(*at));
        }
        // Of two that nobody took neither leaves.
        let mut taken = of_way(way).into_iter().filter(|at| moments.values[*at].take_ret <= moments.end);
        taken.find_map(|at| {
            let value = &moments.values[at];
            let (start, end) = match part {
                Part::Put => (value.put_call, value.put_ret),
                Part::Take => (value.take_call, value.take_ret),
                Part::Span => (value.take_call, value.put_ret),
            };
            let before = others.partition_point(|other| moments.values[*other].put_ret <= start);
            let other = *longest.get(before.checked_sub(1)?)?;
            (end <= moments.values[other].take_call).then(|| [at.min(other), at.max(other)])
        })
    })
}

/// Whether a value went this way, as far as is known.
fn is_of(moments: &Moments, value: &Value, way: Way, is_front: &dyn Fn(usize) -> bool) -> bool {
    // What was there at the start came in at the back, from front to back.
    let is_put = value.put != NONE && is_front(value.put.to_usize());
    let is_taken = value.take != NONE && value.take_ret <= moments.end;
    is_put == way.0
        && (is_taken || moments.crashed.is_empty())
        && (value.take == NONE || is_front(value.take.to_usize()) == way.1)
}

/// The first part that is refused, and what it is a history of.
fn refused(moments: &Moments, is_front: &dyn Fn(usize) -> bool) -> Option<(Moments, Collection)> {
    let is_refused = |moments: &Moments, collection| matches!(crashed::decide(moments, collection), Known::Refused);
    if is_refused(moments, Collection::Bag) {
        return Some((moments.clone(), Collection::Bag));
    }
    CONTAINED.into_iter().find_map(|(puts_at_front, takes_at_front, collection)| {
        let is_of = |at: &usize| is_of(moments, &moments.values[*at], (puts_at_front, takes_at_front), is_front);
        let values: Vec<usize> = (0..moments.values.len()).filter(is_of).collect();
        let mut part = moments.only(&values);
        part.nothings.clear();
        part.crashed.clear();
        is_refused(&part, collection).then_some((part, collection))
    })
}
