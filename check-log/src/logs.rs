//! Version orders: the message at each offset of each log, from all polls and sends.
//!
//! Offsets without a known message (markers of transactions, aborted messages) are omitted, and the others numbered:
//! the number is the message's **index**. Memory depends on the number of messages. So does time: n log n, and linear
//! if offsets are close together.
//!
//! Nearly all messages have their own place. Only the others need entries: messages at several offsets, and offsets
//! with several messages.

use crate::columns::messages::{Messages, POLLED_OK};
use crate::columns::sightings::Role;
use crate::columns::{KeyId, MsgId, NO_OFFSET, NONE, OpId, Ops};
use history_core::OpKind;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// A message at an offset, and the first op that shows it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) offset: i64,
    pub(crate) msg: MsgId,
    pub(crate) op: OpId,
}

/// All logs.
#[derive(Debug)]
pub(crate) struct Logs<'a> {
    messages: &'a Messages,
    ops: &'a Ops,
    /// Ops that are `info` and took effect, in ascending order.
    crashed_and_committed: Vec<OpId>,
    /// By key and then by index: the message chosen at the index.
    order: Vec<MsgId>,
    /// By key: the end of its places in `order`.
    key_end: Vec<u32>,
    /// The entries of all places with several messages, or with a message whose own place is elsewhere. Sorted by
    /// place, then op, then message: the first entry of a place is the chosen one.
    odd: Vec<(u32, Entry)>,
    /// By message: the last index at which it is the chosen message of its offset, or [`NONE`].
    index: Vec<u32>,
    /// The first and the last index of a message, for messages that have other indices than the one in `index`.
    spread: HashMap<MsgId, (u32, u32)>,
    /// By key: whether some of its messages are in `spread`.
    is_blurred: Vec<bool>,
}

/// Ops that are `info`, and of which an `ok` op polled a message.
fn crashed_and_committed(ops: &Ops, messages: &Messages) -> Vec<OpId> {
    let was_polled = |op: &OpId| {
        let mut sent = ops.segments(*op).filter(|(segment, _)| segment.role() == Role::Sent);
        sent.any(|(_, range)| ops.shown.sightings(range, messages).any(|seen| messages.has(seen.msg, POLLED_OK)))
    };
    ops.ids().filter(|op| ops.kind(*op) == OpKind::Info).filter(was_polled).collect()
}

