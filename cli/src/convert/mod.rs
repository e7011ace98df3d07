//! `histcheck convert`: writes a history in another format.
//!
//! The output reads as the same history, as far as the format can represent it. Content that it cannot represent is an
//! error that names the op, and no file is left. Standard output then ends before that op.

mod names;
mod out;

use crate::judge::input::Input;
use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use history_core::{
    ConvertOptions, Converted, Converter, Format, HistoryError, IntervalWriter, Op, Reader, WriteError, Writer,
};
use names::Names;
use out::Out;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The task: a history to convert.
pub(crate) struct Convert {
    pub(crate) input: Input,
    pub(crate) target: Target,
    /// The path of the output; standard output if absent.
    pub(crate) out: Option<PathBuf>,
    pub(crate) options: ConvertOptions,
    /// Whether intervals get indices as times.
    pub(crate) index_times: bool,
}

/// A format to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Edn,
    /// A JSON array.
    Json,
    JsonLines,
    Table,
    Intervals,
    /// A format of another checker.
    Sessions(Format),
}

impl Target {
    pub(crate) const ALL: [Target; 12] = [
        Target::Edn,
        Target::Json,
        Target::JsonLines,
        Target::Table,
        Target::Intervals,
        Target::Sessions(Format::Plume),
        Target::Sessions(Format::Awdit),
        Target::Sessions(Format::Dbcop),
        Target::Sessions(Format::DbcopJson),
        Target::Sessions(Format::Hist),
        Target::Sessions(Format::Cobra),
        Target::Sessions(Format::Chronos),
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Target::Edn => "edn",
            Target::Json => "json",
            Target::JsonLines => "jsonl",
            Target::Table => "txt",
            Target::Intervals => "intervals",
            Target::Sessions(format) => format.name(),
        }
    }

    /// The format with this name, or of files with this extension.
    pub(crate) fn from_name(name: &str) -> Option<Target> {
        let name = match name {
            "ndjson" => "jsonl",
            "bincode" => "dbcop",
            name => name,
        };
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// The format of another checker, if this is one.
    pub(crate) fn of_sessions(self) -> Option<Format> {
        if let Target::Sessions(format) = self { Some(format) } else { None }
    }
}

/// The reason why a history was not converted.
enum Stopped {
    /// The text is not a history, or the format cannot represent it.
    History(HistoryError),
    Write(std::io::Error),
}

impl From<HistoryError> for Stopped {
    fn from(error: HistoryError) -> Stopped {
        Stopped::History(error)
    }
}

impl From<std::io::Error> for Stopped {
    fn from(error: std::io::Error) -> Stopped {
        Stopped::Write(error)
    }
}

impl From<WriteError> for Stopped {
    fn from(error: WriteError) -> Stopped {
        match error {
            WriteError::Op(error) => Stopped::History(error),
            WriteError::Io(error) => Stopped::Write(error),
            other => Stopped::Write(std::io::Error::other(other)),
        }
    }
}

/// Converts a history.
pub(crate) fn run(job: &Convert) -> Exit {
    let stopped = match convert(job) {
        Ok(()) => return Exit::OK,
        Err(stopped) => stopped,
    };
    match (stopped, &job.out) {
        (Stopped::History(error), _) => diagnose::history(&job.input.place(), &error),
        (Stopped::Write(error), None) => return exit::stopped(&error),
        (Stopped::Write(error), Some(path)) => diagnose::error(&format!("cannot write {}: {error}", path.display())),
    }
    Exit::FAILED
}

fn convert(job: &Convert) -> Result<(), Stopped> {
    let mut reader = job.input.open()?;
    write_all(job, &mut reader)?;
    note_dropped_orders(&reader);
    Ok(())
}

/// Notes that the output no longer has the order of some clients' operations.
pub(crate) fn note_dropped_orders(reader: &Reader<'_>) {
    let dropped = reader.dropped_client_orders();
    if dropped > 0 {
        let (operations, it, are) =
            if dropped == 1 { ("operation", "it", "is") } else { ("operations", "them", "are") };
        diagnose::note(&format!(
            "with --clock-error, {dropped} {operations} may overlap the operation before {it} of the same client and {are} \
             now of another client: the new history does not show violations of that order"
        ));
    }
}

