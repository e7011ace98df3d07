//! The history as columns: a row for each completion, and for each message what is known of it.

use history_core::cast::Cast as _;
use history_core::{Client, Op, OpKind, Pair, Participants, Process};

history_core::id! {
    /// A completion of a client; or an invocation that has none.
    pub(crate) OpId
    /// A log.
    pub(crate) KeyId
    /// A message: a value in one log.
    pub(crate) MsgId
}

/// Stands for no offset.
pub(crate) const NO_OFFSET: i64 = -1;

/// Stands for no process or time.
const NOTHING: i64 = i64::MIN;

/// Stands for no number.
pub(crate) const NONE: u32 = u32::MAX;

/// Ids of messages and keys stay below this: the upper bits of their columns are flags.
pub(crate) const IDS_MAX: usize = 1 << 28;

/// The function of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Send,
    Poll,
    Txn,
    Assign,
    /// `:assign` with `:seek-to-beginning? true`.
    AssignFromStart,
    Subscribe,
}

impl Function {
    pub(crate) fn is_assignment(self) -> bool {
        matches!(self, Function::Assign | Function::AssignFromStart | Function::Subscribe)
    }
}

/// One part of an op, as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// `[:send key [offset value]]`.
    Send { key: KeyId, msg: MsgId, offset: i64 },
    /// `[:poll ...]` begins.
    Poll,
    /// A key of a poll, of whose messages those that follow are.
    Polled(KeyId),
    /// `[offset value]` of a poll.
    Message { msg: MsgId, offset: i64 },
    /// A key of `:assign` or `:subscribe`.
    Assigned(KeyId),
}

/// What a run of sightings is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Messages that the op sent to the key.
    Sent,
    /// Messages that it polled from the key.
    Polled,
    /// The beginning of a poll, of no key.
    Poll,
    /// A key that it assigned, without messages.
    Assigned,
}

/// Messages of one key, one after another in an op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The key and, above it, the role and whether the key was reassigned during the op.
    key: u32,
    /// Where its sightings end.
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

    /// Whether the key was reassigned during the op, so that its polls may jump.
    pub(crate) fn is_excused(self) -> bool {
        self.key & EXCUSED != 0
    }
}

/// A message where an op shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) msg: MsgId,
    /// [`NO_OFFSET`] if the op does not say.
    pub(crate) offset: i64,
}

/// In the column of sightings: the op does not say at which offset.
const WITHOUT_OFFSET: u32 = 1 << 31;

/// All ops, in the order of their completions; those that have none at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ops {
    kind: Vec<OpKind>,
    function: Vec<Function>,
    index: Vec<u64>,
    /// How much before the completion the invocation stands in the history.
    invoked_before: Vec<u32>,
    process: Vec<i64>,
    time_ns: Vec<i64>,
    invoked_time_ns: Vec<i64>,
    oks_before: Vec<u32>,
    /// Where the segments of each end.
    segments_end: Vec<u32>,
    segments: Vec<Segment>,
    sightings: Vec<u32>,
    /// Sightings at another offset than the message's own: the place in `sightings`, ascending, and the offset.
    elsewhere: Vec<(u32, i64)>,
    /// Who they are.
    pub(crate) participants: Participants,
}

/// What is known of an op beside its parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) kind: OpKind,
    pub(crate) function: Function,
    pub(crate) index: u64,
    pub(crate) invoked: Option<u64>,
    pub(crate) process: Option<i64>,
    pub(crate) time_ns: Option<i64>,
    pub(crate) invoked_time_ns: Option<i64>,
    pub(crate) oks_before: Option<u32>,
}

impl Row {
    /// That of a completion, before whose invocation so many had completed `ok`.
    pub(crate) fn of(op: &Op<'_>, function: Function, oks_before: Option<u32>) -> Row {
        let (invoked, invoked_time_ns) = match op.pair {
            Pair::Completes { invoked, invoked_time_ns, .. } => (Some(invoked), invoked_time_ns),
            Pair::Alone | Pair::Invokes { .. } => (None, None),
        };
        let process = client(op);
        Row {
            kind: op.kind,
            function,
            index: op.index,
            invoked,
            process,
            time_ns: op.time,
            invoked_time_ns,
            oks_before,
        }
    }
}

/// The number of an op's client, if the history says who it is.
pub(crate) fn client(op: &Op<'_>) -> Option<i64> {
    match op.process {
        Process::Client(process) => Some(process),
        Process::Other(_) | Process::Unknown => None,
    }
}

impl Ops {
    pub(crate) fn len(&self) -> usize {
        self.kind.len()
    }

    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = OpId> + use<> {
        (0..self.len()).map(OpId::new)
    }

    /// How many more sightings there is room for.
    pub(crate) fn room(&self) -> usize {
        WITHOUT_OFFSET.to_usize() - self.sightings.len().max(self.segments.len())
    }

