//! Runs of integers seen before: a list that is read repeatedly, each time a little longer, is decoded once.
//!
//! In histories of lists and sets, nearly all of the text consists of such lists, and the text before one (`"r",18,` or
//! `:r 18 `) determines which list it is. So the last run after each such text is kept, as text and as integers; as far
//! as the next one begins with the same text, its integers are copied. Comparing is an order of magnitude faster than
//! decoding, and the result does not change: equal text has equal integers.

use super::luck::Luck;
use crate::cast::Cast as _;
use crate::text::syntax::field::OwnField;

/// The number of runs kept. A run is found by a hash of the text before it, and replaces one with the same hash.
const SLOTS: usize = 256;
/// The number of bytes before a run, with its bracket, that distinguish it from others.
const BEFORE: usize = 8;
/// Shorter runs are not kept: decoding them takes no longer than comparing.
const TEXT_BYTES_MIN: usize = 32;
/// Of longer runs, only the beginning is kept.
const TEXT_BYTES_MAX: usize = 16 << 10;

#[derive(Debug, Clone, Default)]
pub(crate) struct Memo {
    slots: Vec<Slot>,
    /// The keys that ops had before, by place; see [`super::keys`].
    pub(super) keys: Vec<Key>,
    /// Whether ops are mostly plain; see [`super::plain`].
    pub(super) luck: Luck,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    before: [u8; BEFORE],
    /// Whether commas are required between the integers. A run read with one rule says nothing about the other rule.
    commas: bool,
    /// The text from the first integer to the last, which was read without fault.
    text: Vec<u8>,
    ints: Vec<i64>,
    /// For each integer, the end of its text; increasing, the last one is `text.len()`.
    ends: Vec<u32>,
}

/// The text of a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// The text, in the order of memory; for an EDN keyword, with the byte that ends it.
    pub(super) text: u128,
    /// The bits of `text` that are compared.
    pub(super) mask: u128,
    /// The number of bytes to skip.
    pub(super) len: u8,
    /// The beginning and end of the name in the text.
    pub(super) name: (u8, u8),
    /// Whether it was read as a keyword of EDN, not as a string of JSON.
    pub(super) is_keyword: bool,
    /// The field with this key, if it is one that every op has.
    pub(super) field: Option<OwnField>,
    /// The number of times that another text was in its place.
    pub(super) misses: u8,
}

/// The result of looking up a run by its beginning.
#[derive(Clone, Copy)]
pub(super) struct Recalled {
    /// The number of bytes of text whose integers are known: up to the end of an integer.
    pub(super) len: usize,
    slot: Option<usize>,
}

impl Memo {
    /// Appends to `ints` the integers with which the run at `from` is known to begin.
    #[inline]
    pub(super) fn recall(&mut self, bytes: &[u8], from: usize, commas: bool, ints: &mut Vec<i64>) -> Recalled {
        let before = from.checked_sub(BEFORE).and_then(|start| bytes[start..from].first_chunk::<BEFORE>());
        let long = bytes.get(from + TEXT_BYTES_MIN).is_some();
        let (Some(before), true) = (before, long) else { return Recalled { len: 0, slot: None } };
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, Slot::default);
        }
        // Fibonacci hashing: the top bits of a product with the golden ratio depend on all bits of the text.
        let hash = u64::from_le_bytes(*before).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (hash >> (u64::BITS - SLOTS.ilog2())).to_usize();
        let slot = &mut self.slots[at];
        if slot.before != *before || slot.commas != commas {
            slot.before = *before;
            slot.commas = commas;
            slot.cut(0);
        }
        let known = slot.known(&bytes[from..]);
        ints.extend_from_slice(&slot.ints[..known]);
        Recalled { len: slot.end(known), slot: Some(at) }
    }

    /// Keeps a run that was read without fault: its text, and its integers.
    #[inline]
    pub(super) fn keep(&mut self, recalled: Recalled, text: &[u8], ints: &[i64]) {
        let Some(at) = recalled.slot else { return };
        let slot = &mut self.slots[at];
        // A run that is a prefix of the kept one adds nothing.
        if text.len() > slot.text.len().max(TEXT_BYTES_MIN) && recalled.len < TEXT_BYTES_MAX {
            slot.keep(recalled.len, text, ints);
        }
    }
}

impl Slot {
    fn end(&self, ints: usize) -> usize {
        if ints == 0 { 0 } else { self.ends[ints - 1].to_usize() }
    }

    fn cut(&mut self, ints: usize) {
        let end = self.end(ints);
        self.text.truncate(end);
        self.ints.truncate(ints);
        self.ends.truncate(ints);
    }

