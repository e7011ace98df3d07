//! Detects ops that are not closed, in a text that may end anywhere: how far such an op was read, and what follows the
//! cut.
//!
//! A writer that stops within an op and starts again leaves a part of the op, followed by complete ops. In EDN, the
//! rest of the text is then one map that is not closed, and omitting that map would omit all of these ops.

use super::Block;
use crate::Format;
use crate::Position;
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use memchr::{memchr, memchr_iter, memmem};

/// The state of the op that is not closed.
#[derive(Debug, Default)]
pub(crate) struct Torn {
    /// Where it begins in the whole text.
    begins: u64,
    /// The end of the last line before which no other op begins.
    checked: u64,
    /// The position where it begins, set once the source has ended within it.
    pub(crate) cut_off: Option<Position>,
}

impl Torn {
    /// Examines the op that is not closed at the end of a block, if there is one.
    ///
    /// # Errors
    ///
    /// If another op begins on a later line.
    pub(crate) fn check(
        &mut self,
        format: Format,
        (text, block): (&str, &Block),
        consumed: usize,
    ) -> Result<(), HistoryError> {
        let text = &text[..block.end];
        let space = text[consumed..].len() - text[consumed..].trim_start().len();
        let begins = consumed + space;
        if begins == text.len() {
            self.cut_off = None;
            return Ok(());
        }
        if !block.over && memchr(b'\n', &text.as_bytes()[begins..]).is_none() {
            return Ok(());
        }
        let place = block.place_of(text, begins);
        if self.begins != place.offset {
            *self = Torn { begins: place.offset, checked: place.offset, cut_off: None };
        }
        if matches!(format, Format::Edn | Format::Json) {
            let checked = (self.checked - block.offset()).to_usize();
            if let Some(at) = self.next_op(text, checked, block.offset()) {
                let line = place.position().line;
                let message = format!("an op begins here, but the op at line {line} is not closed");
                let error = HistoryError::new(ErrorKind::Unexpected, message).at(block.place_of(text, at).position());
                return Err(error.expected(format!("the rest of the op at line {line}")));
            }
        }
        self.cut_off = block.over.then(|| place.position());
        Ok(())
    }

    /// The first line after a place that begins with an op.
    fn next_op(&mut self, text: &str, from: usize, offset: u64) -> Option<usize> {
        for end in memchr_iter(b'\n', &text.as_bytes()[from..]) {
            let at = from + end + 1;
            self.checked = offset + at.to_u64() - 1;
            let line = &text.as_bytes()[at..];
            if begins_op(&line[..memchr(b'\n', line).unwrap_or(line.len())]) {
                return Some(at);
            }
        }
        None
    }
}

/// Returns true if a line begins with a map that has a type of an op, with or without a tag such as
/// `#jepsen.history.Op`. In indented text, the content of an op is not at the beginning of a line; in other text, an op
/// is on one line.
fn begins_op(line: &[u8]) -> bool {
    let is_of_tag = |byte: &u8| byte.is_ascii_alphanumeric() || b"./-_ ".contains(byte);
    let tag = line.strip_prefix(b"#").map_or(0, |tag| 1 + tag.iter().take_while(|byte| is_of_tag(byte)).count());
    let has_type = |at: usize| {
        let value = line[at + b"type".len()..].trim_ascii_start();
        let value = value.strip_prefix(b"\"").unwrap_or(value).trim_ascii_start();
        let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii_start();
        let value = value.strip_prefix(b"\"").unwrap_or(value);
        [&b"invoke"[..], b"ok", b"fail", b"info"].iter().any(|kind| value.starts_with(kind))
    };
    line.get(tag) == Some(&b'{') && memmem::find_iter(line, b"type").any(has_type)
}
