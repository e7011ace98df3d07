//! Writers: ops as text, many per write, without an allocation per op.

mod notation;

use crate::op::SimOp;
use notation::{EDN, JSON};
use std::io::{self, Write};
use std::str::FromStr;

/// The format of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// EDN, one op per line.
    Edn,
    /// One JSON array, one op per line.
    Json,
    /// JSON objects, one per line.
    JsonLines,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::Edn, Format::Json, Format::JsonLines];

    /// The file extension: `"edn"`, `"json"`, `"jsonl"`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Edn => "edn",
            Format::Json => "json",
            Format::JsonLines => "jsonl",
        }
    }
}

/// An unknown name of a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a format: expected edn, json or jsonl")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.into()))
    }
}

/// The number of bytes that are collected before they are written.
const BLOCK_BYTES: usize = 256 << 10;

/// Writes ops one after another. [`Writer::finish`] ends the text.
///
/// ```
/// use record_simulate::{Format, ListAppend, Writer};
///
/// let mut writer = Writer::new(Vec::new(), Format::Edn);
/// ListAppend { txns: 3, ..ListAppend::default() }.simulation()?.run(&mut |op| writer.write(op))?;
/// let text = String::from_utf8(writer.finish()?)?;
/// assert!(text.starts_with("{:index 0, :type :invoke, :process "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    format: Format,
    text: Text,
    begun: bool,
}

impl<W: Write> Writer<W> {
    /// Creates a writer to `out`, which need not be buffered.
    pub fn new(out: W, format: Format) -> Writer<W> {
        Writer { out, format, text: Text(Vec::with_capacity(2 * BLOCK_BYTES)), begun: false }
    }

    /// Writes an op.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    pub fn write(&mut self, op: &SimOp<'_>) -> io::Result<()> {
        match (self.format, self.begun) {
            (Format::Json, false) => self.text.put(b"["),
            (Format::Json, true) => self.text.put(b",\n"),
            _ => {}
        }
        self.begun = true;
        match self.format {
            Format::Edn => EDN.op(&mut self.text, op),
            Format::Json => JSON.op(&mut self.text, op),
            Format::JsonLines => {
                JSON.op(&mut self.text, op);
                self.text.put(b"\n");
            }
        }
        if self.text.0.len() < BLOCK_BYTES { Ok(()) } else { self.hand_on() }
    }

    /// Ends the text, and returns `out`.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    pub fn finish(mut self) -> io::Result<W> {
        if self.format == Format::Json {
            self.text.put(if self.begun { b"]\n" } else { b"[]\n" });
        }
        self.hand_on()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text.0)?;
        self.text.0.clear();
        Ok(())
    }
}

/// Text that was not written yet.
#[derive(Debug)]
struct Text(Vec<u8>);

impl Text {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    #[inline]
    fn int(&mut self, n: impl itoa::Integer) {
        self.put(itoa::Buffer::new().format(n).as_bytes());
    }

    /// Appends integers with one byte between them.
    fn ints(&mut self, ints: &[i64], between: u8) {
        for (i, n) in ints.iter().enumerate() {
            if i > 0 {
                self.0.push(between);
            }
            self.int(*n);
        }
    }
}
