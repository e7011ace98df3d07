//! Writers: ops as text, in every format of ops.

pub(crate) mod edn;
#[cfg(feature = "serde")]
mod edn_serializer;
mod intervals;
pub(crate) mod json;
mod sessions;

pub use intervals::IntervalWriter;
pub use sessions::{ConvertOptions, Converted, Converter};

#[cfg(feature = "serde")]
pub use edn_serializer::{EdnError, to_edn};

use super::read::Format;
use crate::{ErrorKind, HistoryError, Op, OpKind, Process, Value};
use std::fmt::{self, Write as _};
use std::io::{self, Write};

/// Why an op was not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The format cannot represent it.
    Op(HistoryError),
    /// Writing failed.
    Io(io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Op(error) => error.fmt(f),
            WriteError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WriteError::Op(error) => Some(error),
            WriteError::Io(error) => Some(error),
        }
    }
}

/// Writes ops to `out`, one per line.
///
/// EDN is written as maps one after another, JSON as JSON Lines, the table as Jepsen writes it. The table has no
/// columns for indices and times, which are omitted, nor for further fields except an error, which are rejected: a
/// checker may need them. JSON has fewer types than EDN: keywords and symbols become strings, sets and lists arrays.
///
/// ```
/// use history_core::{Format, History, Writer};
///
/// let history = History::parse("{:process 0, :type :ok, :f :read, :value nil}").unwrap();
/// let mut writer = Writer::new(Vec::new(), Format::Json);
/// for op in history.ops() {
///     writer.write(&op)?;
/// }
/// let text = String::from_utf8(writer.finish()?).unwrap();
/// assert_eq!(text, "{\"index\":0,\"type\":\"ok\",\"process\":0,\"f\":\"read\",\"value\":null}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer<W: Write> {
    out: W,
    format: Format,
    line: String,
    /// Whether ops are in an array; if so, whether it already has any.
    array: Option<bool>,
}

impl<W: Write> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("format", &self.format).finish_non_exhaustive()
    }
}

impl<W: Write> Writer<W> {
    /// A writer to `out`, which should be buffered.
    pub fn new(out: W, format: Format) -> Writer<W> {
        Writer { out, format, line: String::new(), array: None }
    }

    /// Writes the ops as one JSON array or EDN vector.
    #[must_use]
    pub fn in_array(self) -> Writer<W> {
        Writer { array: Some(false), ..self }
    }

    /// Writes one op.
    ///
    /// # Errors
    ///
    /// If `out` fails, or the format does not have one op per line: [`Format::Intervals`], and those of
    /// [sessions](Format::is_of_sessions), which a [`Converter`] writes. If the op does not fit [`Format::Table`]; the
    /// error then contains a [`HistoryError`].
    pub fn write(&mut self, op: &Op<'_>) -> io::Result<()> {
        self.line.clear();
        let line = &mut self.line;
        let written = match self.format {
            format if format == Format::Intervals || format.is_of_sessions() => {
                let message =
                    format!("{format} cannot be written an op at a time: choose edn, json or txt, or a converter");
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
            Format::Edn => edn_op(line, op),
            Format::Table => {
                verify_columns(op).map_err(|error| io::Error::new(io::ErrorKind::Unsupported, error))?;
                table_op(line, op)
            }
            _ => json_op(line, op),
        };
        written.map_err(io::Error::other)?;
        match self.array {
            Some(has_ops) => {
                self.array = Some(true);
                self.out.write_all(match (has_ops, self.format) {
                    (false, _) => b"[",
                    (true, Format::Edn) => b"\n ",
                    (true, _) => b",\n ",
                })?;
            }
            None => self.line.push('\n'),
        }
        self.out.write_all(self.line.as_bytes())
    }

    /// Flushes, and returns `out`.
    ///
    /// # Errors
    ///
    /// If flushing fails.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(has_ops) = self.array {
            self.out.write_all(if has_ops { b"]\n" } else { b"[]\n" })?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The process of an op, with its name if it is a client with a name.
fn named<'a>(op: &Op<'a>) -> Process<'a> {
    op.client_name.map_or(op.process, Process::Other)
}

/// Writes an op as the EDN map that it was read from, with its fields in a fixed order.
pub(crate) fn edn_op(out: &mut impl fmt::Write, op: &Op<'_>) -> fmt::Result {
    write!(out, "{{:index {}, :type :{}", op.index, op.kind.name())?;
    match named(op) {
        Process::Client(number) => write!(out, ", :process {number}")?,
        Process::Other(name) => {
            out.write_str(", :process ")?;
            edn::name(out, name)?;
        }
        Process::Unknown => {}
    }
    if let Some(f) = op.f {
        out.write_str(", :f ")?;
        edn::name(out, f)?;
    }
    if !op.value.is_nil() || op.kind == OpKind::Invoke || op.kind == OpKind::Ok {
        out.write_str(", :value ")?;
        edn::value(out, op.value)?;
    }
    if let Some(time) = op.time {
        write!(out, ", :time {time}")?;
    }
    for (key, value) in op.extra.iter() {
        out.write_str(", ")?;
        match key {
            // Keys that are strings in JSON are keywords in EDN.
            Value::Str(name) => edn::name(out, name)?,
            key => edn::value(out, key)?,
        }
        out.write_char(' ')?;
        edn::value(out, value)?;
    }
    out.write_char('}')
}

fn json_op(out: &mut String, op: &Op<'_>) -> fmt::Result {
    write!(out, "{{\"index\":{},\"type\":\"{}\"", op.index, op.kind.name())?;
    match named(op) {
        Process::Client(number) => write!(out, ",\"process\":{number}")?,
        Process::Other(name) => {
            out.push_str(",\"process\":");
            json::string(out, name)?;
        }
        Process::Unknown => {}
    }
    if let Some(f) = op.f {
        out.push_str(",\"f\":");
        json::string(out, f)?;
    }
    out.push_str(",\"value\":");
    json::value(out, op.value)?;
    if let Some(time) = op.time {
        write!(out, ",\"time\":{time}")?;
    }
    for (key, value) in op.extra.iter() {
        out.push(',');
        json::key(out, key)?;
        out.push(':');
        json::value(out, value)?;
    }
    out.push('}');
    Ok(())
}

/// Rejects an op with a field for which the table has no column.
fn verify_columns(op: &Op<'_>) -> Result<(), HistoryError> {
    let Some((key, _)) = op.extra.iter().find(|(key, _)| key.as_name() != Some("error")) else { return Ok(()) };
    let message = format!("the op with index {} cannot be written as txt: it has a field {key}", op.index);
    let error = HistoryError::new(ErrorKind::Unexpected, message);
    let error = error.expected("an op with process, type, f, value and error only, or the format edn or json");
    Err(if let Some(position) = op.position { error.at(position) } else { error })
}

fn table_op(out: &mut String, op: &Op<'_>) -> fmt::Result {
    match named(op) {
        Process::Client(number) => write!(out, "{number}")?,
        Process::Other(name) => edn::name(out, name)?,
        Process::Unknown => out.push_str("nil"),
    }
    write!(out, "\t:{}\t", op.kind.name())?;
    match op.f {
        Some(f) => edn::name(out, f)?,
        None => out.push_str("nil"),
    }
    out.push('\t');
    edn::value(out, op.value)?;
    if let Some(error) = op.extra.get("error") {
        out.push('\t');
        edn::value(out, error)?;
    }
    Ok(())
}
