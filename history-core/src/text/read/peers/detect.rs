//! Detects the formats of other checkers from their beginning, if it is unique.

use super::{awdit, bincode, cobra, hist, plume};
use crate::text::read::Format;
use crate::text::syntax::{FaultKind, Scanner};
use crate::values::tape::Tape;
use crate::values::value::Value;

/// The format that the beginning of a text indicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guess {
    Is(Format),
    /// None of the formats in question.
    Other,
    /// Undecided: more text is needed.
    More,
}

/// The binary format of a file with this beginning.
pub(crate) fn binary(head: &[u8]) -> Option<Format> {
    if cobra::begins(head) {
        return Some(Format::Cobra);
    }
    bincode::begins(head).then_some(Format::Dbcop)
}

/// The format of a text that begins with this line, which is not blank. A line of dashes decides nothing yet: see
/// [`is_dashes`].
pub(crate) fn line(line: &str) -> Option<Format> {
    let line = line.as_bytes();
    if plume::is_line(line) {
        return Some(Format::Plume);
    }
    if awdit::is_line(line) {
        return Some(Format::Awdit);
    }
    hist::is_line(line).then_some(Format::Hist)
}

/// The format whose history is an array of arrays, given what follows the first two brackets.
pub(crate) fn nested(text: &str) -> Guess {
    let mut rest = text.trim_start();
    if rest.starts_with(']') {
        return Guess::Is(Format::DbcopJson);
    }
    for token in ["{", "\""] {
        let Some(behind) = rest.strip_prefix(token) else {
            return if rest.is_empty() { Guess::More } else { Guess::Other };
        };
        rest = behind.trim_start();
    }
    let is_key = |key: &str| rest.starts_with(key);
    if is_key("events\"") || is_key("committed\"") {
        return Guess::Is(Format::DbcopJson);
    }
    if rest.len() < "committed\"".len() { Guess::More } else { Guess::Other }
}

/// The format whose history is an object that begins like this and has its sessions last.
pub(crate) fn wrapper(text: &str) -> Guess {
    let mut rest = text;
    for token in ["{", "\"params\"", ":"] {
        rest = rest.trim_start();
        match rest.strip_prefix(token) {
            Some(behind) => rest = behind,
            None => return if token.starts_with(rest) { Guess::More } else { Guess::Other },
        }
    }
    let mut tape = Tape { source: rest.trim_start().to_owned().into(), ..Tape::default() };
    let source = tape.source.clone();
    let mut scanner = Scanner::new(source.as_bytes(), 0, &mut tape);
    match scanner.json_value() {
        Err(fault) if fault.kind == FaultKind::Incomplete => Guess::More,
        Err(_) => Guess::Other,
        Ok(()) => match Value::at(&tape, 0) {
            Value::Map(params) if ["n_node", "n_variable"].into_iter().all(|name| params.get(name).is_some()) => {
                Guess::Is(Format::DbcopJson)
            }
            _ => Guess::Other,
        },
    }
}

/// The format whose history begins with this object, or is it.
pub(crate) fn object(value: Value<'_>) -> Option<Format> {
    let Value::Map(fields) = value else { return None };
    let has = |name: &str| fields.get(name).is_some();
    let is_op = ["type", "process", "f", "value"].into_iter().any(has);
    (!is_op && has("ops") && has("sid") && has("sts") && has("cts")).then_some(Format::Chronos)
}
