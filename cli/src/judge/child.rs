//! Runs a child process of this program, with limits.
//!
//! The child's own children may keep its pipes open after it has ended. Its output is therefore read while it runs and
//! once more when it has ended, without waiting for the end of the pipes.

use super::program;
use crate::judge::limits::Limits;
use history_core::Cancel;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time between two checks of a process.
const PAUSE: Duration = Duration::from_millis(5);
/// The minimum time that a process gets beyond its time limit to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// The maximum length of the stored part of a process's standard error, in bytes.
const STDERR_BYTES_MAX: usize = 16 << 20;

/// How a process ended.
pub(crate) enum Ended {
    ByItself(ExitStatus),
    Time(Duration),
    Memory(u64),
}

/// The result of a process.
pub(crate) struct Ran {
    pub(crate) ended: Ended,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// A command that starts this program again, without arguments.
///
/// # Errors
///
/// If the system does not return the path of this program.
pub(crate) fn this_program() -> io::Result<Command> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only some systems have a name apart from the file"))]
    let mut command = Command::new(program::path()?);
    #[cfg(unix)]
    if let Some(name) = std::env::args_os().next() {
        std::os::unix::process::CommandExt::arg0(&mut command, name);
    }
    Ok(command)
}

/// Runs a process until it ends or exceeds a limit.
///
/// # Errors
///
/// If it cannot be started or monitored.
pub(crate) fn run(mut command: Command, limits: &Limits, cancel: &Cancel) -> io::Result<Ran> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let ran = Pipes::new(&mut child).and_then(|mut pipes| {
        let ended = watch(&mut child, &mut pipes, limits, cancel)?;
        Ok((ended, pipes))
    });
    if !matches!(ran, Ok((Ended::ByItself(_), _))) {
        child.kill()?;
        child.wait()?;
    }
    let (ended, pipes) = ran?;
    let (stdout, stderr) = pipes.finish();
    Ok(Ran { ended, stdout, stderr })
}

fn watch(child: &mut Child, pipes: &mut Pipes, limits: &Limits, cancel: &Cancel) -> io::Result<Ended> {
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
        pipes.read_for(PAUSE);
    }
}

/// The pipes of a process, read without a thread and without waiting for their ends.
#[cfg(unix)]
struct Pipes {
    stdout: Pipe<std::process::ChildStdout>,
    stderr: Pipe<std::process::ChildStderr>,
}

#[cfg(unix)]
struct Pipe<R> {
    /// The pipe; absent once it has ended.
    from: Option<R>,
    output: Vec<u8>,
    bytes_max: usize,
}

#[cfg(unix)]
impl Pipes {
    fn new(child: &mut Child) -> io::Result<Pipes> {
        let stdout = Pipe::new(child.stdout.take(), usize::MAX)?;
        Ok(Pipes { stdout, stderr: Pipe::new(child.stderr.take(), STDERR_BYTES_MAX)? })
    }

    /// Reads available output, for about `pause` at most.
    fn read_for(&mut self, pause: Duration) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use std::os::fd::AsFd;
        /// The maximum number of bytes of a pipe that are read before the process is examined again.
        const AT_ONCE: usize = 1 << 20;
        let wait = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
        let open = [self.stdout.from.as_ref().map(AsFd::as_fd), self.stderr.from.as_ref().map(AsFd::as_fd)];
        let mut open: Vec<PollFd<'_>> = open.iter().flatten().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        if open.is_empty() {
            return std::thread::sleep(pause);
        }
        if poll(&mut open, Some(&wait)).is_ok() {
            self.stdout.read(AT_ONCE);
            self.stderr.read(AT_ONCE);
        }
    }

    /// Returns all output, after the process has ended. Does not wait for output of other processes.
    fn finish(mut self) -> (Vec<u8>, Vec<u8>) {
        self.stdout.read_rest();
        self.stderr.read_rest();
        (self.stdout.output, self.stderr.output)
    }
}

#[cfg(unix)]
impl<R: io::Read + std::os::fd::AsFd> Pipe<R> {
    fn new(from: Option<R>, bytes_max: usize) -> io::Result<Pipe<R>> {
        if let Some(from) = &from {
            rustix::io::ioctl_fionbio(from, true)?;
        }
        Ok(Pipe { from, output: Vec::new(), bytes_max })
    }

