//! Divides a file with one op per line into ranges of bytes, and assigns each line to a range.
//!
//! A line belongs to the range that contains the byte before it, which is the newline of the previous line; the first
//! line of the file belongs to the first range. So each line belongs to exactly one range, wherever the file is
//! divided, and a range finds its lines without reading the text before it.

use history_core::cast::Cast as _;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

/// A file in ranges of the same length, except for the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// The length of the file in bytes.
    pub(crate) len: u64,
    /// The length of a range in bytes, at least 1.
    pub(crate) range_bytes: u64,
}

impl Ranges {
    /// The number of ranges.
    pub(crate) fn count(self) -> u64 {
        self.len.div_ceil(self.range_bytes.max(1))
    }

    /// The beginning and the end of the range with this number, in bytes.
    pub(crate) fn of(self, number: u64) -> (u64, u64) {
        let begins = number.saturating_mul(self.range_bytes).min(self.len);
        (begins, begins.saturating_add(self.range_bytes).min(self.len))
    }
}

/// The result of reading the lines of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// All lines were read. This number of them end in a newline.
    All(u64),
    /// A line is longer than permitted.
    TooLong,
    /// The receiver stopped.
    Left,
}

/// Passes the lines of a range to `see`, each with its offset and without its newline.
pub(crate) fn each_line(
    source: &mut (impl Read + Seek),
    (begins, ends): (u64, u64),
    line_bytes_max: usize,
    mut see: impl FnMut(u64, &[u8]) -> ControlFlow<()>,
) -> io::Result<Lines> {
    /// The number of bytes read at a time.
    const BUFFER_BYTES: usize = 256 << 10;
    source.seek(SeekFrom::Start(begins))?;
    let mut text = BufReader::with_capacity(BUFFER_BYTES, source);
    let (mut at, mut line) = (begins, Vec::new());
    if begins > 0 {
        // If a line is longer than the range, it is read only to the end of the range.
        at += text.by_ref().take(ends - begins).read_until(b'\n', &mut line)?.to_u64();
        if line.last() != Some(&b'\n') {
            return Ok(Lines::All(0));
        }
    }
    let mut newlines = 0;
    while at <= ends {
        line.clear();
        let got = text.by_ref().take(line_bytes_max.to_u64().saturating_add(2)).read_until(b'\n', &mut line)?;
        if got == 0 {
            break;
        }
        let line_begins = at;
        at += got.to_u64();
        if line.last() == Some(&b'\n') {
            newlines += 1;
            line.pop();
        }
        if line.len() > line_bytes_max {
            return Ok(Lines::TooLong);
        }
        if see(line_begins, &line).is_break() {
            return Ok(Lines::Left);
        }
    }
    Ok(Lines::All(newlines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// The lines of each range, with their offsets.
    fn cut(text: &[u8], range_bytes: u64) -> (Vec<(u64, Vec<u8>)>, u64) {
        let ranges = Ranges { len: text.len().to_u64(), range_bytes };
        let (mut all, mut newlines) = (Vec::new(), 0);
        for number in 0..ranges.count() {
            let see = |at: u64, line: &[u8]| {
                all.push((at, line.to_vec()));
                ControlFlow::Continue(())
            };
            let Ok(Lines::All(count)) = each_line(&mut Cursor::new(text), ranges.of(number), 1 << 20, see) else {
                panic!("no line is too long")
            };
            newlines += count;
        }
        (all, newlines)
    }

    #[test]
    fn every_line_is_in_one_range_wherever_it_is_cut() {
        let texts: [&[u8]; 8] = [
            b"",
            b"\n",
            b"one",
            b"one\ntwo\r\n\n\nthree\n",
            b"one\ntwo\n\nthree",
            b"\n\na\n",
            "\u{65e5}\u{672c}\n\u{1f600}\n".as_bytes(),
            b"a line that is longer than most ranges\nb\nanother line that is long\n",
        ];
        for text in texts {
            let whole = cut(text, 1 << 20);
            let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            // Text after the last newline is a line if it is not empty.
            let expected = lines.len() - usize::from(lines.last().is_some_and(|last| last.is_empty()));
            assert_eq!(whole.0.len(), expected, "{text:?}");
            for (at, line) in &whole.0 {
                assert!(text[at.to_usize()..].starts_with(line));
            }
            assert_eq!(whole.1, lines.len().to_u64() - 1);
            for range_bytes in 1..=text.len().to_u64() + 1 {
                assert_eq!(cut(text, range_bytes), whole, "{range_bytes} bytes of {text:?}");
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_not_read_to_its_end() {
        let text = b"short\nlonger than that\n";
        let all = (0, text.len().to_u64());
        let see = |_: u64, _: &[u8]| ControlFlow::Continue(());
        assert_eq!(each_line(&mut Cursor::new(text), all, 15, see).unwrap(), Lines::TooLong);
        assert_eq!(each_line(&mut Cursor::new(text), all, 16, see).unwrap(), Lines::All(2));
    }

    #[test]
    fn a_receiver_that_stops_gets_no_further_lines() {
        let mut seen = 0;
        let see = |_: u64, _: &[u8]| {
            seen += 1;
            ControlFlow::Break(())
        };
        assert_eq!(each_line(&mut Cursor::new(b"a\nb\n"), (0, 4), 10, see).unwrap(), Lines::Left);
        assert_eq!(seen, 1);
    }
}
