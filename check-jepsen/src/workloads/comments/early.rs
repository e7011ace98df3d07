//! Handles reads of values whose writes had not been invoked: the conclusions when these values are written.
//!
//! Such a value has no effect until its write is invoked; then the read must contain all values acknowledged by that
//! time. So a write proves a read wrong if and only if the read contains the written value and lacks a value that is
//! acknowledged by then. A value that a read lacks remains missing. So reads that lack nothing are kept in a list, from
//! which each acknowledgement removes some, and a read that is removed marks the values that it contains. Time: linear
//! in the contents of these reads.

use crate::elements::ElemId;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// The content of a read.
type Shown = Box<[ElemId]>;

/// The reads that may still be right.
#[derive(Clone, Debug, Default)]
pub(super) struct Early {
    /// The reads that contain all acknowledged values, in order.
    whole: Vec<u32>,
    /// For each unacknowledged value, the reads that contain it, in order. Some may no longer be in `whole`.
    shown_by: HashMap<ElemId, Vec<u32>>,
    /// For each value, whether a read that lacks something contains it. May be shorter than the number of values.
    marked: Vec<bool>,
}

impl Early {
    /// Adds the next read. `unacknowledged` are those of its values that are not acknowledged, unless it lacks one that
    /// is.
    pub(super) fn push(&mut self, read: u32, shown: &[ElemId], unacknowledged: Option<impl Iterator<Item = ElemId>>) {
        let Some(unacknowledged) = unacknowledged else {
            self.mark(shown);
            return;
        };
        self.whole.push(read);
        for id in unacknowledged {
            let reads = self.shown_by.entry(id).or_default();
            if reads.last() != Some(&read) {
                reads.push(read);
            }
        }
    }

    fn mark(&mut self, shown: &[ElemId]) {
        for id in shown {
            self.marked.resize(self.marked.len().max(id.at() + 1), false);
            self.marked[id.at()] = true;
        }
    }

    /// Records that a value is acknowledged for the first time; `reads` has the content of each read.
    pub(super) fn acknowledge<T>(&mut self, id: ElemId, reads: &[(T, Shown)]) {
        if self.whole.is_empty() {
            return;
        }
        let with = self.shown_by.remove(&id).unwrap_or_default();
        let mut with = with.into_iter().peekable();
        let (mut whole, mut gone) = (Vec::new(), Vec::new());
        for read in std::mem::take(&mut self.whole) {
            while with.next_if(|shows| *shows < read).is_some() {}
            if with.peek() == Some(&read) { whole.push(read) } else { gone.push(read) }
        }
        self.whole = whole;
        for read in gone {
            self.mark(&reads[read.to_usize()].1);
        }
    }

    /// Returns true if a write of this value, invoked now, proves a read wrong.
    pub(super) fn proves(&self, id: ElemId) -> bool {
        self.marked.get(id.at()).is_some_and(|marked| *marked)
    }
}
