//! A daemon on a node, which can be killed, paused and restarted, with all its processes.
//!
//! A daemon's processes may leave its process group, as those of PostgreSQL do. If possible, it therefore has its own
//! PID namespace: a signal to all processes in it reaches every one, and when the first one is killed the others end
//! with it. Otherwise the signal is sent to the daemon and to all processes that descend from it.

use super::command::run;
use crate::error::LiveError;
use crate::group::Group;
use crate::group::log::last_lines;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The environment of the processes of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// In the network namespace with this name, each daemon with its own processes.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "namespaces are Linux's"))]
    Network(String),
    /// Each daemon with its own processes.
    Processes,
    /// In the environment of this process.
    Nothing,
}

impl Within {
    /// The environment that this computer supports without network namespaces.
    pub(crate) fn here() -> Within {
        let apart =
            Within::Processes.command(&["true".to_owned()]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if apart.is_ok_and(|status| status.success()) { Within::Processes } else { Within::Nothing }
    }

    /// Returns true if a daemon has its own PID namespace.
    fn is_apart(&self) -> bool {
        *self != Within::Nothing
    }

    fn command(&self, words: &[String]) -> Command {
        if let (Within::Nothing, [program, arguments @ ..]) = (self, words) {
            let mut command = Command::new(program);
            command.args(arguments).current_dir("/");
            return command;
        }
        let mut before = Vec::new();
        if let Within::Network(name) = self {
            before.extend(["ip", "netns", "exec", name]);
        }
        before.push("unshare");
        if !rustix::process::getuid().is_root() && *self == Within::Processes {
            before.extend(["--user", "--map-current-user", "--mount"]);
        }
        before.extend(["--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "slave", "--"]);
        // The first process of the namespace also waits for orphans.
        before.extend(["sh", "-c", "\"$@\" & wait $!", "sh"]);
        let mut command = Command::new(before[0]);
        command.args(&before[1..]).args(words);
        command
    }
}

/// A program that runs on a node.
pub(crate) struct Daemon {
    name: String,
    within: Within,
    command: Vec<String>,
    log: PathBuf,
    group: Option<Group>,
}

impl Daemon {
    /// Starts a daemon. Its output goes to `NAME.log` in this directory, where `name` is for files and messages.
    pub(crate) fn start(within: &Within, logs: &Path, name: &str, command: Vec<String>) -> Result<Daemon, LiveError> {
        fs::create_dir_all(logs).map_err(|source| LiveError::Write { path: logs.to_owned(), source })?;
        let log = logs.join(format!("{name}.log"));
        let mut daemon = Daemon { name: name.to_owned(), within: within.clone(), command, log, group: None };
        daemon.restart()?;
        Ok(daemon)
    }

    /// Restarts it if it does not run.
    pub(crate) fn restart(&mut self) -> Result<(), LiveError> {
        if self.group.as_mut().is_some_and(|group| group.ended().is_none()) {
            return Ok(());
        }
        self.group = None;
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.map_err(|source| LiveError::Write { path: self.log.clone(), source })?;
        let both = |log: &File| log.try_clone().map_err(|source| LiveError::Write { path: self.log.clone(), source });
        let mut command = self.within.command(&self.command);
        command.stdin(Stdio::null()).stdout(both(&log)?).stderr(log);
        self.group = Some(Group::start(&self.name, &mut command)?);
        Ok(())
    }

    /// Kills it, and waits until all its processes have ended.
    pub(crate) fn kill(&mut self) -> Result<(), LiveError> {
        let first = self.first();
        let Some(mut group) = self.group.take() else { return Ok(()) };
        if let Some(first) = first {
            // `unshare` ends when the namespace has ended.
            let _ = kill_process(first, Signal::KILL);
            let _ = group.child().wait();
        } else {
            signal_tree(group.id(), Signal::STOP);
            signal_tree(group.id(), Signal::KILL);
        }
        group.kill()
    }

    /// Stops its execution.
    pub(crate) fn pause(&mut self) -> Result<(), LiveError> {
        // A daemon that has ended by itself cannot be paused.
        self.is_running()?;
        self.signal_all(Signal::STOP, "STOP")
    }

    /// Continues its execution.
    pub(crate) fn resume(&mut self) -> Result<(), LiveError> {
        self.signal_all(Signal::CONT, "CONT")
    }

    /// Sends a signal to all processes except the first one of a namespace, which only waits for them.
    fn signal_all(&self, signal: Signal, name: &str) -> Result<(), LiveError> {
        let Some(group) = &self.group else { return Ok(()) };
        if !self.within.is_apart() {
            signal_tree(group.id(), signal);
            return Ok(());
        }
        let Some(first) = self.first() else { return Ok(()) };
        let first = first.as_raw_nonzero().to_string();
        let mut command = Command::new("nsenter");
        if !rustix::process::getuid().is_root() && self.within == Within::Processes {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.args(["--target", &first, "--pid", "--", "sh", "-c", &format!("kill -{name} -1")]);
        run(&mut command, "")
    }

    /// The ids of its processes.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.group.as_ref().map(|group| tree(group.id(), |_| ())).unwrap_or_default()
    }

    /// The first process of the namespace, if there is one.
    fn first(&self) -> Option<Pid> {
        if !self.within.is_apart() {
            return None;
        }
        children(self.group.as_ref()?.id()).into_iter().next().and_then(pid)
    }

    /// Fails if it has ended by itself; the error contains its last lines.
    pub(crate) fn is_running(&mut self) -> Result<(), LiveError> {
        match self.group.as_mut().and_then(Group::ended) {
            None => Ok(()),
            Some(status) => {
                Err(LiveError::Store { what: format!("{} has ended with {status}", self.name), log: self.last_lines() })
            }
        }
    }

    /// The last lines of its log.
    pub(crate) fn last_lines(&self) -> String {
        last_lines(&self.log)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A daemon that cannot be killed is left alone.
        let _ = self.kill();
    }
}

/// A process and all its descendants. Each is passed to `meet` before its children are searched for.
fn tree(root: u32, meet: impl Fn(u32)) -> Vec<u32> {
    let (mut all, mut at) = (vec![root], 0);
    while let Some(process) = all.get(at).copied() {
        meet(process);
        all.extend(children(process));
        at += 1;
    }
    all
}

/// Sends a signal to a process and to all that descend from it.
fn signal_tree(root: u32, signal: Signal) {
    if signal == Signal::STOP {
        // A stopped process starts no children that would be missed.
        tree(root, |process| send(process, signal));
    } else {
        for process in tree(root, |_| ()) {
            send(process, signal);
        }
    }
}

fn send(process: u32, signal: Signal) {
    if let Some(pid) = pid(process) {
        // The process may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}

fn pid(process: u32) -> Option<Pid> {
    i32::try_from(process).ok().and_then(Pid::from_raw)
}

/// The children of a process.
#[cfg(target_os = "linux")]
fn children(process: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// The children of a process.
#[cfg(not(target_os = "linux"))]
fn children(process: u32) -> Vec<u32> {
    let listed = Command::new("ps").args(["-A", "-o", "ppid=,pid="]).output();
    let text = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let of = |line: &str| {
        let (parent, child) = line.trim().split_once(' ')?;
        (parent.parse() == Ok(process)).then(|| child.trim().parse().ok())?
    };
    text.lines().filter_map(of).collect()
}
