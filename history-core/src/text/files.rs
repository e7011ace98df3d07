//! Histories in files: found by path, and compressed if the name indicates it.

use super::read::{END_OF_SESSION, TO_TEXT, decompressed};
use crate::error::{ErrorKind, HistoryError};
use crate::{Format, Op, Reader, Writer};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The files of a Jepsen store directory that contain its history, the most complete first. The table has neither
/// indices nor times.
const STORED: [&str; 5] = ["history.edn", "history.jsonl", "history.json", "history.txt", "history.bincode"];

const COMPRESSED: [&str; 3] = ["", ".gz", ".zst"];

/// A reader of the history at a path: of a file, compressed or not; of standard input, if the path is `-`; of the
/// history in a Jepsen store directory, or in one of dbcop or Cobra.
///
/// ```
/// use history_core::{History, Reader};
///
/// # let dir = std::env::temp_dir().join(format!("history-core-open-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// std::fs::write(dir.join("history.edn"), "{:process 0, :type :invoke, :f :read}").unwrap();
/// let history = History::read(&mut history_core::open(&dir)?)?;
/// assert_eq!(history.len(), 1);
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok::<(), history_core::HistoryError>(())
/// ```
///
/// # Errors
///
/// If there is no such file, it cannot be read, or a directory contains no readable history.
pub fn open(path: impl AsRef<Path>) -> Result<Reader<'static>, HistoryError> {
    let path = path.as_ref();
    if path == Path::new("-") {
        return Ok(Reader::new(io::stdin()));
    }
    let failed = |error: io::Error| HistoryError::io(format!("opening failed: {error}"), error);
    if path.is_dir() {
        let logs = session_logs(path);
        if !logs.is_empty() {
            return Ok(read_sessions(logs, |path| Ok(Box::new(File::open(path)?))));
        }
        return Ok(Reader::new(File::open(history_in(path)?).map_err(failed)?));
    }
    Ok(Reader::new(File::open(path).map_err(failed)?))
}

/// The file with the history of a test in Jepsen's store, given the directory of the test: what [`open`] reads.
///
/// # Errors
///
/// If the directory contains no readable history.
pub fn history_in(directory: &Path) -> Result<PathBuf, HistoryError> {
    for name in STORED {
        for suffix in COMPRESSED {
            let path = directory.join(format!("{name}{suffix}"));
            if path.is_file() {
                return Ok(path);
            }
        }
    }
    let no_history = |message: &str| HistoryError::new(ErrorKind::Io, message);
    if directory.join("test.jepsen").is_file() {
        return Err(no_history(
            "this directory contains its history only in Jepsen's binary format, which histcheck \
             does not read",
        )
        .expected(TO_TEXT));
    }
    Err(no_history("this directory contains no history")
        .expected(format!("one of {}, each also with .gz or .zst", STORED.join(", "))))
}

/// Cobra's logs in a directory, `T0.log`, `T1.log` and so on, one per session, in the order of their numbers; each may
/// have the suffix `.gz` or `.zst`. If a log and its compressed copy exist, the log is returned. None if the directory
/// has a history that [`history_in`] finds, or cannot be listed.
pub fn session_logs(directory: &Path) -> Vec<PathBuf> {
    if history_in(directory).is_ok() {
        return Vec::new();
    }
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        let name = COMPRESSED.iter().rev().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        let number = name.strip_prefix('T')?.strip_suffix(".log")?;
        let is_number = number.bytes().all(|b| b.is_ascii_digit());
        let log = (number.parse::<u64>().ok()?, name.to_owned(), entry.path());
        (is_number && log.2.is_file()).then_some(log)
    });
    let mut logs: Vec<(u64, String, PathBuf)> = numbered.collect();
    logs.sort();
    logs.dedup_by(|copy, log| copy.1 == log.1);
    logs.into_iter().map(|(.., path)| path).collect()
}

/// A reader of Cobra's [logs](session_logs). It calls `open` for each log when it reaches it.
pub fn read_sessions(
    logs: Vec<PathBuf>,
    open: impl FnMut(&Path) -> io::Result<Box<dyn Read + Send>> + Send + 'static,
) -> Reader<'static> {
    let name = |log: &PathBuf| log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let names = logs.iter().map(name).collect();
    let source = Sessions { logs: logs.into_iter(), open: Box::new(open), current: None };
    Reader::new(source).with_format(Format::Cobra).with_session_names(names)
}

