//! The other process: lines to it and from it, with limits on each wait.
//!
//! Two threads of this process write and read, so that every wait is limited: the other process may stop reading as
//! well as writing. A waiting thread checks the limits between short waits, and the process ends when its [`Peer`] is
//! dropped.

use crate::command::Program;
use crate::protocol::Said;
use history_core::cast::Cast as _;
use history_core::{Budget, ErrorKind, HistoryError, Spent, visible};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The maximum length of a line from the other process in bytes.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// The number of bytes that are written at once if the pipe is known to be empty: any pipe can hold this many.
const AT_ONCE_MAX: usize = 4096;
/// The time between two checks of the limits.
const LOOK: Duration = Duration::from_millis(20);
/// The number of bytes that are kept of its standard error.
const LAST_BYTES: usize = 1000;
/// The number of bytes of a line that an error shows.
const SHOWN_BYTES: usize = 200;

/// What a process may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may neither respond nor read. It may report that it is working, which restarts the time.
    pub silence: Duration,
    /// How long a history may take, from its first op on.
    pub timeout: Option<Duration>,
    /// Bytes of memory of the process.
    pub bytes_max: Option<u64>,
}

impl Default for Limits {
    /// The default: at most a minute without an answer, and no other limit.
    fn default() -> Limits {
        Limits { silence: Duration::from_mins(1), timeout: None, bytes_max: None }
    }
}

impl Limits {
    /// The deadline of an operation that starts now.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.timeout.and_then(|timeout| Instant::now().checked_add(timeout))
    }
}

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A limit of the user was reached, and what the process was doing.
    Spent(Spent, String),
    /// A fault of the other process: a sentence that names it.
    Peer(String),
}

impl From<Fault> for HistoryError {
    fn from(fault: Fault) -> HistoryError {
        match fault {
            Fault::Spent(spent, what) => {
                HistoryError::new(ErrorKind::Limit, format!("{what}, because {}", spent.because()))
            }
            Fault::Peer(message) => HistoryError::new(ErrorKind::Unexpected, message),
        }
    }
}

/// The limits of a wait.
#[derive(Clone, Copy)]
pub(crate) struct Wait<'b> {
    /// The total deadline.
    pub(crate) deadline: Option<Instant>,
    pub(crate) budget: Option<&'b Budget>,
}

impl Wait<'_> {
    /// Creates a wait with only the limits of a process.
    pub(crate) fn until(deadline: Option<Instant>) -> Wait<'static> {
        Wait { deadline, budget: None }
    }

    fn spent(&self) -> Option<Spent> {
        let budget = self.budget.and_then(|budget| budget.check(0, 0).err());
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        budget.or(is_late.then_some(Spent::Time))
    }
}

/// A line, or the reason why there is none.
type Line = Result<Vec<u8>, String>;

/// A running process.
pub(crate) struct Peer {
    program: Program,
    limits: Limits,
    child: Child,
    stdin: Arc<Mutex<ChildStdin>>,
    to: SyncSender<Vec<u8>>,
    written: Receiver<std::io::Result<()>>,
    lines: Receiver<Line>,
    /// The last line, if it came before a question.
    heard: Option<Line>,
    last_words: Arc<Mutex<Vec<u8>>>,
    /// The thread that forwards standard error until it ends.
    passing_on: JoinHandle<()>,
    /// Whether it has read everything that was sent: it answered, or nothing was sent.
    has_read_all: bool,
}