    /// Reads at most this number of bytes, as far as they are available.
    fn read(&mut self, mut bytes: usize) {
        let mut buffer = [0; 16 << 10];
        while bytes > 0
            && let Some(from) = &mut self.from
        {
            match from.read(&mut buffer[..bytes.min(16 << 10)]) {
                Ok(0) => self.from = None,
                Ok(count) => {
                    bytes -= count;
                    // Output beyond the limit is read and dropped, so that the writer never waits.
                    let room = self.bytes_max - self.output.len();
                    self.output.extend_from_slice(&buffer[..count.min(room)]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.from = None,
            }
        }
    }

    fn read_rest(&mut self) {
        let bytes = self.from.as_ref().and_then(|from| rustix::io::ioctl_fionread(from).ok());
        self.read(bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0));
    }
}

/// The pipes of a process; a thread reads each to its end.
#[cfg(not(unix))]
struct Pipes([std::thread::JoinHandle<Vec<u8>>; 2]);

#[cfg(not(unix))]
impl Pipes {
    fn new(child: &mut Child) -> io::Result<Pipes> {
        Ok(Pipes([collect(child.stdout.take(), usize::MAX)?, collect(child.stderr.take(), STDERR_BYTES_MAX)?]))
    }

    fn read_for(&mut self, pause: Duration) {
        std::thread::sleep(pause);
    }

    fn finish(self) -> (Vec<u8>, Vec<u8>) {
        // A thread that panicked returns no output.
        let [stdout, stderr] = self.0.map(|thread| thread.join().unwrap_or_default());
        (stdout, stderr)
    }
}

#[cfg(not(unix))]
fn collect(
    from: Option<impl io::Read + Send + 'static>,
    bytes_max: usize,
) -> io::Result<std::thread::JoinHandle<Vec<u8>>> {
    std::thread::Builder::new().spawn(move || {
        let mut output = Vec::new();
        if let Some(mut from) = from {
            let _ = io::Read::take(&mut from, u64::try_from(bytes_max).unwrap_or(u64::MAX)).read_to_end(&mut output);
            // Output beyond the limit is read and dropped, so that the writer never waits.
            let _ = io::copy(&mut from, &mut io::sink());
        }
        output
    })
}

/// Interrupts a process, which then ends with its results so far. A terminal interrupts all processes of a group; other
/// senders may interrupt only the parent.
#[cfg(unix)]
fn interrupt(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    // The process was not waited for yet, so its id is still in use.
    let _ = Pid::from_raw(child.id().cast_signed()).map(|pid| kill_process(pid, Signal::INT));
}

/// On other systems, only a terminal can interrupt a process.
#[cfg(not(unix))]
fn interrupt(_: &Child) {}

/// The memory of a process in bytes, if the system reports it.
pub(crate) fn memory(process: u32) -> Option<u64> {
    const KB: u64 = 1024;
    if cfg!(target_os = "linux") {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        return Some(kilobytes.trim().trim_end_matches(" kB").parse::<u64>().ok()? * KB);
    }
    let told = Command::new("ps").args(["-o", "rss=", "-p", &process.to_string()]).output().ok()?;
    Some(String::from_utf8(told.stdout).ok()?.trim().parse::<u64>().ok()? * KB)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limits: &Limits) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, limits, &Cancel::default()).unwrap()
    }

    #[test]
    fn all_that_was_written_is_there() {
        let ran = shell("head -c 300000 /dev/zero; echo no >&2; exit 3", &Limits::default());
        assert!(matches!(ran.ended, Ended::ByItself(status) if status.code() == Some(3)));
        assert_eq!((ran.stdout.len(), &ran.stderr[..]), (300_000, &b"no\n"[..]));
    }

    #[test]
    fn what_a_process_leaves_behind_holds_nobody_up() {
        // The background process keeps both pipes open.
        let ran = shell("sleep 1000 & echo $!", &Limits::default());
        assert!(matches!(ran.ended, Ended::ByItself(status) if status.success()));
        let number = String::from_utf8(ran.stdout).unwrap();
        let left = Command::new("kill").arg(number.trim()).status().unwrap();
        assert!(left.success(), "it was still there");
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        let limits = Limits { timeout: Some(Duration::from_millis(1)), ..Limits::default() };
        assert!(matches!(shell("echo begun; exec sleep 1000", &limits).ended, Ended::Time(_)));
    }
}
