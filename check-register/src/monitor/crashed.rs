//! Takes that crashed: each may have removed any value that no other operation removed, from its call on, or nothing.
//!
//! A value that a crashed take removed affects no other operation from the take's call on. So the question is which
//! crashed take, if any, removes which *open* value: one that was certainly inserted and that no known operation
//! removed.
//!
//! **Queues**, exactly. An open value `a` has a *deadline*: the least `take(b).ret` of values `b` that were removed and
//! were inserted after it (`put(a).ret <= put(b).call`). A crashed take that removes `a` must have been called before
//! the deadline. If order does not matter there are no deadlines. If an operation finds nothing at a moment, every open
//! value with `put.ret` up to this moment must have been removed by then. The sets of values that must have been
//! removed grow with the moment, so by Hall's theorem it is enough to count: up to each moment there must be as many
//! calls of crashed takes as deadlines. Operations that found nothing do not interfere with each other.
//!
//! **Priority queues.** A take must not observe a lower value, and an operation that found nothing must not observe
//! any. At the first moment at which no removed value hinders such an operation, the lower open values that were
//! inserted by then must have been removed. The history is accepted if it is linearizable when crashed takes remove
//! these values, the earliest deadline first. It is refused if it is not linearizable even when every open value is
//! removed from the call of the first crashed take on. It is also refused if too few crashed takes were called before
//! the returns of the operations that would observe open values: a value that was inserted by the first moment of such
//! an operation is present at all its moments, unless it is removed. All other histories are left to the search.
//!
//! **Stacks.** No polynomial rule is known to us. The history is accepted if it is linearizable without crashed takes
//! or with one of a few assignments of them. It is refused if it is not linearizable even when every open value is
//! removed at the call of the first crashed take. It is also refused if more values must be removed than there are
//! crashed takes in time for them: the values that were certainly put on top of removed ones. All other histories are
//! left to the search.

use super::moments::{CrashedTake, Moments, Value};
use super::nothing::Empty;
use super::orders::order;
use super::priority::Visit;
use super::sheet::NONE;
use super::tree::{LeastOf, OUT};
use super::{Collection, Known, priority};
use history_core::cast::Cast as _;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Decides a prefix of a history.
pub(super) fn decide(moments: &Moments, collection: Collection) -> Known {
    if let Some(order) = order(moments, collection) {
        return Known::Linearizable(order);
    }
    match collection {
        _ if moments.crashed.is_empty() => Known::Refused,
        Collection::Bag | Collection::Fifo => decide_queue(moments, collection),
        Collection::Stack => decide_stack(moments),
        Collection::Priority => decide_priority(moments),
        Collection::Deque | Collection::Set => Known::Unknown,
    }
}

/// Decides a queue.
fn decide_queue(moments: &Moments, collection: Collection) -> Known {
    if let Some(order) = assigned(moments, collection) {
        return Known::Linearizable(order);
    }
    if !moments.any_pending() {
        return Known::Refused;
    }
    // A value whose take is pending may have been removed by a crashed take instead.
    if let Some(order) = assigned(&moments.pending_as_open(), collection) {
        return Known::Linearizable(order);
    }
    match assigned(&moments.without_pending(), collection) {
        Some(_) => Known::Unknown,
        None => Known::Refused,
    }
}

/// A linearization of a queue in which crashed takes remove open values and pending takes remove their own values, if
/// there is one.
fn assigned(moments: &Moments, collection: Collection) -> Option<Vec<u32>> {
    let is_taken = |value: &Value| value.take != NONE;
    let taken = moments.values.iter().copied().filter(is_taken).collect();
    let open: Vec<usize> = moments.open().collect();
    let alone = Moments { values: taken, nothings: moments.nothings.clone(), crashed: Vec::new(), end: moments.end };
    order(&alone, collection)?;
    let mut deadlines = match collection {
        Collection::Fifo => deadlines(&alone, open.iter().map(|at| &moments.values[*at])),
        _ => vec![NONE; open.len()],
    };
    assign(&moments.crashed, &deadlines)?;
    let mut chosen = possible(&alone, moments, &open, &deadlines).firsts(&alone)?;
    // Values that were inserted before a moment at which the queue is empty must have been removed by then.
    chosen.sort_unstable();
    for (at, deadline) in open.iter().zip(&mut deadlines) {
        let next = chosen.partition_point(|moment| *moment < moments.values[*at].put_ret);
        *deadline = chosen.get(next).map_or(*deadline, |moment| (*deadline).min(moment + 1));
    }
    let assigned = assign(&moments.crashed, &deadlines)?;
    order(&moments.with(assigned.into_iter().map(|(at, take)| (open[at], take))), collection)
}

