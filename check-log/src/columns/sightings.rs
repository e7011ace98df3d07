//! The messages that each op shows, key by key, in a few bits per message.
//!
//! Most messages in a history of logs were seen before: each consumer polls the whole log. So a poll is stored as a
//! list of words. A **run** takes two words: a message, and a mask of those among the next 32 offsets whose messages
//! follow it. A run contains only messages that are [settled](crate::columns::messages::is_settled): their places do
//! not change any more, so the run can be read again from the log. Each other message takes one word.

use crate::columns::ids::{KeyId, MsgId, NO_OFFSET, OpId};
use crate::columns::messages::Messages;
use history_core::cast::Cast as _;
use std::ops::Range;

/// One part of an op, as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// `[:send key [offset value]]`.
    Send { key: KeyId, msg: MsgId, offset: i64 },
    /// The start of a `[:poll ...]`.
    Poll,
    /// A key of a poll. The messages that follow belong to it.
    Polled(KeyId),
    /// `[offset value]` of a poll.
    Message { msg: MsgId, offset: i64 },
    /// Several messages of a poll.
    Run(Run),
    /// A key of `:assign` or `:subscribe`.
    Assigned(KeyId),
}

/// Settled messages of a log, by ascending offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: MsgId,
    /// The offsets among the 32 after the first one that have messages of the run; the lowest bit is the next offset.
    pub(crate) ahead: u32,
    /// The flags that all of them have.
    pub(crate) flags: u8,
    first_offset: i64,
    /// The offset of the last one.
    pub(crate) last: i64,
}

impl Run {
    pub(crate) fn new(first: MsgId, offset: i64, flags: u8) -> Run {
        Run { first, ahead: 0, flags, first_offset: offset, last: offset }
    }

    /// Adds a settled message, if it fits after the last one.
    #[inline]
    pub(crate) fn add(&mut self, offset: i64, flags: u8) -> bool {
        if offset <= self.last || offset - self.first_offset > i64::from(u32::BITS) {
            return false;
        }
        self.ahead |= 1 << (offset - self.first_offset - 1);
        self.last = offset;
        self.flags &= flags;
        true
    }

    /// Returns true if offsets between the first and the last one are omitted.
    pub(crate) fn has_gaps(self) -> bool {
        self.ahead & self.ahead.wrapping_add(1) != 0
    }

    /// The offsets of all its messages.
    pub(crate) fn offsets(self) -> impl Iterator<Item = i64> {
        let mut ahead = self.ahead;
        let next = move || {
            let bit = (ahead != 0).then(|| ahead.trailing_zeros())?;
            ahead &= ahead - 1;
            Some(self.first_offset + 1 + i64::from(bit))
        };
        std::iter::once(self.first_offset).chain(std::iter::from_fn(next))
    }
}

/// The role of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Messages that the op sent to the key.
    Sent,
    /// Messages that it polled from the key.
    Polled,
    /// The start of a poll, without a key.
    Poll,
    /// A key that it assigned, without messages.
    Assigned,
}

/// Consecutive messages of one key in an op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The key and, above it, the role and whether the key was reassigned during the op.
    key: u32,
    /// The end of its words.
    end: u32,
}

const EXCUSED: u32 = 1 << 28;
const ROLE_SHIFT: u32 = 29;
const KEY_MASK: u32 = EXCUSED - 1;

impl Segment {
    fn new(role: Role, key: KeyId, is_excused: bool) -> Segment {
        let role = match role {
            Role::Sent => 0,
            Role::Polled => 1,
            Role::Poll => 2,
            Role::Assigned => 3,
        };
        let excused = if is_excused { EXCUSED } else { 0 };
        Segment { key: key.number() & KEY_MASK | excused | role << ROLE_SHIFT, end: 0 }
    }

    pub(crate) fn role(self) -> Role {
        match self.key >> ROLE_SHIFT {
            0 => Role::Sent,
            1 => Role::Polled,
            2 => Role::Poll,
            _ => Role::Assigned,
        }
    }

