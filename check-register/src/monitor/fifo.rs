//! A first-in-first-out queue: refused if and only if one value was inserted after another and removed before it.
//!
//! Let a be inserted before b (`put(a).ret <= put(b).call`) and b be removed before a (`take(b).ret <= take(a).call`):
//! then no order is valid. If there are no two such values, there is an order of all values that agrees with both
//! interval orders, of puts and of takes (Henzinger, Sezgin and Vafeiadis, section 4). Of the remaining values, any one
//! that can be both inserted first and removed first can come next.

use super::emission::{self, Moved};
use super::moments::{Moments, Value};
use super::nothing::Empty;
use history_core::cast::Cast as _;

/// A linearization, if there is one.
pub(super) fn order(moments: &Moments) -> Option<Vec<u32>> {
    let empty = Empty::of(moments).firsts(moments)?;
    let moved = moved(moments)?;
    Some(emission::order(moments, &moved, &empty))
}

/// The values in the order in which they are inserted and removed.
fn moved(moments: &Moments) -> Option<Vec<Moved>> {
    let values = &moments.values;
    let by = |key: fn(&Value) -> u32| {
        let mut order: Vec<u32> = (0..values.len().to_u32()).collect();
        order.sort_unstable_by_key(|at| key(&values[at.to_usize()]));
        order
    };
    let (by_put_call, by_put_ret) = (by(|value| value.put_call), by(|value| value.put_ret));
    let (by_take_call, by_take_ret) = (by(|value| value.take_call), by(|value| value.take_ret));
    let mut called = Called { of: vec![(false, false); values.len()], ready: Vec::new() };
    let mut is_left = vec![true; values.len()];
    let (mut put_called, mut put_returned, mut take_called, mut take_returned) = (0, 0, 0, 0);
    let (mut put, mut take) = (0, 0);
    let mut moved = Vec::with_capacity(values.len());
    while moved.len() < values.len() {
        // The first return among the remaining values: all values that were called before it may come first.
        while !is_left[by_put_ret[put_returned].to_usize()] {
            put_returned += 1;
        }
        while !is_left[by_take_ret[take_returned].to_usize()] {
            take_returned += 1;
        }
        let put_ret = values[by_put_ret[put_returned].to_usize()].put_ret;
        let take_ret = values[by_take_ret[take_returned].to_usize()].take_ret;
        while let Some(at) = by_put_call.get(put_called).filter(|at| values[at.to_usize()].put_call < put_ret) {
            called.of[at.to_usize()].0 = true;
            called.see(*at);
            put_called += 1;
        }
        while let Some(at) = by_take_call.get(take_called).filter(|at| values[at.to_usize()].take_call < take_ret) {
            called.of[at.to_usize()].1 = true;
            called.see(*at);
            take_called += 1;
        }
        let at = called.ready.pop()?;
        let value = &values[at.to_usize()];
        is_left[at.to_usize()] = false;
        put = put.max(value.put_call);
        take = take.max(value.take_call).max(put);
        if put >= value.put_ret || take >= value.take_ret {
            return None;
        }
        moved.push(Moved { value: at, put, take });
    }
    Some(moved)
}

/// By value: whether its put and its take were called.
struct Called {
    of: Vec<(bool, bool)>,
    /// Values of which both were called.
    ready: Vec<u32>,
}

impl Called {
    fn see(&mut self, at: u32) {
        if self.of[at.to_usize()] == (true, true) {
            self.ready.push(at);
        }
    }
}

/// Positions of two values of which the first was inserted first and the second removed first.
pub(super) fn overtaken(moments: &Moments) -> Option<(usize, usize)> {
    let values = &moments.values;
    let mut by_put_ret: Vec<usize> = (0..values.len()).collect();
    by_put_ret.sort_unstable_by_key(|at| values[*at].put_ret);
    // Of the values inserted before, the one that is removed last.
    let (mut returned, mut last) = (0, None);
    for (at, value) in values.iter().enumerate() {
        while let Some(before) = by_put_ret.get(returned).filter(|before| values[**before].put_ret <= value.put_call) {
            last = last.max(Some((values[*before].take_call, *before)));
            returned += 1;
        }
        if let Some((take_call, before)) = last
            && value.take_ret <= take_call
        {
            return Some((before, at));
        }
    }
    None
}