    /// Adds a row. `offset_of` gives the own offset of a message; `is_excused`, whether a key was reassigned during the op.
    pub(crate) fn push(
        &mut self,
        row: Row,
        items: &[Item],
        offset_of: impl Fn(MsgId) -> i64,
        is_excused: impl Fn(KeyId) -> bool,
    ) -> OpId {
        let id = OpId::new(self.len());
        self.kind.push(row.kind);
        self.function.push(row.function);
        self.index.push(row.index);
        let before = row.invoked.and_then(|invoked| u32::try_from(row.index - invoked).ok());
        self.invoked_before.push(before.unwrap_or(NONE));
        self.process.push(row.process.unwrap_or(NOTHING));
        self.time_ns.push(row.time_ns.unwrap_or(NOTHING));
        self.invoked_time_ns.push(row.invoked_time_ns.unwrap_or(NOTHING));
        self.oks_before.push(row.oks_before.unwrap_or(NONE));
        let mut last_sent = None;
        for item in items {
            let sent = match *item {
                Item::Send { key, msg, offset } => {
                    if last_sent != Some(key) {
                        self.segments.push(Segment::new(Role::Sent, key, false));
                    }
                    self.see(msg, offset, offset_of(msg));
                    Some(key)
                }
                Item::Poll => {
                    self.segments.push(Segment::new(Role::Poll, KeyId::from(0), false));
                    None
                }
                Item::Polled(key) => {
                    self.segments.push(Segment::new(Role::Polled, key, is_excused(key)));
                    None
                }
                Item::Message { msg, offset } => {
                    self.see(msg, offset, offset_of(msg));
                    None
                }
                Item::Assigned(key) => {
                    self.segments.push(Segment::new(Role::Assigned, key, false));
                    None
                }
            };
            last_sent = sent;
            if let Some(segment) = self.segments.last_mut() {
                segment.end = self.sightings.len().to_u32();
            }
        }
        self.segments_end.push(self.segments.len().to_u32());
        id
    }

    fn see(&mut self, msg: MsgId, offset: i64, own: i64) {
        if offset == NO_OFFSET {
            self.sightings.push(msg.number() | WITHOUT_OFFSET);
        } else {
            if offset != own {
                self.elsewhere.push((self.sightings.len().to_u32(), offset));
            }
            self.sightings.push(msg.number());
        }
    }

    pub(crate) fn kind(&self, op: OpId) -> OpKind {
        self.kind[op.at()]
    }

    pub(crate) fn is_ok(&self, op: OpId) -> bool {
        self.kind(op) == OpKind::Ok
    }

    pub(crate) fn function(&self, op: OpId) -> Function {
        self.function[op.at()]
    }

    /// The index of the completion; of the invocation, where there is no completion.
    pub(crate) fn index(&self, op: OpId) -> u64 {
        self.index[op.at()]
    }

    /// The index of the invocation, if that is known.
    pub(crate) fn invoked(&self, op: OpId) -> Option<u64> {
        let before = self.invoked_before[op.at()];
        (before != NONE).then(|| self.index(op) - u64::from(before))
    }

    pub(crate) fn oks_before(&self, op: OpId) -> Option<u32> {
        let oks = self.oks_before[op.at()];
        (oks != NONE).then_some(oks)
    }

    pub(crate) fn process(&self, op: OpId) -> Option<i64> {
        some(self.process[op.at()])
    }

    /// Its process as the history calls it.
    pub(crate) fn client(&self, op: OpId) -> Option<Client> {
        self.process(op).map(|process| self.participants.client(process))
    }

    pub(crate) fn time_ns(&self, op: OpId) -> Option<i64> {
        some(self.time_ns[op.at()])
    }

    pub(crate) fn invoked_time_ns(&self, op: OpId) -> Option<i64> {
        some(self.invoked_time_ns[op.at()])
    }

    /// The segments of an op, each with the places of its sightings.
    pub(crate) fn segments(&self, op: OpId) -> impl Iterator<Item = (Segment, std::ops::Range<u32>)> + '_ {
        let start = if op.at() == 0 { 0 } else { self.segments_end[op.at() - 1].to_usize() };
        let mut from = if start == 0 { 0 } else { self.segments[start - 1].end };
        self.segments[start..self.segments_end[op.at()].to_usize()].iter().map(move |segment| {
            let range = from..segment.end;
            from = segment.end;
            (*segment, range)
        })
    }

    /// The messages of a segment, without their offsets.
    pub(crate) fn messages(&self, range: std::ops::Range<u32>) -> impl DoubleEndedIterator<Item = MsgId> + '_ {
        let sightings = &self.sightings[range.start.to_usize()..range.end.to_usize()];
        sightings.iter().map(|sighting| MsgId::from(sighting & !WITHOUT_OFFSET))
    }

    /// The messages of a segment with their offsets.
    pub(crate) fn sightings<'a>(
        &'a self,
        range: std::ops::Range<u32>,
        offset_of: impl Fn(MsgId) -> i64 + 'a,
    ) -> impl Iterator<Item = Sighting> + 'a {
        let mut next = self.elsewhere.partition_point(|(place, _)| *place < range.start);
        range.map(move |place| {
            let sighting = self.sightings[place.to_usize()];
            let msg = MsgId::from(sighting & !WITHOUT_OFFSET);
            let offset = if sighting & WITHOUT_OFFSET != 0 {
                NO_OFFSET
            } else if let Some((_, offset)) = self.elsewhere.get(next).filter(|(other, _)| *other == place) {
                next += 1;
                *offset
            } else {
                offset_of(msg)
            };
            Sighting { msg, offset }
        })
    }
}

fn some(n: i64) -> Option<i64> {
    (n != NOTHING).then_some(n)
}