impl<'a> Logs<'a> {
    /// Infers the logs.
    pub(crate) fn infer(ops: &'a Ops, messages: &'a Messages) -> Logs<'a> {
        let mut logs = Logs {
            messages,
            ops,
            crashed_and_committed: crashed_and_committed(ops, messages),
            order: Vec::with_capacity(messages.len()),
            key_end: Vec::with_capacity(messages.keys()),
            odd: Vec::new(),
            index: vec![NONE; messages.len()],
            spread: HashMap::default(),
            is_blurred: vec![false; messages.keys()],
        };
        let others = logs.others();
        let mut rest = &others[..];
        for key in (0..messages.keys()).map(KeyId::new) {
            let end = rest.iter().position(|entry| messages.key(entry.msg) != key).unwrap_or(rest.len());
            let (of_key, after) = rest.split_at(end);
            rest = after;
            if of_key.is_empty() {
                logs.number_placed(key);
            } else {
                logs.number_all(key, of_key);
            }
            logs.key_end.push(logs.order.len().to_u32());
        }
        logs
    }

    /// Numbers the places of a key whose messages all have their own place.
    fn number_placed(&mut self, key: KeyId) {
        let start = self.order.len();
        self.messages.each_placed(key, |msg| {
            self.index[msg.at()] = (self.order.len() - start).to_u32();
            self.order.push(msg);
        });
    }

    /// Numbers the places of a key of which some messages are also elsewhere.
    fn number_all(&mut self, key: KeyId, others: &[Entry]) {
        let messages = self.messages;
        let mut entries = others.to_vec();
        messages.each_placed(key, |msg| {
            entries.push(Entry { offset: messages.offset(msg), msg, op: messages.shown(msg) });
        });
        // If several ops show a message at an offset, the first one counts.
        entries.sort_unstable_by_key(|entry| (entry.offset, entry.msg, entry.op));
        entries.dedup_by_key(|entry| (entry.offset, entry.msg));
        entries.sort_unstable_by_key(|entry| (entry.offset, entry.op, entry.msg));
        let start = self.order.len();
        for at_offset in entries.chunk_by(|a, b| a.offset == b.offset) {
            let place = self.order.len();
            let index = (place - start).to_u32();
            for (nth, entry) in at_offset.iter().enumerate() {
                let chosen = &mut self.index[entry.msg.at()];
                let is_plain = nth == 0 && *chosen == NONE && !self.spread.contains_key(&entry.msg);
                if !is_plain {
                    let before = if *chosen == NONE { index } else { *chosen };
                    let spread = self.spread.entry(entry.msg).or_insert((before, index));
                    spread.1 = index;
                    self.is_blurred[key.at()] = true;
                }
                if nth == 0 {
                    *chosen = index;
                }
            }
            let first = at_offset[0];
            let is_own = first.offset == messages.offset(first.msg) && first.op == messages.shown(first.msg);
            if at_offset.len() > 1 || !is_own {
                self.odd.extend(at_offset.iter().map(|entry| (place.to_u32(), *entry)));
            }
            self.order.push(first.msg);
        }
    }

    fn key_start(&self, key: KeyId) -> u32 {
        if key.at() == 0 { 0 } else { self.key_end[key.at() - 1] }
    }

    /// The number of offsets of a log that have a message.
    pub(crate) fn len(&self, key: KeyId) -> u32 {
        self.key_end[key.at()] - self.key_start(key)
    }

    fn odd_at(&self, place: u32) -> &[(u32, Entry)] {
        let start = self.odd.partition_point(|(other, _)| *other < place);
        let end = start + self.odd[start..].iter().take_while(|(other, _)| *other == place).count();
        &self.odd[start..end]
    }

    /// The chosen entry at an index of a log.
    pub(crate) fn chosen(&self, key: KeyId, index: u32) -> Entry {
        let place = self.key_start(key) + index;
        match self.odd_at(place) {
            [(_, first), ..] => *first,
            [] => self.own_entry(self.order[place.to_usize()]),
        }
    }

    /// All entries at an index of a log, the chosen one first.
    pub(crate) fn all_at(&self, key: KeyId, index: u32) -> Vec<Entry> {
        match self.odd_at(self.key_start(key) + index) {
            [] => vec![self.chosen(key, index)],
            odd => odd.iter().map(|(_, entry)| *entry).collect(),
        }
    }

    /// The message chosen at an index of a log.
    pub(crate) fn message(&self, key: KeyId, index: u32) -> MsgId {
        self.order[(self.key_start(key) + index).to_usize()]
    }

    fn own_entry(&self, msg: MsgId) -> Entry {
        Entry { offset: self.messages.offset(msg), msg, op: self.messages.shown(msg) }
    }

    /// The entries of each offset with several messages, by key and offset.
    pub(crate) fn crowds(&self) -> Vec<Vec<Entry>> {
        let places = self.odd.chunk_by(|a, b| a.0 == b.0).filter(|place| place.len() > 1);
        places.map(|place| place.iter().map(|(_, entry)| *entry).collect()).collect()
    }

    /// The index of a message: the last one at which it is chosen.
    pub(crate) fn index(&self, msg: MsgId) -> Option<u32> {
        let index = self.index[msg.at()];
        (index != NONE).then_some(index)
    }

    /// The first and the last index of a message.
    pub(crate) fn spread(&self, msg: MsgId) -> Option<(u32, u32)> {
        let spread = if self.spread.is_empty() { None } else { self.spread.get(&msg).copied() };
        spread.or_else(|| self.index(msg).map(|index| (index, index)))
    }

    /// Returns true if some message of a log is at several offsets, or some offset has several messages.
    pub(crate) fn is_blurred(&self, key: KeyId) -> bool {
        self.is_blurred[key.at()]
    }

    /// All entries of messages that are at several offsets, or that are not the chosen message of their offset; sorted
    /// by message and then by offset.
    pub(crate) fn blurred(&self) -> Vec<Entry> {
        let mut all: Vec<Entry> = self.odd.iter().map(|(_, entry)| *entry).collect();
        all.retain(|entry| self.spread.contains_key(&entry.msg));
        for msg in self.spread.keys().filter(|msg| self.messages.offset(**msg) != NO_OFFSET) {
            let own = self.own_entry(*msg);
            let key = self.messages.key(*msg);
            let place = self.key_start(key) + self.index_from(key, own.offset);
            // If there are others at its offset, its entry is among those above.
            if self.odd_at(place).is_empty() {
                all.push(own);
            }
        }
        all.sort_unstable_by_key(|entry| (entry.msg, entry.offset));
        all
    }

    /// The distance from the first message to the second one in their log; `None` if the place of one is unknown.
    #[inline]
    pub(crate) fn delta(&self, one: MsgId, next: MsgId) -> Option<i64> {
        Some(i64::from(self.index(next)?) - i64::from(self.index(one)?))
    }

    /// The index of the first offset in the log that is not below this one.
    pub(crate) fn index_from(&self, key: KeyId, offset: i64) -> u32 {
        let (mut low, mut high) = (0, self.len(key));
        while low < high {
            let middle = low.midpoint(high);
            if self.chosen(key, middle).offset < offset { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns true if an op took effect, as far as is known.
    pub(crate) fn is_committed(&self, op: OpId) -> bool {
        self.ops.is_ok(op) || self.crashed_and_committed.binary_search(&op).is_ok()
    }

    /// Entries of messages without an own place, grouped by key: messages of ops that count at other offsets
    /// than their own, and messages whose own offset belongs to another message.
    fn others(&self) -> Vec<Entry> {
        let elsewhere = self.ops.shown.elsewhere().iter().filter(|seen| !seen.is_sent || self.is_committed(seen.op));
        let elsewhere = elsewhere.map(|seen| Entry { offset: seen.offset, msg: seen.msg, op: seen.op });
        let crowding = self.messages.crowding().iter().map(|msg| self.own_entry(*msg));
        let mut entries: Vec<Entry> = elsewhere.chain(crowding).collect();
        entries.sort_by_key(|entry| self.messages.key(entry.msg));
        entries
    }
}
