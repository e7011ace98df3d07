//! Reads of values whose write had not begun: the conclusions when these are written.
//!
//! Such a value has no effect until its write is invoked; then the read must contain all that was acknowledged by that
//! time. So a write proves a read wrong if and only if the read contains the written value and lacks something that is
//! acknowledged by then. What a read lacks it lacks permanently: reads that lack nothing are kept as a list, which each
//! acknowledgement shortens, and a read that leaves it marks what it contains. Time: the contents of these reads.

use crate::elements::ElemId;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// What a read shows.
type Shown = Box<[ElemId]>;

/// Those of the reads that may still be right.
#[derive(Clone, Debug, Default)]
pub(super) struct Early {
    /// The reads that show all that is acknowledged, in order.
    whole: Vec<u32>,
    /// By value that is not acknowledged: the reads, in order, that show it. Some may have left `whole`.
    shown_by: HashMap<ElemId, Vec<u32>>,
    /// By value: whether a read that lacks something shows it. May be shorter.
    marked: Vec<bool>,
}

impl Early {
    /// The next read, and those of the values it shows that are not acknowledged, unless it lacks one that is.
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

    /// A value is acknowledged, for the first time; `reads` gives what each read shows.
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

    /// Whether a write of this value, invoked now, proves a read wrong.
    pub(super) fn proves(&self, id: ElemId) -> bool {
        self.marked.get(id.at()).is_some_and(|marked| *marked)
    }
}
