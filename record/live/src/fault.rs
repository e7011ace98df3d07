//! The kinds of faults that a run can have.

use std::fmt;
use std::str::FromStr;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The nodes and the others cannot reach each other.
    Isolate,
    /// The nodes' processes are killed, and started again when the fault ends.
    Kill,
    /// The nodes' processes stand still until the fault ends.
    Pause,
    /// A command of the user's.
    Command,
}

/// All kinds, with their names.
const ALL: [(Fault, &str); 4] =
    [(Fault::Isolate, "isolate"), (Fault::Kill, "kill"), (Fault::Pause, "pause"), (Fault::Command, "command")];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ALL.iter().find(|(fault, _)| fault == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        ALL.iter().find(|(_, name)| *name == text).map(|(fault, _)| *fault).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|(_, name)| *name).collect();
            format!("unknown fault {text:?}: expected one of {}", names.join(", "))
        })
    }
}
