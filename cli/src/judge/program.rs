//! The file of the running program.

use std::io;
use std::path::PathBuf;

/// Where it is. It may have been replaced by another version since; on Linux this is still the one that runs here.
///
/// # Errors
///
/// If the system does not say.
pub(crate) fn path() -> io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() { Ok(running) } else { std::env::current_exe() }
}
