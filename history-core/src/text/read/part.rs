//! Ops of a part of a history, read one by one; the caller has the rest of the history. For `histcheck-scale`; it
//! changes without notice.

use super::{Format, Lines};
use crate::error::{ErrorKind, HistoryError};
use crate::ops::pairing::{OpHead, Pairing};
use crate::{Op, Position, Process, TimeUnit};
use std::fmt;

/// Data of an op that its text does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its index, if the text has none.
    pub index: u64,
    /// Where its line begins in the whole text.
    pub line_begins: u64,
    /// Its line, counted from 1.
    pub line: u64,
    /// Its position, if its text was rewritten: this position then replaces the line's.
    pub position: Option<Position>,
    /// The number of its client, if that has a name.
    pub client: Option<i64>,
}

/// Reads ops of a part of a history, each from the text of one line, and pairs them.
///
/// A part contains both ops of each of its operations, and no ops of processes that are not clients.
pub struct PartReader {
    lines: Lines,
    pairing: Pairing,
}

impl fmt::Debug for PartReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.fmt(f)
    }
}

impl PartReader {
    /// A reader of texts in EDN or JSON.
    pub fn new(format: Format, unit: Option<TimeUnit>) -> PartReader {
        let lines = Lines::new(Some(format));
        let lines = unit.into_iter().fold(lines, Lines::with_time_unit);
        PartReader { lines, pairing: Pairing::new() }
    }

    /// Passes the op in a text to `see`.
    ///
    /// # Errors
    ///
    /// The error of `see`, with the op's position and the text there; or that the text is not one op of this part,
    /// which is an error of the sender.
    pub fn read<T>(
        &mut self,
        text: &[u8],
        place: &Place,
        see: impl FnOnce(&Op<'_>) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        self.lines.forget();
        self.lines.read(text)?;
        let batch = self.lines.batch_mut();
        if batch.len() != 1 {
            return Err(HistoryError::new(ErrorKind::Unexpected, "a part of a history is not one op per line"));
        }
        let row = &mut batch.records.to_mut()[0];
        row.set_index(row.index().unwrap_or(place.index));
        let own = row.position().unwrap_or(Position { offset: 0, line: 1, column: 1 });
        let in_line = Position { offset: place.line_begins + own.offset, line: place.line, column: own.column };
        let position = place.position.unwrap_or(in_line);
        row.set_position(position);
        let mut placed = {
            let head = batch.head(0);
            let client_name = match (place.client, head.process) {
                (Some(_), Process::Other(name)) => Some(name),
                _ => head.client_name,
            };
            self.pairing.place(&OpHead { client_name, ..head })?
        };
        placed.named = place.client;
        batch.set_placed(0, &placed);
        let op = batch.op(0);
        if !op.process.is_client() {
            return Err(HistoryError::new(
                ErrorKind::Unexpected,
                "a part of a history has an op that is not a client's",
            ));
        }
        see(&op).map_err(|error| match place.position {
            Some(position) => error.at(position),
            None => error.at(position).with_source(text, place.line_begins),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pair;

    fn place(index: u64, line_begins: u64, line: u64) -> Place {
        Place { index, line_begins, line, position: None, client: None }
    }

    #[test]
    fn an_op_has_the_place_that_it_has_in_the_whole() {
        let mut part = PartReader::new(Format::Json, None);
        let invoke = br#"  {"process": 3, "type": "invoke", "f": "read", "time": 5}"#;
        let at = |op: &Op<'_>| Ok((op.index, op.position.unwrap(), op.pair));
        let seen = part.read(invoke, &place(7, 100, 9), at).unwrap();
        assert_eq!(seen, (7, Position { offset: 102, line: 9, column: 3 }, Pair::Invokes { slot: 0 }));
        let ok = br#"{"process": 3, "type": "ok", "f": "read", "index": 40}"#;
        let seen = part.read(ok, &place(8, 200, 11), at).unwrap();
        let pair = Pair::Completes { slot: 0, invoked: 7, invoked_time_ns: Some(5) };
        assert_eq!(seen, (40, Position { offset: 200, line: 11, column: 1 }, pair));
    }

    #[test]
    fn what_is_wrong_with_an_op_is_said_at_its_place() {
        let mut part = PartReader::new(Format::Json, None);
        let text = br#"{"process": 3, "type": "invoke", "f": "read"}"#;
        let wrong = |_: &Op<'_>| Err::<(), _>(HistoryError::new(ErrorKind::Unexpected, "wrong"));
        let error = part.read(text, &place(0, 100, 9), wrong).unwrap_err();
        assert_eq!(error.to_string(), "line 9, column 1: wrong");
        assert_eq!(error.snippet.unwrap().text.as_bytes(), text);
    }

    #[test]
    fn a_named_client_has_the_number_that_the_whole_gave_it() {
        let mut part = PartReader::new(Format::Edn, None);
        // In a history without invocations, this is an op of a client.
        let text = b"{:process :w1, :type :info}";
        let named = Place { client: Some(-99), ..place(0, 0, 1) };
        let is_it = |op: &Op<'_>| Ok(op.process == Process::Client(-99) && op.client_name == Some("w1"));
        assert!(part.read(text, &named, is_it).unwrap());
    }

    #[test]
    fn an_op_that_is_not_a_clients_is_refused() {
        let mut part = PartReader::new(Format::Edn, None);
        let text = b"{:process :nemesis, :type :info}";
        assert!(part.read(text, &place(0, 0, 1), |_| Ok(())).is_err());
    }

    #[test]
    fn a_text_of_two_ops_or_none_is_refused() {
        let mut part = PartReader::new(Format::Edn, None);
        for text in ["", "{:process 1, :type :ok} {:process 1, :type :ok}", "{:process 1, :type :ok"] {
            assert!(part.read(text.as_bytes(), &place(0, 0, 1), |_| Ok(())).is_err(), "{text}");
        }
    }
}
