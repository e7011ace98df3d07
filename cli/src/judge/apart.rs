//! `--timeout` and `--max-memory`: each history is checked in a separate process, which can be ended.
//!
//! A checker that examines its budget stops by itself, and returns `unknown`. One that does not (a plugin that never
//! returns, or allocates memory without limit) cannot be stopped within its process: a thread cannot be ended, and its
//! allocations cannot be released. This program therefore starts itself for each history, passes on the output when
//! that process ends, and ends it when it reaches a limit; the other histories are not affected. A plugin that aborts
//! ends only its own process, too.

use crate::job::Check;
use crate::judge::child::{self, Ended, Ran};
use crate::judge::child_job::{self, ChildJob};
use crate::judge::input::{Input, Unmatched};
use crate::output::exit::Exit;
use histcheck_front::setup::INTERRUPTED_AT_ONCE;
use history_core::{Cancel, ErrorKind, HistoryError, NextStep, Report, Spent, Verdict};
use std::io;
use std::process::{ExitStatus, Stdio};

/// The outcome of a history, before it is reported.
pub(crate) enum Judged {
    /// Checked in this process: additional notes, and the verdict.
    Here(Vec<String>, Result<Report, HistoryError>),
    /// Not checked, and the reason.
    NotBegun(HistoryError),
    /// Checked in a child process: its output, and its exit code.
    ByChild { stdout: Vec<u8>, stderr: Vec<u8>, exit: Exit },
    /// Checked in a child process that did not end normally: its output on standard error, and the result for the
    /// history.
    GivenUp { stderr: Vec<u8>, judged: Result<Report, HistoryError> },
}

/// Checks a history in a separate process, which writes reports into this folder of the directory for reports.
pub(crate) fn judge(
    job: &Check<'_>,
    input: &Input,
    folder: Option<&str>,
    unmatched: &Unmatched,
    cancel: &Cancel,
) -> Judged {
    let mut ran = run(job, input, folder, cancel);
    let names = ran.as_mut().ok().and_then(|ran| child_job::take_unmatched(&mut ran.stderr));
    unmatched.add(names.as_deref());
    match ran {
        Ok(Ran { ended: Ended::ByItself(status), stdout, stderr }) if is_answer(status, &stdout) => {
            Judged::ByChild { stdout, stderr, exit: Exit::from_code(status.code()) }
        }
        Ok(Ran { ended, stderr, .. }) => {
            let judged = given_up(job, &ended, &stderr, cancel);
            Judged::GivenUp { stderr, judged }
        }
        Err(error) => {
            let message = format!("cannot start a process to check it: {error}");
            Judged::Here(Vec::new(), Err(HistoryError::new(ErrorKind::Io, message)))
        }
    }
}

/// Returns true if this program itself ended the process: then a verdict is printed. Otherwise, a plugin may have
/// called `exit`.
fn is_answer(status: ExitStatus, output: &[u8]) -> bool {
    match status.code() {
        Some(0..=2) => !output.is_empty(),
        code => code == Some(255),
    }
}

/// The result for a history whose process did not end normally.
fn given_up(job: &Check<'_>, ended: &Ended, stderr: &[u8], cancel: &Cancel) -> Result<Report, HistoryError> {
    let name = job.setup.checker.name();
    if matches!(ended, Ended::ByItself(status) if cancel.is_cancelled() && is_by_interrupt(*status)) {
        // The process ended before it could catch signals.
        let mut report = Report::new(name.to_owned(), Verdict::Unknown);
        report.notes.push(INTERRUPTED_AT_ONCE.into());
        report.add_next(NextStep::spent(Spent::Cancelled));
        return Ok(report);
    }
    let (what, spent) = match ended {
        Ended::Time(timeout) => (format!("did not finish within {} seconds", timeout.as_secs_f64()), Spent::Time),
        Ended::Memory(bytes) => (format!("used more than {bytes} bytes of memory"), Spent::Bytes),
        Ended::ByItself(status) => return Err(crashed(name, *status, stderr)),
    };
    if job.is_plugin {
        // The plugin received its limits, like every checker.
        let message = format!(
            "{name}, of a plugin, {what} and was stopped: the plugin ignored its limits, which is a bug of the plugin"
        );
        return Err(HistoryError::new(ErrorKind::Limit, message));
    }
    let mut report = Report::new(name.to_owned(), Verdict::Unknown);
    report.notes.push(format!("No verdict, because {}: {name} {what}.", spent.because()));
    report.add_next(NextStep::spent(spent));
    Ok(report)
}

/// The result for a process that ended abnormally. If memory is exhausted, the system may kill the process, or the
/// process may end itself: neither is a bug.
fn crashed(name: &str, status: ExitStatus, stderr: &[u8]) -> HistoryError {
    const NO_MEMORY: &[u8] = b"memory allocation of ";
    let is_out_of_memory = is_killed(status) || stderr.windows(NO_MEMORY.len()).any(|text| text == NO_MEMORY);
    if is_out_of_memory {
        let message = format!(
            "the process that ran {name} was killed ({status}), most likely because the system ran out of memory; this history has no verdict"
        );
        let expected = "more memory, a smaller number of --jobs, or a --max-memory below the memory of this machine";
        return HistoryError::new(ErrorKind::Limit, message).expected(expected);
    }
    let message = format!("{name} crashed ({status}), which is a bug; this history has no verdict");
    HistoryError::new(ErrorKind::Unexpected, message)
}

fn run(job: &Check<'_>, input: &Input, folder: Option<&str>, cancel: &Cancel) -> io::Result<Ran> {
    let mut command = child::this_program()?;
    // A subcommand comes first, before these words.
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    let at = usize::from(job.pages.is_some());
    words.splice(at..at, ChildJob::words(input.path(), folder, job.refused));
    command.args(words);
    // The history may be standard input under another name, such as /dev/stdin.
    command.stdin(Stdio::inherit());
    child::run(command, &job.limits, cancel)
}

#[cfg(unix)]
fn is_by_interrupt(status: ExitStatus) -> bool {
    use signal_hook::consts::{SIGINT, SIGTERM};
    std::os::unix::process::ExitStatusExt::signal(&status).is_some_and(|signal| [SIGINT, SIGTERM].contains(&signal))
}

#[cfg(not(unix))]
fn is_by_interrupt(_: ExitStatus) -> bool {
    false
}

/// Returns true if the process was killed, by the system or by a user.
#[cfg(unix)]
fn is_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(signal_hook::consts::SIGKILL)
}

#[cfg(not(unix))]
fn is_killed(_: ExitStatus) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn what_the_system_ended_is_no_bug() {
        let said = |status: i32, stderr: &str| crashed("bank", ExitStatus::from_raw(status), stderr.as_bytes()).message;
        let (aborted, killed, segmentation) = (6, 9, 11);
        assert!(said(killed, "").contains("most likely because the system ran out of memory"), "{}", said(killed, ""));
        let text = said(aborted, "memory allocation of 4096 bytes failed\n");
        assert!(text.contains("most likely because the system ran out of memory"), "{text}");
        for status in [aborted, segmentation] {
            assert!(said(status, "something").contains("which is a bug"), "{}", said(status, ""));
        }
    }
}
