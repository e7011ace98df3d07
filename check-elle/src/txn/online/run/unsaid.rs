//! Operations that do not say what they write: each may have written what a read shows and no other one wrote.
//!
//! An invocation without a value says it when it completes, or never. As long as there is such an operation, a read of
//! what nobody was invoked to write is no violation yet.

/// Which operations these are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unsaid {
    in_flight: u64,
    /// The index of the first one that completed without a value and may have happened.
    first: Option<u64>,
}

history_core::state!(struct Unsaid { in_flight, first });

impl Unsaid {
    /// An operation is invoked without a value.
    pub(super) fn invoke(&mut self) {
        self.in_flight += 1;
    }

    /// Such an operation completes; `never` says whether it may have happened, and still has no value. Whether there is
    /// none any more.
    pub(super) fn complete(&mut self, index: u64, never: bool) -> bool {
        self.in_flight -= 1;
        if never {
            self.first.get_or_insert(index);
        }
        !self.is_any()
    }

    /// Whether one of them may say it yet.
    pub(super) fn is_awaited(self) -> bool {
        self.in_flight > 0
    }

    pub(super) fn is_any(self) -> bool {
        self.in_flight > 0 || self.first.is_some()
    }

    /// As a sentence, why it is unknown who wrote something; `None` if every operation says what it wrote.
    pub(crate) fn why(self) -> Option<String> {
        let which = match self.first {
            Some(index) => format!("the op at index {index} may have happened"),
            None if self.in_flight > 0 => "an operation is still in flight".to_owned(),
            None => return None,
        };
        Some(format!(
            "A value was read that no op says it wrote. Whether that is a garbage-read is unknown: {which}, and neither its \
             invocation nor a completion says what it wrote. Give invocations their micro-ops."
        ))
    }
}
