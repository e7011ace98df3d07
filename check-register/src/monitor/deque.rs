//! A double-ended queue whose values come and go at both ends: what refutes it.
//!
//! No polynomial rule that decides it is known to us. But leaving out a value, with the operations that moved it,
//! leaves a history of a deque: who is left meets no more than before. So of the values that came in at one end and
//! left at one end, what is left is a history of a queue or a stack; and all of it is one of a bag. If one of these is
//! refused, so is the whole. What remains is left to the search.
//!
//! Values that nobody took out are in the histories of both ends, for they may be thought to leave at either behind all
//! others. If a crashed take may have taken them, they are in none; nor are those then whose take is pending.

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

/// Whether a beginning of a history is certainly none of a deque. `is_front` says of an operation at which end it acts.
pub(super) fn decide(moments: &Moments, is_front: &dyn Fn(usize) -> bool) -> Known {
    if refused(moments, is_front).is_some() { Known::Refused } else { Known::Unknown }
}

/// What contradicts itself, if that is known.
pub(super) fn conflict(moments: &Moments, is_front: &dyn Fn(usize) -> bool) -> Option<Conflict<u32>> {
    let (part, collection) = refused(moments, is_front)?;
    core::find(&part, collection)
}

/// The first part that is refused, and what it is a history of.
fn refused(moments: &Moments, is_front: &dyn Fn(usize) -> bool) -> Option<(Moments, Collection)> {
    let is_refused = |moments: &Moments, collection| matches!(crashed::decide(moments, collection), Known::Refused);
    if is_refused(moments, Collection::Bag) {
        return Some((moments.clone(), Collection::Bag));
    }
    CONTAINED.into_iter().find_map(|(puts_at_front, takes_at_front, collection)| {
        let is_of = |value: &Value| {
            // What was there at the start came in at the back, from front to back.
            let is_put = value.put != NONE && is_front(value.put.to_usize());
            let is_taken = value.take != NONE && value.take_ret <= moments.end;
            is_put == puts_at_front
                && (is_taken || moments.crashed.is_empty())
                && (value.take == NONE || is_front(value.take.to_usize()) == takes_at_front)
        };
        let values: Vec<usize> = (0..moments.values.len()).filter(|at| is_of(&moments.values[*at])).collect();
        let mut part = moments.only(&values);
        part.nothings.clear();
        part.crashed.clear();
        is_refused(&part, collection).then_some((part, collection))
    })
}
