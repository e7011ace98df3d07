//! `--timeout` and `--max-memory`: each history is judged in a process of its own, which can be ended.
//!
//! A checker that looks at its budget stops by itself, and answers `unknown`. One that does not (a plugin that never returns, or
//! takes memory without end) cannot be stopped from within: a thread cannot be ended, and what it allocated cannot be taken back. So
//! this program calls itself for each history, passes on what that prints when it ends, and ends it when it must; the other
//! histories never know. A plugin that aborts ends no more than its own process, too.

use crate::args::Check;
use crate::check::Judged;
use crate::exit::Exit;
use crate::input::Input;
use crate::only::Only;
use history_core::{Budget, Cancel, ErrorKind, HistoryError, Report, Run, Spent, Verdict};
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two looks at a process.
const PAUSE: Duration = Duration::from_millis(5);
/// What a checker gets beyond its time to come to an end by itself, at least.
const GRACE: Duration = Duration::from_millis(500);
/// What is said of a history that was begun, and no more.
const INTERRUPTED_AT_ONCE: &str = "Interrupted before the first op was read, so nothing is known.";
/// What is kept of what a process says on standard error.
const STDERR_BYTES_MAX: u64 = 16 << 20;

/// What a history may take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) bytes_max: Option<u64>,
}

/// Why a process was ended.
enum Ended {
    ByItself(ExitStatus),
    Time(Duration),
    Memory(u64),
}

impl Limits {
    pub(crate) fn are_any(&self) -> bool {
        self.timeout.is_some() || self.bytes_max.is_some()
    }

    /// The budget of one history, from now on.
    pub(crate) fn budget(&self, cancel: Cancel) -> Budget {
        let deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Budget { bytes_max: self.bytes_max, deadline, cancel, ..Budget::default() }
    }
}

/// What is known of a history that was not read to its end.
pub(crate) fn cut_short(run: &dyn Run, checker: &str, spent: Spent, ops: usize) -> Report {
    let read = match spent {
        Spent::Cancelled if ops == 0 => INTERRUPTED_AT_ONCE.to_owned(),
        Spent::Cancelled => format!("Interrupted after {ops} ops; what comes behind them was not looked at."),
        _ => format!("Only the first {ops} ops were looked at, because {}.", spent.because()),
    };
    let certain = if run.is_violated() { run.violation() } else { None };
    let mut report = certain.unwrap_or_else(|| Report::new(checker.to_owned(), Verdict::Unknown));
    report.notes.push(read);
    report
}

/// Has a history judged in a process of its own, which reports into this folder of the directory for reports.
pub(crate) fn judge(job: &Check<'_>, input: &Input, folder: Option<&str>, cancel: &Cancel) -> Judged {
    match run(job, input, folder, cancel) {
        Ok(Ran { ended: Ended::ByItself(status), stdout, stderr }) if is_answer(status, &stdout) => {
            Judged::Elsewhere { stdout, stderr, exit: Exit::from_code(status.code()) }
        }
        Ok(Ran { ended, stderr, .. }) => Judged::GivenUp { stderr, judged: given_up(job, &ended, cancel) },
        Err(error) => {
            let message = format!("no process can be started to judge it: {error}");
            Judged::Here(Vec::new(), Err(HistoryError::new(ErrorKind::Io, message)))
        }
    }
}

/// Whether this is how the program itself ends: a verdict is printed. A plugin may have called `exit`.
fn is_answer(status: ExitStatus, output: &[u8]) -> bool {
    match status.code() {
        Some(0..=2) => !output.is_empty(),
        code => code == Some(255),
    }
}