impl Peer {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If the system cannot start it.
    pub(crate) fn start(program: &Program, limits: Limits) -> Result<Peer, Fault> {
        let mut command: Command = program.command();
        let failed = |what: String| Fault::Peer(format!("{} {what}", program.name));
        let mut child = command.spawn().map_err(|error| failed(program.not_started(&error)))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(failed("cannot be started: it has no pipes".to_owned()));
        };
        let stdin = Arc::new(Mutex::new(stdin));
        let (to, lines_to) = sync_channel::<Vec<u8>>(1);
        let (acknowledge, written) = channel();
        let (send, lines) = sync_channel(1);
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let (pipe, words) = (Arc::clone(&stdin), Arc::clone(&last_words));
        std::thread::spawn(move || write_all(&pipe, &lines_to, &acknowledge));
        std::thread::spawn(move || read_lines(BufReader::new(stdout), &send));
        let passing_on = std::thread::spawn(move || pass_on(stderr, &words));
        Ok(Peer {
            program: program.clone(),
            limits,
            child,
            stdin,
            to,
            written,
            lines,
            heard: None,
            last_words,
            passing_on,
            has_read_all: true,
        })
    }

    /// The name in errors.
    pub(crate) fn name(&self) -> &str {
        &self.program.name
    }

    /// Sends a line that has no answer.
    pub(crate) fn send(&mut self, mut line: Vec<u8>, wait: &Wait<'_>) -> Result<(), Fault> {
        line.push(b'\n');
        self.has_read_all = false;
        if self.to.send(line).is_err() {
            return Err(self.ended());
        }
        match self.wait("did not read its input", wait, |peer| peer.written.recv_timeout(LOOK))? {
            Ok(()) => Ok(()),
            Err(_) => Err(self.ended()),
        }
    }

    /// Sends a line and returns the answer. `expected` is the name of the answer, for errors.
    pub(crate) fn ask(&mut self, mut line: Vec<u8>, expected: &str, wait: &Wait<'_>) -> Result<Said, Fault> {
        if self.has_read_all && line.len() < AT_ONCE_MAX {
            line.push(b'\n');
            let mut stdin = self.stdin.lock().unwrap_or_else(PoisonError::into_inner);
            // If the process has ended, its earlier output explains more than this error.
            let _ = stdin.write_all(&line).and_then(|()| stdin.flush());
        } else {
            self.send(line, wait)?;
        }
        self.answer(expected, wait)
    }

    /// Rejects unsolicited lines received so far: an additional line would be taken for the next answer.
    pub(crate) fn hear_nothing(&mut self) -> Result<(), Fault> {
        while self.heard.is_none() {
            let Ok(line) = self.lines.try_recv() else { break };
            match line.as_deref().map(serde_json::from_slice) {
                Ok(Ok(Said::Working(_))) => {}
                Ok(_) => return Err(self.fault("sent a line that was not asked for")),
                // The end of the process is reported at the next question.
                Err(_) => self.heard = Some(line),
            }
        }
        Ok(())
    }

    /// Returns the next line that is not a message about work in progress.
    pub(crate) fn answer(&mut self, expected: &str, wait: &Wait<'_>) -> Result<Said, Fault> {
        loop {
            let what = format!("sent no {expected:?}");
            let next = |peer: &mut Peer| peer.heard.take().map_or_else(|| peer.lines.recv_timeout(LOOK), Ok);
            let line = match self.wait(&what, wait, next)? {
                Ok(line) => line,
                Err(reason) if reason.is_empty() => return Err(self.ended()),
                Err(reason) => return Err(self.fault(&format!("{reason}; expected {expected:?}"))),
            };
            match serde_json::from_slice::<Said>(&line) {
                // A process that works without an end must reach a limit, like one that sends nothing.
                Ok(Said::Working(_)) => self.check_limits(&what, wait)?,
                Ok(said) => {
                    self.has_read_all = true;
                    return Ok(said);
                }
                Err(error) => {
                    let what = format!("sent an invalid line ({error}), expected {expected:?}: {}", shown(&line));
                    return Err(self.fault(&what));
                }
            }
        }
    }

    /// The fault for an answer of another kind than the expected one.
    pub(crate) fn unexpected(&self, said: &Said, expected: &str) -> Fault {
        self.fault(&format!("sent {:?}, expected {expected:?}", said.name()))
    }

    /// A fault of the other process: the rest of a sentence.
    pub(crate) fn fault(&self, what: &str) -> Fault {
        Fault::Peer(format!("{} {what}", self.name()))
    }

    fn wait<T>(
        &mut self,
        what: &str,
        wait: &Wait<'_>,
        mut next: impl FnMut(&mut Peer) -> Result<T, RecvTimeoutError>,
    ) -> Result<T, Fault> {
        let began = Instant::now();
        loop {
            match next(self) {
                Ok(next) => return Ok(next),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.check_limits(what, wait)?;
            if began.elapsed() >= self.limits.silence {
                return Err(self.fault(&format!("{what} for {} seconds", self.limits.silence.as_secs_f64())));
            }
        }
    }

    /// Fails if a limit of the user was reached while the process did `what`.
    fn check_limits(&self, what: &str, wait: &Wait<'_>) -> Result<(), Fault> {
        if let Some(spent) = wait.spent() {
            return Err(Fault::Spent(spent, format!("{} {what}", self.name())));
        }
        if let Some(bytes_max) = self.limits.bytes_max
            && memory(self.child.id()).is_some_and(|bytes| bytes > bytes_max)
        {
            let what = format!("{} took more than {bytes_max} bytes of memory", self.name());
            return Err(Fault::Spent(Spent::Bytes, what));
        }
        Ok(())
    }

    /// The fault if the process has ended, or closed its output.
    fn ended(&mut self) -> Fault {
        /// How long a process may take to end after its output has ended.
        const TO_END: u32 = 50;
        let mut status = None;
        for _ in 0..TO_END {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() && self.passing_on.is_finished() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let how = match status {
            Some(status) => format!("ended before it answered ({status})"),
            None => "closed its standard output before it answered".to_owned(),
        };
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&words);
        match words.trim().lines().next_back() {
            Some(last) => self.fault(&format!("{how}; its last line on standard error: {last}")),
            None => self.fault(&how),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The process may have ended by itself. Its threads end with its pipes.
        end_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends a process with all its children.
#[cfg(unix)]
fn end_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let _ = Pid::from_raw(child.id().cast_signed()).map(|group| kill_process_group(group, Signal::KILL));
}

#[cfg(not(unix))]
fn end_group(_: &Child) {}

fn write_all(pipe: &Mutex<ChildStdin>, lines: &Receiver<Vec<u8>>, done: &Sender<std::io::Result<()>>) {
    for line in lines {
        let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
        if done.send(pipe.write_all(&line).and_then(|()| pipe.flush())).is_err() {
            return;
        }
    }
}

fn read_lines(mut from: BufReader<impl Read>, lines: &SyncSender<Line>) {
    loop {
        let mut line = Vec::new();
        let read = (&mut from).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line);
        let next = match read {
            // Only the process itself could explain why it ended.
            Ok(0) | Err(_) => Err(String::new()),
            Ok(_) if line.last() == Some(&b'\n') => Ok(line),
            Ok(bytes) if bytes.to_u64() > LINE_BYTES_MAX => {
                Err(format!("sent a line of more than {LINE_BYTES_MAX} bytes"))
            }
            Ok(_) => Err(format!("ended within a line ({})", shown(&line))),
        };
        let is_last = next.is_err();
        if lines.send(next).is_err() || is_last {
            return;
        }
    }
}

/// Forwards the standard error of a process, and keeps its last bytes.
fn pass_on(mut from: impl Read, words: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        // If standard error is closed, the text is lost.
        let _ = std::io::stderr().write_all(&buffer[..count]);
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(&buffer[..count]);
        let cut = words.len().saturating_sub(LAST_BYTES);
        words.drain(..cut);
    }
}

/// The beginning of a line, safe to show.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]);
    let more = if line.len() > SHOWN_BYTES { "..." } else { "" };
    format!("{}{more}", visible::line(text.trim_end()))
}

/// The memory of a process in bytes, if the system reports it.
fn memory(process: u32) -> Option<u64> {
    const KB: u64 = 1024;
    if cfg!(target_os = "linux") {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        return Some(kilobytes.trim().trim_end_matches(" kB").parse::<u64>().ok()? * KB);
    }
    let said = Command::new("ps").args(["-o", "rss=", "-p", &process.to_string()]).output().ok()?;
    Some(String::from_utf8(said.stdout).ok()?.trim().parse::<u64>().ok()? * KB)
}
