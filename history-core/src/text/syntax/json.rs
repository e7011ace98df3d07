//! JSON, by RFC 8259; and `NaN`, `Infinity` and `-Infinity` as numbers, because Python's `json` writes them.

use super::number::Run;
use super::{Fault, Frame, Scanner};
use crate::values::tape::Tag;

/// What the syntax allows next.
enum Next {
    Value,
    /// A value was just read.
    After,
}

impl Scanner<'_> {
    #[inline]
    pub(crate) fn skip_json_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.pos += 1;
        }
    }

    /// Reads one value at `pos`, where one begins.
    pub(crate) fn json_value(&mut self) -> Result<(), Fault> {
        let mut next = Next::Value;
        let (from, nodes) = (self.pos, self.tape.nodes.len());
        loop {
            next = match next {
                Next::Value => self.json_one()?,
                Next::After if self.stack.len() == self.floor => return Ok(()),
                Next::After => {
                    let Some(Frame::Container { node, count, close, opened_at }) = self.stack.last_mut() else {
                        return Ok(());
                    };
                    *count += 1;
                    let (node, count, close, opened_at) = (*node, *count, *close, *opened_at);
                    self.skip_json_space();
                    match self.peek() {
                        Some(b) if b == close => {
                            self.pos += 1;
                            self.stack.pop();
                            self.tape.close(node, count);
                            Next::After
                        }
                        Some(b',') => {
                            // Every value of a container except the first one follows a comma.
                            self.count_values(from, nodes)?;
                            self.pos += 1;
                            if close == b'}' {
                                self.json_next_key()?;
                            }
                            Next::Value
                        }
                        None => return Err(self.incomplete()),
                        Some(_) => return Err(self.json_stray(close, opened_at)),
                    }
                }
            };
        }
    }

    #[cold]
    fn json_stray(&self, close: u8, opened_at: usize) -> Fault {
        let (shown, within) = (self.shown(self.pos), self.bracket(opened_at));
        let expected = if close == b'}' { "a comma or }" } else { "a comma or ]" };
        Fault {
            opened_at: Some(opened_at),
            ..Fault::syntax(self.pos, format!("found {shown} after a value while {within} is open"), expected)
        }
    }

    #[cold]
    fn json_misplaced(&self, place: &str, expected: &'static str) -> Fault {
        Fault::syntax(self.pos, format!("found {} {place}", self.shown(self.pos)), expected)
    }

    fn json_count_key(&mut self) {
        if let Some(Frame::Container { count, .. }) = self.stack.last_mut() {
            *count += 1;
        }
    }

    /// Reads the next key, and its colon.
    #[inline]
    fn json_next_key(&mut self) -> Result<(), Fault> {
        let (begins, place) = (self.pos, self.place_of_key());
        if !place.is_some_and(|place| self.known_key(place, Tag::Str)) {
            self.skip_json_space();
            self.json_key()?;
            if let Some(place) = place {
                self.keep_key(place, Tag::Str, begins, self.pos);
            }
        }
        self.json_count_key();
        Ok(())
    }

    /// Reads a key and its colon.
    fn json_key(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'"') => self.pos += 1,
            Some(_) => return Err(self.json_misplaced("in the place of a key", "a string in double quotes")),
            None => return Err(self.incomplete()),
        }
        self.string::<true>()?;
        self.skip_json_space();
        match self.peek() {
            Some(b':') => {
                self.pos += 1;
                Ok(())
            }
            Some(_) => Err(self.json_misplaced("after a key", "a colon")),
            None => Err(self.incomplete()),
        }
    }

    fn json_one(&mut self) -> Result<Next, Fault> {
        self.skip_json_space();
        let at = self.pos;
        let Some(b) = self.peek() else { return Err(self.incomplete()) };
        match b {
            b'"' => {
                self.pos += 1;
                self.string::<true>()?;
            }
            b'[' => {
                self.pos += 1;
                return self.json_array(at);
            }
            b'{' => {
                self.pos += 1;
                self.open(Tag::Map, b'}', at, 0)?;
                self.skip_json_space();
                if self.peek() == Some(b'}') {
                    self.pos += 1;
                    if let Some(Frame::Container { node, .. }) = self.stack.pop() {
                        self.tape.close(node, 0);
                    }
                } else {
                    self.json_next_key()?;
                    return Ok(Next::Value);
                }
            }
            b'-' | b'0'..=b'9' => self.json_number()?,
            b'n' => self.word("null", Tag::Nil)?,
            b't' => self.word("true", Tag::True)?,
            b'f' => self.word("false", Tag::False)?,
            b'N' => self.float_word("NaN", f64::NAN)?,
            b'I' => self.float_word("Infinity", f64::INFINITY)?,
            _ => return Err(self.json_misplaced("in the place of a value", "a JSON value")),
        }
        Ok(Next::After)
    }

    fn json_array(&mut self, opened_at: usize) -> Result<Next, Fault> {
        self.skip_json_space();
        match self.peek() {
            Some(b']') => {
                self.pos += 1;
                self.tape.push_run(Tag::IntVector, self.tape.ints.len());
                Ok(Next::After)
            }
            Some(b'-' | b'0'..=b'9') => {
                let start = self.tape.ints.len();
                match self.int_run(b']', true) {
                    Run::Closed => {
                        self.tape.push_run(Tag::IntVector, start);
                        Ok(Next::After)
                    }
                    Run::Broken { start, count } => {
                        // The last integer is counted when the comma or bracket after it is read.
                        self.open(Tag::Vector, b']', opened_at, count.saturating_sub(1))?;
                        self.spill(start)?;
                        Ok(if count == 0 { Next::Value } else { Next::After })
                    }
                }
            }
            Some(b'"') if self.mop::<true>() => Ok(Next::After),
            _ => {
                self.open(Tag::Vector, b']', opened_at, 0)?;
                Ok(Next::Value)
            }
        }
    }

    #[inline]
    fn json_number(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        if let Some(n) = self.small_int()
            && matches!(self.peek(), Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'))
        {
            self.tape.push_bits(Tag::Int, n.cast_unsigned());
            return Ok(());
        }
        self.pos = start;
        self.json_other_number()
    }

    fn json_other_number(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        let mut at = start + usize::from(self.bytes[start] == b'-');
        if self.bytes.get(at) == Some(&b'I') {
            self.pos = at;
            return self.float_word("Infinity", f64::NEG_INFINITY);
        }
        let first = at;
        let digits = |mut at: usize| {
            while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        at = digits(at);
        let bad = |what: &str| Err(Fault::syntax(start, what, "a number, such as 12, -3 or 0.5"));
        // If the block ends here, the number may continue.
        if at == self.bytes.len() {
            return Err(self.incomplete());
        }
        if at == first {
            return bad("a minus sign without digits");
        }
        if self.bytes[first] == b'0' && at > first + 1 {
            return bad("a number that begins with a zero");
        }
        let mut float = false;
        if self.bytes[at] == b'.' {
            float = true;
            let fraction = at + 1;
            at = digits(fraction);
            if at < self.bytes.len() && at == fraction {
                return bad("a number that ends in a point");
            }
        }
        if matches!(self.bytes.get(at), Some(b'e' | b'E')) {
            float = true;
            at += 1;
            if matches!(self.bytes.get(at), Some(b'+' | b'-')) {
                at += 1;
            }
            let exponent = at;
            at = digits(exponent);
            if at < self.bytes.len() && at == exponent {
                return bad("a number whose exponent has no digits");
            }
        }
        if at >= self.bytes.len() {
            return Err(self.incomplete());
        }
        self.pos = at;
        if float {
            self.push_float(start, at)
        } else {
            self.push_int(start, at);
            Ok(())
        }
    }

    fn word(&mut self, word: &'static str, tag: Tag) -> Result<(), Fault> {
        self.expect_word(word)?;
        self.tape.push(tag);
        Ok(())
    }

    fn float_word(&mut self, word: &'static str, x: f64) -> Result<(), Fault> {
        self.expect_word(word)?;
        self.tape.push_bits(Tag::Float, x.to_bits());
        Ok(())
    }

    fn expect_word(&mut self, word: &'static str) -> Result<(), Fault> {
        let rest = &self.bytes[self.pos..];
        // If the block ends within the word, the word may continue.
        if word.as_bytes().starts_with(rest) {
            return Err(self.incomplete());
        }
        if !rest.starts_with(word.as_bytes()) || rest[word.len()].is_ascii_alphanumeric() {
            return Err(Fault::syntax(
                self.pos,
                "this word is not JSON",
                "null, true, false, a number, a string, [ or {",
            ));
        }
        self.pos += word.len();
        Ok(())
    }
}
