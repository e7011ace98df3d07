//! Records which reads showed an element and which did not, in a few words per element and without comparing reads.
//!
//! Reads have two numbers: one by invocation ([`ReadId`]), and one by completion, counted from 1, which is the order in
//! which they are processed. An element stores the completion number of the last read that showed it, `seen`. If the
//! read `r` shows it and `seen` is `r - 1`, only that number changes. Otherwise the reads from `seen + 1` to `r - 1`
//! did not show it. The one of them that was invoked last is found on a stack: of the reads completed so far, it
//! contains those that were invoked later than all that completed after them. So the time for a read is the number of
//! elements that it shows, and a gap takes time only when the element reappears.

use crate::elements::ElemId;
use history_core::OpFault;
use history_core::cast::Cast as _;

/// A read, numbered by invocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ReadId(u32);

impl ReadId {
    pub(super) fn new(at: usize) -> Result<ReadId, OpFault> {
        // One less than the maximum, because one more must fit.
        match u32::try_from(at) {
            Ok(at) if at < u32::MAX - 1 => Ok(ReadId(at)),
            _ => Err(OpFault::limit("more than 2^32 - 2 reads")),
        }
    }

    pub(super) fn at(self) -> usize {
        self.0.to_usize()
    }
}

/// The value of `seen` for an element whose add was not invoked.
const NOT_BEGUN: u32 = u32::MAX;

/// The data that every read of an element needs.
#[derive(Clone, Copy, Debug)]
struct Track {
    /// The completion number of the last read that showed it, or of the last read before its add was invoked.
    seen: u32,
    /// One more than the id of the last present read; 0 if it was never present. If its add was not invoked: the
    /// completion number of the last read that showed it.
    present: u32,
}

/// The reads in which elements were present and absent.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracks {
    by_element: Vec<Track>,
    /// By element: one more than the id of the last absent read, as far as gaps are known; 0 if there is none. May be
    /// shorter than the number of elements.
    absent: Vec<u32>,
    /// The number of completed reads.
    completed: u32,
    /// Completed reads, by number, that were invoked later than all that completed after them: numbers increase, and
    /// ids decrease. Its length is at most the maximum number of concurrent reads.
    latest: Vec<(u32, ReadId)>,
    /// The current read: its number, and one more than its id.
    number: u32,
    present: u32,
    /// Elements that the current read is the first to show.
    first_seen: Vec<ElemId>,
    /// The number of elements in the current read whose add was not invoked.
    strangers: usize,
    /// Elements that the current read contained before, once for each further occurrence.
    pub(super) twice: Vec<ElemId>,
    /// The number of elements that reads showed before their add was invoked, if it ever was.
    pub(super) unexpected: u64,
    pub(super) first_unexpected: Option<(ElemId, ReadId)>,
}

impl Tracks {
    /// Records that the add of an element is invoked, possibly again.
    pub(super) fn begin(&mut self, id: ElemId) {
        let completed = self.completed;
        let track = self.track(id);
        if track.seen == NOT_BEGUN {
            *track = Track { seen: completed, present: 0 };
        }
    }

    /// The same for an add that was invoked when so many reads had completed. Returns true if one of the reads since
    /// then showed the element: then it counts only from now on.
    #[cold]
    pub(super) fn begin_late(&mut self, id: ElemId, before: u32) -> bool {
        let completed = self.completed;
        let track = self.track(id);
        if track.seen != NOT_BEGUN {
            return false;
        }
        let is_shown = track.present > before;
        *track = Track { seen: if is_shown { completed } else { before }, present: 0 };
        is_shown
    }

    pub(super) fn is_begun(&self, id: ElemId) -> bool {
        self.by_element.get(id.at()).is_some_and(|track| track.seen != NOT_BEGUN)
    }

    fn track(&mut self, id: ElemId) -> &mut Track {
        if id.at() >= self.by_element.len() {
            self.by_element.resize(id.at() + 1, Track { seen: NOT_BEGUN, present: 0 });
        }
        &mut self.by_element[id.at()]
    }

    /// Starts to process a read.
    pub(super) fn open(&mut self, read: ReadId) {
        self.number = self.completed + 1;
        self.present = read.0 + 1;
        self.strangers = 0;
    }

    /// Adds an element that the current read shows.
    #[inline]
    pub(super) fn show(&mut self, id: ElemId) {
        if let Some(track) = self.by_element.get_mut(id.at())
            && track.seen == self.completed
            && track.present != 0
        {
            track.seen = self.number;
            track.present = track.present.max(self.present);
        } else {
            self.show_rarely(id);
        }
    }

    fn show_rarely(&mut self, id: ElemId) {
        let (number, present) = (self.number, self.present);
        let track = self.track(id);
        let before = *track;
        if before.seen == NOT_BEGUN {
            track.present = number;
            if before.present == number {
                self.twice.push(id);
                return;
            }
            self.strangers += 1;
            if before.present == 0 {
                self.unexpected += 1;
                self.first_unexpected.get_or_insert((id, ReadId(present - 1)));
            }
            return;
        }
        if before.seen == number {
            self.twice.push(id);
            return;
        }
        *track = Track { seen: number, present: before.present.max(present) };
        if before.present == 0 {
            self.first_seen.push(id);
        }
        self.miss(id, before.seen);
    }

    /// Records that no completed read after the number `seen` showed an element.
    fn miss(&mut self, id: ElemId, seen: u32) {
        let after = self.latest.partition_point(|(number, _)| *number <= seen);
        if let Some((_, read)) = self.latest.get(after) {
            let absent = read.0 + 1;
            self.absent.resize(self.absent.len().max(id.at() + 1), 0);
            let last = &mut self.absent[id.at()];
            *last = absent.max(*last);
        }
    }

    /// Ends the current read.
    pub(super) fn close(&mut self) {
        self.completed = self.number;
        let read = ReadId(self.present - 1);
        while self.latest.pop_if(|(_, before)| *before < read).is_some() {}
        self.latest.push((self.number, read));
    }

    /// Takes the elements that the read was the first to show.
    pub(super) fn take_first_seen(&mut self) -> Vec<ElemId> {
        std::mem::take(&mut self.first_seen)
    }

    /// Given the number of distinct elements that the last read shows, the number of those whose add was invoked.
    pub(super) fn begun(&self, shown: usize) -> usize {
        shown - self.strangers
    }

    /// Returns true if the last read shows an element.
    pub(super) fn is_shown(&self, id: ElemId) -> bool {
        self.by_element.get(id.at()).is_some_and(|track| track.seen == self.completed)
    }

    /// The number of completed reads.
    pub(super) fn completed(&self) -> u64 {
        self.completed.into()
    }

    pub(super) fn number_completed(&self) -> u32 {
        self.completed
    }

    /// Ends the history: all open gaps end here.
    pub(super) fn finish(&mut self) {
        for at in 0..self.by_element.len() {
            let seen = self.by_element[at].seen;
            if seen != NOT_BEGUN && seen < self.completed {
                self.miss(ElemId::new(at), seen);
            }
        }
    }

    /// Elements whose add was invoked, with the reads in which each was last present and last absent.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ElemId, Option<ReadId>, Option<ReadId>)> {
        let begun = self.by_element.iter().enumerate().filter(|(_, track)| track.seen != NOT_BEGUN);
        begun.map(|(at, track)| {
            let absent = self.absent.get(at).copied().unwrap_or(0);
            (ElemId::new(at), track.present.checked_sub(1).map(ReadId), absent.checked_sub(1).map(ReadId))
        })
    }
}
