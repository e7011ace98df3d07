//! Detects late reads, which lack elements that they must show, when they complete.
//!
//! If a set is linearizable, a read must show every element that was known before its invocation, or, if there are
//! times, at least a millisecond before it, because shorter latencies do not count. In the order in which elements
//! become known, these elements are a prefix, so it suffices to count: every element that a read shows is known when
//! the read completes, and is either in the prefix or after it.
//!
//! Time: one step for each element after the prefix, or for each that the read shows, whichever are fewer. Memory: 8
//! bytes per element.

use super::report::latency_ms;
use super::track::Tracks;
use crate::elements::{ElemId, Elements};
use crate::witness::OpRef;
use history_core::OpFault;
use history_core::Seq;
use history_core::cast::Cast as _;

/// The order in which elements become known.
#[derive(Clone, Debug, Default)]
pub(super) struct Late {
    /// Elements in the order in which they became known.
    order: Vec<ElemId>,
    /// By element: its position in `order`; arbitrary for unknown elements. May be shorter than the number of elements.
    places: Vec<u32>,
    /// The number of elements that a read must show if it is invoked now.
    must: u32,
    /// Whether a read lacked an element that it must show. Then counting has ended.
    is_certain: bool,
}

impl Late {
    /// Adds an element that becomes known.
    pub(super) fn know(&mut self, id: ElemId) {
        if self.is_certain {
            return;
        }
        self.places.resize(self.places.len().max(id.at() + 1), 0);
        // There are fewer than 2^32 elements.
        self.places[id.at()] = self.order.len().to_u32();
        self.order.push(id);
    }

    /// The number of elements that a read invoked now must show, given the ops by which elements are known.
    pub(super) fn must(&mut self, invoked: OpRef, known: &[OpRef]) -> u32 {
        while let Some(id) = self.order.get(self.must.to_usize()) {
            let known = known[id.at()];
            let is_due = match latency_ms(known, Some(invoked)) {
                Some(latency) => latency > 0,
                // Compared by index, unless a later read may provide the time.
                None => known.time_ns().is_none(),
            };
            if !is_due {
                break;
            }
            self.must += 1;
        }
        self.must
    }

    /// Examines a completed read, which must show the first `must` elements. It must not contain duplicates.
    pub(super) fn look(
        &mut self,
        must: u32,
        shown: Seq<'_>,
        elements: &mut Elements,
        tracks: &Tracks,
    ) -> Result<(), OpFault> {
        if self.is_certain {
            return Ok(());
        }
        let rest = &self.order[must.to_usize()..];
        let mut there = 0;
        if rest.len() <= shown.len() {
            let others = rest.iter().filter(|id| tracks.is_shown(**id)).count();
            there = tracks.begun(shown.len()) - others;
        } else {
            let places = &self.places;
            elements.each(shown, |id| {
                there += usize::from(tracks.is_shown(id) && places[id.at()] < must);
                Ok(())
            })?;
        }
        self.is_certain = there < must.to_usize();
        Ok(())
    }

    /// Returns true if some element will be stale or lost whatever follows.
    pub(super) fn is_certain(&self) -> bool {
        self.is_certain
    }
}
