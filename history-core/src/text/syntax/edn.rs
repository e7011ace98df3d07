//! EDN (<https://github.com/edn-format/edn>), and Clojure's additions to it: ratios, `##NaN`, regular expressions,
//! hexadecimal integers, namespaced maps.

use super::edn_token::ENDS_TOKEN;
use super::number::Run;
use super::{Fault, Frame, Scanner};
use crate::cast::Cast as _;
use crate::values::tape::Tag;

/// Whether a value was read, or only a discarded one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    Value,
    Nothing,
}

impl Scanner<'_> {
    /// Skips white space and comments. Returns whether the block ends inside a comment.
    #[inline]
    pub(crate) fn skip_edn_space(&mut self) -> bool {
        while let Some(b) = self.peek() {
            match b {
                b' ' | b',' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c => self.pos += 1,
                b';' => {
                    if self.skip_line() {
                        return true;
                    }
                }
                _ => return false,
            }
        }
        false
    }

    /// Skips the rest of a line, but not its end. Returns whether the block ends before the line does.
    pub(crate) fn skip_line(&mut self) -> bool {
        let rest = &self.bytes[self.pos..];
        let end = memchr::memchr(b'\n', rest);
        self.pos += end.unwrap_or(rest.len());
        end.is_none()
    }

    /// Reads one value at `pos`, or one discarded value.
    pub(crate) fn edn_value(&mut self) -> Result<Read, Fault> {
        let (from, nodes) = (self.pos, self.tape.nodes.len());
        // The place of a key that is read next and differs from the last key at that place.
        let mut new_key = None;
        loop {
            self.count_values(from, nodes)?;
            let begins = self.pos;
            if self.edn_one()? && self.edn_complete() {
                return Ok(Read::Value);
            }
            if let Some(place) = new_key.take() {
                self.keep_key(place, Tag::Keyword, begins, self.pos + 1);
            }
            if self.stack.len() <= 2 {
                if self.stack.len() == self.floor {
                    return Ok(Read::Nothing);
                }
                new_key = self.place_of_key();
                if let Some(place) = new_key
                    && self.known_key(place, Tag::Keyword)
                {
                    self.edn_complete();
                    new_key = None;
                }
            }
        }
    }

    /// Closes the frames that a complete value ends. Returns whether the value was the outermost one.
    #[inline]
    fn edn_complete(&mut self) -> bool {
        loop {
            if self.stack.len() == self.floor {
                return true;
            }
            match self.stack.last_mut() {
                None => return true,
                Some(Frame::Container { count, .. }) => {
                    *count += 1;
                    return false;
                }
                Some(Frame::Tag { .. }) => {
                    self.stack.pop();
                }
                Some(Frame::Discard { mark, .. }) => {
                    let mark = *mark;
                    self.tape.cut(mark);
                    self.stack.pop();
                    return false;
                }
            }
        }
    }

    /// Reads one token. Returns whether it completes a value: an opening bracket or tag does not.
    #[inline]
    fn edn_one(&mut self) -> Result<bool, Fault> {
        self.skip_edn_space();
        let at = self.pos;
        let Some(b) = self.peek() else { return Err(self.incomplete()) };
        self.pos += 1;
        match b {
            b':' => self.edn_name(Tag::Keyword, at + 1, "a name after the colon")?,
            b'"' => self.string::<false>()?,
            b'[' => return self.edn_open(Tag::Vector, Tag::IntVector, b']', at),
            b'(' => return self.edn_open(Tag::List, Tag::IntList, b')', at),
            b'{' => {
                self.open(Tag::Map, b'}', at, 0)?;
                return Ok(false);
            }
            b']' | b')' | b'}' => return self.edn_close(b, at),
            b'0'..=b'9' => self.edn_number(at)?,
            b'-' | b'+' => match self.peek() {
                None => return Err(self.incomplete()),
                Some(b'0'..=b'9') => self.edn_number(at)?,
                Some(_) => self.edn_symbol(at)?,
            },
            b'#' => return self.edn_dispatch(at),
            b'\\' => self.edn_char(at)?,
            b'^' | b'`' | b'~' | b'@' => {
                return Err(Fault::syntax(at, format!("{:?} is not EDN", b as char), "an EDN value"));
            }
            _ if ENDS_TOKEN[b.to_usize()] => {
                return Err(Fault::syntax(at, format!("found {}", self.shown(at)), "an EDN value"));
            }
            _ => self.edn_symbol(at)?,
        }
        Ok(true)
    }

    /// Reads after an opening bracket: a container of integers at once, any other container value by value.
    #[inline]
    fn edn_open(&mut self, tag: Tag, run: Tag, close: u8, at: usize) -> Result<bool, Fault> {
        while matches!(self.peek(), Some(b' ' | b',' | b'\n' | b'\r' | b'\t')) {
            self.pos += 1;
        }
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => {
                let start = self.tape.ints.len();
                match self.int_run(close, false) {
                    Run::Closed => {
                        self.tape.push_run(run, start);
                        return Ok(true);
                    }
                    Run::Broken { start, count } => {
                        self.open(tag, close, at, count)?;
                        self.spill(start)?;
                    }
                }
            }
            Some(b) if b == close => {
                self.pos += 1;
                self.tape.push_run(run, self.tape.ints.len());
                return Ok(true);
            }
            Some(b':') if tag == Tag::Vector && self.mop::<false>() => return Ok(true),
            _ => self.open(tag, close, at, 0)?,
        }
        Ok(false)
    }

    #[inline]
    fn edn_close(&mut self, b: u8, at: usize) -> Result<bool, Fault> {
        let Some(&Frame::Container { node, count, close, opened_at }) = self.stack.last() else {
            return Err(self.edn_stray_close(b, at));
        };
        if close != b {
            return Err(self.edn_stray_close(b, at));
        }
        if b == b'}' && count % 2 == 1 && self.bytes[opened_at] == b'{' {
            return Err(Fault {
                opened_at: Some(opened_at),
                ..Fault::syntax(at, "the last key of this map has no value", "an even number of forms")
            });
        }
        self.stack.pop();
        self.tape.close(node, count);
        Ok(true)
    }

    #[cold]
    fn edn_stray_close(&self, b: u8, at: usize) -> Fault {
        match self.stack.last() {
            Some(Frame::Container { close, opened_at, .. }) => Fault {
                opened_at: Some(*opened_at),
                ..Fault::syntax(
                    at,
                    format!("found {:?} while {} is open", b as char, self.bracket(*opened_at)),
                    match close {
                        b'}' => "}",
                        b')' => ")",
                        _ => "]",
                    },
                )
            },
            Some(Frame::Tag { .. }) => Fault::syntax(at, "a tag without a value", "a value after the tag"),
            Some(Frame::Discard { .. }) => Fault::syntax(at, "#_ without a value to discard", "a value after #_"),
            None => Fault::syntax(at, format!("{:?} without an opening bracket", b as char), "an EDN value"),
        }
    }

    /// Reads what follows a `#`.
    fn edn_dispatch(&mut self, at: usize) -> Result<bool, Fault> {
        let Some(b) = self.peek() else { return Err(self.incomplete()) };
        match b {
            b'{' => {
                self.pos += 1;
                return self.edn_open(Tag::Set, Tag::IntSet, b'}', at);
            }
            b'_' => {
                self.pos += 1;
                let mark = self.tape.mark();
                self.push_frame(Frame::Discard { mark, at })?;
                return Ok(false);
            }
            b'#' => {
                self.pos += 1;
                self.edn_symbolic(at)?;
            }
            b'"' => {
                self.pos += 1;
                self.regex()?;
            }
            b if b.is_ascii_alphabetic() || b == b':' || !b.is_ascii() => {
                let start = self.pos;
                let end = self.token_end()?;
                self.tape.push_source(Tag::Tagged, start, end);
                self.push_frame(Frame::Tag { at })?;
                return Ok(false);
            }
            _ => {
                return Err(Fault::syntax(
                    at,
                    format!("unknown # form: # before {}", self.shown(self.pos)),
                    "#{...}, #tag, #_ or ##NaN",
                ));
            }
        }
        Ok(true)
    }
}
