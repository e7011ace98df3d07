//! Keys and messages by number: each value in a log gets an id, and its data is stored in columns.

use crate::columns::id_map::IdMap;
use crate::columns::ids::{IDS_MAX, KeyId, MsgId, NO_OFFSET, OpId};
use history_core::{Datum, IntMap, Interner, KeySpelling, OpFault, Value, map_key};

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
/// It was sent again after its first op had failed.
pub(crate) const SENT_AGAIN: u8 = 1 << 5;
/// An invocation without a process sends it, so any completion may be that of this operation.
pub(crate) const INVOKED_NAMELESSLY: u8 = 1 << 6;

/// Returns true if a message with these flags is **settled** at its own place: an `ok` op sent it, and no op failed to
/// send it so far. If another op sends it later, no message counts as settled any more
/// ([`Seen::sent_after_ok`](crate::seen::Seen::sent_after_ok)).
#[inline]
pub(crate) fn is_settled(flags: u8) -> bool {
    flags & (SENT_OK | SENT_FAIL) == SENT_OK
}

/// Returns true if a message with these flags was sent only by failed ops in the history so far, or if it was sent once
/// and that failed.
pub(crate) fn is_aborted(flags: u8) -> bool {
    flags & SENT_FAIL != 0 && (flags & SENT_AGAIN == 0 || flags & (MAY_BE_SENT | SENT_OK) == 0)
}

/// A log.
#[derive(Clone, Debug)]
struct Key {
    code: i64,
    spelling: KeySpelling,
    /// Messages by their codes.
    ids: IdMap,
    /// By offset: the first message whose own offset it is.
    places: IdMap,
}

