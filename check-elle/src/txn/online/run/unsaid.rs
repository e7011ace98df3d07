//! Operations whose writes are unknown: each may have written a value that a read shows and that no other one wrote.
//!
//! An invocation without a value gets one from its completion, or never. As long as such an operation exists that was
//! invoked before a read completed, a read of a value that no invocation writes is no violation yet.

/// The operations whose writes are unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unsaid {
    /// The invocations of those in flight, in ascending order.
    in_flight: Vec<u64>,
    /// The invocation and the completion of the first one that may have happened and never got a value.
    first: Option<(u64, u64)>,
}

history_core::state!(struct Unsaid { in_flight, first });

impl Unsaid {
    /// Adds an operation that was invoked without a value.
    pub(super) fn invoke(&mut self, index: u64) {
        self.in_flight.push(index);
    }

    /// Processes the completion of such an operation; `never`: true if it may have happened and still has no value.
    pub(super) fn complete(&mut self, invoked: u64, index: u64, never: bool) {
        self.in_flight.retain(|other| *other != invoked);
        if never && self.first.is_none_or(|(first, _)| invoked < first) {
            self.first = Some((invoked, index));
        }
    }

    /// The invocation of the first operation that may still get a value, if there is one.
    pub(super) fn awaited_since(&self) -> Option<u64> {
        self.in_flight.first().copied()
    }

    /// The invocation of the first operation whose writes are unknown, if there is one.
    pub(super) fn since(&self) -> Option<u64> {
        self.awaited_since().into_iter().chain(self.first.map(|(invoked, _)| invoked)).min()
    }

    /// Why the writer of a value is unknown, as a sentence; `None` if the writes of every operation are known.
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