    pub(crate) fn key(self) -> KeyId {
        KeyId::from(self.key & KEY_MASK)
    }

    /// Returns true if the key was reassigned during the op, so that its polls may jump.
    pub(crate) fn is_excused(self) -> bool {
        self.key & EXCUSED != 0
    }
}

/// A message with the offset at which an op shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) msg: MsgId,
    /// [`NO_OFFSET`] if the op does not show it.
    pub(crate) offset: i64,
}

/// A message at another offset than its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    /// The word that shows it.
    place: u32,
    pub(crate) msg: MsgId,
    pub(crate) offset: i64,
    pub(crate) op: OpId,
    /// Whether the op sent it there.
    pub(crate) is_sent: bool,
}

/// Flag of a word: the op does not show the offset of the message.
const WITHOUT_OFFSET: u32 = 1 << 31;
/// Flag of a word: the message is at another offset than its own.
const ELSEWHERE: u32 = 1 << 30;
/// Flag of a word: a run begins, and the next word is its mask.
const RUN: u32 = 1 << 29;
/// Flag of a word: a single settled message.
const SETTLED: u32 = 1 << 28;
const MSG_MASK: u32 = SETTLED - 1;

/// The content of a word: a message, or the first message of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    Settled(MsgId),
    Run(MsgId, u32),
    Other(MsgId),
}

/// The messages that each op shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sightings {
    /// By op: the end of its segments.
    segments_end: Vec<u32>,
    segments: Vec<Segment>,
    words: Vec<u32>,
    /// By place, ascending.
    elsewhere: Vec<Elsewhere>,
}

impl Sightings {
    /// The number of words that can still be added.
    pub(crate) fn room(&self) -> usize {
        (u32::MAX >> 1).to_usize().saturating_sub(self.words.len().max(self.segments.len()))
    }

    /// Adds the messages of the next op. `is_excused` returns whether a key was reassigned during it.
    pub(crate) fn push(&mut self, items: &[Item], messages: &Messages, is_excused: impl Fn(KeyId) -> bool) {
        let op = OpId::new(self.segments_end.len());
        let mut last_sent = None;
        for item in items {
            let mut sent = None;
            match *item {
                Item::Send { key, msg, offset } => {
                    if last_sent != Some(key) {
                        self.segments.push(Segment::new(Role::Sent, key, false));
                    }
                    self.see(op, msg, offset, true, messages);
                    sent = Some(key);
                }
                Item::Poll => self.segments.push(Segment::new(Role::Poll, KeyId::from(0), false)),
                Item::Polled(key) => self.segments.push(Segment::new(Role::Polled, key, is_excused(key))),
                Item::Message { msg, offset } => self.see(op, msg, offset, false, messages),
                Item::Run(Run { first, ahead: 0, .. }) => self.words.push(first.number() | SETTLED),
                Item::Run(run) => self.words.extend([run.first.number() | RUN, run.ahead]),
                Item::Assigned(key) => self.segments.push(Segment::new(Role::Assigned, key, false)),
            }
            last_sent = sent;
            if let Some(segment) = self.segments.last_mut() {
                segment.end = self.words.len().to_u32();
            }
        }
        self.segments_end.push(self.segments.len().to_u32());
    }

    fn see(&mut self, op: OpId, msg: MsgId, offset: i64, is_sent: bool, messages: &Messages) {
        let flag = if offset == NO_OFFSET {
            WITHOUT_OFFSET
        } else if offset == messages.offset(msg) {
            0
        } else {
            self.elsewhere.push(Elsewhere { place: self.words.len().to_u32(), msg, offset, op, is_sent });
            ELSEWHERE
        };
        self.words.push(msg.number() | flag);
    }

    /// Messages at other offsets than their own, in the order of ops.
    pub(crate) fn elsewhere(&self) -> &[Elsewhere] {
        &self.elsewhere
    }

