//! The interface to a node's machine: it executes orders, in any location.
//!
//! There are two kinds of machines. `Machine` executes orders on this computer: in namespaces, or with plain processes.
//! The machine at the other end of `ssh` sends the order to a worker there, which has its own `Machine`.

use crate::error::LiveError;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An order to a machine. The response is a text, empty for orders without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Returns the path of a program; empty if it is not found.
    Find { program: String },
    /// Creates a directory for data that belongs to this user, if it does not exist, and returns its path.
    Data { name: String, user: String },
    /// Writes a file.
    Write { path: PathBuf, text: String },
    /// Runs a command as this user to its end, with this input.
    Run { user: String, command: Vec<String>, input: String },
    /// Starts a daemon as this user. The name is for its log and messages.
    Start { user: String, name: String, command: Vec<String> },
    /// Kills its daemons and removes them.
    Stop,
    /// Kills its daemons.
    Kill,
    /// Stops the execution of its daemons.
    Pause,
    /// Continues its daemons, and restarts those that were killed.
    Resume,
    /// Fails if one of its daemons has ended by itself.
    Check,
    /// Returns the last lines of its first daemon.
    LastLines,
    /// Returns the output of this daemon, or the end of it.
    Log { name: String },
    /// Prepares for [`Order::SetClock`], before daemons are started.
    MakeClock,
    /// Makes the clock of its daemons an hour late, or correct.
    SetClock { is_late: bool },
    /// Replaces the rules of its packet filter. They are removed when it is no longer used.
    Filter { rules: String },
}

/// A node's machine.
pub(crate) trait Host: Send + Sync {
    /// Executes the order.
    ///
    /// # Errors
    ///
    /// If it is not possible; the error is the reason.
    fn obey(&self, order: &Order) -> Result<String, LiveError>;
}
