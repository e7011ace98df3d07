//! A priority queue: the least value is removed first.
//!
//! A value affects only those above it. So the history is linearizable exactly if each take of a value has a moment
//! that is in no span of a lower value, and each operation that found nothing has a moment in no span at all. (Lee and
//! Mathur decide such histories value by value as well.)
//!
//! *That is enough.* By induction, the values below a value have a linearization. At all moments that are in none of
//! their spans, the queue can be empty of them (see [`nothing`](super::nothing)): operations before such a moment move
//! to just before it, operations after it to just after it. That keeps the order on either side, and puts every take
//! before the moment ahead of all puts after it, so no take observes a lower value that it did not observe before. Then
//! the value can be removed at such a moment, and be inserted at any moment that its put allows: it affects none of the
//! lower values.

use super::moments::{Moments, Value};
use super::nothing::Empty;
use super::sheet::NONE;
use super::tree::Members;
use history_core::cast::Cast;
use std::collections::BTreeSet;

/// The moments that are in no span so far: by moment, the next such moment, with path compression.
struct Free {
    next: Vec<u32>,
}

impl Free {
    fn new(end: u32) -> Free {
        Free { next: (0..end + 2).collect() }
    }

    /// The first moment in no span, from `moment` on.
    fn from(&mut self, mut moment: u32) -> u32 {
        while self.next[moment.to_usize()] != moment {
            let next = self.next[moment.to_usize()];
            self.next[moment.to_usize()] = self.next[next.to_usize()];
            moment = next;
        }
        moment
    }

    /// Adds the span of a value. The span ends before the last moment.
    fn hold(&mut self, value: &Value) {
        let mut moment = self.from(value.put_ret.min(value.take_call));
        while moment < value.take_call {
            self.next[moment.to_usize()] = moment + 1;
            moment = self.from(moment + 1);
        }
    }
}

/// By value, in the order of `order`: the first moment from its take's call on that is in no lower value's span.
fn takes(moments: &Moments, order: &[usize], mut found: impl FnMut(usize, u32)) {
    let mut free = Free::new(moments.end);
    for alike in order.chunk_by(|one, other| moments.values[*one].priority == moments.values[*other].priority) {
        for at in alike {
            found(*at, free.from(moments.values[*at].take_call));
        }
        for at in alike {
            free.hold(&moments.values[*at]);
        }
    }
}

fn by_priority(moments: &Moments) -> Vec<usize> {
    let mut order: Vec<usize> = (0..moments.values.len()).collect();
    order.sort_by_key(|at| moments.values[*at].priority);
    order
}

/// The position of a value that is removed although lower ones are present all the time.
pub(super) fn hindered(moments: &Moments) -> Option<usize> {
    let mut first = None;
    takes(moments, &by_priority(moments), |at, moment| {
        if moment >= moments.values[at].take_ret {
            first.get_or_insert(at);
        }
    });
    first
}

