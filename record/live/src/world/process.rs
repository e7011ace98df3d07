//! A daemon on a node, which can be killed, paused and started again, with all its processes.
//!
//! A daemon's processes may leave its process group, as those of PostgreSQL do. It therefore has a PID namespace of its own:
//! a signal to all processes in there misses none, and when the first one is killed the others end with it.

use super::command::run;
use super::network::World;
use crate::error::LiveError;
use crate::group::Group;
use crate::log::last_lines;
use history_core::cast::Cast as _;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A program that runs on a node.
pub struct Daemon {
    name: String,
    node: String,
    command: Vec<String>,
    log: PathBuf,
    group: Option<Group>,
}

impl Daemon {
    /// Starts it; its output goes to `NAME.log` among the world's logs, where `name` is for files and messages.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start(world: &World, node: u32, name: &str, command: Vec<String>) -> Result<Daemon, LiveError> {
        let logs = world.logs().to_owned();
        fs::create_dir_all(&logs).map_err(|source| LiveError::Write { path: logs.clone(), source })?;
        let log = logs.join(format!("{name}.log"));
        let node = world.names()[node.to_usize()].clone();
        let mut daemon = Daemon { name: name.to_owned(), node, command, log, group: None };
        daemon.restart()?;
        Ok(daemon)
    }

    /// Starts it again if it does not run.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn restart(&mut self) -> Result<(), LiveError> {
        if self.group.is_some() {
            return Ok(());
        }
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.map_err(|source| LiveError::Write { path: self.log.clone(), source })?;
        let both = |log: &File| log.try_clone().map_err(|source| LiveError::Write { path: self.log.clone(), source });
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.node]);
        command.args(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "slave", "--"]);
        // The first process of the namespace waits for the orphans, too.
        command.args(["sh", "-c", "\"$@\" & wait $!", "sh"]).args(&self.command);
        command.stdin(Stdio::null()).stdout(both(&log)?).stderr(log);
        self.group = Some(Group::start(&self.name, &mut command)?);
        Ok(())
    }

    /// Kills it, and waits until all its processes are gone.
    ///
    /// # Errors
    ///
    /// If that is not allowed.
    pub fn kill(&mut self) -> Result<(), LiveError> {
        let first = self.first();
        let Some(mut group) = self.group.take() else { return Ok(()) };
        if let Some(first) = first {
            // `unshare` ends when the namespace has.
            let _ = kill_process(first, Signal::KILL);
            let _ = group.child().wait();
        }
        group.kill()
    }

    /// Makes it stand still.
    ///
    /// # Errors
    ///
    /// If that is not allowed.
    pub fn pause(&mut self) -> Result<(), LiveError> {
        self.signal_all("STOP")
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// If that is not allowed.
    pub fn resume(&mut self) -> Result<(), LiveError> {
        self.signal_all("CONT")
    }

    /// Sends a signal to all processes but the first one, which only waits for them.
    fn signal_all(&self, signal: &str) -> Result<(), LiveError> {
        let Some(first) = self.first() else { return Ok(()) };
        let first = first.as_raw_nonzero().to_string();
        let mut command = Command::new("nsenter");
        command.args(["--target", &first, "--pid", "--", "sh", "-c", &format!("kill -{signal} -1")]);
        run(&mut command, "")
    }

    /// The first process of the namespace, if there is one.
    fn first(&self) -> Option<Pid> {
        let unshare = self.group.as_ref()?.id();
        let children = fs::read_to_string(format!("/proc/{unshare}/task/{unshare}/children")).ok()?;
        children.split_whitespace().next()?.parse().ok().and_then(Pid::from_raw)
    }

    /// Fails if it has ended by itself, with its last lines.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub fn is_running(&mut self) -> Result<(), LiveError> {
        match self.group.as_mut().and_then(Group::ended) {
            None => Ok(()),
            Some(status) => Err(self.error(&format!("has ended with {status}"))),
        }
    }

    /// An error about it, with its last lines.
    pub fn error(&self, what: &str) -> LiveError {
        LiveError::Store { what: format!("{} {what}", self.name), log: self.last_lines() }
    }

    /// The last lines of its log.
    pub fn last_lines(&self) -> String {
        last_lines(&self.log)
    }
}
