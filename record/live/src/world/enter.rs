//! Enters new namespaces: the program starts itself again as their first process.
//!
//! The outer process waits. It sends a line for each signal that it gets, because signals from a terminal reach both
//! and `unshare` between them ignores some; and when it is killed, its end of the pipe closes, which ends the inner
//! process, and with it everything in the namespaces.

use crate::error::LiveError;
use crate::need::search_path;
use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::Receiver;
use std::thread;

/// The variable that is set in the inner process.
const INSIDE: &str = "HISTCHECK_LIVE_INSIDE";

/// Whether this process is the inner one.
pub fn is_inside() -> bool {
    env::var_os(INSIDE).is_some()
}

/// The command `unshare`, up to the command that it runs. Inside, programs for administrators are in the path.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::getuid().is_root() {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    command.args(["--net", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--"]);
    command.env("PATH", search_path());
    command
}

fn start_failed(source: io::Error) -> LiveError {
    LiveError::Start { program: "unshare".to_owned(), source }
}

/// Tests whether [`enter`] is permitted here. Takes some milliseconds.
///
/// # Errors
///
/// If it is not; with advice.
pub fn try_to_enter() -> Result<(), LiveError> {
    let tried = unshare().arg("true").stdin(Stdio::null()).output().map_err(start_failed)?;
    if tried.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
    Err(LiveError::Unsupported(format!(
        "new namespaces are not allowed here ({said}). In a container, allow them: docker run --security-opt \
         seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN --cap-add NET_ADMIN. On Ubuntu: sysctl \
         kernel.apparmor_restrict_unprivileged_userns=0"
    )))
}

/// Starts this program again, with the same arguments, inside new namespaces, and waits until it ends. `signals` yields
/// once for each signal to pass on. `variables` are set in its environment.
///
/// # Errors
///
/// If `unshare` is not installed. If it is installed but not permitted, it prints an error itself, and its exit code is
/// 1: call [`try_to_enter`] first.
pub fn enter(signals: Receiver<()>, variables: &[(&str, &OsStr)]) -> Result<ExitStatus, LiveError> {
    let program = env::current_exe().map_err(start_failed)?;
    let mut command = unshare();
    command
        .arg(program)
        .args(env::args_os().skip(1))
        .envs(variables.iter().copied())
        .env(INSIDE, "1")
        .stdin(Stdio::piped());
    let mut child = command.spawn().map_err(start_failed)?;
    let pipe = child.stdin.take();
    thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        // The pipe remains open as long as the sender of signals exists.
        while signals.recv().is_ok() {
            if pipe.write_all(b"signal\n").is_err() {
                return;
            }
        }
        thread::park();
    });
    child.wait().map_err(start_failed)
}

/// The inner process.
#[derive(Debug)]
pub struct Inside;

impl Inside {
    /// Monitors the outer process: calls `on_signal` for each signal, and ends this process, and with it everything in
    /// the namespaces, when the outer one has ended.
    ///
    /// # Errors
    ///
    /// If this is not the inner process.
    pub fn listen(mut on_signal: impl FnMut() + Send + 'static) -> Result<(), LiveError> {
        if !is_inside() {
            return Err(LiveError::Unsupported("this process is not in a world of its own".to_owned()));
        }
        thread::spawn(move || {
            let mut lines = io::stdin().lock();
            let mut line = String::new();
            while matches!(lines.read_line(&mut line), Ok(1..)) {
                line.clear();
                on_signal();
            }
            std::process::exit(130);
        });
        Ok(())
    }
}