/// What is said of a history whose process did not end well.
fn given_up(job: &Check<'_>, ended: &Ended, cancel: &Cancel) -> Result<Report, HistoryError> {
    let name = job.checker.name();
    if matches!(ended, Ended::ByItself(status) if cancel.is_cancelled() && is_by_interrupt(*status)) {
        // It had not yet come so far that it could catch signals.
        let mut report = Report::new(name.to_owned(), Verdict::Unknown);
        report.notes.push(INTERRUPTED_AT_ONCE.into());
        return Ok(report);
    }
    let (what, why) = match ended {
        Ended::Time(timeout) => {
            (format!("had not come to an end after {} seconds", timeout.as_secs_f64()), Spent::Time.because())
        }
        Ended::Memory(bytes) => (format!("took more than {bytes} bytes of memory"), Spent::Bytes.because()),
        Ended::ByItself(status) => {
            let message = format!("{name} crashed ({status}), which is a bug; nothing can be said of this history");
            return Err(HistoryError::new(ErrorKind::Unexpected, message));
        }
    };
    if job.is_plugin {
        // It was told when to stop, like every checker.
        let message =
            format!("{name}, of a plugin, {what} and was ended, which is a bug of the plugin if its budget said so");
        return Err(HistoryError::new(ErrorKind::Limit, message));
    }
    let mut report = Report::new(name.to_owned(), Verdict::Unknown);
    report.notes.push(format!("Nothing is known, because {why}: {name} {what}."));
    Ok(report)
}

/// What became of a process.
struct Ran {
    ended: Ended,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

fn run(job: &Check<'_>, input: &Input, folder: Option<&str>, cancel: &Cancel) -> io::Result<Ran> {
    let mut command = Command::new(std::env::current_exe()?);
    // Behind a subcommand, which comes first.
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    let at = usize::from(job.pages.is_some());
    words.splice(at..at, Only::words(input.path(), folder));
    command.args(words);
    // It may be called by another name, too: /dev/stdin.
    command.stdin(Stdio::inherit());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = collect(child.stdout.take(), u64::MAX);
    let stderr = collect(child.stderr.take(), STDERR_BYTES_MAX);
    let ended = watch(&mut child, &job.limits, cancel);
    if !matches!(ended, Ok(Ended::ByItself(_))) {
        child.kill()?;
        child.wait()?;
    }
    // What cannot be read was not written by a process that ended well.
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    Ok(Ran { ended: ended?, stdout, stderr })
}

/// Reads all that a process writes, and keeps the first of it.
fn collect(from: Option<impl Read + Send + 'static>, bytes_max: u64) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut output = Vec::new();
        if let Some(mut from) = from {
            let _ = from.by_ref().take(bytes_max).read_to_end(&mut output);
            // Whoever writes more must not wait for us.
            let _ = io::copy(&mut from, &mut io::sink());
        }
        output
    })
}

fn watch(child: &mut Child, limits: &Limits, cancel: &Cancel) -> io::Result<Ended> {
    let began = Instant::now();
    let mut is_told = false;
    let last = limits.timeout.map(|timeout| (timeout, timeout.saturating_add(GRACE.max(timeout / 10))));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::ByItself(status));
        }
        if cancel.is_cancelled() && !is_told {
            is_told = true;
            interrupt(child);
        }
        if let Some((timeout, last)) = last
            && began.elapsed() > last
        {
            return Ok(Ended::Time(timeout));
        }
        if let Some(bytes_max) = limits.bytes_max
            && memory(child.id()).is_some_and(|bytes| bytes > bytes_max)
        {
            return Ok(Ended::Memory(bytes_max));
        }
        thread::sleep(PAUSE);
    }
}

/// Asks a process to end with what it knows. A terminal asks all processes at once; others ask this one only.
#[cfg(unix)]
fn interrupt(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    // It was not waited for yet, so the number is still its own.
    let _ = Pid::from_raw(child.id().cast_signed()).map(|pid| kill_process(pid, Signal::INT));
}

/// Elsewhere only a terminal can.
#[cfg(not(unix))]
fn interrupt(_: &Child) {}

#[cfg(unix)]
fn is_by_interrupt(status: ExitStatus) -> bool {
    use signal_hook::consts::{SIGINT, SIGTERM};
    std::os::unix::process::ExitStatusExt::signal(&status).is_some_and(|signal| [SIGINT, SIGTERM].contains(&signal))
}

#[cfg(not(unix))]
fn is_by_interrupt(_: ExitStatus) -> bool {
    false
}

/// Bytes of memory that a process has, where the system tells.
fn memory(process: u32) -> Option<u64> {
    const KB: u64 = 1024;
    if cfg!(target_os = "linux") {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        return Some(kilobytes.trim().trim_end_matches(" kB").parse::<u64>().ok()? * KB);
    }
    let told = Command::new("ps").args(["-o", "rss=", "-p", &process.to_string()]).output().ok()?;
    Some(String::from_utf8(told.stdout).ok()?.trim().parse::<u64>().ok()? * KB)
}