fn write_all(job: &Convert, reader: &mut Reader<'_>) -> Result<(), Stopped> {
    if let Some(format) = job.target.of_sessions() {
        return sessions(job, format, reader);
    }
    let mut out = Out::create(job.out.as_deref())?;
    match job.target {
        Target::Edn => ops(reader, Writer::new(&mut out, Format::Edn))?,
        Target::Table => ops(reader, Writer::new(&mut out, Format::Table))?,
        Target::Json => ops(reader, Named(Names::default(), Writer::new(&mut out, Format::Json).in_array()))?,
        Target::JsonLines => ops(reader, Named(Names::default(), Writer::new(&mut out, Format::Json)))?,
        Target::Intervals | Target::Sessions(_) => {
            let writer = IntervalWriter::new(&mut out);
            let writer = if job.index_times { writer.with_indices_as_times() } else { writer };
            ops(reader, Named(Names::default(), writer))?;
        }
    }
    out.finish()?;
    Ok(())
}

/// Writes ops, one after another.
trait Sink {
    fn op(&mut self, op: &Op<'_>) -> Result<(), WriteError>;
    fn end(self) -> Result<(), WriteError>;
}

impl<W: Write> Sink for Writer<W> {
    fn op(&mut self, op: &Op<'_>) -> Result<(), WriteError> {
        // If the format cannot represent an op, this is an error of the history.
        self.write(op).map_err(|error| error.downcast().map_or_else(WriteError::Io, WriteError::Op))
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish().map(drop).map_err(WriteError::Io)
    }
}

impl<W: Write> Sink for IntervalWriter<W> {
    fn op(&mut self, op: &Op<'_>) -> Result<(), WriteError> {
        self.write(op)
    }

    fn end(self) -> Result<(), WriteError> {
        self.finish().map(drop)
    }
}

/// A sink for a format in which all names are strings.
struct Named<S>(Names, S);

impl<S: Sink> Sink for Named<S> {
    fn op(&mut self, op: &Op<'_>) -> Result<(), WriteError> {
        self.0.verify(op).map_err(WriteError::Op)?;
        self.1.op(op)
    }

    fn end(self) -> Result<(), WriteError> {
        self.1.end()
    }
}

/// Writes all ops.
fn ops(reader: &mut Reader<'_>, mut sink: impl Sink) -> Result<(), Stopped> {
    let mut failed = None;
    reader.for_each(|op| {
        match sink.op(op) {
            Ok(()) => return Ok(ControlFlow::Continue(())),
            // The reader adds the text at the op to the error.
            Err(WriteError::Op(error)) => return Err(error),
            Err(error) => failed = Some(error),
        }
        Ok(ControlFlow::Break(()))
    })?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(sink.end()?),
    }
}

/// Writes a history in another checker's format.
fn sessions(job: &Convert, format: Format, reader: &mut Reader<'_>) -> Result<(), Stopped> {
    let Some(mut converter) = Converter::new(format, job.options) else { return Ok(()) };
    reader.for_each(|op| converter.push(op).map(|()| ControlFlow::Continue(())))?;
    let converted = converter.finish()?;
    match &job.out {
        Some(directory) if format == Format::Cobra => out::directory(directory, &converted)?,
        Some(path) if format == Format::Dbcop && path.is_dir() => {
            write(Some(&path.join("history.bincode")), &converted)?;
        }
        path => write(path.as_deref(), &converted)?,
    }
    for (what, count) in converted.omitted() {
        diagnose::note(&format!("omitted {count} {what}: format {format} cannot hold them"));
    }
    Ok(())
}

fn write(path: Option<&Path>, converted: &Converted) -> Result<(), Stopped> {
    let mut out = Out::create(path)?;
    converted.write(&mut out)?;
    out.finish()?;
    Ok(())
}
