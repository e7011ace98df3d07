//! Observes a run of `histcheck live` from outside: its messages, and the processes that it started.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A run in progress.
pub(crate) struct Started {
    child: Child,
    said: BufReader<ChildStderr>,
    heard: String,
}

/// A process. Its start time distinguishes it from later processes with the same number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    number: u32,
    began: String,
}

/// The maximum time for any step.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until the condition is true.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not within a minute: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Started {
    /// Starts it, with `scratch` as the directory for temporary files.
    pub(crate) fn new(words: &[&str], scratch: &Path) -> Started {
        let mut program = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
        program.arg("live").args(words);
        Started::spawn(program, scratch)
    }

    /// Starts this command.
    pub(crate) fn spawn(mut program: Command, scratch: &Path) -> Started {
        program.env("TMPDIR", scratch).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Started { child, said, heard: String::new() }
    }

    /// Waits until it writes this text to standard error.
    pub(crate) fn until(&mut self, what: &str) {
        let mut line = String::new();
        while !line.contains(what) {
            self.heard.push_str(&line);
            line.clear();
            assert!(
                self.said.read_line(&mut line).unwrap() > 0,
                "it ended without a message of {what}: {}",
                self.heard
            );
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// The exit code, and what was written to standard output and standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut error) = (String::new(), std::mem::take(&mut self.heard));
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.said.read_to_string(&mut error).unwrap();
        (self.child.wait().unwrap().code(), out, error)
    }

    /// The processes that it has started, and their descendants, as far as they still have their parents.
    pub(crate) fn descendants(&self) -> Vec<Id> {
        let mut all = vec![self.child.id()];
        let mut found = BTreeSet::new();
        let parents: Vec<(u32, Id)> = processes().collect();
        while let Some(parent) = all.pop() {
            for (_, id) in parents.iter().filter(|(other, _)| *other == parent) {
                all.push(id.number);
                found.insert(id.clone());
            }
        }
        found.into_iter().collect()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // The run did not end within the time of the test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Id {
    /// Waits until the process has ended.
    pub(crate) fn until_gone(&self) {
        until(&format!("{self:?} is gone"), || stat(self.number).is_none_or(|(_, id)| id != *self));
    }
}

/// All processes, each with its parent.
fn processes() -> impl Iterator<Item = (u32, Id)> {
    let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
    entries.filter_map(|name| OsStr::to_str(&name)?.parse().ok()).filter_map(stat)
}

/// The parent of a process, unless the process has ended or is a zombie.
fn stat(number: u32) -> Option<(u32, Id)> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name in parentheses may contain any characters.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    if fields[0] == "Z" {
        return None;
    }
    Some((fields[1].parse().ok()?, Id { number, began: fields[19].to_owned() }))
}