/// By open value: its deadline; `NONE` if there is none.
fn deadlines<'v>(taken: &Moments, open: impl Iterator<Item = &'v Value>) -> Vec<u32> {
    // By moment: the least return of a take whose value's put was called at this moment or later.
    let mut least = vec![NONE; taken.end.to_usize() + 2];
    for value in taken.values.iter().filter(|value| value.take_ret <= taken.end) {
        let at = &mut least[value.put_call.to_usize()];
        *at = value.take_ret.min(*at);
    }
    for moment in (1..least.len()).rev() {
        least[moment - 1] = least[moment - 1].min(least[moment]);
    }
    open.map(|value| least[value.put_ret.to_usize()]).collect()
}

/// Assigns a crashed take to each open value that has a deadline; the earliest deadline gets the earliest call.
fn assign(crashed: &[CrashedTake], deadlines: &[u32]) -> Option<Vec<(usize, CrashedTake)>> {
    let mut order: Vec<usize> = (0..deadlines.len()).filter(|at| deadlines[*at] != NONE).collect();
    order.sort_unstable_by_key(|at| deadlines[*at]);
    let assigned = order.into_iter().enumerate().map(|(rank, at)| {
        let take = crashed.get(rank)?;
        (take.call < deadlines[at]).then_some((at, *take))
    });
    assigned.collect()
}

/// The moments at which the queue may be empty: for each later moment `t`, no more open values must be removed before
/// `t` than crashed takes were called.
fn possible(taken: &Moments, moments: &Moments, open: &[usize], deadlines: &[u32]) -> Empty {
    let outside = Empty::of(taken);
    if moments.nothings.is_empty() {
        return outside;
    }
    let len = moments.end.to_usize() + 2;
    let mut spare = vec![0_i32; len + 1];
    moments.crashed.iter().for_each(|take| spare[take.call.to_usize() + 1] += 1);
    deadlines.iter().filter(|deadline| deadline.to_usize() <= len).for_each(|deadline| spare[deadline.to_usize()] -= 1);
    for at in 1..=len {
        spare[at] += spare[at - 1];
    }
    // The sweep goes backwards. A moment counts once the sweep has passed it.
    let hidden: Vec<i32> = spare.iter().map(|spare| spare + OUT / 2).collect();
    let mut tree = LeastOf::new(&hidden);
    let mut by_put: Vec<usize> = (0..open.len()).collect();
    by_put.sort_unstable_by_key(|at| moments.values[open[*at]].put_ret);
    let until = |at: usize| deadlines[at].to_usize().min(len + 1);
    for at in &by_put {
        tree.add(0, until(*at), -1);
    }
    let mut is_possible = vec![false; len];
    for moment in (0..=moments.end).rev() {
        let shown = if moment == moments.end {
            moment.to_usize() + 1..len + 1
        } else {
            moment.to_usize() + 1..moment.to_usize() + 2
        };
        tree.add(shown.start, shown.end, -OUT / 2);
        while let Some(at) = by_put.pop_if(|at| moments.values[open[*at]].put_ret > moment) {
            tree.add(0, until(at), 1);
        }
        is_possible[moment.to_usize()] = tree.least() >= 0 && outside.is_empty(moment);
    }
    Empty::at(moments.end, |moment| is_possible[moment.to_usize()])
}

/// Decides a stack, if one of the rules applies.
fn decide_stack(moments: &Moments) -> Known {
    if order(&relaxed(moments), Collection::Stack).is_none() {
        return Known::Refused;
    }
    let tried = |moments: &Moments| {
        let try_out =
            |assigned: Vec<(usize, CrashedTake)>| order(&moments.with(assigned.into_iter()), Collection::Stack);
        let found = try_out(at_put(moments)).or_else(|| try_out(in_turn(moments)));
        found.or_else(|| forced(moments))
    };
    let found = tried(moments).or_else(|| if moments.any_pending() { tried(&moments.pending_as_open()) } else { None });
    match found {
        Some(order) => Known::Linearizable(order),
        None if !has_enough(&moments.without_pending()) => Known::Refused,
        None => Known::Unknown,
    }
}

/// Decides a priority queue, if one of the rules applies.
fn decide_priority(moments: &Moments) -> Known {
    if order(&relaxed(moments), Collection::Priority).is_none() {
        return Known::Refused;
    }
    let try_until = |moments: &Moments, until: fn(&Visit) -> u32| {
        let (open, deadlines) = priority::deadlines(moments, until)?;
        let assigned = assign(&moments.crashed, &deadlines)?;
        order(&moments.with(assigned.into_iter().map(|(at, take)| (open[at], take))), Collection::Priority)
    };
    // Tries the earliest deadlines first. With later ones, crashed takes that were called later can be used.
    let soon = |visit: &Visit| visit.moment + 1;
    let tried = |moments: &Moments| try_until(moments, soon).or_else(|| try_until(moments, |visit| visit.ret));
    let found = tried(moments).or_else(|| if moments.any_pending() { tried(&moments.pending_as_open()) } else { None });
    let has_enough = || {
        let sure = moments.without_pending();
        priority::deadlines(&sure, |visit| visit.ret)
            .and_then(|(_, deadlines)| assign(&sure.crashed, &deadlines))
            .is_some()
    };
    match found {
        Some(order) => Known::Linearizable(order),
        None if !has_enough() => Known::Refused,
        None => Known::Unknown,
    }
}

