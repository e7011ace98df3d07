//! The operations that are called and those that are due at each moment.

use super::Moments;
use crate::monitor::sheet::NONE;
use history_core::cast::Cast as _;

/// By moment: the positions of the items of this moment.
pub(super) struct ByMoment {
    start: Vec<u32>,
    what: Vec<u32>,
}

impl ByMoment {
    /// Creates the lists from the moment of each item; items after the last moment are omitted.
    fn new(end: u32, moments: impl Iterator<Item = u32> + Clone) -> ByMoment {
        let mut start = vec![0_u32; end.to_usize() + 2];
        for moment in moments.clone().filter(|moment| *moment <= end) {
            start[moment.to_usize() + 1] += 1;
        }
        for at in 1..start.len() {
            start[at] += start[at - 1];
        }
        let mut next = start.clone();
        let mut what = vec![0; start[end.to_usize() + 1].to_usize()];
        for (at, moment) in (0..).zip(moments).filter(|(_, moment)| *moment <= end) {
            what[next[moment.to_usize()].to_usize()] = at;
            next[moment.to_usize()] += 1;
        }
        ByMoment { start, what }
    }

    /// The items of a moment.
    pub(super) fn at(&self, moment: u32) -> &[u32] {
        let moment = moment.to_usize();
        &self.what[self.start[moment].to_usize()..self.start[moment + 1].to_usize()]
    }
}

/// The calls and the last moments of puts and takes of values, and of operations that found nothing.
pub(super) struct Calendar {
    pub(super) puts_called: ByMoment,
    pub(super) puts_due: ByMoment,
    pub(super) takes_due: ByMoment,
    pub(super) nothings_called: ByMoment,
    pub(super) nothings_due: ByMoment,
}

impl Calendar {
    pub(super) fn new(moments: &Moments) -> Calendar {
        let (end, values, nothings) = (moments.end, &moments.values, &moments.nothings);
        // The last moment of a range. An operation that has not returned is never due.
        let due = |ret: u32| if ret > end { NONE } else { ret - 1 };
        Calendar {
            puts_called: ByMoment::new(end, values.iter().map(|value| value.put_call)),
            puts_due: ByMoment::new(end, values.iter().map(|value| due(value.put_ret))),
            takes_due: ByMoment::new(end, values.iter().map(|value| due(value.take_ret))),
            nothings_called: ByMoment::new(end, nothings.iter().map(|nothing| nothing.call)),
            nothings_due: ByMoment::new(end, nothings.iter().map(|nothing| due(nothing.ret))),
        }
    }
}
