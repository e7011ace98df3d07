//! Reasons why a watch ends without a report.

use crate::output::diagnose;
use crate::output::exit::Exit;
use history_core::HistoryError;

/// The reason why there will be no report.
pub(in crate::watch) enum Stopped {
    History(HistoryError),
    /// The output cannot be written.
    Output(Exit),
    /// A checkpoint cannot be written, or the last one cannot be used.
    Checkpoint(String),
}

impl Stopped {
    /// The exit status of the program, unless the result is an error.
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
