//! A node's machine, as a run sees it: orders that it obeys, wherever it is.
//!
//! There are two kinds of machines. `Machine` obeys on this computer: in namespaces, or with plain processes. The
//! machine at the other end of `ssh` sends the order to a worker there, which has a `Machine` of its own.

use crate::error::LiveError;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a machine is to do. The answer is a text, empty where nothing is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Says where a program is; nothing if it is not there.
    Find { program: String },
    /// Makes a directory for data that belongs to this user, if it is not there, and says where it is.
    Data { name: String, user: String },
    /// Writes a file.
    Write { path: PathBuf, text: String },
    /// Runs a command as this user to its end, with this input.
    Run { user: String, command: Vec<String>, input: String },
    /// Starts a daemon as this user. The name is for its log and messages.
    Start { user: String, name: String, command: Vec<String> },
    /// Kills its daemons and forgets them.
    Stop,
    /// Kills its daemons.
    Kill,
    /// Makes its daemons stand still.
    Pause,
    /// Lets its daemons go on, and starts those again that were killed.
    Resume,
    /// Fails if one of its daemons has ended by itself.
    Check,
    /// Says the last lines of its first daemon.
    LastLines,
    /// Says what this daemon has written, or the end of it.
    Log { name: String },
    /// Makes ready for [`Order::SetClock`], before daemons are started.
    MakeClock,
    /// Makes the clock of its daemons an hour late, or right.
    SetClock { is_late: bool },
    /// Replaces the rules of its packet filter. They are gone when it is not used any more.
    Filter { rules: String },
}

/// A node's machine.
pub(crate) trait Host: Send + Sync {
    /// Does it.
    ///
    /// # Errors
    ///
    /// If that is not possible; why.
    fn obey(&self, order: &Order) -> Result<String, LiveError>;
}
