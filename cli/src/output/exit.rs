//! Exit codes: one number for all histories of a run.

use crate::output::diagnose;
use history_core::{Verdict, visible};
use std::io::{self, Write as _};
use std::process::ExitCode;

/// A file could not be checked, or a result could not be written.
const NOT_JUDGED: u8 = 255;
/// The command line is not valid.
const USAGE: u8 = 254;

/// The combined result of the histories so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exit {
    verdict: Option<Verdict>,
    not_judged: bool,
}

impl Exit {
    /// Success, without any check.
    pub(crate) const OK: Exit = Exit { verdict: None, not_judged: false };
    /// Something could not be done.
    pub(crate) const FAILED: Exit = Exit { verdict: None, not_judged: true };

    pub(crate) fn of(verdict: Verdict) -> Exit {
        Exit { verdict: Some(verdict), not_judged: false }
    }

    /// The exit status for the exit code of a child process.
    pub(crate) fn from_code(code: Option<i32>) -> Exit {
        match code {
            Some(0) => Exit::of(Verdict::Valid),
            Some(1) => Exit::of(Verdict::Invalid),
            Some(2) => Exit::of(Verdict::Unknown),
            _ => Exit::FAILED,
        }
    }

    /// Combines both: a history that was not checked outweighs all verdicts; otherwise the worst verdict counts.
    #[must_use]
    pub(crate) fn and(self, other: Exit) -> Exit {
        Exit { verdict: self.verdict.max(other.verdict), not_judged: self.not_judged || other.not_judged }
    }

    /// Returns true if something failed.
    pub(crate) fn is_failure(self) -> bool {
        self.not_judged
    }

    /// The exit code.
    pub(crate) fn number(self) -> u8 {
        match self.verdict {
            _ if self.not_judged => NOT_JUDGED,
            Some(Verdict::Invalid) => 1,
            Some(Verdict::Unknown) => 2,
            Some(Verdict::Valid) | None => 0,
        }
    }

    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }
}

/// Prints the output of clap: help and versions to standard output, wrong usage to standard error.
pub(crate) fn usage(said: &clap::Error) -> ExitCode {
    match print(said).and_then(|()| io::stdout().flush()) {
        _ if said.use_stderr() => ExitCode::from(USAGE),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => stopped(&error).code(),
    }
}

fn print(said: &clap::Error) -> io::Result<()> {
    // Words of the command line may be names of files, which may contain hidden characters.
    if std::env::args_os().any(|word| word.to_string_lossy().contains(visible::is_hidden)) && said.use_stderr() {
        return io::stderr().write_all(visible::lines(&said.render().to_string()).as_bytes());
    }
    said.print()
}

/// Returns the exit status after an error of standard output. A closed pipe is success, because the reader needs no
/// more; anything else is an error.
pub(crate) fn stopped(error: &io::Error) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Exit::OK;
    }
    diagnose::error(&format!("cannot write to standard output: {error}"));
    Exit::FAILED
}

/// The same, if the output contains verdicts. A caller that reads only the exit code must not treat unwritten verdicts
/// as valid.
pub(crate) fn unwritten(error: &io::Error) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe { Exit::FAILED } else { stopped(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Invalid, Unknown, Valid};

    #[test]
    fn the_worst_of_each_combination_decides() {
        let all = [Exit::FAILED, Exit::of(Invalid), Exit::of(Unknown), Exit::of(Valid), Exit::OK];
        let numbers = [255, 1, 2, 0, 0];
        for (i, a) in all.into_iter().enumerate() {
            for (j, b) in all.into_iter().enumerate() {
                assert_eq!(a.and(b).number(), numbers[i.min(j)], "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn a_failure_is_not_forgotten() {
        let exit = Exit::FAILED.and(Exit::of(Valid)).and(Exit::of(Invalid));
        assert_eq!(exit.number(), 255);
    }
}
