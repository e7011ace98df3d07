//! Keys of previous ops: nearly all ops of a history have the same fields in the same order, with the same text.
//!
//! For each place among the keys of an op, the text of the last key at this place is kept, from the end of the value
//! before it: `, :type ` or `"type":`. If the same text follows again, it is the same key, whatever it consists of, so
//! one comparison of 16 bytes replaces reading white space and name. The result does not change: equal text has the
//! same meaning.

use super::memo::Key;
use super::{Frame, Scanner};
use crate::cast::Cast as _;
use crate::text::syntax::field::OwnField;
use crate::values::tape::Tag;

/// The number of keys that are kept; later keys are always read.
const KEYS_MAX: usize = 8;
/// The number of bytes compared at once, and so the maximum length of a kept key.
const BYTES: usize = 16;
/// After this many other texts in its place, a kept key is replaced by the last of them.
const MISSES_MAX: u8 = 8;

impl Scanner<'_> {
    /// The place of the next key, if that is a key of an op, and not of a map within one.
    #[inline]
    pub(super) fn place_of_key(&self) -> Option<usize> {
        match self.stack.as_slice() {
            [Frame::Container { count, close: b'}', .. }]
            | [Frame::Tag { .. }, Frame::Container { count, close: b'}', .. }]
                if count % 2 == 0 =>
            {
                Some(count.to_usize() / 2)
            }
            _ => None,
        }
    }

    /// Reads the key at `pos` if its text is that of the last key at this place. Returns whether it is.
    #[inline]
    pub(super) fn known_key(&mut self, place: usize, tag: Tag) -> bool {
        let Some(key) = self.tape.memo.keys.get(place) else { return false };
        if !self.is_key(key, tag) {
            return false;
        }
        let (start, end) = key.name;
        let (start, end) = (self.pos + usize::from(start), self.pos + usize::from(end));
        self.pos += usize::from(key.len);
        self.tape.push_source(tag, start, end);
        true
    }

    /// Returns true if the text at `pos` is that of a key.
    #[inline]
    pub(super) fn is_key(&self, key: &Key, tag: Tag) -> bool {
        let text = self.bytes.get(self.pos..).and_then(<[u8]>::first_chunk::<BYTES>);
        let is_same = |text: &[u8; BYTES]| (u128::from_le_bytes(*text) ^ key.text) & key.mask == 0;
        text.is_some_and(is_same) && key.is_keyword == (tag == Tag::Keyword)
    }

    /// Stores the key that was just read up to `pos`, if it is the last value on the tape. `from` is the end of the
    /// value before it. Its text up to `end` is compared.
    pub(super) fn keep_key(&mut self, place: usize, tag: Tag, from: usize, end: usize) {
        let Some(node) = self.tape.nodes.last() else { return };
        let (start, len) = (node.b, node.a.to_usize());
        // The text of a key is not in this range if it had escapes, or if it was read before.
        let is_here = node.tag == tag && (from.to_u64()..self.pos.to_u64()).contains(&start);
        let text = self.bytes.get(from..end).filter(|text| is_here && text.len() <= BYTES);
        let Some(text) = text else { return };
        let keys = &mut self.tape.memo.keys;
        if let Some(key) = keys.get_mut(place) {
            key.misses += 1;
            if key.misses < MISSES_MAX {
                return;
            }
        } else if place > keys.len() || place >= KEYS_MAX {
            return;
        }
        let mut bytes = [0; BYTES];
        bytes[..text.len()].copy_from_slice(text);
        let start = start.to_usize() - from;
        let key = Key {
            text: u128::from_le_bytes(bytes),
            mask: u128::MAX >> (8 * (BYTES - text.len())),
            len: (self.pos - from).to_u8(),
            name: (start.to_u8(), (start + len).to_u8()),
            is_keyword: tag == Tag::Keyword,
            field: OwnField::from_bytes(&text[start..start + len]),
            misses: 0,
        };
        match keys.get_mut(place) {
            Some(known) => *known = key,
            None => keys.push(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{History, HistoryError};
    use proptest::prelude::*;

    /// Returns all data of a history's ops, or the error.
    fn read(text: &str) -> Result<Vec<String>, HistoryError> {
        Ok(History::parse(text)?.ops().map(|op| format!("{op:?}")).collect())
    }

    /// Returns the same for each line by itself, without places, which differ there.
    fn values(text: &str) -> Vec<String> {
        let history = History::parse(text).unwrap();
        let shown = |op: crate::Op<'_>| {
            let extra: Vec<String> = op.extra.iter().map(|(key, value)| format!("{key} {value}")).collect();
            format!("{:?} {:?} {} {extra:?}", op.kind, op.f, op.value)
        };
        history.ops().map(shown).collect()
    }

    const EDN: [&str; 16] = [
        "{:type :ok, :f :read, :value 1}",
        "{:type :ok, :f :read, :value 2}",
        "{:type :ok, :f :read, :valued 3}",
        "{:type :ok, :f :read, :value}",
        "{:type :ok, :f :read, :val 1}",
        "{:type :ok, :f, :read, :value 1}",
        "{:type :ok :f :read :value {:type 3, :f 4}}",
        "{:type :ok, #_:f #_1 :f :read, :value 1}",
        "{:type :ok, :f :read, ;:value 1}\n}",
        "#op{:type :ok, :f :read, :value 1}",
        "{:type :ok, :f :read, \"value\" 1}",
        "{:type :ok, :f :read, value 1}",
        "{:type :ok, :f:read, :value 1}",
        "{:type :ok, :f :read, :value[1 2], :value 3}",
        "{:type :ok, #_:value :f :read}",
        "{:type :ok, :f :read, #_:value #_1}",
    ];

    const JSON: [&str; 12] = [
        r#"{"type":"ok","f":"read","value":1}"#,
        r#"{"type":"ok","f":"read","value":2}"#,
        r#"{"type": "ok", "f": "read", "value": 3}"#,
        r#"{"type":"ok","f":"read","valu\u0065":4}"#,
        r#"{"type":"ok","f":"read","value" :5}"#,
        r#"{"type":"ok","f":"read","value":{"type":1,"f":2}}"#,
        r#"{"type":"ok","f":"read","value":}"#,
        r#"{"type":"ok","f":"read","value"}"#,
        r#"{"type":"ok","f":"read","other":6}"#,
        r#"{ "type":"ok","f":"read","value":7}"#,
        r#"{"f":"read","type":"ok"}"#,
        r#"{"type":"ok","f":"read",}"#,
    ];

    /// Previous ops must not change anything: neither how an op is read nor its error and position.
    fn check(lines: &[&str], order: &[usize]) {
        // A key is compared only if enough text follows it.
        let behind = "\n".repeat(super::BYTES);
        let text = |order: &[usize]| order.iter().map(|at| lines[*at]).collect::<Vec<_>>().join("\n") + &behind;
        let good: Vec<usize> = order.iter().copied().filter(|at| read(lines[*at]).is_ok()).collect();
        let alone: Vec<String> = good.iter().flat_map(|at| values(lines[*at])).collect();
        assert_eq!(values(&text(&[&[0], &good[..]].concat()))[1..], alone);
        if let Some(bad) = order.iter().copied().find(|at| read(lines[*at]).is_err()) {
            let blank = "\n".repeat(good.iter().map(|at| lines[*at].lines().count()).sum());
            let (after, alone) = (read(&text(&[&good[..], &[bad]].concat())), read(&(blank + &text(&[bad]))));
            let (after, alone) = (after.unwrap_err(), alone.unwrap_err());
            assert_eq!((&after.message, &after.expected), (&alone.message, &alone.expected));
            let place = |error: &HistoryError| error.position.map(|position| (position.line, position.column));
            assert_eq!(place(&after), place(&alone), "{after}");
        }
    }

    proptest! {
        #[test]
        fn what_was_read_before_changes_nothing(
            edn in prop::collection::vec(0..EDN.len(), 1..40), json in prop::collection::vec(0..JSON.len(), 1..40)
        ) {
            check(&EDN, &edn);
            check(&JSON, &json);
        }
    }
}
