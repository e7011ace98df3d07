//! Cleans up if this process is killed: a shell that outlives it kills the process groups that it started.
//!
//! No handler can catch SIGKILL. The shell reads from a pipe which groups there are; the pipe ends with this process,
//! however that ends, and then the shell kills the groups that are left and removes the directories. In a world of
//! namespaces the kernel does that.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

const SCRIPT: &str = r#"
groups=
directory=
undo=
while read -r what value; do
    case $what in
    +) groups="$groups $value" ;;
    -)
        left=
        for group in $groups; do [ "$group" = "$value" ] || left="$left $group"; done
        groups=$left
        ;;
    directory) directory=$value ;;
    undo) undo=$value ;;
    esac
done
for group in $groups; do kill -9 "-$group"; done
[ -z "$undo" ] || sh -c "$undo"
[ -z "$directory" ] || rm -rf -- "$directory"
"#;

static PIPE: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// A group of processes is to be killed if this process is.
pub(super) fn add(group: u32) {
    tell(&format!("+ {group}\n"));
}

/// The group has ended.
pub(super) fn remove(group: u32) {
    tell(&format!("- {group}\n"));
}

/// Removes this directory and all in it if this process is killed; the one that was named before is left alone from
/// then on. With nothing, no directory is removed.
pub fn remove_directory_if_killed(directory: Option<&Path>) {
    let name = directory.map(|path| path.display().to_string()).unwrap_or_default();
    // The shell reads lines, and cuts blanks off their ends.
    if name.trim() == name && !name.contains('\n') {
        tell(&format!("directory {name}\n"));
    }
}

/// Runs this command, which is a line, if this process is killed or ends.
pub(crate) fn undo_if_killed(command: &str) {
    tell(&format!("undo {command}\n"));
}

fn tell(line: &str) {
    let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner);
    if pipe.is_none() {
        *pipe = start();
    }
    if let Some(pipe) = pipe.as_mut() {
        // Without the shell everything works but this.
        let _ = pipe.write_all(line.as_bytes());
    }
}

fn start() -> Option<ChildStdin> {
    let mut shell = Command::new("sh");
    // In a group of its own it outlives what is sent to that of this process, such as Ctrl-C.
    shell.args(["-c", SCRIPT]).process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().ok()?.stdin.take()
}
