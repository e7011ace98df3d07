//! Strings: slices of the source if they contain no escapes, else decoded.

use super::{Fault, Scanner};
use crate::cast::Cast as _;
use crate::values::tape::Tag;

/// Bytes at which the scan of a string stops: quotes, backslashes, and the control characters that JSON requires to be
/// escaped.
const STOPS: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 0x20 {
        table[b] = true;
        b += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};

impl Scanner<'_> {
    /// Reads a string after its opening quote. EDN permits control characters in it, JSON does not.
    #[inline]
    pub(super) fn string<const JSON: bool>(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        let mut at = start;
        while let Some(&b) = self.bytes.get(at) {
            if STOPS[b.to_usize()] {
                if b == b'"' {
                    self.tape.push_source(Tag::Str, start, at);
                    self.pos = at + 1;
                    return Ok(());
                }
                if JSON || b == b'\\' {
                    return self.escaped_string::<JSON>(start, at);
                }
            }
            at += 1;
        }
        Err(open_string(start))
    }

    /// Reads a string from `start` on that has an escape or an invalid character at `stop`.
    #[cold]
    fn escaped_string<const JSON: bool>(&mut self, start: usize, mut stop: usize) -> Result<(), Fault> {
        let decoded = self.tape.unescaped.len();
        let mut from = start;
        loop {
            while self.bytes.get(stop).is_some_and(|b| !STOPS[b.to_usize()] || !JSON && *b < b' ') {
                stop += 1;
            }
            let Some(&b) = self.bytes.get(stop) else { return Err(open_string(start)) };
            // The slice is between ASCII characters, so its ends are boundaries of characters.
            self.tape.unescaped.to_mut().push_str(std::str::from_utf8(&self.bytes[from..stop]).unwrap_or_default());
            self.pos = stop + 1;
            match b {
                b'"' => break,
                b'\\' => {
                    let c = self.escape::<JSON>(stop, start)?;
                    self.tape.unescaped.to_mut().push(c);
                }
                // Most often the closing quote is missing, and the escape is not the error.
                b'\n' | b'\r' => return Err(ended_by_line(start)),
                _ => {
                    return Err(Fault::syntax(
                        stop,
                        format!("{} inside a string", self.shown(stop)),
                        "an escape such as \\n, or a quote that closes the string",
                    ));
                }
            }
            from = self.pos;
            stop = from;
        }
        self.tape.push_unescaped(Tag::Str, decoded);
        Ok(())
    }

    /// Decodes the escape whose backslash is at `at`.
    fn escape<const JSON: bool>(&mut self, at: usize, string_start: usize) -> Result<char, Fault> {
        let Some(b) = self.peek() else { return Err(open_string(string_start)) };
        self.pos += 1;
        Ok(match b {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' => b as char,
            b'/' if JSON => '/',
            b'u' => {
                let code = self.hex4(at, string_start)?;
                let code =
                    if (0xd800..0xdc00).contains(&code) { self.low_surrogate(code, at, string_start)? } else { code };
                return char::from_u32(code).ok_or_else(|| lone_surrogate(at));
            }
            _ => {
                return Err(Fault::syntax(
                    at,
                    format!("unknown escape: a backslash before {}", self.shown(at + 1)),
                    r#"one of \n \t \r \b \f \" \\ \uXXXX"#,
                ));
            }
        })
    }

    /// Reads the low surrogate after the surrogate `high`, and returns the character of both.
    fn low_surrogate(&mut self, high: u32, at: usize, string_start: usize) -> Result<u32, Fault> {
        for expected in [b'\\', b'u'] {
            match self.peek() {
                None => return Err(open_string(string_start)),
                Some(b) if b == expected => self.pos += 1,
                Some(_) => return Err(lone_surrogate(at)),
            }
        }
        let low = self.hex4(self.pos - 2, string_start)?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(lone_surrogate(at));
        }
        Ok(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
    }

    /// Reads four hexadecimal digits; `at` is the position of the backslash before them.
    fn hex4(&mut self, at: usize, string_start: usize) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(b) = self.peek() else { return Err(open_string(string_start)) };
            let Some(digit) = (b as char).to_digit(16) else {
                return Err(Fault::syntax(at, r"\u needs four hexadecimal digits", r"an escape such as \u00e9"));
            };
            code = code * 16 + digit;
            self.pos += 1;
        }
        Ok(code)
    }

    /// Reads a regular expression, `#"..."`, after its opening quote. Its backslashes remain.
    pub(super) fn regex(&mut self) -> Result<(), Fault> {
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
        Err(open_string(start))
    }
}

#[cold]
fn open_string(start: usize) -> Fault {
    Fault::incomplete(start - 1, "the text ends before this string is closed", "a closing quote")
}

#[cold]
fn ended_by_line(start: usize) -> Fault {
    Fault::syntax(
        start - 1,
        "the line ends before this string is closed",
        "a closing quote; write \\n for a line break in a string",
    )
}

#[cold]
fn lone_surrogate(at: usize) -> Fault {
    Fault::syntax(at, "one half of a surrogate pair is not a character", r"both halves, such as \ud83d\ude00")
}
