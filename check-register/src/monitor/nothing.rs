//! Operations that found the collection empty: each is possible if and only if one of its moments is in no span.
//!
//! At such a moment each value that is not flushed lies wholly before it (`take.call <= moment`) or wholly after it
//! (`moment < put.ret`), and never both. So any linearization of the values can be changed to one in which the
//! collection is empty at this moment: operations before it move to just before the moment, operations after it to just
//! after it, both in the same order. A moment that is in no span remains so; so each operation that found nothing can
//! be decided separately.

use super::moments::{Moments, Nothing};
use super::sheet::NONE;
use history_core::cast::Cast as _;

/// The moments that are in no span.
#[derive(Debug)]
pub(super) struct Empty {
    /// By moment: the first moment from it on that is in no span; `NONE` if there is none.
    next: Vec<u32>,
}

impl Empty {
    /// The moments outside of the spans, each of which includes its first moment and excludes its last.
    pub(super) fn outside(end: u32, spans: impl Iterator<Item = (u32, u32)>) -> Empty {
        let mut held = vec![0_i64; end.to_usize() + 2];
        for (start, end) in spans {
            if start < end {
                held[start.to_usize()] += 1;
                held[end.to_usize()] -= 1;
            }
        }
        let mut now = 0;
        for change in &mut held {
            now += *change;
            *change = now;
        }
        Empty::at(end, |moment| held[moment.to_usize()] == 0)
    }

    /// The moments for which `is_empty` returns true.
    pub(super) fn at(end: u32, is_empty: impl Fn(u32) -> bool) -> Empty {
        let mut next = vec![NONE; end.to_usize() + 2];
        let mut nearest = NONE;
        for moment in (0..=end).rev() {
            if is_empty(moment) {
                nearest = moment;
            }
            next[moment.to_usize()] = nearest;
        }
        Empty { next }
    }

    /// The moments outside of all values' spans.
    pub(super) fn of(moments: &Moments) -> Empty {
        Empty::outside(moments.end, moments.values.iter().map(|value| (value.put_ret, value.take_call)))
    }

    /// Returns true if a moment is in no span.
    pub(super) fn is_empty(&self, moment: u32) -> bool {
        self.next[moment.to_usize()] == moment
    }

    /// The first moment at which an operation can have found nothing.
    pub(super) fn first(&self, nothing: &Nothing) -> Option<u32> {
        Some(self.next[nothing.call.to_usize()]).filter(|moment| *moment < nothing.ret)
    }

    /// The first moment of each operation that found nothing, if all have one.
    pub(super) fn firsts(&self, moments: &Moments) -> Option<Vec<u32>> {
        moments.nothings.iter().map(|nothing| self.first(nothing)).collect()
    }
}
