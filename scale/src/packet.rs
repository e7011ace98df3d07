//! A packet: ops of one range for one worker, as texts, and data that the texts do not contain.
//!
//! Ops are sent as the text in the file. The text is available, and parsing it again costs less than another format,
//! which would also have to be kept correct.

use history_core::Position;
use history_core::cast::Cast as _;
use history_core::part::Place;

/// The position of a packet's op in its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The number of ops of the range before it.
    pub(crate) seq: u64,
    /// The number of lines of the range before it.
    pub(crate) line: u64,
    /// The beginning of its line in the whole file.
    pub(crate) line_begins: u64,
    /// The length of its text in bytes.
    pub(crate) len: u64,
    /// For an op that was written again: its original position.
    pub(crate) position: Option<Position>,
    /// For an op of a client with a name: the number of the client.
    pub(crate) client: Option<i64>,
}

/// The totals of the ranges before this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Base {
    /// The number of the range.
    pub(crate) range: u64,
    pub(crate) ops: u64,
    pub(crate) lines: u64,
}

impl Head {
    /// Its position in the whole file.
    pub(crate) fn place(&self, base: &Base) -> Place {
        Place {
            index: base.ops + self.seq,
            line_begins: self.line_begins,
            line: base.lines + self.line + 1,
            position: self.position,
            client: self.client,
        }
    }
}

/// Ops of one range for one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) range: u64,
    pub(crate) heads: Vec<Head>,
    /// The texts, one after another.
    pub(crate) text: Vec<u8>,
}

/// The length in bytes of the end of a packet: its range, the number of heads, and whether these are plain.
const END_BYTES: usize = 3 * 8;

/// The length of a head in bytes. A head is plain if its op has its original text and its client has a number.
fn head_bytes(is_plain: bool) -> usize {
    if is_plain { 4 * 8 } else { 9 * 8 }
}

/// Represents an absent number. No file has this many bytes, and no client has this number.
const NONE: u64 = u64::MAX;

impl Packet {
    /// An empty packet of this range.
    pub(crate) fn of(range: u64) -> Packet {
        Packet { range, ..Packet::default() }
    }

    /// Adds an op.
    pub(crate) fn push(&mut self, head: Head, text: &[u8]) {
        debug_assert_eq!(head.len, text.len().to_u64(), "the length of another text");
        self.heads.push(head);
        self.text.extend_from_slice(text);
    }

    /// The ops, each with its text.
    pub(crate) fn ops(&self) -> impl Iterator<Item = (&Head, &[u8])> {
        let mut rest = &self.text[..];
        self.heads.iter().map(move |head| {
            let (text, after) = rest.split_at(head.len.to_usize());
            rest = after;
            (head, text)
        })
    }

    /// Converts to bytes for another worker: the texts, the heads, and their numbers. In this order, texts are not
    /// copied.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let is_plain = self.heads.iter().all(|head| head.position.is_none() && head.client.is_none());
        let mut out = self.text;
        out.reserve(head_bytes(is_plain) * self.heads.len() + END_BYTES);
        let mut put = |number: u64| out.extend_from_slice(&number.to_le_bytes());
        for head in &self.heads {
            [head.seq, head.line, head.line_begins, head.len].into_iter().for_each(&mut put);
            if !is_plain {
                let at = head.position.unwrap_or(Position { offset: NONE, line: 0, column: 0 });
                let client = head.client.map_or([0, 0], |number| [1, number.cast_unsigned()]);
                [at.offset, at.line, at.column].into_iter().chain(client).for_each(&mut put);
            }
        }
        [self.range, self.heads.len().to_u64(), u64::from(is_plain)].into_iter().for_each(put);
        out
    }

    /// Reverses [`Packet::into_bytes`]. Returns `None` for invalid bytes.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Option<Packet> {
        let (before, end) = bytes.split_last_chunk::<END_BYTES>()?;
        let [range, count, is_plain] = end.as_chunks().0 else { return None };
        let [range, count, is_plain] = [range, count, is_plain].map(|number| u64::from_le_bytes(*number));
        let is_plain = is_plain == 1;
        let heads_bytes = head_bytes(is_plain).checked_mul(count.to_usize())?;
        let text_bytes = before.len().checked_sub(heads_bytes)?;
        let mut rest = before[text_bytes..].as_chunks().0.iter().map(|number| u64::from_le_bytes(*number));
        let mut get = || rest.next();
        let mut heads = Vec::with_capacity(count.to_usize());
        for _ in 0..count {
            let (seq, line, line_begins, len) = (get()?, get()?, get()?, get()?);
            let mut head = Head { seq, line, line_begins, len, position: None, client: None };
            if !is_plain {
                let at = Position { offset: get()?, line: get()?, column: get()? };
                head.position = (at.offset != NONE).then_some(at);
                let (has_name, number) = (get()? == 1, get()?.cast_signed());
                head.client = has_name.then_some(number);
            }
            heads.push(head);
        }
        let lens: u64 = heads.iter().map(|head| head.len).sum();
        let mut text = bytes;
        text.truncate(text_bytes);
        (lens == text_bytes.to_u64()).then_some(Packet { range, heads, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_arrives_as_it_was_sent() {
        let plain = Head { seq: 1, line: 2, line_begins: 3, len: 2, position: None, client: None };
        let at = Position { offset: 9, line: 8, column: 7 };
        let heads = [
            plain,
            Head { client: Some(-5), len: 0, ..plain },
            Head { position: Some(at), len: 1, ..plain },
            Head { position: Some(at), client: Some(i64::MIN + 1), len: 3, ..plain },
        ];
        for count in 0..=heads.len() {
            let mut packet = Packet::of(11);
            for head in &heads[..count] {
                packet.push(*head, &b"abc"[..head.len.to_usize()]);
            }
            let bytes = packet.clone().into_bytes();
            assert_eq!(Packet::from_bytes(bytes.clone()).as_ref(), Some(&packet));
            assert_eq!(Packet::from_bytes(bytes[1..].to_vec()), None, "{count}");
            let texts: Vec<&[u8]> = packet.ops().map(|(_, text)| text).collect();
            assert_eq!(texts, [&b"ab"[..], b"", b"a", b"abc"][..count]);
        }
    }
}
