//! A double-ended queue whose values are inserted and removed at both ends: conditions that refute it.
//!
//! No polynomial rule that decides it is known to us. But if a value is omitted, with the operations that moved it, the
//! rest is still a history of a deque: the other operations observe no more than before. So the values that were
//! inserted at one end and removed at one end form a history of a queue or a stack, and all values form a history of a
//! bag. If one of these is refused, so is the whole history.
//!
//! Of two values that were inserted or removed at different ends, one may block the other: see [`CROSSING`]. A history
//! that is not refuted by these conditions is linearizable if [`ends`] finds an order. All other histories are left to
//! the search.
//!
//! Values that were never removed belong to the histories of both ends, because they may be removed at either end after
//! all others. If a crashed take may have removed them, they belong to none, and neither do values whose take is
//! pending. If two takes of a value are pending, each may have happened, at its own end: the value is omitted.

use super::ends::{self, Tries};
use super::moments::{Moments, Value};
use super::sheet::NONE;
use super::{Collection, Known, core, crashed};
use crate::Conflict;
use history_core::cast::Cast as _;

/// The collections that a deque contains: the ends at which values are inserted and removed (whether it is the front).
const CONTAINED: [(bool, bool, Collection); 4] = [
    (false, true, Collection::Fifo),
    (true, false, Collection::Fifo),
    (false, false, Collection::Stack),
    (true, true, Collection::Stack),
];

/// The ends at which a value is inserted and removed (whether it is the front).
type Way = (bool, bool);

/// A part of the history of one value, which must not happen while another value is certainly present.
#[derive(Clone, Copy)]
enum Part {
    Put,
    Take,
    /// The time between these two.
    Span,
}

/// Entries mean: this part of a value of the first way must not happen while a value of the second way is certainly
/// present. Otherwise one of the two would have to be removed while the other is outside of it.
const CROSSING: [(Way, Part, Way); 6] = [
    // Each blocks the other.
    ((false, true), Part::Span, (true, false)),
    ((true, false), Part::Span, (false, true)),
    // It would be behind the other one, which is removed at the back, and yet be removed at the front.
    ((false, true), Part::Put, (false, false)),
    ((true, false), Part::Put, (true, true)),
    // The other one is in front of it.
    ((false, true), Part::Take, (true, true)),
    ((true, false), Part::Take, (false, false)),
];

/// Decides a prefix of a history of a deque. `is_front` returns whether an operation acts at the front.
pub(super) fn decide(moments: &Moments, is_front: &dyn Fn(usize) -> bool, tries: &Tries<'_>) -> Known {
    let sure = moments.without_contested();
    if refused(&sure, is_front).is_some() || crossing(&sure, is_front).is_some() {
        return Known::Refused;
    }
    let found = ends::order(moments, is_front, tries).or_else(|| {
        // In the second attempt, the values of pending takes are not removed.
        let open = moments.any_pending().then(|| moments.pending_as_open())?;
        ends::order(&open, is_front, tries)
    });
    found.map_or(Known::Unknown, Known::Linearizable)
}

/// The operations that contradict each other, if they are known.
pub(super) fn conflict(moments: &Moments, is_front: &dyn Fn(usize) -> bool) -> Option<Conflict<u32>> {
    let moments = &moments.without_contested();
    if let Some((part, collection)) = refused(moments, is_front) {
        return core::find(&part, collection);
    }
    let values = crossing(moments, is_front)?;
    Some(Conflict::Values { values: values.map(|at| moments.values[at].held()).to_vec() })
}

/// Two values that block each other, in the order of their puts.
fn crossing(moments: &Moments, is_front: &dyn Fn(usize) -> bool) -> Option<[usize; 2]> {
    let of_way = |way: Way| -> Vec<usize> {
        (0..moments.values.len()).filter(|at| is_of(moments, &moments.values[*at], way, is_front)).collect()
    };
    CROSSING.into_iter().find_map(|(way, part, other)| {
        let mut others = of_way(other);
        others.sort_by_key(|at| moments.values[*at].put_ret);
        // For each prefix of `others`: the value in it that is certainly present the longest.
        let mut longest: Vec<usize> = Vec::with_capacity(others.len());
        for at in &others {
            let before =
                longest.last().copied().filter(|it| moments.values[*it].take_call >= moments.values[*at].take_call);
            longest.push(before.unwrap_or(*at));
        }
        // Two values that were never removed do not block each other.
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

/// Returns true if a value went this way, as far as is known.
fn is_of(moments: &Moments, value: &Value, way: Way, is_front: &dyn Fn(usize) -> bool) -> bool {
    // Initial values were inserted at the back, from front to back.
    let is_put = value.put != NONE && is_front(value.put.to_usize());
    let is_taken = value.take != NONE && value.take_ret <= moments.end;
    is_put == way.0
        && (is_taken || moments.crashed.is_empty())
        && (value.take == NONE || is_front(value.take.to_usize()) == way.1)
}

/// The first contained history that is refused, and its collection.
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
