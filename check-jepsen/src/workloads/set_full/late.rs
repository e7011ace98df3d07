//! Late reads, which lack elements that they must show, detected when they complete.
//!
//! If a set is linearizable a read must show every element that was known before the read was invoked; as latencies
//! below a millisecond do not count, before that by a millisecond, if there are times. In the order in which elements
//! become known, those are a prefix. So it is sufficient to count: everything that a read shows is known when it
//! completes, and what is not in the prefix is in the rest.
//!
//! Time: a look at each element of the rest or at each that the read shows, whichever are fewer. Memory: 8 bytes an
//! element.

use super::report::latency_ms;
use super::track::Tracks;
use crate::elements::{ElemId, Elements};
use crate::witness::OpRef;
use history_core::OpFault;
use history_core::Seq;
use history_core::cast::Cast as _;

/// What must be shown when.
#[derive(Clone, Debug, Default)]
pub(super) struct Late {
    /// Elements in the order in which they came to be known.
    order: Vec<ElemId>,
    /// By element: its place in this order, or anything. May be shorter.
    places: Vec<u32>,
    /// How many a read that is invoked now must show.
    must: u32,
    /// Whether a read lacked one. Then counting has ended.
    is_certain: bool,
}

impl Late {
    /// An element comes to be known.
    pub(super) fn know(&mut self, id: ElemId) {
        if self.is_certain {
            return;
        }
        self.places.resize(self.places.len().max(id.at() + 1), 0);
        // There are fewer than 2^32 elements.
        self.places[id.at()] = self.order.len().to_u32();
        self.order.push(id);
    }

    /// How many elements a read that is invoked now must show, given by which ops they are known.
    pub(super) fn must(&mut self, invoked: OpRef, known: &[OpRef]) -> u32 {
        while let Some(id) = self.order.get(self.must.to_usize()) {
            let known = known[id.at()];
            let is_due = match latency_ms(known, Some(invoked)) {
                Some(latency) => latency > 0,
                // By index, unless a later read may give the time.
                None => known.time_ns().is_none(),
            };
            if !is_due {
                break;
            }
            self.must += 1;
        }
        self.must
    }

    /// A read that had to show so many has completed. It shows nothing twice.
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

    /// Whether an element will be stale or lost whatever comes next.
    pub(super) fn is_certain(&self) -> bool {
        self.is_certain
    }
}
