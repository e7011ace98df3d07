//! Indices: every op has one, and they increase.

use crate::error::{ErrorKind, HistoryError};

/// The indices of the ops of one history, in order. Ops without one are numbered from 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Indices {
    ops: u64,
    /// Whether the first op had one.
    written: bool,
    last: Option<u64>,
}

crate::state!(struct Indices { ops, written, last });

impl Indices {
    /// How many ops there were.
    pub(crate) fn ops(&self) -> u64 {
        self.ops
    }

    /// The index of the next op, of which `written` is what the history says. After an error, continue with
    /// [`Indices::pass`] or not at all.
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
        self.last = Some(index);
        self.ops += 1;
        Ok(index)
    }

    /// Goes on after an error as if the op's index were right. Some index for it.
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