    /// The number of integers, from the first on, that a text has in common with the kept run.
    fn known(&self, text: &[u8]) -> usize {
        let same = common(&self.text, text);
        let known = if same == self.text.len() {
            self.ends.len()
        } else {
            self.ends.partition_point(|end| end.to_usize() < same)
        };
        // The last integer may continue in the text: 12 is neither 123 nor 12.5.
        match text.get(self.end(known)) {
            Some(b',' | b' ' | b']' | b')' | b'}' | b'\n' | b'\r' | b'\t') => known,
            _ => known.saturating_sub(1),
        }
    }

    /// Replaces all after the first `from` bytes.
    fn keep(&mut self, from: usize, text: &[u8], ints: &[i64]) {
        let known = self.ends.partition_point(|end| end.to_usize() <= from);
        self.cut(known);
        for (at, pair) in text.windows(2).enumerate().skip(from) {
            if at >= TEXT_BYTES_MAX {
                break;
            }
            if pair[0].is_ascii_digit() && !pair[1].is_ascii_digit() {
                self.ends.push(at.to_u32() + 1);
            }
        }
        // The last integer ends with the text.
        if text.len() <= TEXT_BYTES_MAX {
            self.ends.push(text.len().to_u32());
        }
        let end = self.end(self.ends.len());
        self.text.extend_from_slice(&text[self.text.len()..end]);
        self.ints.extend_from_slice(&ints[known..self.ends.len()]);
    }
}

/// The length of the common prefix of two texts, in bytes.
fn common(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 32;
    let steps = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    steps + a[steps..].iter().zip(&b[steps..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use crate::{History, Value};
    use std::fmt::Write;

    /// Reads histories of the given lists, in one key one after another, and compares the result with the lists.
    fn check(lists: &[Vec<i64>], separator: &str, shape: impl Fn(&str) -> String) {
        let mut text = String::new();
        for list in lists {
            let items: Vec<String> = list.iter().map(i64::to_string).collect();
            writeln!(text, "{}", shape(&items.join(separator))).unwrap();
        }
        let history = History::parse(&text).unwrap();
        for (op, list) in history.ops().zip(lists) {
            let Value::Vector(mop) = op.value else { panic!("{op:?}") };
            let Some(Value::Vector(items)) = mop.iter().last() else { panic!("{op:?}") };
            let read: Vec<i64> = items.iter().map(|item| item.as_int().unwrap()).collect();
            assert_eq!(&read, list);
        }
    }

    #[test]
    fn lists_that_grow_shrink_and_part_are_read_as_they_stand() {
        let up_to = |n: i64| (1..=n).collect::<Vec<i64>>();
        let mut lists = vec![up_to(40), up_to(41), up_to(300), up_to(120), up_to(12), up_to(9000), up_to(8999)];
        // The texts of 1, 12 and 123 have a common prefix, as have those of -1 and -12.
        for last in [1, 12, 123, 1234, -1, -12, 0, 10] {
            lists.push(up_to(60).into_iter().chain([last]).collect());
            lists.push(up_to(60).into_iter().chain([last, 5]).collect());
        }
        lists.push(up_to(30).into_iter().chain([7, 7, 7]).chain(up_to(50)).collect());
        check(&lists, ",", |items| format!(r#"{{"type":"ok","value":["r",18,[{items}]]}}"#));
        check(&lists, " ", |items| format!("{{:type :ok :value [:r 18 [{items}]]}}"));
        check(&lists, " , ", |items| format!("{{:type :ok :value [:r 18 [{items}]]}}"));
    }

    #[test]
    fn an_integer_that_goes_on_as_something_else_is_not_taken_for_itself() {
        let good: Vec<String> = (1..100).map(|i: i32| i.to_string()).collect();
        let good = good.join(" ");
        for tail in [".5", "N", "e3", "1234567890123456789", "/2", " 1.5", " :a", ""] {
            let text = format!("{{:type :ok :value [:r 18 [{good}]]}}\n{{:type :ok :value [:r 18 [{good}{tail}]]}}\n");
            let history = History::parse(&text).unwrap();
            let alone = format!("{{:type :ok :value [:r 18 [{good}{tail}]]}}");
            let alone = History::parse(&alone).unwrap();
            assert_eq!(history.op(1).value.to_string(), alone.op(0).value.to_string(), "{tail}");
        }
    }

    #[test]
    fn a_known_beginning_does_not_excuse_what_follows() {
        let good: Vec<String> = (1..100).map(|i: i32| i.to_string()).collect();
        let good = good.join(",");
        for (tail, message) in [(",]", "found ']' in the place of a value"), (" 7]", "found '7' after a value")] {
            let text = format!(
                "{{\"type\":\"ok\",\"value\":[\"r\",18,[{good}]]}}\n{{\"type\":\"ok\",\"value\":[\"r\",18,[{good}{tail}]]}}\n"
            );
            let error = History::parse(&text).unwrap_err();
            assert_eq!(error.position.unwrap().line, 2);
            assert!(error.message.contains(message), "{error}");
        }
    }
}
