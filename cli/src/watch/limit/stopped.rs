//! Why a watch ends without a report.

use crate::output::diagnose;
use crate::output::exit::Exit;
use history_core::HistoryError;

/// Why there will be no report.
pub(in crate::watch) enum Stopped {
    History(HistoryError),
    /// The receiver is gone.
    Output(Exit),
    /// There can be no checkpoint, or the last one is of no use.
    Checkpoint(String),
}

impl Stopped {
    /// How the program ends, unless an error is the result.
    pub(in crate::watch) fn exit(self) -> Result<Exit, HistoryError> {
        match self {
            Stopped::History(error) => Err(error),
            Stopped::Output(exit) => Ok(exit),
            Stopped::Checkpoint(message) => {
                diagnose::error(&message);
                Ok(Exit::FAILED)
            }
        }
    }
}

impl From<HistoryError> for Stopped {
    fn from(error: HistoryError) -> Stopped {
        Stopped::History(error)
    }
}
