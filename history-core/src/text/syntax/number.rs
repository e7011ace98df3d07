//! Numbers: runs of small integers on the fast path, everything else on the general one.

use super::{Fault, Scanner, VALUES_MAX};
use crate::cast::Cast as _;
use crate::values::tape::{Tag, own};

/// The maximum number of digits of an integer in a run, so that none reaches 2^62 (see
/// [`Tape::ints`](crate::values::tape::Tape::ints)).
const RUN_DIGITS_MAX: usize = 18;

/// How a run of integers ended.
pub(super) enum Run {
    /// At the closing bracket, which was read.
    Closed,
    /// Elsewhere: `count` integers are on the tape's `ints`, from `start` on, followed by something else.
    Broken { start: usize, count: u32 },
}

impl Scanner<'_> {
    /// A small integer at `pos`. Does not move `pos` if there is none.
    #[inline]
    pub(super) fn small_int(&mut self) -> Option<i64> {
        let bytes = self.bytes;
        let mut at = self.pos;
        let negative = *bytes.get(at)? == b'-';
        at += usize::from(negative);
        let first = at;
        let mut n: i64 = 0;
        while let Some(digit) = bytes.get(at).map(|b| b.wrapping_sub(b'0'))
            && digit < 10
        {
            n = n.wrapping_mul(10).wrapping_add(i64::from(digit));
            at += 1;
        }
        let digits = at - first;
        // A zero before other digits, a longer number, or no number: the general path handles these.
        if digits == 0 || digits > RUN_DIGITS_MAX || (digits > 1 && bytes[first] == b'0') {
            return None;
        }
        self.pos = at;
        Some(if negative { -n } else { n })
    }

    /// Reads integers up to `close`, separated by commas as in JSON (`commas`) or by white space, which in EDN includes
    /// commas. If the run breaks, `pos` is directly after its last integer.
    pub(super) fn int_run(&mut self, close: u8, commas: bool) -> Run {
        let (start, from) = (self.tape.ints.len(), self.pos);
        let recalled = self.tape.memo.recall(self.bytes, from, commas, own(&mut self.tape.ints));
        // The position after the last integer of the run so far.
        let mut resume = from + recalled.len;
        self.pos = resume;
        let mut behind_int = recalled.len > 0;
        loop {
            if !behind_int && !self.next_of_run(commas, &mut resume) {
                break;
            }
            behind_int = false;
            if commas {
                self.skip_json_space();
            } else {
                while matches!(self.peek(), Some(b' ' | b',' | b'\n' | b'\r' | b'\t')) {
                    self.pos += 1;
                }
            }
            match self.peek() {
                Some(b) if b == close => {
                    self.pos += 1;
                    self.tape.memo.keep(recalled, &self.bytes[from..resume], &self.tape.ints[start..]);
                    return Run::Closed;
                }
                Some(b',') if commas => {
                    self.pos += 1;
                    self.skip_json_space();
                }
                _ if commas => break,
                _ => {}
            }
        }
        self.pos = resume;
        Run::Broken { start, count: (self.tape.ints.len() - start).to_u32() }
    }

    /// Reads integers of a run while a single separator is between them. Returns whether the last one is followed by
    /// something else that belongs to the run; `resume` is then directly after it.
    #[inline]
    fn next_of_run(&mut self, commas: bool, resume: &mut usize) -> bool {
        while let Some(n) = self.small_int() {
            match self.peek() {
                // The most frequent case: a separator, directly followed by the next integer.
                Some(b',' | b' ') if matches!(self.bytes.get(self.pos + 1), Some(b'0'..=b'9')) => {
                    if commas && self.bytes[self.pos] == b' ' {
                        return false;
                    }
                    own(&mut self.tape.ints).push(n);
                    *resume = self.pos;
                    self.pos += 1;
                }
                Some(b',' | b' ' | b']' | b')' | b'}' | b'\n' | b'\r' | b'\t') => {
                    own(&mut self.tape.ints).push(n);
                    *resume = self.pos;
                    return true;
                }
                _ => return false,
            }
        }
        false
    }

    /// Turns a broken run into ordinary nodes, inside a container that was just opened.
    pub(super) fn spill(&mut self, start: usize) -> Result<(), Fault> {
        if self.tape.ints.len() - start > VALUES_MAX {
            // At the end of a block, the run may only seem to be broken.
            let rest = self.bytes[self.pos..].trim_ascii_start();
            let is_cut = rest.len() <= RUN_DIGITS_MAX + 2 && !rest.contains(&b']');
            return Err(if is_cut { self.incomplete() } else { self.too_many_values() });
        }
        for at in start..self.tape.ints.len() {
            let n = self.tape.ints[at];
            self.tape.push_bits(Tag::Int, n.cast_unsigned());
        }
        self.tape.ints.to_mut().truncate(start);
        Ok(())
    }

    /// Pushes the integer written between `start` and `end` (sign and digits only), of any size.
    pub(super) fn push_int(&mut self, start: usize, end: usize) {
        let text = &self.bytes[start..end];
        let parsed = std::str::from_utf8(text).ok().and_then(|s| s.parse::<i64>().ok());
        match parsed {
            Some(n) => self.tape.push_bits(Tag::Int, n.cast_unsigned()),
            None => self.tape.push_source(Tag::Big, start, end),
        }
    }

    /// Pushes the float written between `start` and `end`.
    pub(super) fn push_float(&mut self, start: usize, end: usize) -> Result<(), Fault> {
        let text = std::str::from_utf8(&self.bytes[start..end]).unwrap_or_default();
        let x: f64 = text
            .parse()
            .map_err(|_| Fault::syntax(start, format!("{text} is not a number"), "a number, such as 12 or 0.5"))?;
        // Infinities are rejected, because two different numbers that overflow would seem equal.
        if x.is_infinite() {
            return Err(Fault::syntax(start, "this number is too large for a float", "at most about 1.8e308"));
        }
        self.tape.push_float(x, start);
        Ok(())
    }
}
