//! Results on standard output: a line a history, or the whole report of each.

mod line;
mod paint;
mod text;

use crate::args::OutputFormat;
use crate::input::Input;
use history_core::{HistoryError, Report};
use std::io::{self, BufWriter, Stdout, Write as _};

pub(crate) use line::{Failure, about, row, write as write_line};
pub(crate) use paint::Paint;
pub(crate) use text::{account, hints, verdict, wrapped};

/// Writes results, each flushed as it becomes known.
pub(crate) struct Output {
    out: BufWriter<Stdout>,
    format: OutputFormat,
    verbose: bool,
    paint: Paint,
}

impl Output {
    pub(crate) fn new(format: OutputFormat, verbose: bool) -> Output {
        Output { out: BufWriter::new(io::stdout()), format, verbose, paint: Paint::for_stdout() }
    }

    /// Writes what became of a history.
    pub(crate) fn write(&mut self, input: &Input, judged: &Result<Report, HistoryError>) -> io::Result<()> {
        let out = &mut self.out;
        match (self.format, judged) {
            (OutputFormat::Text, Ok(report)) => {
                text::verdict(out, input, report)?;
                if self.verbose {
                    text::account(out, report, "  ", self.paint)?;
                }
            }
            // What is not known is not printed; a diagnostic says why.
            (OutputFormat::Text, Err(_)) => {}
            (OutputFormat::Json | OutputFormat::Edn, judged) => line::write(out, self.format, input, judged.as_ref())?,
        }
        out.flush()
    }
}
