//! Operations that do not say what they write: each may have written what a read shows and no other one wrote.
//!
//! An invocation without a value says it when it completes, or never. As long as there is such an operation that was
//! invoked before a read completed, a read of what nobody was invoked to write is no violation yet.

/// Which operations these are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unsaid {
    /// When those in flight were invoked, in this order.
    in_flight: Vec<u64>,
    /// The first one that may have happened and never said it: when it was invoked, and when it completed.
    first: Option<(u64, u64)>,
}

history_core::state!(struct Unsaid { in_flight, first });

impl Unsaid {
    /// An operation is invoked without a value.
    pub(super) fn invoke(&mut self, index: u64) {
        self.in_flight.push(index);
    }

    /// Such an operation completes; `never` says whether it may have happened, and still has no value.
    pub(super) fn complete(&mut self, invoked: u64, index: u64, never: bool) {
        self.in_flight.retain(|other| *other != invoked);
        if never && self.first.is_none_or(|(first, _)| invoked < first) {
            self.first = Some((invoked, index));
        }
    }

    /// When the first one was invoked that may say it yet, if there is one.
    pub(super) fn awaited_since(&self) -> Option<u64> {
        self.in_flight.first().copied()
    }

    /// When the first one of all was invoked, if there is one.
    pub(super) fn since(&self) -> Option<u64> {
        self.awaited_since().into_iter().chain(self.first.map(|(invoked, _)| invoked)).min()
    }

    /// As a sentence, why it is unknown who wrote something; `None` if every operation says what it wrote.
    pub(crate) fn why(&self) -> Option<String> {
        let which = match self.first {
            Some((_, index)) => format!("the op at index {index} may have happened"),
            None if self.awaited_since().is_some() => "an operation is still in flight".to_owned(),
            None => return None,
        };
        Some(format!(
            "A value was read that no op says it wrote. Whether that is a garbage-read is unknown: {which}, and neither its \
             invocation nor a completion says what it wrote. Give invocations their micro-ops."
        ))
    }
}
