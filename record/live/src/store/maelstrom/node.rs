//! A node: a process with two threads that pass messages to it and from it.

use super::log_path;
use super::message::Message;
use super::network::Network;
use crate::error::{LiveError, shortened};
use crate::group::Group;
use crate::group::log::last_lines;
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The maximum length of a line from a node, in bytes.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// A running node.
pub(super) struct Node {
    name: String,
    logs: PathBuf,
    group: Group,
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
            return Err(LiveError::Unsupported("missing command of the nodes".to_owned()));
        };
        let path = log_path(logs, name);
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(|source| LiveError::Write { path, source })?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut group = Group::start(name, &mut command)?;
        let (Some(mut stdin), Some(stdout)) = (group.child().stdin.take(), group.child().stdout.take()) else {
            return Err(LiveError::store(format!("{name} has no pipes")));
        };
        let received = network.receiver(name);
        thread::spawn(move || {
            // The loop ends when the node's next process takes over the name, or the node reads no more.
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
        Ok(Node { name: name.to_owned(), logs: logs.to_owned(), group, is_ending, is_killed: false })
    }

    /// Kills the process.
    pub(super) fn kill(&mut self) -> Result<(), LiveError> {
        self.is_ending.store(true, Ordering::SeqCst);
        self.group.kill()?;
        self.is_killed = true;
        Ok(())
    }

    /// Stops its execution.
    pub(super) fn pause(&mut self) -> Result<(), LiveError> {
        self.group.pause()
    }

    /// Continues the process if it is stopped.
    pub(super) fn resume(&mut self) -> Result<(), LiveError> {
        if self.is_killed { Ok(()) } else { self.group.resume() }
    }

    /// Restarts the process if it was killed. Returns whether it was.
    pub(super) fn restart_if_killed(&mut self, command: &[String], network: &Arc<Network>) -> Result<bool, LiveError> {
        let was_killed = self.is_killed;
        if was_killed {
            *self = Node::start(&self.name, command, &self.logs, network)?;
        }
        Ok(was_killed)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::SeqCst);
    }
}

/// Reads the output of a node.
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
            let read = (&mut stdout).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            if !matches!(read, Ok(1..)) {
                if !self.is_ending.load(Ordering::SeqCst) && !self.network.is_over() {
                    let log = last_lines(&log_path(&self.logs, &self.name));
                    self.network.fail(format!("{} has ended; its last lines:\n{log}", self.name));
                }
                return;
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
