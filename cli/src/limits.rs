//! `--timeout` and `--max-memory`: each history is judged in a process of its own, which can be ended.
//!
//! A checker that looks at its budget stops by itself, and answers `unknown`. One that does not (a plugin that never returns, or
//! takes memory without end) cannot be stopped from within: a thread cannot be ended, and what it allocated cannot be taken back. So
//! this program calls itself for each history, passes on what that prints when it ends, and ends it when it must; the other
//! histories never know. A plugin that aborts ends no more than its own process, too.

use crate::args::Check;
use crate::diagnose;
use crate::exit::{self, Exit};
use crate::input::Input;
use crate::results::Results;
use history_core::{Budget, ErrorKind, HistoryError, Report, Run, Spent, Verdict};
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at a process.
const PAUSE: Duration = Duration::from_millis(5);
/// What a checker gets beyond its time to come to an end by itself, at least.
const GRACE: Duration = Duration::from_millis(500);

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
    pub(crate) fn budget(&self) -> Budget {
        let deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Budget { bytes_max: self.bytes_max, deadline, ..Budget::default() }
    }
}

/// What is known of a history that was not read to its end.
pub(crate) fn cut_short(run: &dyn Run, checker: &str, spent: Spent, ops: usize) -> Report {
    let read = format!("Only the first {ops} ops were looked at, because {}.", spent.because());
    let certain = if run.is_violated() { run.violation() } else { None };
    let mut report = certain.unwrap_or_else(|| Report::new(checker.to_owned(), Verdict::Unknown));
    report.notes.push(read);
    report
}

/// Judges histories, each in a process of its own, one after another.
pub(crate) fn check(job: &Check<'_>) -> Exit {
    job.warnings.iter().for_each(|warning| diagnose::warning(warning));
    let mut results = Results::new(job);
    let mut exit = Exit::OK;
    for (at, input) in job.inputs.iter().enumerate() {
        let told = match judge(job, at, input) {
            Ok((Ended::ByItself(status), output)) if is_answer(status, &output) => {
                results.pass_over(input);
                pass_on(&output).map(|()| Exit::from_code(status.code()))
            }
            Ok((ended, _)) => results.tell(input, given_up(job, &ended)),
            Err(error) => {
                let message = format!("no process can be started to judge it: {error}");
                results.tell(input, Err(HistoryError::new(ErrorKind::Io, message)))
            }
        };
        match told {
            Ok(told) => exit = exit.and(told),
            Err(stopped) => return exit.and(stopped),
        }
    }
    exit
}

/// Whether this is how the program itself ends: a verdict is printed. A plugin may have called `exit`.
fn is_answer(status: ExitStatus, output: &[u8]) -> bool {
    match status.code() {
        Some(0..=2) => !output.is_empty(),
        code => code == Some(255),
    }
}

fn pass_on(output: &[u8]) -> Result<(), Exit> {
    let mut out = io::stdout().lock();
    out.write_all(output).and_then(|()| out.flush()).map_err(|error| exit::stopped(&error))
}

/// What is said of a history whose process did not end well.
fn given_up(job: &Check<'_>, ended: &Ended) -> Result<Report, HistoryError> {
    let name = job.checker.name();
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

/// Has one history judged. How that ended, and what it printed.
fn judge(job: &Check<'_>, at: usize, input: &Input) -> io::Result<(Ended, Vec<u8>)> {
    let mut command = Command::new(std::env::current_exe()?);
    // Behind a subcommand, which comes first.
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    words.insert(usize::from(job.pages.is_some()), format!("--only-input={at}").into());
    command.args(words);
    command.stdin(if input.is_stdin() { Stdio::inherit() } else { Stdio::null() }).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdout = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut output = Vec::new();
        // What cannot be read was not written by a process that ended well.
        let _ = stdout.as_mut().map(|stdout| stdout.read_to_end(&mut output));
        output
    });
    let ended = watch(&mut child, &job.limits);
    if !matches!(ended, Ok(Ended::ByItself(_))) {
        child.kill()?;
        child.wait()?;
    }
    let output = reader.join().unwrap_or_default();
    Ok((ended?, output))
}

fn watch(child: &mut Child, limits: &Limits) -> io::Result<Ended> {
    let began = Instant::now();
    let last = limits.timeout.map(|timeout| (timeout, timeout.saturating_add(GRACE.max(timeout / 10))));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::ByItself(status));
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
