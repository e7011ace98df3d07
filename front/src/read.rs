//! How the text of a history is read: its format, the processes that are clients, the unit of its times.

use history_core::{Batch, ClientRule, FirstValue, Format, HistoryError, Lines, Merge, Reader, TimeUnit};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// How the text of a history is read. The default detects what it can.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadAs {
    /// The format, unless it is to be detected.
    pub format: Option<Format>,
    /// Which names of processes are clients.
    pub clients: ClientRule,
    /// The unit of times, unless the format has one.
    pub time_unit: Option<TimeUnit>,
    /// The maximum error of the clocks of a history of intervals: intervals are widened by it on both sides.
    pub clock_error: Duration,
    /// Whether a text may end within an op, which is then omitted: its writer was stopped.
    pub accepts_torn: bool,
    /// The value of reads before any write, in formats of other checkers.
    pub first_value: FirstValue,
}

impl ReadAs {
    /// The differences from the default, in the form of command line options: ` --format=edn --accept-torn`. If two
    /// values of this type could read the same text as different ops, the results for them differ.
    pub fn changes(&self) -> String {
        // This pattern fails to compile if a field is added, so that it is not forgotten here.
        let ReadAs { format, clients, time_unit, clock_error, accepts_torn, first_value } = self;
        let mut words = String::new();
        words.extend(format.map(|format| format!(" --format={format}")));
        words.extend(time_unit.map(|unit| format!(" --time-unit={unit}")));
        words.extend((*clients != ClientRule::default()).then(|| format!(" {clients:?}")));
        words.extend((!clock_error.is_zero()).then(|| format!(" --clock-error={}ns", clock_error.as_nanos())));
        words.extend(accepts_torn.then_some(" --accept-torn"));
        words.extend((*first_value != FirstValue::default()).then(|| format!(" --first-value={first_value:?}")));
        words
    }

    /// The same reader, set to read so.
    pub fn reader<'s>(&self, reader: Reader<'s>) -> Reader<'s> {
        let reader = reader.with_client_rule(self.clients.clone()).with_first_value(self.first_value);
        let reader = reader.with_clock_error(self.clock_error);
        let reader = if self.accepts_torn { reader.growing() } else { reader };
        let reader = match self.time_unit {
            Some(unit) => reader.with_time_unit(unit),
            None => reader,
        };
        match self.format {
            Some(format) => reader.with_format(format),
            None => reader,
        }
    }

    /// Opens a file, standard input (`-`), or the history in the directory of a test of Jepsen.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot be opened.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Reader<'static>, HistoryError> {
        history_core::open(path).map(|reader| self.reader(reader))
    }

    /// A reader of a history in memory, compressed or not.
    pub fn bytes<'s>(&self, bytes: &'s [u8]) -> Reader<'s> {
        self.reader(Reader::new(bytes))
    }

    /// A reader of lines, for one of several writers of a history.
    pub fn lines(&self) -> Lines {
        let lines = Lines::new(self.format);
        match self.time_unit {
            Some(unit) => lines.with_time_unit(unit),
            None => lines,
        }
    }

    /// The history of several writers.
    pub fn merge(&self) -> Merge {
        Merge::default().with_client_rule(self.clients.clone())
    }
}

/// The format of a history, detected from its beginning. An error after that does not matter; a source without any ops
/// may have a format or none.
///
/// ```
/// use histcheck_front::history_core::Format;
///
/// let text = r#"{"process": 0, "type": "invoke", "f": "read", "value": null}"#;
/// assert_eq!(histcheck_front::read::detect(text.as_bytes())?, Some(Format::Json));
/// # Ok::<(), histcheck_front::history_core::HistoryError>(())
/// ```
///
/// # Errors
///
/// If the source cannot be read, or has no known format.
pub fn detect(source: impl Read + Send) -> Result<Option<Format>, HistoryError> {
    let mut reader = Reader::new(source);
    let read = reader.read_batch(&mut Batch::new());
    match (reader.format(), read) {
        (None, Err(error)) => Err(error),
        (format, _) => Ok(format),
    }
}
