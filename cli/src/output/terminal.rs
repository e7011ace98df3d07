//! Properties of standard output and standard error, determined once.
//!
//! A child process that checks one history (`judge::child_job`) prints into pipes, and must write what its parent would
//! write to the terminal.

use anstream::{AutoStream, ColorChoice};
use std::io::{self, IsTerminal as _, StderrLock};
use std::sync::OnceLock;

static TERMINAL: OnceLock<Terminal> = OnceLock::new();

/// The properties of the standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Whether results are written in colour.
    pub(crate) stdout_colour: bool,
    pub(crate) stderr_colour: bool,
    /// Whether results and hints appear on the same screen.
    pub(crate) stderr_on_screen: bool,
}

impl Terminal {
    /// The properties of this process's streams, or those that its parent passed.
    pub(crate) fn get() -> Terminal {
        *TERMINAL.get_or_init(|| Terminal {
            stdout_colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            stderr_colour: AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            stderr_on_screen: io::stderr().is_terminal(),
        })
    }

    /// Uses the properties of the parent's streams. This must be the first call.
    pub(crate) fn stand_in(self) {
        let _ = TERMINAL.set(self);
    }

    /// The properties as letters, for a command line.
    pub(crate) fn letters(self) -> String {
        let all = [(self.stdout_colour, 'o'), (self.stderr_colour, 'e'), (self.stderr_on_screen, 't')];
        all.into_iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect()
    }

    pub(crate) fn from_letters(letters: &str) -> Terminal {
        Terminal {
            stdout_colour: letters.contains('o'),
            stderr_colour: letters.contains('e'),
            stderr_on_screen: letters.contains('t'),
        }
    }
}

/// Standard error, with or without styles. Locked until it is dropped, so other threads cannot write in between.
pub(crate) fn stderr() -> AutoStream<StderrLock<'static>> {
    let colour = if Terminal::get().stderr_colour { ColorChoice::Always } else { ColorChoice::Never };
    AutoStream::new(io::stderr().lock(), colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_it_all() {
        for bits in 0..8 {
            let terminal =
                Terminal { stdout_colour: bits & 1 > 0, stderr_colour: bits & 2 > 0, stderr_on_screen: bits & 4 > 0 };
            assert_eq!(Terminal::from_letters(&terminal.letters()), terminal);
        }
    }
}
