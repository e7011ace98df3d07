//! A node: a process with two threads, which bring messages to it and take messages from it.

use super::log_path;
use super::message::Message;
use super::network::Network;
use crate::error::{LiveError, shortened};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Bytes of a line from a node, at most.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// What of a log explains an error.
const LAST_LINES: usize = 10;
const LAST_BYTES: usize = 4 << 10;

/// A running node.
pub(super) struct Node {
    name: String,
    logs: PathBuf,
    child: Child,
    /// Set before its process is ended on purpose.
    is_ending: Arc<AtomicBool>,
    is_killed: bool,
}

impl Node {
    /// Starts a node's process.
    pub(super) fn start(
        name: &str,
        command: &[String],
        logs: &Path,
        network: &Arc<Network>,
    ) -> Result<Node, LiveError> {
        let [program, arguments @ ..] = command else {
            return Err(LiveError::Unsupported("no program was named for the nodes".to_owned()));
        };
        let path = log_path(logs, name);
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(|source| LiveError::Write { path, source })?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            // What it starts itself ends with it.
            .process_group(0)
            .spawn()
            .map_err(|source| LiveError::Start { program: program.clone(), source })?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(LiveError::store(format!("{name} has no pipes")));
        };
        let received = network.receiver(name);
        thread::spawn(move || {
            // Ends when the node's next process takes over the name, or the node reads no more.
            while let Ok(message) = received.recv() {
                if stdin.write_all(message.line().as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        });
        let is_ending = Arc::new(AtomicBool::new(false));
        let reader = Output {
            name: name.to_owned(),
            logs: logs.to_owned(),
            network: Arc::clone(network),
            is_ending: Arc::clone(&is_ending),
        };
        thread::spawn(move || reader.run(stdout));
        Ok(Node { name: name.to_owned(), logs: logs.to_owned(), child, is_ending, is_killed: false })
    }

    /// Kills it.
    pub(super) fn kill(&mut self) -> Result<(), LiveError> {
        self.is_ending.store(true, Ordering::SeqCst);
        self.signal(Signal::KILL)?;
        let _ = self.child.wait();
        self.is_killed = true;
        Ok(())
    }

    /// Makes it stand still.
    pub(super) fn pause(&mut self) -> Result<(), LiveError> {
        self.signal(Signal::STOP)
    }

    /// Lets it go on if it stands still.
    pub(super) fn resume(&mut self) -> Result<(), LiveError> {
        if self.is_killed { Ok(()) } else { self.signal(Signal::CONT) }
    }

    /// Starts it again if it was killed. Whether it was.
    pub(super) fn restart_if_killed(&mut self, command: &[String], network: &Arc<Network>) -> Result<bool, LiveError> {
        let was_killed = self.is_killed;
        if was_killed {
            *self = Node::start(&self.name, command, &self.logs, network)?;
        }
        Ok(was_killed)
    }

    fn signal(&self, signal: Signal) -> Result<(), LiveError> {
        let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return Ok(()) };
        match kill_process_group(group, signal) {
            // It has ended by itself, which its output tells.
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(LiveError::store(format!("{} cannot be sent a signal: {error}", self.name))),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::SeqCst);
        let _ = self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

/// What reads a node's output.
struct Output {
    name: String,
    logs: PathBuf,
    network: Arc<Network>,
    is_ending: Arc<AtomicBool>,
}

impl Output {
    fn run(self, stdout: impl std::io::Read) {
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut line = Vec::new();
            match (&mut stdout).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(1..) => {}
                Ok(0) | Err(_) => {
                    if !self.is_ending.load(Ordering::SeqCst) && !self.network.is_over() {
                        let log = last_lines(&self.logs, &self.name);
                        self.network.fail(format!("{} has ended; its last lines:\n{log}", self.name));
                    }
                    return;
                }
            }
            let text = String::from_utf8_lossy(&line);
            match Message::read(&text) {
                Some(message) if message.src == self.name => self.network.send(message),
                _ => self.network.fail(format!(
                    "{} wrote {}: expected a line with {{\"src\":\"{}\",\"dest\":..,\"body\":{{\"type\":..}}}}",
                    self.name,
                    shortened(&text),
                    self.name,
                )),
            }
        }
    }
}

/// The last lines of a node's log.
pub(super) fn last_lines(logs: &Path, name: &str) -> String {
    let bytes = fs::read(log_path(logs, name)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LAST_BYTES)..]).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}