    /// The segments of an op, each with the places of its words.
    pub(crate) fn segments(&self, op: OpId) -> impl Iterator<Item = (Segment, Range<u32>)> + '_ {
        let start = if op.at() == 0 { 0 } else { self.segments_end[op.at() - 1].to_usize() };
        let mut from = if start == 0 { 0 } else { self.segments[start - 1].end };
        self.segments[start..self.segments_end[op.at()].to_usize()].iter().map(move |segment| {
            let range = from..segment.end;
            from = segment.end;
            (*segment, range)
        })
    }

    /// The words of a segment, each with its place.
    pub(crate) fn words(&self, range: Range<u32>) -> impl Iterator<Item = (u32, Word)> + '_ {
        let mut next = range.start;
        std::iter::from_fn(move || {
            let place = next;
            let word = (place < range.end).then(|| self.words[place.to_usize()])?;
            let msg = MsgId::from(word & MSG_MASK);
            next += 1;
            Some((
                place,
                match word & (RUN | SETTLED) {
                    RUN => {
                        next += 1;
                        Word::Run(msg, self.words[place.to_usize() + 1])
                    }
                    SETTLED => Word::Settled(msg),
                    _ => Word::Other(msg),
                },
            ))
        })
    }

    /// The offset that the word at this place shows, of a message outside of runs.
    pub(crate) fn offset_at(&self, place: u32, messages: &Messages) -> i64 {
        let word = self.words[place.to_usize()];
        match word & (WITHOUT_OFFSET | ELSEWHERE) {
            0 => messages.offset(MsgId::from(word & MSG_MASK)),
            ELSEWHERE => {
                let at = self.elsewhere.partition_point(|other| other.place < place);
                self.elsewhere.get(at).map_or(NO_OFFSET, |other| other.offset)
            }
            _ => NO_OFFSET,
        }
    }

    /// The messages of a segment with their offsets.
    pub(crate) fn sightings<'a>(
        &'a self,
        range: Range<u32>,
        messages: &'a Messages,
    ) -> impl Iterator<Item = Sighting> + 'a {
        let (mut place, mut ahead) = (range.start, Ahead::default());
        std::iter::from_fn(move || {
            if let Some(sighting) = ahead.next(messages) {
                return Some(sighting);
            }
            let word = (place < range.end).then(|| self.words[place.to_usize()])?;
            let msg = MsgId::from(word & MSG_MASK);
            let offset = self.offset_at(place, messages);
            place += 1;
            if word & RUN != 0 {
                ahead = Ahead::of(msg, self.words[place.to_usize()], messages);
                place += 1;
            }
            Some(Sighting { msg, offset })
        })
    }
}

/// The messages of a run after its first one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    key: KeyId,
    from: i64,
    mask: u32,
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead { key: KeyId::from(0), from: 0, mask: 0 }
    }
}

impl Ahead {
    pub(crate) fn of(first: MsgId, ahead: u32, messages: &Messages) -> Ahead {
        Ahead { key: messages.key(first), from: messages.offset(first) + 1, mask: ahead }
    }

    #[inline]
    pub(crate) fn next(&mut self, messages: &Messages) -> Option<Sighting> {
        if self.mask == 0 {
            return None;
        }
        let offset = self.from + i64::from(self.mask.trailing_zeros());
        self.mask &= self.mask - 1;
        // The place of a settled message does not change.
        messages.at(self.key, offset).map(|msg| Sighting { msg, offset })
    }

    pub(crate) fn each(mut self, messages: &Messages, mut call: impl FnMut(Sighting)) {
        while let Some(sighting) = self.next(messages) {
            call(sighting);
        }
    }

    /// The offset of the last message of the run.
    pub(crate) fn last_offset(self) -> i64 {
        // The mask has a bit, and the sum may be the greatest `i64`.
        self.from + i64::from(u32::BITS - 1 - self.mask.leading_zeros())
    }
}
