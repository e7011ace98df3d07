//! Reads a history once from its beginning, and stores the positions of its parts.

use super::index::{Draft, Head, Index};
use super::traits::{self, Traits};
use history_core::cast::Cast as _;
use history_core::{Batch, ErrorKind, Format, HistoryError, Limits, Op, Reader, Writer};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The maximum length of a copy in bytes.
const COPY_BYTES_MAX: u64 = 2 << 30;
/// The maximum length of text in memory if ops must be sorted, and of an op, in bytes.
const HELD_BYTES_MAX: u64 = 1 << 30;
const OP_BYTES_MAX: usize = 64 << 20;
/// The number of bytes at the beginning that are searched for the first bracket.
const HEAD_BYTES: u64 = 64 << 10;

/// The progress of a build.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The bytes of the file that were read, and all of them.
    pub(super) read: AtomicU64,
    pub(super) bytes: AtomicU64,
    /// Set to end the build.
    pub(super) is_over: AtomicBool,
}

/// The task of a build.
pub(super) struct Job<'a> {
    pub(super) file: File,
    /// The path of the history below the served directory, and the state of its file.
    pub(super) history: &'a str,
    pub(super) mark: String,
    /// The path for a copy, if one may be written.
    pub(super) copy: Option<&'a Path>,
    pub(super) progress: Arc<Progress>,
}

/// Builds the index of a history.
///
/// # Errors
///
/// A sentence with the reason for the failure.
pub(super) fn build(mut job: Job<'_>) -> Result<Index, String> {
    let unread = |error: io::Error| format!("The history cannot be read: {error}.");
    let start = start(&mut job.file).map_err(unread)?;
    let limits = Limits { held_bytes_max: HELD_BYTES_MAX, op_bytes_max: OP_BYTES_MAX, ..Limits::default() };
    let source = Watched { file: job.file, progress: job.progress };
    let mut reader = Reader::new(source).with_limits(limits).without_pairing().growing();
    let mut batch = Batch::new();
    let mut read = reader.read_batch(&mut batch);
    let format = reader.format();
    let is_copy = start.is_compressed || !matches!(format, Some(Format::Edn | Format::Json));
    let format = if format == Some(Format::Json) { Format::Json } else { Format::Edn };
    let mut text = if is_copy { Text::Copy(Copy::create(job.copy, format)?) } else { Text::Own };
    let mut gathered = Gathered { draft: Draft::new(), ops: 0, length_ns: None };
    let problem = loop {
        for op in batch.ops() {
            if let Err(problem) = gathered.add(&op, &mut text) {
                read = Err(problem);
                break;
            }
        }
        match &read {
            Err(error) => break Some(sentence(error)),
            Ok(false) => break None,
            Ok(true) => read = reader.read_batch(&mut batch),
        }
    };
    if gathered.ops == 0 {
        return Err(problem.unwrap_or_else(|| "The history contains no op.".to_owned()));
    }
    let bytes = match text {
        Text::Own => reader.bytes(),
        Text::Copy(copy) => copy.finish().map_err(|error| format!("The copy cannot be written: {error}."))?,
    };
    let (bracket, ops) = (start.bracket.filter(|_| !is_copy), gathered.ops);
    let head = Head {
        history: job.history.to_owned(),
        mark: job.mark,
        format,
        bracket,
        is_copy,
        ops,
        bytes,
        length_ns: gathered.length_ns,
        functions: Vec::new(),
        processes: Vec::new(),
        problem,
    };
    Ok(gathered.draft.done(head))
}

/// A sentence with the position and the reason of an error.
fn sentence(error: &HistoryError) -> String {
    let at = error.position.map(|position| format!("At {position}: ")).unwrap_or_default();
    format!("{at}{}.", error.message)
}

struct Gathered {
    draft: Draft,
    ops: u64,
    length_ns: Option<i64>,
}

impl Gathered {
    fn add(&mut self, op: &Op<'_>, text: &mut Text) -> Result<(), HistoryError> {
        let (offset, lines) = match text {
            Text::Own => op.position.map_or((0, 0), |at| (at.offset, at.line.saturating_sub(1))),
            Text::Copy(copy) => (copy.add(op)?, self.ops),
        };
        let process = traits::process(op);
        self.draft.add(self.ops, offset, lines, op.index, &Traits::of(op), [op.f, process.as_deref()]);
        self.ops += 1;
        self.length_ns = op.time.or(self.length_ns);
        Ok(())
    }
}

/// The properties of a file that its beginning shows.
struct Start {
    is_compressed: bool,
    bracket: Option<char>,
}

fn start(file: &mut File) -> io::Result<Start> {
    let mut head = Vec::new();
    Read::by_ref(file).take(HEAD_BYTES).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let is_zstd =
        head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || matches!(head[..], [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    let text = String::from_utf8_lossy(&head);
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        // Skips a comment of EDN.
        match rest.strip_prefix(';') {
            Some(comment) => rest = comment.split_once('\n').map_or("", |(_, after)| after),
            None => break,
        }
    }
    Ok(Start {
        is_compressed: is_zstd || head.starts_with(&[0x1f, 0x8b]),
        bracket: rest.chars().next().filter(|first| matches!(first, '[' | '(')),
    })
}

/// The text from which rows will be read.
enum Text {
    /// The history itself.
    Own,
    Copy(Copy),
}

/// A copy of the ops, one per line, of a history that cannot be read from the middle.
struct Copy {
    writer: Writer<Counted<BufWriter<File>>>,
    bytes: Arc<AtomicU64>,
}

impl Copy {
    fn create(path: Option<&Path>, format: Format) -> Result<Copy, String> {
        let path = path.ok_or(
            "The rows of a compressed history, and of formats other than EDN and JSON, are read from a copy, which cannot be written \
             here. Decompress or convert the history.",
        )?;
        let file =
            File::create_new(path).map_err(|error| format!("A copy of the history cannot be written: {error}."))?;
        let bytes = Arc::new(AtomicU64::new(0));
        let counted = Counted { out: BufWriter::with_capacity(1 << 16, file), bytes: Arc::clone(&bytes) };
        Ok(Copy { writer: Writer::new(counted, format), bytes })
    }

    /// Adds an op. Returns where it begins.
    fn add(&mut self, op: &Op<'_>) -> Result<u64, HistoryError> {
        let offset = self.bytes.load(Ordering::Relaxed);
        if offset > COPY_BYTES_MAX {
            let message =
                format!("the rows after this one are not shown: their text has more than {COPY_BYTES_MAX} bytes");
            return Err(HistoryError::new(ErrorKind::Limit, message));
        }
        let failed =
            |error: io::Error| HistoryError::new(ErrorKind::Io, format!("the copy cannot be written: {error}"));
        self.writer.write(op).map_err(failed)?;
        Ok(offset)
    }

    fn finish(self) -> io::Result<u64> {
        self.writer.finish()?.out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(self.bytes.load(Ordering::Relaxed))
    }
}

/// Counts the bytes that are written.
struct Counted<W> {
    out: W,
    bytes: Arc<AtomicU64>,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes.fetch_add(written.to_u64(), Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A file that counts the bytes read, and ends if the build was cancelled.
struct Watched {
    file: File,
    progress: Arc<Progress>,
}

impl Read for Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.progress.is_over.load(Ordering::Relaxed) {
            return Err(io::Error::other("the server has stopped"));
        }
        let read = self.file.read(out)?;
        self.progress.read.fetch_add(read.to_u64(), Ordering::Relaxed);
        Ok(read)
    }
}
