//! Keys and messages by number: a value in one log gets an id, and columns of what is known of it.

use crate::columns::{IDS_MAX, KeyId, MsgId, NO_OFFSET, OpId};
use history_core::{Datum, IntMap, Interner, OpFault, Value};

/// Some op that sent it may have happened: it is `ok` or `info`, or not completed.
pub(crate) const MAY_BE_SENT: u8 = 1;
/// An `ok` op sent it.
pub(crate) const SENT_OK: u8 = 1 << 1;
/// A failed op sent it.
pub(crate) const SENT_FAIL: u8 = 1 << 2;
/// An `ok` op polled it.
pub(crate) const POLLED_OK: u8 = 1 << 3;
/// Some op polled it.
pub(crate) const POLLED: u8 = 1 << 4;
/// Its own offset is one that was polled, or that an `ok` op sent it to.
pub(crate) const PLACED: u8 = 1 << 5;
/// It was sent again after its first op had failed.
pub(crate) const SENT_AGAIN: u8 = 1 << 6;

/// A log.
#[derive(Clone, Debug)]
struct Key {
    code: i64,
    messages: IntMap<MsgId>,
    by_offset: IntMap<MsgId>,
}

/// All keys and messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    interner: Interner,
    key_ids: IntMap<KeyId>,
    keys: Vec<Key>,
    /// By message.
    key: Vec<KeyId>,
    code: Vec<i64>,
    /// The first offset at which it was seen, or [`NO_OFFSET`].
    offset: Vec<i64>,
    flags: Vec<u8>,
    /// The last op that sent it.
    writer: Vec<OpId>,
}

impl Messages {
    pub(crate) fn keys(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.key.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = MsgId> + use<> {
        (0..self.len()).map(MsgId::new)
    }

    /// The id of a key. A string that is an integer's canonical text is the integer, for that is how JSON writes it as a key of a map.
    pub(crate) fn key_id(&mut self, key: Value<'_>) -> Result<KeyId, OpFault> {
        let code = match key {
            Value::Str(text) => match canonical_int(text) {
                Some(int) => self.interner.code(Value::Int(int)),
                None => self.interner.code(key),
            },
            _ => self.interner.code(key),
        };
        if let Some(id) = self.key_ids.get(code) {
            return Ok(*id);
        }
        if self.keys.len() >= IDS_MAX {
            return Err(OpFault::limit("more than 2^28 keys"));
        }
        let id = KeyId::new(self.keys.len());
        self.keys.push(Key { code, messages: IntMap::default(), by_offset: IntMap::default() });
        self.key_ids.insert(code, id);
        Ok(id)
    }

    /// The id of a value in a log.
    pub(crate) fn id(&mut self, key: KeyId, value: Value<'_>) -> Result<MsgId, OpFault> {
        let code = self.interner.code(value);
        if let Some(id) = self.keys[key.at()].messages.get(code) {
            return Ok(*id);
        }
        if self.len() >= IDS_MAX {
            return Err(OpFault::limit("more than 2^28 messages"));
        }
        let id = MsgId::new(self.len());
        self.keys[key.at()].messages.insert(code, id);
        self.key.push(key);
        self.code.push(code);
        self.offset.push(NO_OFFSET);
        self.flags.push(0);
        self.writer.push(OpId::NONE);
        Ok(id)
    }

    pub(crate) fn key(&self, msg: MsgId) -> KeyId {
        self.key[msg.at()]
    }

    pub(crate) fn key_datum(&self, key: KeyId) -> Datum {
        self.interner.datum(self.keys[key.at()].code)
    }

    pub(crate) fn datum(&self, msg: MsgId) -> Datum {
        self.interner.datum(self.code[msg.at()])
    }

    /// The first offset at which it was seen.
    pub(crate) fn offset(&self, msg: MsgId) -> i64 {
        self.offset[msg.at()]
    }

    /// Notes an offset, if it is the message's first. Whether it is its own.
    pub(crate) fn see_at(&mut self, msg: MsgId, offset: i64) -> bool {
        let own = &mut self.offset[msg.at()];
        if *own == NO_OFFSET {
            *own = offset;
        }
        *own == offset
    }

    /// Puts a message at its own offset in the log. Whether another one is there.
    pub(crate) fn place(&mut self, msg: MsgId) -> bool {
        if self.has(msg, PLACED) {
            return false;
        }
        self.set(msg, PLACED);
        let (key, offset) = (self.key(msg), self.offset(msg));
        let log = &mut self.keys[key.at()].by_offset;
        let is_taken = log.get(offset).is_some();
        if !is_taken {
            log.insert(offset, msg);
        }
        is_taken
    }

    /// Whether some message is known to lie between two offsets of a log; `false` if that would take long to find out.
    pub(crate) fn has_between(&self, key: KeyId, from: i64, to: i64) -> bool {
        const LOOKED_AT_MAX: i64 = 8;
        let log = &self.keys[key.at()].by_offset;
        let end = to.min(from.saturating_add(1 + LOOKED_AT_MAX));
        (from.saturating_add(1)..end).any(|offset| log.get(offset).is_some())
    }

    pub(crate) fn has(&self, msg: MsgId, flag: u8) -> bool {
        self.flags[msg.at()] & flag != 0
    }

    pub(crate) fn set(&mut self, msg: MsgId, flag: u8) {
        self.flags[msg.at()] |= flag;
    }

    pub(crate) fn clear(&mut self, msg: MsgId, flag: u8) {
        self.flags[msg.at()] &= !flag;
    }

    /// The last op that sent it, if one did.
    pub(crate) fn writer(&self, msg: MsgId) -> Option<OpId> {
        let writer = self.writer[msg.at()];
        (writer != OpId::NONE).then_some(writer)
    }

    pub(crate) fn set_writer(&mut self, msg: MsgId, op: OpId) {
        self.writer[msg.at()] = op;
    }
}

/// The integer that a text is, if it is written as integers are: `"-7"`, and not `"07"`.
fn canonical_int(text: &str) -> Option<i64> {
    let first = text.bytes().find(|byte| *byte != b'-')?;
    let int: i64 = if first.is_ascii_digit() { text.parse().ok()? } else { return None };
    (int.to_string() == text).then_some(int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_maps_in_json_are_the_integers_they_spell() {
        let ints = ["0", "-7", "07", "+1", "", "-", "1.0", "9223372036854775808", "--1"].map(canonical_int);
        assert_eq!(ints, [Some(0), Some(-7), None, None, None, None, None, None, None]);
    }
}
