//! EDN (<https://github.com/edn-format/edn>), and what Clojure prints beside it: ratios, `##NaN`, regular expressions,
//! hexadecimal integers, namespaced maps.

use super::number::Run;
use super::{Fault, Frame, Scanner};
use crate::tape::Tag;

/// Whether a value was read, or only something discarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    Value,
    Nothing,
}

/// Bytes that end a symbol, keyword, number or character.
const fn ends_token(b: u8) -> bool {
    matches!(
        b,
        b' ' | b',' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c | b'"' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}'
    )
}

/// `ENDS_TOKEN[b]`, for the loop that looks at every byte of every name.
const ENDS_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = ends_token(b as u8);
        b += 1;
    }
    table
};

impl Scanner<'_> {
    /// Skips white space and comments. A comment that the block does not end is skipped too.
    #[inline]
    pub(crate) fn skip_edn_space(&mut self) {
        while let Some(b) = self.peek() {
            match b {
                b' ' | b',' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c => self.pos += 1,
                b';' => {
                    let rest = &self.bytes[self.pos..];
                    self.pos += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Reads one value at `pos`, or one discarded value.
    pub(crate) fn edn_value(&mut self) -> Result<Read, Fault> {
        loop {
            if self.edn_one()? && self.edn_complete()? {
                return Ok(Read::Value);
            }
            if self.stack.is_empty() {
                return Ok(Read::Nothing);
            }
        }
    }

    /// Settles the frames that a complete value completes. Whether it was the outermost.
    fn edn_complete(&mut self) -> Result<bool, Fault> {
        loop {
            match self.stack.last_mut() {
                None => return Ok(true),
                Some(Frame::Container { count, .. }) => {
                    *count += 1;
                    return Ok(false);
                }
                Some(Frame::Tag { .. }) => {
                    self.stack.pop();
                }
                Some(Frame::Discard { mark, .. }) => {
                    let mark = *mark;
                    self.tape.cut(mark);
                    self.stack.pop();
                    return Ok(false);
                }
            }
        }
    }

    /// Reads up to the next complete value. Whether there is one: a bracket or tag that opens is none yet.
    fn edn_one(&mut self) -> Result<bool, Fault> {
        self.skip_edn_space();
        let at = self.pos;
        let Some(b) = self.peek() else { return Err(self.incomplete()) };
        self.pos += 1;
        match b {
            b':' => self.edn_name(Tag::Keyword, at + 1, "a name after the colon")?,
            b'"' => self.string()?,
            b'[' => return self.edn_open(Tag::Vector, Tag::IntVector, b']', at),
            b'(' => return self.edn_open(Tag::List, Tag::IntList, b')', at),
            b'{' => {
                self.open(Tag::Map, b'}', at, 0)?;
                return Ok(false);
            }
            b']' | b')' | b'}' => return self.edn_close(b, at),
            b'0'..=b'9' => self.edn_number(at)?,
            b'-' | b'+' if self.peek().is_none() => return Err(self.incomplete()),
            b'-' | b'+' if self.peek().is_some_and(|b| b.is_ascii_digit()) => self.edn_number(at)?,
            b'#' => return self.edn_dispatch(at),
            b'\\' => self.edn_char(at)?,
            b'^' | b'`' | b'~' | b'@' => {
                return Err(Fault::syntax(at, format!("{:?} means nothing in EDN", b as char), "an EDN value"));
            }
            _ => self.edn_symbol(at)?,
        }
        Ok(true)
    }

    fn edn_open(&mut self, tag: Tag, run: Tag, close: u8, at: usize) -> Result<bool, Fault> {
        while matches!(self.peek(), Some(b' ' | b',' | b'\n' | b'\r' | b'\t')) {
            self.pos += 1;
        }
        if matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            let start = self.tape.ints.len();
            match self.int_run(close, false) {
                Run::Closed => {
                    self.tape.push_run(run, start);
                    return Ok(true);
                }
                Run::Broken { start, count } => {
                    self.open(tag, close, at, count)?;
                    self.spill(start);
                }
            }
        } else {
            self.open(tag, close, at, 0)?;
        }
        Ok(false)
    }

    fn edn_close(&mut self, b: u8, at: usize) -> Result<bool, Fault> {
        match self.stack.last() {
            Some(Frame::Container { node, count, close, opened_at }) if *close == b => {
                let (node, count, opened_at) = (*node, *count, *opened_at);
                if b == b'}' && count % 2 == 1 && self.bytes[opened_at] == b'{' {
                    return Err(Fault::syntax(at, "a map whose last key has no value", "an even number of forms"));
                }
                self.stack.pop();
                self.tape.close(node, count);
                Ok(true)
            }
            Some(Frame::Container { close, opened_at, .. }) => Err(Fault::syntax(
                at,
                format!("{:?} where {:?} was still open", b as char, self.bytes[*opened_at] as char),
                match close {
                    b'}' => "}",
                    b')' => ")",
                    _ => "]",
                },
            )),
            Some(Frame::Tag { .. }) => Err(Fault::syntax(at, "a tag without a value", "a value after the tag")),
            Some(Frame::Discard { .. }) => Err(Fault::syntax(at, "#_ without a value to discard", "a value after #_")),
            None => Err(Fault::syntax(at, format!("{:?} closes nothing", b as char), "an EDN value")),
        }
    }

    /// The end of the token that began at `at`; `pos` is moved there.
    fn token_end(&mut self) -> Result<usize, Fault> {
        while let Some(b) = self.peek() {
            if ENDS_TOKEN[b as usize] {
                return Ok(self.pos);
            }
            self.pos += 1;
        }
        // The block ends here, and so the token may go on.
        Err(self.incomplete())
    }

    fn edn_name(&mut self, tag: Tag, start: usize, expected: &'static str) -> Result<(), Fault> {
        let end = self.token_end()?;
        if end == start {
            return Err(Fault::syntax(start - 1, "nothing stands behind this character", expected));
        }
        self.tape.push_source(tag, start, end);
        Ok(())
    }

    fn edn_symbol(&mut self, at: usize) -> Result<(), Fault> {
        let end = self.token_end()?;
        match &self.bytes[at..end] {
            b"nil" => self.tape.push(Tag::Nil),
            b"true" => self.tape.push(Tag::True),
            b"false" => self.tape.push(Tag::False),
            text if text[0].is_ascii_control() => {
                return Err(Fault::syntax(at, format!("found {}", self.shown(at)), "an EDN value"));
            }
            _ => self.tape.push_source(Tag::Symbol, at, end),
        }
        Ok(())
    }

    fn edn_number(&mut self, at: usize) -> Result<(), Fault> {
        let end = self.token_end()?;
        let text = &self.bytes[at..end];
        let signed = usize::from(matches!(text[0], b'-' | b'+'));
        let digits = &text[signed..];
        let all = |s: &[u8]| !s.is_empty() && s.iter().all(u8::is_ascii_digit);
        // The plus sign says nothing, and without it all spellings of an integer are one.
        let from = at + usize::from(text[0] == b'+');
        if all(digits) {
            self.push_int(from, end);
        } else if let Some(digits) = digits.strip_suffix(b"N")
            && all(digits)
        {
            self.push_int(from, end - 1);
        } else if let Some(hex) = digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X")) {
            let hex = std::str::from_utf8(hex).ok().and_then(|hex| i64::from_str_radix(hex, 16).ok());
            let Some(n) = hex else { return Err(self.not_a_number(at, end)) };
            let n = if text[0] == b'-' { -n } else { n };
            self.tape.push_bits(Tag::Int, n.cast_unsigned());
        } else if let Some((a, b)) = split_once(digits, b'/')
            && all(a)
            && all(b)
        {
            self.tape.push_source(Tag::Big, from, end);
        } else if digits.last() == Some(&b'M') {
            let number = std::str::from_utf8(&digits[..digits.len() - 1]).unwrap_or_default();
            if number.parse::<f64>().is_err() {
                return Err(self.not_a_number(at, end));
            }
            self.tape.push_source(Tag::Big, from, end);
        } else if digits.iter().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
            self.push_float(from, end)?;
        } else {
            return Err(self.not_a_number(at, end));
        }
        Ok(())
    }

    fn not_a_number(&self, at: usize, end: usize) -> Fault {
        let text = String::from_utf8_lossy(&self.bytes[at..end.min(at + 40)]).into_owned();
        Fault::syntax(at, format!("{text} is not a number"), "a number, like 12, 0.5 or 12N")
    }

    /// What follows a `#`.
    fn edn_dispatch(&mut self, at: usize) -> Result<bool, Fault> {
        let Some(b) = self.peek() else { return Err(self.incomplete()) };
        match b {
            b'{' => {
                self.pos += 1;
                self.edn_open(Tag::Set, Tag::IntSet, b'}', at)
            }
            b'_' => {
                self.pos += 1;
                let mark = self.tape.mark();
                self.push_frame(Frame::Discard { mark, at })?;
                Ok(false)
            }
            b'#' => {
                self.pos += 1;
                let start = self.pos;
                let end = self.token_end()?;
                let x = match &self.bytes[start..end] {
                    b"NaN" => f64::NAN,
                    b"Inf" => f64::INFINITY,
                    b"-Inf" => f64::NEG_INFINITY,
                    _ => return Err(Fault::syntax(at, "this is no number", "##NaN, ##Inf or ##-Inf")),
                };
                self.tape.push_bits(Tag::Float, x.to_bits());
                Ok(true)
            }
            b'"' => {
                // A regular expression: its backslashes are its own.
                self.pos += 1;
                self.regex()?;
                Ok(true)
            }
            b if b.is_ascii_alphabetic() || b == b':' || !b.is_ascii() => {
                let start = self.pos;
                let end = self.token_end()?;
                self.tape.push_source(Tag::Tagged, start, end);
                self.push_frame(Frame::Tag { at })?;
                Ok(false)
            }
            _ => Err(Fault::syntax(at, "a # before something that it does not go with", "#{...}, #tag or #_")),
        }
    }

    fn regex(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        while let Some(b) = self.peek() {
            match b {
                b'"' => {
                    self.tape.push_source(Tag::Str, start, self.pos);
                    self.pos += 1;
                    return Ok(());
                }
                b'\\' => self.pos += 2,
                _ => self.pos += 1,
            }
        }
        Err(self.open_string(start))
    }

    fn edn_char(&mut self, at: usize) -> Result<(), Fault> {
        // The character itself may be one that ends tokens: \( or \".
        let Some(first) = self.bytes.get(at + 1) else { return Err(self.incomplete()) };
        let len = match first {
            0..=0x7f => 1,
            0xf0.. => 4,
            0xe0.. => 3,
            _ => 2,
        };
        self.pos = at + 1 + len;
        if self.pos > self.bytes.len() {
            return Err(self.incomplete());
        }
        let end = self.token_end()?;
        let text = std::str::from_utf8(&self.bytes[at + 1..end])
            .map_err(|_| Fault::syntax(at, "this character is not UTF-8", "UTF-8"))?;
        let mut chars = text.chars();
        let c = match (chars.next(), chars.as_str()) {
            (Some(c), "") if !c.is_whitespace() => Some(c),
            _ => named_char(text),
        };
        let Some(c) = c else {
            return Err(Fault::syntax(at, format!("\\{text} is no character"), r"\a, \newline, \space, \tab or \u0041"));
        };
        self.tape.push_bits(Tag::Char, u64::from(u32::from(c)));
        Ok(())
    }
}

fn named_char(name: &str) -> Option<char> {
    Some(match name {
        "newline" => '\n',
        "return" => '\r',
        "space" => ' ',
        "tab" => '\t',
        "formfeed" => '\u{c}',
        "backspace" => '\u{8}',
        _ => {
            let (radix, digits) = match name.strip_prefix('u') {
                Some(hex) => (16, hex),
                None => (8, name.strip_prefix('o')?),
            };
            return char::from_u32(u32::from_str_radix(digits, radix).ok()?);
        }
    })
}

fn split_once(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let i = memchr::memchr(at, text)?;
    Some((&text[..i], &text[i + 1..]))
}
