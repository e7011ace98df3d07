//! Operations that may have happened and do not record what they changed.

use std::collections::BTreeMap;

/// The first of these operations, by the index of their invocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Hidden {
    /// The first that may have changed any part of the object.
    anywhere: Option<u64>,
    /// The first of each part, of those that may have changed only this part.
    parts: BTreeMap<u64, u64>,
    /// The first whose completion records a change after a violation had been found.
    doubted: Option<u64>,
}

impl Hidden {
    /// Records such an operation. `part`: the only part that it may have changed, if known.
    pub(super) fn keep(&mut self, index: Option<u64>, part: Option<u64>) {
        let Some(index) = index else { return };
        if let Some(part) = part {
            let first = self.parts.entry(part).or_insert(index);
            *first = index.min(*first);
        } else {
            self.anywhere = earliest(self.anywhere, Some(index));
        }
    }

    /// Records that no violation is certain that was found since this invocation.
    pub(super) fn doubt_since(&mut self, index: u64) {
        self.doubted = earliest(self.doubted, Some(index));
    }

    /// Returns true if the completion of this invocation records a change after a violation had been found.
    pub(super) fn is_doubted(&self, index: u64) -> bool {
        self.doubted == Some(index)
    }

    /// The parts that are known to be the only ones that such operations may have changed.
    pub(super) fn parts(&self) -> impl Iterator<Item = u64> {
        self.parts.keys().copied()
    }

    /// The first of all.
    pub(super) fn first(&self) -> Option<u64> {
        self.parts.values().copied().chain(self.anywhere()).min()
    }

    /// The first that may have changed this part.
    pub(super) fn first_of(&self, part: u64) -> Option<u64> {
        earliest(self.parts.get(&part).copied(), self.anywhere())
    }

    /// The first that may have changed any part.
    pub(super) fn anywhere(&self) -> Option<u64> {
        earliest(self.anywhere, self.doubted)
    }
}

/// The lower index of two.
pub(super) fn earliest(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// Describes the position of an op that does not record what it changed. `is_late`: only its completion does.
pub(super) fn hidden_place(index: u64, is_late: bool) -> String {
    if is_late {
        return format!(
            "the op at index {index}: only its completion records what it did, and ops that returned before may depend \
             on that."
        );
    }
    format!(
        "the op at index {index}: it may have happened, and neither its invocation nor its completion records what it \
         did."
    )
}
