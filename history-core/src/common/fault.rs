//! What is wrong with an op that a checker cannot take.

use crate::{ErrorKind, HistoryError};

/// Why a checker cannot take an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpFault {
    /// It cannot be decoded, for this reason. The other ops can be judged without it.
    Undecodable(String),
    /// It cannot be decoded, and without it nothing can be concluded from the ops after it.
    Blocking(String),
    /// The history as a whole cannot be judged.
    Error(HistoryError),
}

impl OpFault {
    /// The fault of an op with which a limit is reached.
    #[cold]
    pub fn limit(message: impl Into<String>) -> OpFault {
        OpFault::Error(HistoryError::new(ErrorKind::Limit, message))
    }
}

impl From<HistoryError> for OpFault {
    fn from(error: HistoryError) -> OpFault {
        OpFault::Error(error)
    }
}
