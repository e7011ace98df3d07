//! Indices: every op has one, and they increase.

use crate::error::{ErrorKind, HistoryError};

/// The indices of the ops of one history, in order. Ops without one are numbered from 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Indices {
    ops: u64,
    /// Whether the first op had an index.
    written: bool,
    first: Option<u64>,
    last: Option<u64>,
}

crate::state!(struct Indices { ops, written, first, last });

impl Indices {
    /// The number of ops so far.
    pub(crate) fn ops(&self) -> u64 {
        self.ops
    }

    /// Returns true if all ops have an index, and no number between the first and the last is missing.
    pub(crate) fn are_consecutive(&self) -> bool {
        // Indices increase, so none is missing if there are as many ops as numbers from the first to the last.
        let count = self.last.zip(self.first).map_or(0, |(last, first)| last - first + 1);
        self.written && count == self.ops
    }

    /// The index of the next op; `written` is its index in the history. After an error, continue with [`Indices::pass`]
    /// or not at all.
    #[inline]
    pub(crate) fn next(&mut self, written: Option<u64>) -> Result<u64, HistoryError> {
        if self.ops == 0 {
            self.written = written.is_some();
        }
        let index = match (self.written, written) {
            (true, Some(index)) => index,
            (false, None) => self.ops,
            (true, None) => return Err(mixed("this op has no index, though those before it have one")),
            (false, Some(_)) => return Err(mixed("this op has an index, though those before it have none")),
        };
        if let Some(last) = self.last
            && index <= last
        {
            return Err(error(format!("the op's index, {index}, follows {last}"))
                .expected("indices that increase; sort the ops by index, or leave the indices out"));
        }
        self.first.get_or_insert(index);
        self.last = Some(index);
        self.ops += 1;
        Ok(index)
    }

    /// Continues after an error as if the op's index were right. Returns an index for it.
    pub(crate) fn pass(&mut self, written: Option<u64>) -> u64 {
        let index = written.unwrap_or_else(|| self.last.map_or(0, |last| last.saturating_add(1)));
        self.last = Some(index);
        self.ops += 1;
        index
    }
}

#[cold]
fn mixed(message: &str) -> HistoryError {
    error(message.into()).expected("an index in every op, or in none")
}

#[cold]
fn error(message: String) -> HistoryError {
    HistoryError::new(ErrorKind::Pairing, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_left_out_is_noticed() {
        let are_consecutive = |written: &[Option<u64>]| {
            let mut indices = Indices::default();
            for index in written {
                assert!(indices.next(*index).is_ok(), "{index:?}");
            }
            indices.are_consecutive()
        };
        assert!(are_consecutive(&[Some(0), Some(1), Some(2)]));
        assert!(are_consecutive(&[Some(u64::MAX - 1), Some(u64::MAX)]));
        for written in [&[Some(3), Some(5)][..], &[None, None], &[]] {
            assert!(!are_consecutive(written), "{written:?}");
        }
    }
}
