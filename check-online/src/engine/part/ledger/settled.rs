//! Determines which values that were inserted and removed are settled.
//!
//! Let E be the first call of an operation that is in flight, or of a take that crashed, or of one that found nothing
//! and returned after these. A value is *done* if an operation that returned before E removed it. A history that is
//! linearizable so far is linearizable with all later events if and only if it is so without the values that are done:
//!
//! - *Queues.* A value that is done can contradict only one that was inserted before it (or after it) and is removed
//!   after it (or before it); the relevant operations of both have returned. Operations that found nothing before E
//!   concern values all of whose relevant operations had returned as well; those that return later are called after E.
//! - *Stacks.* Let K be the last moment up to E at which no take was in flight of a value that others can be below or
//!   above, so that each value is either done before K or removed after it. Let S be those that are done, which have a
//!   linearization. The other values are pushed while no value of S is certainly present: such a value would be above
//!   one of them when it is removed. And this is sufficient: S has a linearization in which the stack is empty of S
//!   whenever it can be (the monitor's proof of peeling), so whatever is pushed then lies below. So only those values
//!   of S are kept that are certainly present at some time while a value that is still present was being pushed.
//! - *Priority queues.* A take needs a moment at which no lower value is certainly present, and nothing else matters
//!   (the monitor's theorem). A value is certainly present from the return of its put to the call of its take. So
//!   events after the call of the first operation in flight, or of the first take that crashed, change that only for
//!   times after this call. A take that returned before it has its moment, whatever follows. A take that returned after
//!   it may need a moment that a crashed take makes possible; of all values that may prevent it, some are certainly
//!   present while it is in flight. Let E be the first call of such takes as well: then none of these values is done.

use super::entry::{Doing, Entry};
use super::extract::Extract;
use crate::engine::ops::{NEVER, Seq};
use check_register::Collection;

/// Marks operations on which no later event can depend. The whole extract must be linearizable.
pub(super) fn mark_settled(collection: Collection, entries: &[Entry], extract: &Extract, is_kept: &mut [bool]) {
    let is_waited_for = |entry: &&Entry| entry.is_open() || entry.crashed && entry.doing == Doing::Open;
    let first = entries.iter().filter(is_waited_for).map(|entry| entry.call).min().unwrap_or(NEVER);
    let mut until = first;
    for (entry, is_kept) in entries.iter().zip(&mut *is_kept).filter(|(entry, _)| entry.doing == Doing::Nothing) {
        *is_kept = entry.ret >= first;
        if *is_kept {
            until = until.min(entry.call);
        }
    }
    let both = extract.moved.iter().filter_map(|(put, take)| Some(((*put)?, (*take)?)));
    let moved: Vec<(usize, usize)> = both.collect();
    // A value whose put and take were in flight at the same time affects no other value.
    let is_flushed = |put: usize, take: usize| entries[take].call < entries[put].ret;
    if collection == Collection::Stack {
        let mut takes: Vec<&Entry> =
            moved.iter().filter(|(put, take)| !is_flushed(*put, *take)).map(|(_, take)| &entries[*take]).collect();
        takes.sort_unstable_by_key(|take| std::cmp::Reverse(take.ret));
        for take in takes {
            if take.ret >= until {
                until = until.min(take.call);
            }
        }
    }
    if collection == Collection::Priority {
        let late = entries.iter().filter(|entry| matches!(entry.doing, Doing::Take(_)) && entry.ret >= first);
        until = late.map(|take| take.call).fold(until, Seq::min);
    }
    let is_done = |take: usize| entries[take].ret < until;
    // For the puts of values that remain, in the order of their calls: the last return so far.
    let mut pushed: Vec<(Seq, Seq)> = Vec::new();
    if collection == Collection::Stack {
        for (put, take) in &extract.moved {
            let stays = put.map(|put| &entries[put]).filter(|put| put.ret != NEVER && !take.is_some_and(is_done));
            pushed.extend(stays.map(|put| (put.call, put.ret)));
        }
        pushed.sort_unstable();
        let mut last = 0;
        for (_, ret) in &mut pushed {
            last = last.max(*ret);
            *ret = last;
        }
    }
    for (put, take) in moved.into_iter().filter(|(_, take)| is_done(*take)) {
        let called = pushed.partition_point(|(call, _)| *call < entries[take].call);
        let is_met = called > 0 && pushed[called - 1].1 > entries[put].ret && !is_flushed(put, take);
        if !is_met {
            (is_kept[put], is_kept[take]) = (false, false);
        }
    }
}