/// The same history in which every value that no returned operation removed is removed at the call of the first crashed
/// take, or as soon as it was inserted.
pub(super) fn relaxed(moments: &Moments) -> Moments {
    let mut relaxed = Moments { crashed: Vec::new(), ..moments.clone() };
    if let Some(first) = moments.crashed.iter().map(|take| take.call).min() {
        for value in relaxed.values.iter_mut().filter(|value| value.take_ret > moments.end) {
            value.take_call = first.max(value.put_call).min(value.take_call);
        }
    }
    relaxed
}

/// Assigns each open value the crashed take that was called last before its put returned, so that the value is flushed.
fn at_put(moments: &Moments) -> Vec<(usize, CrashedTake)> {
    let mut left: BTreeSet<(u32, u32)> = moments.crashed.iter().map(|take| (take.call, take.op)).collect();
    let mut open: Vec<usize> = moments.open().collect();
    open.sort_unstable_by_key(|at| moments.values[*at].put_ret);
    let mut assigned = Vec::new();
    for at in open {
        if let Some((call, op)) = left.range(..(moments.values[at].put_ret, 0)).next_back().copied() {
            left.remove(&(call, op));
            assigned.push((at, CrashedTake { op, call }));
        }
    }
    assigned
}

/// Assigns each crashed take, in the order of the calls, the open value that is on top at its call.
fn in_turn(moments: &Moments) -> Vec<(usize, CrashedTake)> {
    let mut open = moments.open().peekable();
    let mut there = BinaryHeap::new();
    let mut assigned = Vec::new();
    for take in &moments.crashed {
        while let Some(at) = open.next_if(|at| moments.values[*at].put_call <= take.call) {
            there.push((moments.values[at].put_ret, Reverse(at)));
        }
        if let Some((_, Reverse(at))) = there.pop() {
            assigned.push((at, *take));
        }
    }
    assigned
}

/// Returns true if enough crashed takes were called in time for the open values of a stack that were certainly put on
/// top of removed ones.
fn has_enough(moments: &Moments) -> bool {
    let deadlines = covered_until(moments);
    let wanted: Vec<u32> = moments.open().map(|at| deadlines[at]).collect();
    assign(&moments.crashed, &wanted).is_some()
}

/// Assigns crashed takes to values of a stack that were certainly put on top of removed ones; then to values that were
/// put on top of these; and so on.
fn forced(moments: &Moments) -> Option<Vec<u32>> {
    let open: Vec<usize> = moments.open().collect();
    let mut now = moments.clone();
    loop {
        let deadlines = covered_until(&now);
        let wanted: Vec<u32> = open.iter().map(|at| deadlines[*at]).collect();
        let next = moments.with(assign(&moments.crashed, &wanted)?.into_iter().map(|(at, take)| (open[at], take)));
        if let Some(order) = order(&next, Collection::Stack) {
            return Some(order);
        }
        // Each round must remove more values than the one before.
        if next.open().count() >= now.open().count() {
            return None;
        }
        now = next;
    }
}

/// By value: if each moment of its put is in the span of a removed value, the moment before which it must have been
/// removed so that the other one can be; otherwise `NONE`.
fn covered_until(moments: &Moments) -> Vec<u32> {
    let mut spans: Vec<(u32, u32, u32)> = moments
        .values
        .iter()
        .filter(|value| value.take != NONE && value.put_ret < value.take_call)
        .map(|value| (value.put_ret, value.take_call, value.take_ret))
        .collect();
    spans.sort_unstable();
    let mut spans = spans.into_iter().peekable();
    // The spans that contain the moment, by the returns of their takes.
    let mut holding: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let mut until = vec![NONE; moments.end.to_usize() + 2];
    for moment in 0..=moments.end {
        while let Some((_, end, ret)) = spans.next_if(|span| span.0 <= moment) {
            holding.push(Reverse((ret, end)));
        }
        while holding.peek().is_some_and(|Reverse((_, end))| *end <= moment) {
            holding.pop();
        }
        // Spans further down may have ended, but this one contains the moment and its take returns first.
        if let Some(Reverse((ret, _))) = holding.peek() {
            until[moment.to_usize()] = *ret;
        }
    }
    let of_value = |value: &Value| (value.put_call..value.put_ret).map(|moment| until[moment.to_usize()]).max();
    let if_taken = |until: u32| if until <= moments.end { until } else { NONE };
    moments.values.iter().map(|value| of_value(value).map_or(NONE, if_taken)).collect()
}
