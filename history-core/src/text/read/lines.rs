//! Ops that arrive as complete lines, from several writers of one history.

use super::place::Place;
use super::steps::error as fault_error;
use super::{Format, Limits};
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::ops::batch::Batch;
use crate::ops::index::Indices;
use crate::ops::pairing::Pairing;
use crate::ops::row::Row;
use crate::text::syntax::edn::Read;
use crate::text::syntax::{Fault, Scanner};
use crate::values::tape::Tape;
use crate::{ClientRule, OpKind, Position, TimeUnit};

/// Reads the lines of one writer of a history: one op per line, in EDN or JSON.
///
/// Each line is read separately, and is exactly one op: an error in a line does not affect the others. The ops have no
/// indices except those in the text, and no partners, until [`Merge::add`] adds them to a history.
///
/// ```
/// use history_core::{Lines, Merge, Pair};
///
/// let (mut one, mut two) = (Lines::new(None), Lines::new(None));
/// one.read(br#"{"process": 0, "type": "invoke", "f": "read"}"#)?;
/// two.read(br#"{"process": 1, "type": "invoke", "f": "read"}"#)?;
/// assert!(one.read(br#"{"process": 0, "type": "ok", "f": "read", "value": ["#).is_err());
/// let mut history = Merge::default();
/// let (mut first, mut second) = (two.take(), one.take());
/// history.add(&mut first)?;
/// history.add(&mut second)?;
/// assert_eq!((second.op(0).index, second.op(0).pair), (1, Pair::Invokes { slot: 1 }));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Debug)]
pub struct Lines {
    /// The format; absent until the first op determines it.
    format: Option<Format>,
    time_unit: Option<TimeUnit>,
    /// The ops that were read and not taken yet.
    batch: Batch,
    /// Where the next line begins.
    place: Place,
}

impl Lines {
    /// Reads lines in this format: EDN, or else JSON. Without a format, the first op determines it.
    pub fn new(format: Option<Format>) -> Lines {
        Lines { format, time_unit: None, batch: Batch::new(), place: Place::default() }
    }

    /// Sets the unit of the ops' times, as [`Reader::with_time_unit`](crate::Reader::with_time_unit) does.
    #[must_use]
    pub fn with_time_unit(self, unit: TimeUnit) -> Lines {
        Lines { time_unit: Some(unit), ..self }
    }

    /// Reads the next line, with or without its end. A blank line contains no op.
    ///
    /// # Errors
    ///
    /// If the line is anything but one op. The ops before it remain.
    pub fn read(&mut self, line: &[u8]) -> Result<(), HistoryError> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let (start, mark) = (self.batch.tape.source.len(), self.batch.tape.mark());
        let place = self.place;
        self.place.end_line(line);
        let text = str::from_utf8(line).map_err(|error| {
            let mut place = place;
            place.advance(&line[..error.valid_up_to()]);
            let bad = HistoryError::new(ErrorKind::Syntax, "these bytes are not UTF-8").expected("UTF-8 text");
            bad.at(place.position()).with_source(line, place.offset - error.valid_up_to().to_u64())
        })?;
        let source = self.batch.tape.source.to_mut();
        source.push_str(text);
        source.push('\n');
        let format = self.format.unwrap_or_else(|| format_of(text));
        match record(&mut self.batch.tape, start, format, self.time_unit, place) {
            Ok(Some(row)) => {
                self.format = Some(format);
                self.batch.records.to_mut().push(row);
                Ok(())
            }
            ended => {
                self.batch.tape.cut(mark);
                let source = self.batch.tape.source.to_mut();
                let line = source.split_off(start);
                ended.map(|_| ()).map_err(|fault| sited(fault, &line, start, place))
            }
        }
    }

    /// The ops that were read since they were last [taken](Lines::take).
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Drops the ops that were read, and keeps their memory for the next ones.
    #[doc(hidden)]
    pub fn forget(&mut self) {
        self.batch.clear();
        self.batch.tape.source.to_mut().clear();
        self.place = Place::default();
    }

    /// The index of the first of these ops, if its text has one.
    #[doc(hidden)]
    pub fn written_index(&self) -> Option<u64> {
        self.batch.records.first()?.index()
    }

    pub(super) fn batch_mut(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// Takes the ops that were read.
    pub fn take(&mut self) -> Batch {
        let mut batch = std::mem::take(&mut self.batch);
        // Keeps the memory of runs of integers, which speeds up reading the next lines.
        self.batch.tape.memo = std::mem::take(&mut batch.tape.memo);
        batch
    }
}

/// The format of a first line.
fn format_of(line: &str) -> Format {
    let inside = line.trim_start().strip_prefix('{').map(str::trim_start);
    if inside.is_some_and(|inside| inside.starts_with(['"', '}'])) { Format::Json } else { Format::Edn }
}

/// Returns the only op in the source of a tape, from `start` on; `None` if there is no op.
fn record(
    tape: &mut Tape,
    start: usize,
    format: Format,
    unit: Option<TimeUnit>,
    place: Place,
) -> Result<Option<Row>, Fault> {
    let source = std::mem::take(&mut tape.source);
    let mut scanner = Scanner::new(source.as_bytes(), start, tape);
    let node = scanner.next_node();
    let first = value(&mut scanner, format);
    let end = scanner.pos;
    // Text after a value that cannot be read is not examined.
    let more = first == Ok(true) && value(&mut scanner, format) != Ok(false);
    tape.source = source;
    if !first? {
        return Ok(None);
    }
    let space = |from: usize| tape.source[from..].len() - tape.source[from..].trim_start().len();
    let (begins, next) = (start + space(start), end + space(end));
    let mut begun = place;
    begun.advance(&tape.source.as_bytes()[start..begins]);
    // Until the op is in a history, its offset is the one in the batch.
    let row = Row::read(tape, node, Position { offset: begins.to_u64(), ..begun.position() }, unit)?;
    if more {
        return Err(Fault::syntax(next, "this line has text after its op", "one op per line"));
    }
    Ok(Some(row))
}

