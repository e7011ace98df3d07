//! Functions that the tests of reading share.

pub(crate) mod texts;

use history_core::{Format, HistoryError, Limits, Op, Reader, Writer};
use std::ops::ControlFlow;

/// All data of the ops as text, and how reading ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Read {
    pub(crate) ops: Vec<String>,
    pub(crate) error: Option<HistoryError>,
    pub(crate) format: Option<Format>,
}

/// Reads a whole text, in blocks of this size.
pub(crate) fn read_in_blocks(text: &[u8], block_bytes: usize) -> Read {
    drain(Reader::new(text).with_block_bytes(block_bytes))
}

/// Reads a whole text.
pub(crate) fn read(text: impl AsRef<[u8]>) -> Read {
    drain(Reader::new(text.as_ref()))
}

pub(crate) fn drain(mut reader: Reader<'_>) -> Read {
    let mut ops = Vec::new();
    let ended = reader.for_each(|op| {
        ops.push(format!("{op:?}"));
        Ok(ControlFlow::Continue(()))
    });
    Read { ops, error: ended.err(), format: reader.format() }
}

/// The values of a text's ops, as EDN; panics if it is not a history.
pub(crate) fn values(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    each(text, |op| values.push(op.value.to_string()));
    values
}

/// Passes each op of a text to `see`; panics if the text is not a history.
pub(crate) fn each(text: &str, mut see: impl FnMut(&Op<'_>)) {
    let ended = Reader::new(text.as_bytes()).for_each(|op| {
        see(op);
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(ended, Ok(()), "{text}");
}

/// The message of the first error in a text; panics if there is none.
pub(crate) fn error(text: impl AsRef<[u8]>) -> String {
    let read = read(text.as_ref());
    let text = String::from_utf8_lossy(text.as_ref());
    read.error.unwrap_or_else(|| panic!("no error in {text}: {:?}", read.ops)).to_string()
}

/// Writes ops in a format.
pub(crate) fn write_all<'a>(ops: impl IntoIterator<Item = Op<'a>>, format: Format) -> String {
    let mut writer = Writer::new(Vec::new(), format);
    for op in ops {
        writer.write(&op).unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

/// Limits with this maximum length of an op.
pub(crate) fn op_bytes_max(op_bytes_max: usize) -> Limits {
    Limits { op_bytes_max, ..Limits::default() }
}

/// Abbreviations of long expectations in messages.
const LONG: [(&str, &str); 3] = [
    ("@op", "an op: a map with :type (invoke, ok, fail or info), :process, :f and :value"),
    ("@line", "PROCESS<TAB>TYPE<TAB>F<TAB>VALUE, such as 0<TAB>:invoke<TAB>:read<TAB>nil"),
    (
        "@any",
        "ops as maps in EDN or JSON (one after another, one per line, or in one array), the columns of history.txt, or a text of another checker",
    ),
];

/// Asserts for each text the number of ops before its first error, and that error.
pub(crate) fn check_errors(cases: &[(&str, usize, &str)]) {
    for (text, ops, message) in cases {
        let full = LONG.iter().fold((*message).to_owned(), |message, (short, long)| message.replace(short, long));
        assert_eq!(error(text), full, "{text}");
        assert_eq!(read(text).ops.len(), *ops, "{text}");
    }
}
