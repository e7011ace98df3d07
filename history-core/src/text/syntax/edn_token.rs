//! EDN's tokens: names, numbers, characters.

use super::{Fault, Scanner};
use crate::cast::Cast as _;
use crate::values::tape::Tag;

/// Bytes that end a symbol, keyword, number or character: white space, brackets, quotes, comments, and control
/// characters, which are not allowed anywhere.
pub(super) const ENDS_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = matches!(b as u8, 0..=b' ' | 0x7f | b',' | b'"' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}');
        b += 1;
    }
    table
};

/// Returns true if a keyword, symbol or tag of this name can be read back.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| !ENDS_TOKEN[b.to_usize()])
}

impl Scanner<'_> {
    /// Moves `pos` to the end of the token at `pos`, and returns it.
    #[inline]
    pub(super) fn token_end(&mut self) -> Result<usize, Fault> {
        while let Some(b) = self.peek() {
            if ENDS_TOKEN[b.to_usize()] {
                return Ok(self.pos);
            }
            self.pos += 1;
        }
        // The block ends here, so the token may continue.
        Err(self.incomplete())
    }

    #[inline]
    pub(super) fn edn_name(&mut self, tag: Tag, start: usize, expected: &'static str) -> Result<(), Fault> {
        let end = self.token_end()?;
        if end == start {
            return Err(Fault::syntax(start - 1, "unexpected end of input after this character", expected));
        }
        self.tape.push_source(tag, start, end);
        Ok(())
    }

    pub(super) fn edn_symbol(&mut self, at: usize) -> Result<(), Fault> {
        let end = self.token_end()?;
        match &self.bytes[at..end] {
            b"nil" => self.tape.push(Tag::Nil),
            b"true" => self.tape.push(Tag::True),
            b"false" => self.tape.push(Tag::False),
            _ => self.tape.push_source(Tag::Symbol, at, end),
        }
        Ok(())
    }

    /// Reads what follows `##`.
    pub(super) fn edn_symbolic(&mut self, at: usize) -> Result<(), Fault> {
        let start = self.pos;
        let end = self.token_end()?;
        let x = match &self.bytes[start..end] {
            b"NaN" => f64::NAN,
            b"Inf" => f64::INFINITY,
            b"-Inf" => f64::NEG_INFINITY,
            _ => return Err(Fault::syntax(at, "this is not a number", "##NaN, ##Inf or ##-Inf")),
        };
        self.tape.push_bits(Tag::Float, x.to_bits());
        Ok(())
    }

    /// Reads a number that begins at `at`, with a digit or a sign before one.
    #[inline]
    pub(super) fn edn_number(&mut self, at: usize) -> Result<(), Fault> {
        self.pos = at;
        if let Some(n) = self.small_int()
            && self.peek().is_some_and(|b| ENDS_TOKEN[b.to_usize()])
        {
            self.tape.push_bits(Tag::Int, n.cast_unsigned());
            return Ok(());
        }
        self.pos = at;
        self.edn_other_number(at)
    }

    fn edn_other_number(&mut self, at: usize) -> Result<(), Fault> {
        let end = self.token_end()?;
        let text = &self.bytes[at..end];
        let signed = usize::from(matches!(text[0], b'-' | b'+'));
        let digits = &text[signed..];
        let all = |s: &[u8]| !s.is_empty() && s.iter().all(u8::is_ascii_digit);
        // A plus sign has no meaning. Without it, equal decimal integers have equal text.
        let from = at + usize::from(text[0] == b'+');
        if let Some(hex) = digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X")) {
            let n = hex_int(hex).ok_or_else(|| self.not_a_number(at, end))?;
            let n = if text[0] == b'-' { -n } else { n };
            self.tape.push_bits(Tag::Int, n.cast_unsigned());
            return Ok(());
        }
        if digits[0] == b'0' && digits.get(1).is_some_and(u8::is_ascii_digit) {
            return Err(Fault::syntax(at, "a number that begins with a zero", "a number, such as 12, 0.5 or 12N"));
        }
        if all(digits) {
            self.push_int(from, end);
        } else if digits.strip_suffix(b"N").is_some_and(all) {
            self.push_int(from, end - 1);
        } else if digits.strip_suffix(b"M").is_some_and(is_decimal)
            || split_once(digits, b'/').is_some_and(|(a, b)| all(a) && all(b))
        {
            self.tape.push_source(Tag::Big, from, end);
        } else if is_decimal(digits) {
            return self.push_float(from, end);
        } else {
            return Err(self.not_a_number(at, end));
        }
        Ok(())
    }

    #[cold]
    fn not_a_number(&self, at: usize, end: usize) -> Fault {
        let text = String::from_utf8_lossy(&self.bytes[at..end]);
        let text: String = text.chars().take(40).collect();
        Fault::syntax(at, format!("{text} is not a number"), "a number, such as 12, 0.5 or 12N")
    }

    pub(super) fn edn_char(&mut self, at: usize) -> Result<(), Fault> {
        // The character itself may be one that ends tokens, as in \( and \".
        let Some(&first) = self.bytes.get(at + 1) else { return Err(self.incomplete()) };
        let len = match first {
            0..=b' ' | 0x7f => {
                return Err(Fault::syntax(
                    at,
                    "unexpected end of input after this character",
                    r"a character, such as \a or \space",
                ));
            }
            ..=0x7f => 1,
            0xf0.. => 4,
            0xe0.. => 3,
            _ => 2,
        };
        self.pos = at + 1 + len;
        let end = self.token_end()?;
        let text = std::str::from_utf8(&self.bytes[at + 1..end]).unwrap_or_default();
        let mut chars = text.chars();
        let c = match (chars.next(), chars.as_str()) {
            (Some(c), "") => Some(c),
            _ => named_char(text),
        };
        let Some(c) = c else {
            let text: String = text.chars().take(40).collect();
            return Err(Fault::syntax(
                at,
                format!("\\{text} is not a character"),
                r"\a, \newline, \space, \tab or \u0041",
            ));
        };
        self.tape.push_bits(Tag::Char, u64::from(u32::from(c)));
        Ok(())
    }
}

/// Returns true if this has only characters of a decimal number, with a point, an exponent or both.
fn is_decimal(text: &[u8]) -> bool {
    let plain = text.iter().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    plain && std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
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
                Some(hex) if hex.len() == 4 => (16, hex),
                _ => (8, name.strip_prefix('o').filter(|octal| octal.len() <= 3)?),
            };
            // `from_str_radix` would accept a sign.
            if !digits.chars().all(|c| c.is_digit(radix)) {
                return None;
            }
            return char::from_u32(u32::from_str_radix(digits, radix).ok()?);
        }
    })
}

fn hex_int(digits: &[u8]) -> Option<i64> {
    // `from_str_radix` would accept a sign.
    let all = digits.iter().all(u8::is_ascii_hexdigit);
    std::str::from_utf8(digits).ok().filter(|_| all).and_then(|digits| i64::from_str_radix(digits, 16).ok())
}

fn split_once(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let i = memchr::memchr(at, text)?;
    Some((&text[..i], &text[i + 1..]))
}
