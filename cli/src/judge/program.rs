//! The file of the running program.

use std::io;
use std::path::PathBuf;

/// The path of the running program. The file may have been replaced by another version; on Linux, the path is still
/// that of the running one.
///
/// # Errors
///
/// If the system does not return it.
pub(crate) fn path() -> io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() { Ok(running) } else { std::env::current_exe() }
}
