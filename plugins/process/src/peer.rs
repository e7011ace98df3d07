//! The process at the other end: lines to it and from it, with limits on each wait.
//!
//! Two threads of this process write and read, so that every wait is limited: the other side may stop reading as well
//! as writing. A waiting thread checks the limits between short waits, and the process ends when its [`Peer`] is
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

/// Bytes of a line from the other side, at most.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// Bytes that are written at once where the pipe is known to be empty: as many fit in any pipe.
const AT_ONCE_MAX: usize = 4096;
/// The time between two checks of the limits.
const LOOK: Duration = Duration::from_millis(20);
/// What is kept of what it says on standard error.
const LAST_BYTES: usize = 1000;
/// Bytes of a line that an error shows.
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
    /// A minute of silence, and nothing else.
    fn default() -> Limits {
        Limits { silence: Duration::from_mins(1), timeout: None, bytes_max: None }
    }
}

impl Limits {
    /// When what begins now must be over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.timeout.and_then(|timeout| Instant::now().checked_add(timeout))
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A limit of the user was reached, and what the process was doing.
    Spent(Spent, String),
    /// It is the other side's: a sentence that names it.
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

/// How long to wait.
#[derive(Clone, Copy)]
pub(crate) struct Wait<'b> {
    /// When it all must be over.
    pub(crate) deadline: Option<Instant>,
    pub(crate) budget: Option<&'b Budget>,
}

impl Wait<'_> {
    /// Only for the limits of a process.
    pub(crate) fn until(deadline: Option<Instant>) -> Wait<'static> {
        Wait { deadline, budget: None }
    }

    fn spent(&self) -> Option<Spent> {
        let budget = self.budget.and_then(|budget| budget.check(0, 0).err());
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        budget.or(is_late.then_some(Spent::Time))
    }
}

/// A line, or why there is none.
type Line = Result<Vec<u8>, String>;

/// A process that runs.
pub(crate) struct Peer {
    program: Program,
    limits: Limits,
    child: Child,
    stdin: Arc<Mutex<ChildStdin>>,
    to: SyncSender<Vec<u8>>,
    written: Receiver<std::io::Result<()>>,
    lines: Receiver<Line>,
    /// The last one, if it came too early.
    heard: Option<Line>,
    last_words: Arc<Mutex<Vec<u8>>>,
    /// Passes on standard error, until that ends.
    passing_on: JoinHandle<()>,
    /// Whether it has read all that was sent: it answered, or nothing was sent.
    has_read_all: bool,
}

impl Peer {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If the system does not.
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

    /// What errors call it.
    pub(crate) fn name(&self) -> &str {
        &self.program.name
    }

    /// Sends a line to which there is no answer.
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
            // If it has ended, what it said before that says more.
            let _ = stdin.write_all(&line).and_then(|()| stdin.flush());
        } else {
            self.send(line, wait)?;
        }
        self.answer(expected, wait)
    }

    /// Refuses what it says unasked, as far as has been heard: a line too many would be taken for the next answer.
    pub(crate) fn hear_nothing(&mut self) -> Result<(), Fault> {
        while self.heard.is_none() {
            let Ok(line) = self.lines.try_recv() else { break };
            match line.as_deref().map(serde_json::from_slice) {
                Ok(Ok(Said::Working(_))) => {}
                Ok(_) => return Err(self.fault("sent a line that was not asked for")),
                // That it has ended is said to whoever asks it.
                Err(_) => self.heard = Some(line),
            }
        }
        Ok(())
    }

    /// The next line that is not one of work in progress.
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
                // Whoever works for ever is to be ended like one who is silent.
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

    /// An answer of another kind than the expected one.
    pub(crate) fn unexpected(&self, said: &Said, expected: &str) -> Fault {
        self.fault(&format!("sent {:?}, expected {expected:?}", said.name()))
    }

    /// A fault of the other side: the rest of a sentence.
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

    /// Whether a limit of the user was reached while it did `what`.
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

    /// It has ended, or closed its output.
    fn ended(&mut self) -> Fault {
        /// What a process gets to end after its output has.
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
        // It may have ended by itself, and its threads end with its pipes.
        end_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends all that a process has started.
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
            // Nobody says why a process ends but the process.
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

/// Passes on what a process says on standard error, and keeps the end of it.
fn pass_on(mut from: impl Read, words: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        // Where nobody listens there is nothing to do.
        let _ = std::io::stderr().write_all(&buffer[..count]);
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(&buffer[..count]);
        let cut = words.len().saturating_sub(LAST_BYTES);
        words.drain(..cut);
    }
}

/// The beginning of a line, for people.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]);
    let more = if line.len() > SHOWN_BYTES { "..." } else { "" };
    format!("{}{more}", visible::line(text.trim_end()))
}

/// Bytes of memory that a process has, where the system reports it.
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