/// A linearization, if there is one: each value is removed as early as possible, and inserted after the takes of higher
/// values that come before that.
///
/// Within one moment, the order is: takes, the lowest value first; operations that found nothing; puts. A value that is
/// inserted and removed in one moment is inserted just before it is removed.
pub(super) fn order(moments: &Moments) -> Option<Vec<u32>> {
    let by_priority = by_priority(moments);
    let mut taken = vec![0; moments.values.len()];
    takes(moments, &by_priority, |at, moment| taken[at] = moment);
    if taken.iter().zip(&moments.values).any(|(moment, value)| *moment >= value.take_ret) {
        return None;
    }
    let empty = Empty::of(moments).firsts(moments)?;
    // Moments at which no lower value is present.
    let mut borders = Members::new(moments.end.to_usize() + 2);
    for moment in &empty {
        borders.insert(moment.to_usize());
    }
    // Sort key: moment, kind of step, rank, and whether it is the second of two steps of one value; then the operation.
    let mut steps: Vec<(u32, u8, u32, bool, u32)> = Vec::with_capacity(2 * moments.values.len() + empty.len());
    steps.extend(moments.nothings.iter().zip(&empty).map(|(nothing, moment)| (*moment, 1, 0, false, nothing.op)));
    let mut rank = by_priority.len().to_u32();
    for alike in
        by_priority.chunk_by(|one, other| moments.values[*one].priority == moments.values[*other].priority).rev()
    {
        for at in alike {
            rank -= 1;
            let (value, take) = (&moments.values[*at], taken[*at]);
            let border = borders.before(take.to_usize()).map_or(0, Cast::to_u32);
            let put = value.put_call.max(border);
            let (phase, put_rank) = if put == take { (0, rank) } else { (2, 0) };
            if value.put != NONE {
                steps.push((put, phase, put_rank, false, value.put));
            }
            // A removal at the last moment may not have happened.
            if value.take != NONE && take != moments.end {
                steps.push((take, 0, rank, true, value.take));
            }
        }
        for at in alike.iter().filter(|at| moments.values[**at].take != NONE) {
            borders.insert(taken[*at].to_usize());
        }
    }
    steps.sort_unstable();
    Some(steps.into_iter().map(|step| step.4).collect())
}

/// An operation that must not observe a value below a priority: its first possible moment is `moment`, and it ends at
/// `ret`.
pub(super) struct Visit {
    /// `None` is above all priorities.
    priority: Option<i64>,
    pub(super) moment: u32,
    pub(super) ret: u32,
}

/// The operations that must not observe a lower value, each with the first moment at which no removed value hinders it;
/// the highest priority first. `None` if some operation has no such moment.
fn visits(moments: &Moments) -> Option<Vec<Visit>> {
    let taken =
        Moments { values: moments.values.iter().copied().filter(|it| it.take != NONE).collect(), ..moments.clone() };
    let mut visits = Vec::with_capacity(taken.values.len() + moments.nothings.len());
    takes(&taken, &by_priority(&taken), |at, moment| {
        let value = &taken.values[at];
        if value.take_ret <= moments.end {
            visits.push(Visit { priority: Some(value.priority), moment, ret: value.take_ret });
        }
    });
    for (nothing, moment) in moments.nothings.iter().zip(Empty::of(&taken).firsts(&taken)?) {
        visits.push(Visit { priority: None, moment, ret: nothing.ret });
    }
    visits.reverse();
    visits.iter().all(|visit| visit.moment < visit.ret).then_some(visits)
}

/// The open values, and the moment before which each must be removed; `NONE` if there is none. `until` returns this
/// moment for an operation that would observe the value. `None` if the known takes block each other.
pub(super) fn deadlines(moments: &Moments, until: impl Fn(&Visit) -> u32) -> Option<(Vec<usize>, Vec<u32>)> {
    let visits = visits(moments)?;
    let mut open: Vec<usize> = moments.open().collect();
    open.sort_by_key(|at| std::cmp::Reverse(moments.values[*at].priority));
    // By moment, for visits above the value: a later visit with a later or equal end adds nothing.
    let mut above: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut visits = visits.into_iter().peekable();
    let deadline = |at: &usize| {
        let value = &moments.values[*at];
        while let Some(visit) = visits.next_if(|visit| visit.priority.is_none_or(|other| other > value.priority)) {
            let until = until(&visit);
            if above.range((visit.moment, 0)..).next().is_some_and(|(_, sooner)| *sooner <= until) {
                continue;
            }
            while let Some(other) =
                above.range(..(visit.moment, u32::MAX)).next_back().copied().filter(|it| it.1 >= until)
            {
                above.remove(&other);
            }
            above.insert((visit.moment, until));
        }
        above.range((value.put_ret, 0)..).next().map_or(NONE, |(_, until)| *until)
    };
    let deadlines = open.iter().map(deadline).collect();
    Some((open, deadlines))
}
