//! The bytes of a history: counted as they are read, and with cancellation.
//!
//! A file is read directly. If a read may block (a pipe, a terminal), the source is polled first, so that an interrupt
//! is not delayed if the writer does not write.

use history_core::cast::Cast as _;
use history_core::{Cancel, ErrorKind, HistoryError, Reader};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The time between two checks for cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// The progress of reading a history, and whether to continue.
#[derive(Debug, Default)]
pub struct Reading {
    /// The flag that ends all readings.
    cancel: Cancel,
    /// The flag that ends this reading, because the verdict is known.
    enough: AtomicBool,
    /// Whether reading was stopped before the end.
    cut: AtomicBool,
    /// The number of bytes read so far, as they are in the file: perhaps compressed.
    bytes: AtomicU64,
    /// The total number of bytes; 0 if unknown.
    bytes_all: AtomicU64,
}

impl Reading {
    /// A reading that a cancellation ends.
    pub fn new(cancel: Cancel) -> Reading {
        Reading { cancel, ..Reading::default() }
    }

    /// Ends this reading: no more is needed.
    pub fn leave(&self) {
        self.enough.store(true, Ordering::Relaxed);
    }

    /// Whether bytes were withheld because of a [cancellation](Cancel).
    pub fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// The bytes read so far, and how many there are if that is known.
    pub fn bytes(&self) -> (u64, Option<u64>) {
        let all = self.bytes_all.load(Ordering::Relaxed);
        (self.bytes.load(Ordering::Relaxed), (all > 0).then_some(all))
    }

    fn check(&self) -> io::Result<()> {
        if self.cancel.is_cancelled() {
            self.cut.store(true, Ordering::Relaxed);
            return Err(io::Error::other("it was interrupted"));
        }
        if self.enough.load(Ordering::Relaxed) {
            return Err(io::Error::other("the verdict is known"));
        }
        Ok(())
    }
}

/// Opens a file, standard input (`-`), or the history in the directory of a test of Jepsen's.
///
/// # Errors
///
/// If it does not exist, or cannot be read.
pub fn open(path: &OsStr, reading: &Arc<Reading>) -> Result<impl Read + Send + 'static, HistoryError> {
    let failed = |error: io::Error| HistoryError::new(ErrorKind::Io, format!("opening failed: {error}"));
    let file = if path == "-" {
        stdin().map_err(failed)?
    } else {
        let path = Path::new(path);
        let path = if path.is_dir() { history_core::history_in(path)? } else { path.to_owned() };
        file(path, reading).map_err(failed)?
    };
    let regular = file.metadata().ok().filter(std::fs::Metadata::is_file);
    reading.bytes_all.store(regular.as_ref().map_or(0, std::fs::Metadata::len), Ordering::Relaxed);
    Ok(Source { file, may_wait: regular.is_none(), reading: Arc::clone(reading) })
}

/// A reader of what [`open`] opens, or of Cobra's logs in a directory.
///
/// # Errors
///
/// If it does not exist, or cannot be read.
pub fn reader(path: &OsStr, reading: &Arc<Reading>) -> Result<Reader<'static>, HistoryError> {
    let logs = if path == "-" { Vec::new() } else { history_core::session_logs(Path::new(path)) };
    if logs.is_empty() {
        return open(path, reading).map(Reader::new);
    }
    let bytes = logs.iter().filter_map(|log| std::fs::metadata(log).ok()).map(|found| found.len()).sum();
    reading.bytes_all.store(bytes, Ordering::Relaxed);
    let reading = Arc::clone(reading);
    Ok(history_core::read_sessions(logs, move |log| {
        let (file, reading) = (file(log.to_owned(), &reading)?, Arc::clone(&reading));
        Ok(Box::new(Source { file, may_wait: false, reading }))
    }))
}

/// A source that is not a file, with this size, monitored like a file.
pub fn followed(source: impl Read + Send + 'static, bytes: u64, reading: &Arc<Reading>) -> impl Read + Send + 'static {
    reading.bytes_all.store(bytes, Ordering::Relaxed);
    Followed { source, reading: Arc::clone(reading) }
}

/// Standard input without a buffer: polling would not see bytes in a buffer.
#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

fn file(path: PathBuf, reading: &Reading) -> io::Result<File> {
    #[cfg(unix)]
    if std::fs::metadata(&path).is_ok_and(|found| std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type())) {
        // Opening a named pipe blocks until another process opens it for writing.
        let (opened, opens) = std::sync::mpsc::channel();
        std::thread::Builder::new().spawn(move || opened.send(File::open(path)))?;
        loop {
            reading.check()?;
            match opens.recv_timeout(LOOK) {
                Ok(file) => return file,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
    reading.check()?;
    File::open(path)
}

struct Followed<R> {
    source: R,
    reading: Arc<Reading>,
}

impl<R: Read> Read for Followed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.reading.check()?;
        let count = self.source.read(out)?;
        self.reading.bytes.fetch_add(count.to_u64(), Ordering::Relaxed);
        Ok(count)
    }
}

struct Source {
    file: File,
    /// Whether a read may block.
    may_wait: bool,
    reading: Arc<Reading>,
}

impl Source {
    /// Waits until there is something to read, or the end.
    #[cfg(unix)]
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let look = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
        loop {
            self.reading.check()?;
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&look)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Polling is not available here, so an interrupt is delayed until data arrives.
    #[cfg(not(unix))]
    fn wait(&self) -> io::Result<()> {
        self.reading.check()
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.may_wait {
            self.wait()?;
        } else {
            self.reading.check()?;
        }
        let count = self.file.read(out)?;
        self.reading.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
