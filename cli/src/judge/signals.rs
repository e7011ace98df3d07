//! Interrupts: Ctrl-C, or a request to terminate.
//!
//! SIGHUP keeps its default handling: it ends the program, or is ignored under nohup.

use std::io;

/// Calls `handle` on a separate thread whenever SIGINT or SIGTERM arrives.
///
/// # Errors
///
/// If the system does not allow a handler.
#[cfg(unix)]
pub(crate) fn on_each(mut handle: impl FnMut() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || signals.forever().for_each(|_| handle())).map(drop)
}

/// Calls `handle` on a separate thread whenever Ctrl-C is pressed.
///
/// # Errors
///
/// If the system does not allow a handler.
#[cfg(not(unix))]
pub(crate) fn on_each(handle: impl FnMut() + Send + 'static) -> io::Result<()> {
    ctrlc::set_handler(handle).map_err(io::Error::other)
}