/// Reads a value, if there is one.
fn value(scanner: &mut Scanner<'_>, format: Format) -> Result<bool, Fault> {
    loop {
        if format == Format::Edn {
            scanner.skip_edn_space();
        } else {
            scanner.skip_json_space();
        }
        if scanner.peek().is_none() {
            return Ok(false);
        }
        if format != Format::Edn {
            return scanner.json_value().map(|()| true);
        }
        if scanner.edn_value()? == Read::Value {
            return Ok(true);
        }
    }
}

/// Converts a fault to an error. `line` is the content of the tape's source from `start` on.
#[cold]
fn sited(mut fault: Fault, line: &str, start: usize, place: Place) -> HistoryError {
    let place_of = |at: usize| {
        let mut place = place;
        place.advance(&line.as_bytes()[..(at - start).min(line.len())]);
        place
    };
    if let Some(opened_at) = fault.opened_at {
        fault.message = format!("{} (opened at column {})", fault.message, place_of(opened_at).position().column);
    }
    let at = fault.at.map_or(place, place_of);
    fault_error(fault, at).with_source(line.as_bytes(), place.offset)
}

/// One history, merged from the ops of several writers in the order in which they are added.
#[derive(Debug, Default)]
pub struct Merge {
    indices: Indices,
    pairing: Pairing,
    /// The number of bytes of text added.
    bytes: u64,
}

/// An op that does not fit after the previous ops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The op's kind.
    pub kind: OpKind,
    /// What is wrong, with its place in the text of its writer.
    pub error: Box<HistoryError>,
}

impl From<Misplaced> for HistoryError {
    fn from(misplaced: Misplaced) -> HistoryError {
        *misplaced.error
    }
}

impl Merge {
    /// Sets which names are clients', before the history begins.
    #[must_use]
    pub fn with_client_rule(self, rule: ClientRule) -> Merge {
        Merge { pairing: self.pairing.with_client_rule(rule), ..self }
    }

    /// Appends ops of a writer: assigns their indices, their partners, and their lines in the history.
    ///
    /// # Errors
    ///
    /// If an op does not fit after the previous ops. The batch then ends before it, and the history continues as if
    /// this op did not exist.
    pub fn add(&mut self, batch: &mut Batch) -> Result<(), Misplaced> {
        let mut added = Ok(());
        for i in 0..batch.len() {
            let kind = batch.records[i].kind();
            if let Err(mut error) = self.add_one(batch, i) {
                if let Some(position) = batch.records[i].position() {
                    error = error.at(position).with_source(batch.tape.source.as_bytes(), 0);
                }
                batch.truncate(i);
                added = Err(Misplaced { kind, error: Box::new(error) });
                break;
            }
        }
        batch.starts_at = self.bytes;
        self.bytes += batch.tape.source.len().to_u64();
        added
    }

    fn add_one(&mut self, batch: &mut Batch, i: usize) -> Result<(), HistoryError> {
        let ops_max = Limits::default().ops_max;
        if self.ops() >= ops_max {
            return Err(HistoryError::new(ErrorKind::Limit, format!("more than {ops_max} ops")));
        }
        let written = batch.records[i].index();
        if let Some(error) = self.pairing.foresee(&batch.head(i)) {
            return Err(error);
        }
        let index = self.indices.next(written)?;
        let row = &mut batch.records.to_mut()[i];
        row.set_index(index);
        if let Some(position) = row.position() {
            row.set_position(Position { offset: self.bytes + position.offset, line: self.ops(), ..position });
        }
        let placed = self.pairing.place(&batch.head(i))?;
        batch.set_placed(i, &placed);
        Ok(())
    }

    /// How many ops were added.
    pub fn ops(&self) -> u64 {
        self.indices.ops()
    }

    /// How many operations are in flight.
    pub fn in_flight(&self) -> usize {
        self.pairing.open()
    }

    /// The names in the [`ClientRule`] that no process has had so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        self.pairing.unmatched()
    }

    /// Whether the history seems to contain only completions.
    pub fn is_of_completions(&self) -> bool {
        self.pairing.completions_only()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An op gets the same error whether it is checked before or when it is added. Tries all histories of five ops of a
    /// client with a number, a client with a name, the nemesis, and ops without a process.
    #[test]
    fn a_misfit_is_foreseen() {
        let mut lines = Lines::new(None);
        let ops = [
            (":process 0, ", "invoke"),
            (":process 0, ", "ok"),
            (":process 0, ", "info"),
            (":process :w, ", "invoke"),
            (":process :w, ", "fail"),
            (":process :w, ", "info"),
            (":process :nemesis, ", "info"),
            ("", "ok"),
        ];
        for (process, kind) in ops {
            lines.read(format!("{{{process}:type :{kind}}}").as_bytes()).unwrap();
        }
        let (batch, mut misfits) = (lines.take(), 0);
        for sequence in 0..8_usize.pow(5) {
            let mut pairing = Pairing::new();
            for at in 0..5 {
                let op = batch.op(sequence / 8_usize.pow(at) % 8);
                let foreseen = pairing.foresee(&(&op).into());
                let found = pairing.pair(&op).err();
                assert_eq!(foreseen, found, "{sequence}");
                if found.is_some() {
                    misfits += 1;
                    break;
                }
            }
        }
        assert!(misfits > 1000);
    }
}
