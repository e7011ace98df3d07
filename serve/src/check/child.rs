//! Runs the process of a check: this program itself, so that the verdict is that of the command line.

use super::record::Wanted;
use crate::config::Judge;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The file for the standard output and standard error of a process while it runs.
const OUTPUT: &str = "output.new";
pub(super) const RESULT: &str = "result.json";
pub(super) const MESSAGES: &str = "messages.txt";
/// The time between two checks of a process.
const PAUSE: Duration = Duration::from_millis(25);
/// The time for a process to end by itself after an interrupt, or after its time limit.
const GRACE: Duration = Duration::from_secs(10);

/// How a process ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With a result.
    Done,
    /// Without a result.
    Failed,
    Cancelled,
}

/// Checks a history, and writes the result, the report and the messages into a folder.
///
/// # Errors
///
/// If the process cannot be started, or the folder cannot be written.
pub(super) fn run(
    judge: &Judge,
    history: &Path,
    folder: &Path,
    wanted: &Wanted,
    is_cancelled: &AtomicBool,
) -> io::Result<Ended> {
    let output = folder.join(OUTPUT);
    let mut command = Command::new(&judge.program);
    // The process ends when this one ends, for any reason.
    command.arg("report").arg(format!("--only-while={}", std::process::id()));
    command.arg(format!("--model={}", wanted.checkers)).arg("--output=json").arg("--directory").arg(folder);
    command.arg(format!("--timeout={}", judge.timeout.as_secs_f64()));
    command.arg(format!("--max-memory={}", judge.memory_bytes));
    if !wanted.levels.is_empty() {
        command.arg(format!("--consistency-models={}", wanted.levels));
    }
    if wanted.keyed {
        command.arg("--keyed");
    }
    command.arg("--").arg(history);
    command.stdin(Stdio::null()).stdout(File::create(&output)?).stderr(File::create(folder.join(MESSAGES))?);
    // A separate process group: it can be ended with all its children, and the terminal does not interrupt it
    // directly.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let status = wait(&mut child, judge.timeout, is_cancelled)?;
    if is_cancelled.load(Ordering::Relaxed) {
        std::fs::remove_file(&output)?;
        return Ok(Ended::Cancelled);
    }
    let is_answer = matches!(status.code(), Some(0..=2 | 255)) && std::fs::metadata(&output)?.len() > 0;
    if !is_answer {
        std::fs::remove_file(&output)?;
        return Ok(Ended::Failed);
    }
    std::fs::rename(&output, folder.join(RESULT))?;
    Ok(Ended::Done)
}

/// Waits for the end of a process. Ends it after a timeout or a cancellation.
fn wait(child: &mut Child, timeout: Duration, is_cancelled: &AtomicBool) -> io::Result<ExitStatus> {
    // The process has its own timeout; reading the history again for the report takes additional time.
    let deadline = Instant::now() + timeout.saturating_mul(2).min(Duration::from_hours(24 * 365)) + GRACE;
    let mut asked = None;
    loop {
        if let Some(status) = child.try_wait()? {
            end_group(child);
            return Ok(status);
        }
        let is_over = Instant::now() > deadline;
        if (is_over || is_cancelled.load(Ordering::Relaxed)) && asked.is_none() {
            interrupt(child);
            asked = Some(Instant::now());
        }
        if asked.is_some_and(|asked: Instant| asked.elapsed() > GRACE) {
            end_group(child);
            child.kill()?;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Interrupts a process.
#[cfg(unix)]
fn interrupt(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let _ = Pid::from_raw(child.id().cast_signed()).map(|group| kill_process_group(group, Signal::TERM));
}

#[cfg(not(unix))]
fn interrupt(_: &Child) {}

/// Ends a process with all its children.
#[cfg(unix)]
fn end_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let _ = Pid::from_raw(child.id().cast_signed()).map(|group| kill_process_group(group, Signal::KILL));
}

#[cfg(not(unix))]
fn end_group(_: &Child) {}
