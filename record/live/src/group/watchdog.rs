//! Cleans up if this process is killed: a shell that outlives it kills the process groups that it started.
//!
//! No handler can catch SIGKILL. The shell reads the existing groups from a pipe. The pipe ends with this process in
//! any case, and the shell then kills the remaining groups and removes the directories. In namespaces, the kernel does
//! this.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

const SCRIPT: &str = r#"
groups=
starting=
directory=
undo=
# without LIST WORD: the list without the word, as $left.
without() {
    left=
    for one in $1; do [ "$one" = "$2" ] || left="$left $one"; done
}
while read -r what value; do
    case $what in
    starts) starting="$starting $value" ;;
    fails) without "$starting" "$value"; starting=$left ;;
    +)
        groups="$groups ${value% *}"
        without "$starting" "${value#* }"
        starting=$left
        ;;
    -) without "$groups" "$value"; groups=$left ;;
    directory) directory=$value ;;
    undo) undo=$value ;;
    esac
done
for group in $groups; do kill -9 "-$group"; done
# Twice, for one may have been about to begin.
for round in 1 2; do
    [ -n "$starting" ] || break
    for mark in $starting; do
        for one in /proc/[0-9]*; do
            grep -qsaF "HISTCHECK_GROUP=$mark" "$one/environ" && kill -9 "${one#/proc/}"
        done
    done
    [ $round = 2 ] || sleep 1
done
[ -z "$undo" ] || sh -c "$undo"
[ -z "$directory" ] || rm -rf -- "$directory"
"#;

/// The variable that marks the processes of a group.
const MARK: &str = "HISTCHECK_GROUP";

/// The number of groups started.
static STARTED: AtomicU64 = AtomicU64::new(0);

static PIPE: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// Starts a command as the first process of a group that is killed if this process is killed.
///
/// If this process is killed before it can send the group's number, the group is found by a mark in the environment of
/// its processes, if the system has `/proc`.
pub(super) fn start_group(command: &mut Command) -> io::Result<Child> {
    let mark = format!("{}-{}.", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
    tell(&format!("starts {mark}\n"));
    let spawned = command.process_group(0).env(MARK, &mark).spawn();
    match &spawned {
        Ok(child) => tell(&format!("+ {} {mark}\n", child.id())),
        Err(_) => tell(&format!("fails {mark}\n")),
    }
    spawned
}

/// Records that the group has ended.
pub(super) fn remove(group: u32) {
    tell(&format!("- {group}\n"));
}

/// Removes this directory and its content if this process is killed; a directory that was named before is then no
/// longer removed. With `None`, no directory is removed.
pub fn remove_directory_if_killed(directory: Option<&Path>) {
    let name = directory.map(|path| path.display().to_string()).unwrap_or_default();
    // The shell reads lines, and removes blanks at their ends.
    if name.trim() == name && !name.contains('\n') {
        tell(&format!("directory {name}\n"));
    }
}

/// Runs this command, which must be one line, if this process is killed or ends.
pub(crate) fn undo_if_killed(command: &str) {
    tell(&format!("undo {command}\n"));
}

fn tell(line: &str) {
    let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner);
    if pipe.is_none() {
        *pipe = start();
    }
    if let Some(pipe) = pipe.as_mut() {
        // If the shell is gone, only this cleanup is missing.
        let _ = pipe.write_all(line.as_bytes());
    }
}

fn start() -> Option<ChildStdin> {
    let mut shell = Command::new("sh");
    // In its own process group, it is not affected by signals to the group of this process, such as Ctrl-C.
    shell.args(["-c", SCRIPT]).process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().ok()?.stdin.take()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{MARK, SCRIPT};
    use std::io::Write as _;
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::{Child, Command, Stdio};

    fn sleeper(mark: &str) -> Child {
        Command::new("sleep").arg("1000").env(MARK, mark).process_group(0).spawn().unwrap()
    }

    #[test]
    fn whoever_was_started_is_killed_also_if_nobody_could_say_who_it_is() {
        let (mut told, mut untold, mut ended) = (sleeper("t-1."), sleeper("t-2."), sleeper("t-3."));
        let mut shell = Command::new("sh").args(["-c", SCRIPT]).stdin(Stdio::piped()).spawn().unwrap();
        let lines = format!(
            "starts t-1.\n+ {} t-1.\nstarts t-2.\nstarts t-3.\n+ {1} t-3.\n- {1}\nstarts t-4.\nfails t-4.\n",
            told.id(),
            ended.id()
        );
        shell.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        shell.wait().unwrap();
        for killed in [&mut told, &mut untold] {
            // If the process was not killed, this other signal ends it, and the assertion fails.
            Command::new("kill").arg(killed.id().to_string()).status().unwrap();
            assert_eq!(killed.wait().unwrap().signal(), Some(9));
        }
        assert_eq!(ended.try_wait().unwrap(), None, "what has ended as a group is left alone");
        ended.kill().unwrap();
        ended.wait().unwrap();
    }
}
