//! A position in one line of text, for formats that are read line by line.

use crate::text::syntax::Fault;

/// A position in a line, which ends at `end`.
pub(super) struct Cursor<'b> {
    bytes: &'b [u8],
    pub(super) pos: usize,
    end: usize,
}

impl<'b> Cursor<'b> {
    /// The line from `start` to `end`, without blanks at both ends.
    pub(super) fn new(bytes: &'b [u8], mut start: usize, mut end: usize) -> Cursor<'b> {
        while end > start && matches!(bytes[end - 1], b' ' | b'\t' | b'\r') {
            end -= 1;
        }
        while start < end && matches!(bytes[start], b' ' | b'\t') {
            start += 1;
        }
        Cursor { bytes, pos: start, end }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        (self.pos < self.end).then(|| self.bytes[self.pos])
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.pos == self.end
    }

    /// The rest of the line.
    pub(super) fn rest(&self) -> &'b [u8] {
        &self.bytes[self.pos..self.end]
    }

    /// Skips blanks. Returns whether there were any.
    pub(super) fn skip_blanks(&mut self) -> bool {
        let from = self.pos;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
        self.pos > from
    }

    /// Skips `text` if it follows.
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let stands = self.rest().starts_with(text);
        if stands {
            self.pos += text.len();
        }
        stands
    }

    /// The fault at this position.
    #[cold]
    pub(super) fn fault(&self, expected: &'static str) -> Fault {
        let shown = String::from_utf8_lossy(self.rest()).chars().next();
        let message = match shown {
            Some(c) => format!("found {c:?} here"),
            None => "the line ends here".to_owned(),
        };
        Fault::syntax(self.pos, message, expected)
    }

    /// A number of 0 or more.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<u64, Fault> {
        let from = self.pos;
        let mut number = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let next = number.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit - b'0')));
            let Some(next) = next else {
                return Err(Fault::syntax(from, "this number does not fit 64 bits", expected));
            };
            number = next;
            self.pos += 1;
        }
        if self.pos == from { Err(self.fault(expected)) } else { Ok(number) }
    }

    /// A number that may be negative.
    pub(super) fn signed(&mut self, expected: &'static str) -> Result<i64, Fault> {
        let from = self.pos;
        let is_negative = self.eat(b"-");
        let number = self.number(expected)?;
        let signed = if is_negative { 0_i64.checked_sub_unsigned(number) } else { i64::try_from(number).ok() };
        signed.ok_or_else(|| Fault::syntax(from, "this number does not fit 64 bits", expected))
    }
}

/// The lines that end in a text between two places: the beginning and the end of each, without its newline.
pub(super) fn lines(bytes: &[u8], from: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut start = from;
    memchr::memchr_iter(b'\n', &bytes[from..]).map(move |at| {
        let line = (start, from + at);
        start = from + at + 1;
        line
    })
}
