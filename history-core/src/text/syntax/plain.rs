//! Ops with the same form as those before, read at once: without a map on the tape, which would be decoded again.
//!
//! An op is **plain** if its keys are the last ones in their places ([`super::keys`]), each is a field that every op
//! has, and the fields have the common types: a kind, whole numbers, a name. Such an op is recognized when its closing
//! bracket is read. Any other op is read again from its beginning, as usual, so that the result does not depend on
//! previous ops.

use super::edn::Read;
use super::{Frame, Scanner, VALUES_MAX};
use crate::OpKind;
use crate::cast::Cast as _;
use crate::text::syntax::field::OwnField;
use crate::values::tape::Tag;

/// The content of a plain op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub(crate) kind: OpKind,
    /// The fields that it has: one bit for each [`OwnField`].
    seen: u8,
    /// The nodes of the function's name and of the value.
    f: u32,
    value: u32,
    index: i64,
    time: i64,
    process: i64,
}

impl Plain {
    #[inline]
    fn if_seen<T>(&self, field: OwnField, what: T) -> Option<T> {
        (self.seen & field.bit() != 0).then_some(what)
    }

    /// The node of the function's name.
    #[inline]
    pub(crate) fn f(&self) -> Option<u32> {
        self.if_seen(OwnField::F, self.f)
    }

    /// The node of the value.
    #[inline]
    pub(crate) fn value(&self) -> Option<u32> {
        self.if_seen(OwnField::Value, self.value)
    }

    /// The index, which is not negative.
    #[inline]
    pub(crate) fn index(&self) -> Option<u64> {
        self.if_seen(OwnField::Index, self.index.cast_unsigned())
    }

    #[inline]
    pub(crate) fn time(&self) -> Option<i64> {
        self.if_seen(OwnField::Time, self.time)
    }

    #[inline]
    pub(crate) fn process(&self) -> Option<i64> {
        self.if_seen(OwnField::Process, self.process)
    }
}

impl Scanner<'_> {
    /// Reads the op at `pos`, if it is plain. Otherwise nothing changes.
    #[inline]
    pub(crate) fn plain_op<const JSON: bool>(&mut self) -> Option<Plain> {
        if self.peek() != Some(b'{') || !self.tape.memo.luck.is_with() {
            return None;
        }
        let (begins, mark) = (self.pos, self.tape.mark());
        // Values within the op may nest as deep as in any op. This frame expects a value, so no bracket closes it, and
        // no key within a value is mistaken for a key of the op.
        self.stack.push(Frame::Container { node: 0, count: 1, close: b'}', opened_at: begins });
        self.floor = 1;
        let plain = self.plain_fields::<JSON>().filter(|_| self.pos - begins <= VALUES_MAX);
        self.floor = 0;
        self.stack.clear();
        if plain.is_none() {
            self.tape.memo.luck.fail();
            self.tape.cut(mark);
            self.pos = begins;
        }
        plain
    }

    #[inline]
    fn plain_fields<const JSON: bool>(&mut self) -> Option<Plain> {
        let tag = if JSON { Tag::Str } else { Tag::Keyword };
        let mut plain = Plain { kind: OpKind::Invoke, seen: 0, f: 0, value: 0, index: 0, time: 0, process: 0 };
        self.pos += 1;
        for place in 0.. {
            let key = self.tape.memo.keys.get(place)?;
            let (field, len) = (key.field?, key.len);
            if !self.is_key(key, tag) || plain.seen & field.bit() != 0 {
                return None;
            }
            plain.seen |= field.bit();
            self.pos += usize::from(len);
            if self.peek() == Some(b' ') {
                self.pos += 1;
            }
            match field {
                OwnField::Type => plain.kind = self.plain_kind::<JSON>()?,
                OwnField::Index => plain.index = self.plain_int().filter(|index| *index >= 0)?,
                OwnField::Time => plain.time = self.plain_int()?,
                OwnField::Process => plain.process = self.plain_int()?,
                OwnField::F => {
                    plain.f = self.plain_value::<JSON>()?;
                    if !self.tape.is_name(plain.f.to_usize()) {
                        return None;
                    }
                }
                OwnField::Value => plain.value = self.plain_value::<JSON>()?,
            }
            match self.peek()? {
                b'}' => {
                    self.pos += 1;
                    break;
                }
                b',' if JSON => self.pos += 1,
                // The separator between fields is a part of the next key's text.
                b',' | b' ' | b'\n' | b'\r' | b'\t' if !JSON => {}
                _ => return None,
            }
        }
        (plain.seen & OwnField::Type.bit() != 0).then_some(plain)
    }

    /// Reads the value at `pos`, and returns its node.
    #[inline]
    fn plain_value<const JSON: bool>(&mut self) -> Option<u32> {
        let node = self.tape.nodes.len().to_u32();
        if JSON {
            self.json_value().ok()?;
        } else if self.edn_value().ok()? == Read::Nothing {
            return None;
        }
        Some(node)
    }

    #[inline]
    fn plain_kind<const JSON: bool>(&mut self) -> Option<OpKind> {
        let rest = self.bytes.get(self.pos + 1..)?;
        let is_open = self.bytes[self.pos] == if JSON { b'"' } else { b':' };
        let (kind, len) = match rest.first()? {
            b'o' if rest.starts_with(b"ok") => (OpKind::Ok, 2),
            b'i' if rest.starts_with(b"invoke") => (OpKind::Invoke, 6),
            b'i' if rest.starts_with(b"info") => (OpKind::Info, 4),
            b'f' if rest.starts_with(b"fail") => (OpKind::Fail, 4),
            _ => return None,
        };
        // The byte that ends an EDN keyword is compared with the next key.
        let is_closed = !JSON || rest.get(len) == Some(&b'"');
        self.pos += 1 + len + usize::from(JSON);
        (is_open && is_closed).then_some(kind)
    }

    /// Reads the whole number at `pos`. The byte that ends it is examined with the next key.
    #[inline]
    fn plain_int(&mut self) -> Option<i64> {
        self.small_int().or_else(|| self.long_int())
    }

    /// Reads a number of nineteen digits, such as nanoseconds since 1970.
    fn long_int(&mut self) -> Option<i64> {
        let rest = self.bytes.get(self.pos..)?;
        let is_digit = |b: &&u8| b.is_ascii_digit();
        let digits = rest.iter().take(20).take_while(is_digit).count();
        let text = std::str::from_utf8(&rest[..digits]).ok().filter(|text| digits == 19 && !text.starts_with('0'))?;
        let int = text.parse().ok()?;
        self.pos += digits;
        Some(int)
    }
}
