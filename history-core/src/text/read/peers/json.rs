//! Iterates over the containers of a JSON text, one value of an array or object at a time.
//!
//! In some formats a whole history is one JSON value. The reader reads one transaction at a time from it.

use crate::text::syntax::{Fault, Scanner};
use crate::values::tape::Tape;
use crate::values::value::Value;

/// The result of moving past the separator between two values of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An element begins here.
    Element,
    /// The array was closed.
    Closed,
}

/// Moves to the next element of an array, or past its end. `is_first`: nothing after its bracket was read yet.
pub(super) fn next(scanner: &mut Scanner<'_>, is_first: bool, expected: &'static str) -> Result<Step, Fault> {
    scanner.skip_json_space();
    let Some(b) = scanner.peek() else { return Err(scanner.incomplete()) };
    if b == b']' {
        scanner.pos += 1;
        return Ok(Step::Closed);
    }
    if is_first {
        return Ok(Step::Element);
    }
    if b != b',' {
        return Err(Fault::syntax(scanner.pos, "a value without a comma or ] after it", "a comma or ]"));
    }
    scanner.pos += 1;
    scanner.skip_json_space();
    match scanner.peek() {
        None => Err(scanner.incomplete()),
        Some(b']') => Err(Fault::syntax(scanner.pos, "found ] after a comma", expected)),
        Some(_) => Ok(Step::Element),
    }
}

/// Skips `b`, which is expected here.
pub(super) fn expect(scanner: &mut Scanner<'_>, b: u8, expected: &'static str) -> Result<(), Fault> {
    scanner.skip_json_space();
    match scanner.peek() {
        None => Err(scanner.incomplete()),
        Some(found) if found == b => {
            scanner.pos += 1;
            Ok(())
        }
        Some(_) => Err(Fault::syntax(scanner.pos, "found something else here", expected)),
    }
}

/// Scans `text`, which is the tape's source, from `at` on. Returns the result of `scan`, and where it ended. After a
/// fault the tape is unchanged.
pub(super) fn scan<R>(
    tape: &mut Tape,
    text: &[u8],
    at: usize,
    scan: impl FnOnce(&mut Scanner<'_>) -> Result<R, Fault>,
) -> Result<(R, usize), Fault> {
    let mark = tape.mark();
    let mut scanner = Scanner::new(text, at, tape);
    let result = scan(&mut scanner);
    let end = scanner.pos;
    if result.is_err() {
        tape.cut(mark);
    }
    Ok((result?, end))
}

/// The nodes of fields of the object at a node, by their names. A duplicate name is a fault; other names are skipped.
pub(super) fn fields<const N: usize>(
    tape: &Tape,
    node: usize,
    names: [&str; N],
    expected: &'static str,
) -> Result<[Option<usize>; N], Fault> {
    let mut found = [None; N];
    if !matches!(Value::at(tape, node), Value::Map(_)) {
        return Err(Fault::op(format!("found {} here", Value::at(tape, node).kind()), expected));
    }
    let (mut at, end) = (node + 1, tape.after(node));
    while at < end {
        let value = tape.after(at);
        if let Some(which) = tape.name(at).and_then(|key| names.iter().position(|name| *name == key))
            && found[which].replace(value).is_some()
        {
            return Err(Fault::op(format!("there are two fields named {}", names[which]), "one of each"));
        }
        at = tape.after(value);
    }
    Ok(found)
}