/// Opens a log.
type Open = Box<dyn FnMut(&Path) -> io::Result<Box<dyn Read + Send>> + Send>;

/// The logs of sessions, one after another, separated by a mark for the end of a session.
struct Sessions {
    logs: std::vec::IntoIter<PathBuf>,
    open: Open,
    current: Option<Box<dyn Read + Send>>,
}

impl Read for Sessions {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(log) = &mut self.current {
                match log.read(out)? {
                    0 => {
                        self.current = None;
                        out[0] = END_OF_SESSION;
                        return Ok(1);
                    }
                    count => return Ok(count),
                }
            }
            let Some(path) = self.logs.next() else { return Ok(0) };
            let opened = (self.open)(&path)?;
            self.current = Some(decompressed(opened).map_err(io::Error::other)?);
        }
    }
}

/// A writer of a history to a file, or to standard output if the path is `-`. It compresses if the path ends in `.gz`
/// or `.zst`.
///
/// Without a format, the rest of the name determines it: `.edn`, `.json`, `.jsonl` or `.txt`; otherwise EDN.
///
/// # Errors
///
/// If the file cannot be created, or this build does not support the compression.
pub fn create(path: impl AsRef<Path>, format: Option<Format>) -> io::Result<FileWriter> {
    let path = path.as_ref();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (stem, compression) = match name.rsplit_once('.') {
        Some((stem, "gz")) => (stem, Compression::Gzip),
        Some((stem, "zst")) => (stem, Compression::Zstd),
        _ => (name, Compression::None),
    };
    let named = || stem.rsplit_once('.').and_then(|(_, extension)| Format::from_name(extension));
    let format = format.or_else(named).unwrap_or(Format::Edn);
    let out: Box<dyn Write + Send> =
        if path == Path::new("-") { Box::new(io::stdout()) } else { Box::new(File::create(path)?) };
    Ok(FileWriter(Writer::new(Sink::new(BufWriter::new(out), compression)?, format)))
}

/// Writes a history to a file; see [`create`].
#[derive(Debug)]
pub struct FileWriter(Writer<Sink>);

impl FileWriter {
    /// Writes one op.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&mut self, op: &Op<'_>) -> io::Result<()> {
        self.0.write(op)
    }

    /// Ends the file. If it is dropped instead, its end may be missing.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.0.finish()?.finish()
    }
}

type Out = BufWriter<Box<dyn Write + Send>>;

#[derive(Clone, Copy)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

enum Sink {
    Plain(Out),
    #[cfg(feature = "gzip")]
    Gzip(flate2::write::GzEncoder<Out>),
    #[cfg(feature = "zstd")]
    Zstd(zstd::Encoder<'static, Out>),
}

impl Sink {
    fn new(out: Out, compression: Compression) -> io::Result<Sink> {
        match compression {
            Compression::None => Ok(Sink::Plain(out)),
            #[cfg(feature = "gzip")]
            Compression::Gzip => Ok(Sink::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default()))),
            #[cfg(feature = "zstd")]
            Compression::Zstd => Ok(Sink::Zstd(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?)),
            #[cfg(not(feature = "gzip"))]
            Compression::Gzip => Err(left_out("gzip")),
            #[cfg(not(feature = "zstd"))]
            Compression::Zstd => Err(left_out("zstd")),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Sink::Plain(mut out) => out.flush(),
            #[cfg(feature = "gzip")]
            Sink::Gzip(encoder) => encoder.finish()?.flush(),
            #[cfg(feature = "zstd")]
            Sink::Zstd(encoder) => encoder.finish()?.flush(),
        }
    }
}

#[cfg(not(all(feature = "gzip", feature = "zstd")))]
fn left_out(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("this program was built without {name}"))
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Plain(out) => out.write(bytes),
            #[cfg(feature = "gzip")]
            Sink::Gzip(encoder) => encoder.write(bytes),
            #[cfg(feature = "zstd")]
            Sink::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(out) => out.flush(),
            #[cfg(feature = "gzip")]
            Sink::Gzip(encoder) => encoder.flush(),
            #[cfg(feature = "zstd")]
            Sink::Zstd(encoder) => encoder.flush(),
        }
    }
}
