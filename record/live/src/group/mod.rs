//! A process together with all processes that it starts: one process group, which ends as a whole.

pub(crate) mod log;
mod watchdog;

use crate::error::LiveError;
use rustix::process::{Pid, Signal, kill_process_group};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};
pub use watchdog::remove_directory_if_killed;
pub(crate) use watchdog::undo_if_killed;

/// A process group that this process started. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Group {
    name: String,
    child: Child,
}

impl Group {
    /// Starts a command as the first process of a new group. The name is for messages.
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<Group, LiveError> {
        let child = watchdog::start_group(command).map_err(|source| LiveError::Start {
            program: format!("{} ({name})", command.get_program().to_string_lossy()),
            source,
        })?;
        Ok(Group { name: name.to_owned(), child })
    }

    /// The started process, for its pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// The id of the started process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The exit status, if the process has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills the group.
    pub(crate) fn kill(&mut self) -> Result<(), LiveError> {
        self.signal(Signal::KILL)?;
        let _ = self.child.wait();
        Ok(())
    }

    /// Waits until the process ends, up to this maximum. Returns its exit status, if it has ended.
    pub(crate) fn ended_within(&mut self, most: Duration) -> Option<ExitStatus> {
        let began = Instant::now();
        while self.ended().is_none() && began.elapsed() < most {
            thread::sleep(Duration::from_millis(10));
        }
        self.ended()
    }

    /// Waits until the group ends by itself, up to this maximum, and kills the rest.
    pub(crate) fn end_within(&mut self, most: Duration) {
        let _ = self.ended_within(most);
        // A group that cannot be killed is left alone.
        let _ = self.kill();
    }

    /// Stops its execution.
    pub(crate) fn pause(&self) -> Result<(), LiveError> {
        self.signal(Signal::STOP)
    }

    /// Continues its execution.
    pub(crate) fn resume(&self) -> Result<(), LiveError> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<(), LiveError> {
        let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return Ok(()) };
        match kill_process_group(group, signal) {
            // The group has already ended by itself.
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(LiveError::store(format!("{} cannot be sent a signal: {error}", self.name))),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group that cannot be killed is left alone.
        let _ = self.kill();
        watchdog::remove(self.child.id());
    }
}