/// All keys and messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    interner: Interner,
    key_ids: IntMap<KeyId>,
    keys: Vec<Key>,
    /// By message: its key.
    key: Vec<KeyId>,
    code: Vec<i64>,
    /// By message: its own offset, which is the first one at which it was polled or an `ok` op sent it; or
    /// [`NO_OFFSET`].
    offset: Vec<i64>,
    /// By message: the op that showed it there.
    shown: Vec<OpId>,
    flags: Vec<u8>,
    /// By message: the last op that sent it.
    writer: Vec<OpId>,
    /// Messages whose own offset already belonged to another message.
    crowding: Vec<MsgId>,
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

    /// Returns true if some message was polled that no op is known to have sent, or that an op failed to send.
    pub(crate) fn have_doubtful_sender(&self) -> bool {
        self.flags.iter().any(|flags| flags & POLLED != 0 && flags & (MAY_BE_SENT | SENT_FAIL) != MAY_BE_SENT)
    }

    /// Returns true if no op is known to have sent or failed to send a message.
    pub(crate) fn is_unsent(&self, msg: MsgId) -> bool {
        !self.has(msg, MAY_BE_SENT | SENT_FAIL)
    }

    /// Returns true if only failed or crashed ops polled some message of which no send is known.
    pub(crate) fn have_unsent_of_aborted(&self) -> bool {
        self.ids().any(|msg| self.is_unsent(msg) && self.flags(msg) & (POLLED | POLLED_OK) == POLLED)
    }

    /// Messages that were polled, and whose offset no op shows.
    pub(crate) fn without_offset(&self) -> impl Iterator<Item = MsgId> {
        self.ids().filter(|msg| self.offset(*msg) == NO_OFFSET && self.flags[msg.at()] & POLLED != 0)
    }

    /// The id of a key outside of a map.
    pub(crate) fn key_id(&mut self, key: Value<'_>) -> Result<KeyId, OpFault> {
        self.spelled_key_id(key, KeySpelling::see)
    }

    /// The id of a key that an op is assigned. Its notation does not matter, because it does not concern messages.
    pub(crate) fn assigned_key_id(&mut self, key: Value<'_>) -> Result<KeyId, OpFault> {
        self.spelled_key_id(key, |_, _| {})
    }

    /// The id of a key of a map.
    pub(crate) fn map_key_id(&mut self, key: Value<'_>) -> Result<KeyId, OpFault> {
        self.spelled_key_id(key, KeySpelling::see_in_map)
    }

    fn spelled_key_id(
        &mut self,
        key: Value<'_>,
        see: impl FnOnce(&mut KeySpelling, Value<'_>),
    ) -> Result<KeyId, OpFault> {
        let code = self.interner.code(map_key(key));
        let id = match self.key_ids.get(code) {
            Some(id) => *id,
            None => self.add_key(code)?,
        };
        let spelling = &mut self.keys[id.at()].spelling;
        see(spelling, key);
        if spelling.is_ambiguous() { Err(spelled_in_two_ways(key)) } else { Ok(id) }
    }

    fn add_key(&mut self, code: i64) -> Result<KeyId, OpFault> {
        if self.keys.len() >= IDS_MAX {
            return Err(OpFault::limit("more than 2^28 keys"));
        }
        let id = KeyId::new(self.keys.len());
        let spelling = KeySpelling::default();
        self.keys.push(Key { code, spelling, ids: IdMap::default(), places: IdMap::default() });
        self.key_ids.insert(code, id);
        Ok(id)
    }

    /// The id of a value in a log.
    pub(crate) fn id(&mut self, key: KeyId, value: Value<'_>) -> Result<MsgId, OpFault> {
        let code = self.interner.code(value);
        match self.keys[key.at()].ids.get(code) {
            Some(id) => Ok(id),
            None => self.add(key, code),
        }
    }

    fn add(&mut self, key: KeyId, code: i64) -> Result<MsgId, OpFault> {
        if self.len() >= IDS_MAX {
            return Err(OpFault::limit("more than 2^28 messages"));
        }
        let id = MsgId::new(self.len());
        self.keys[key.at()].ids.insert(code, id.number());
        self.key.push(key);
        self.code.push(code);
        self.offset.push(NO_OFFSET);
        self.shown.push(OpId::NONE);
        self.flags.push(0);
        self.writer.push(OpId::NONE);
        Ok(id)
    }

    /// The message whose own offset this is, if it has this code.
    #[inline]
    pub(crate) fn known_at(&self, key: KeyId, offset: i64, code: i64) -> Option<MsgId> {
        let msg: MsgId = self.keys[key.at()].places.get(offset)?;
        (self.code[msg.at()] == code).then_some(msg)
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

    /// The own offset of a message, or [`NO_OFFSET`].
    #[inline]
    pub(crate) fn offset(&self, msg: MsgId) -> i64 {
        self.offset[msg.at()]
    }

    /// The first op that showed a message at its own offset.
    pub(crate) fn shown(&self, msg: MsgId) -> OpId {
        self.shown[msg.at()]
    }

    /// The first message whose own offset this is.
    #[inline]
    pub(crate) fn at(&self, key: KeyId, offset: i64) -> Option<MsgId> {
        self.keys[key.at()].places.get(offset)
    }

    /// Calls `call` for all messages with their own places in a log, by offset.
    pub(crate) fn each_placed(&self, key: KeyId, mut call: impl FnMut(MsgId)) {
        self.keys[key.at()].places.each(|_, msg| call(msg));
    }

    /// Messages whose own offset already belonged to another message.
    pub(crate) fn crowding(&self) -> &[MsgId] {
        &self.crowding
    }

    /// Places a message at an offset, as shown by an op that counts. Returns true if that violates the log: another
    /// message is at this offset, or the message is at another one.
    pub(crate) fn place(&mut self, msg: MsgId, offset: i64, op: OpId) -> bool {
        let own = &mut self.offset[msg.at()];
        if *own != NO_OFFSET {
            return *own != offset;
        }
        *own = offset;
        self.shown[msg.at()] = op;
        let places = &mut self.keys[self.key[msg.at()].at()].places;
        let is_taken = places.get::<MsgId>(offset).is_some();
        if is_taken {
            self.crowding.push(msg);
        } else {
            places.insert(offset, msg.number());
        }
        is_taken
    }

    /// Returns true if some message is known to be between two offsets of a log. Returns `false` if that would take
    /// long to find out.
    pub(crate) fn has_between(&self, key: KeyId, from: i64, to: i64) -> bool {
        const LOOKED_AT_MAX: i64 = 8;
        let end = to.min(from.saturating_add(1 + LOOKED_AT_MAX));
        (from.saturating_add(1)..end).any(|offset| self.at(key, offset).is_some())
    }

    pub(crate) fn has(&self, msg: MsgId, flag: u8) -> bool {
        self.flags[msg.at()] & flag != 0
    }

    pub(crate) fn flags(&self, msg: MsgId) -> u8 {
        self.flags[msg.at()]
    }

    pub(crate) fn set(&mut self, msg: MsgId, flag: u8) {
        self.flags[msg.at()] |= flag;
    }

    pub(crate) fn clear(&mut self, msg: MsgId, flag: u8) {
        self.flags[msg.at()] &= !flag;
    }

    /// The last op that sent a message, if there is one.
    pub(crate) fn writer(&self, msg: MsgId) -> Option<OpId> {
        let writer = self.writer[msg.at()];
        (writer != OpId::NONE).then_some(writer)
    }

    pub(crate) fn set_writer(&mut self, msg: MsgId, op: OpId) {
        self.writer[msg.at()] = op;
    }
}

#[cold]
fn spelled_in_two_ways(key: Value<'_>) -> OpFault {
    OpFault::Undecodable(format!(
        "the history writes the key {key} both as a string and as an integer, so whether it is one key is unknown"
    ))
}
