//! Version orders: what stands at each offset of each log, by all that was polled and sent.
//!
//! Offsets at which nothing is known to stand are left out (markers of transactions, aborted messages), and the others numbered: a
//! message's **index**. Memory goes by messages, and so does time: n log n, and linear where ops come in the order of offsets.

use crate::columns::{KeyId, MsgId, NO_OFFSET, NONE, OpId, Ops, Role};
use crate::messages::{Messages, POLLED_OK};
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
pub(crate) struct Logs {
    /// By key, then offset, then op. Each message once at each offset.
    entries: Vec<Entry>,
    /// Where the entries of each position end: the entries of one offset.
    /// Ascending; empty exactly if there are no entries.
    position_end: Vec<u32>,
    /// Where the positions of each key end.
    key_end: Vec<u32>,
    /// For each message the last index at which it is the one chosen of its offset, or [`NONE`].
    index: Vec<u32>,
    /// Its first and last index, for messages that are not just at the one above.
    spread: HashMap<MsgId, (u32, u32)>,
    /// By op: whether it took effect.
    committed: Vec<bool>,
}

/// Whether an op took effect: it is `ok`; or it is `info`, and something that it sent was polled by an op that is `ok`.
fn is_committed(ops: &Ops, messages: &Messages, op: OpId) -> bool {
    match ops.kind(op) {
        OpKind::Ok => true,
        OpKind::Info => ops
            .segments(op)
            .filter(|(segment, _)| segment.role() == Role::Sent)
            .any(|(_, range)| ops.messages(range).any(|msg| messages.has(msg, POLLED_OK))),
        OpKind::Fail | OpKind::Invoke => false,
    }
}

impl Logs {
    /// Infers them.
    pub(crate) fn infer(ops: &Ops, messages: &Messages) -> Logs {
        let committed: Vec<bool> = ops.ids().map(|op| is_committed(ops, messages, op)).collect();
        let entries = entries(ops, messages, &committed);
        let mut logs = Logs {
            position_end: Vec::with_capacity(entries.len()),
            key_end: vec![0; messages.keys()],
            index: vec![NONE; messages.len()],
            spread: HashMap::default(),
            committed,
            entries,
        };
        logs.number(messages);
        logs
    }

    /// Numbers the positions of each key.
    fn number(&mut self, messages: &Messages) {
        let key = |entry: &Entry| messages.key(entry.msg);
        let mut position = 0;
        for of_key in self.entries.chunk_by(|a, b| key(a) == key(b)) {
            let first = position;
            for at_offset in of_key.chunk_by(|a, b| a.offset == b.offset) {
                let index = position - first;
                let end = self.position_end.last().copied().unwrap_or(0) + at_offset.len().to_u32();
                self.position_end.push(end);
                for (nth, entry) in at_offset.iter().enumerate() {
                    let chosen = &mut self.index[entry.msg.at()];
                    let is_plain = nth == 0 && *chosen == NONE && !self.spread.contains_key(&entry.msg);
                    if !is_plain {
                        let before = if *chosen == NONE { index } else { *chosen };
                        let spread = self.spread.entry(entry.msg).or_insert((before, index));
                        spread.1 = index;
                    }
                    if nth == 0 {
                        *chosen = index;
                    }
                }
                position += 1;
            }
            self.key_end[key(&of_key[0]).at()] = position;
        }
        // Keys without entries end where the one before does.
        let mut end = 0;
        for key in &mut self.key_end {
            end = end.max(*key);
            *key = end;
        }
    }

    fn key_start(&self, key: KeyId) -> u32 {
        if key.at() == 0 { 0 } else { self.key_end[key.at() - 1] }
    }

    /// How many offsets of a log hold something.
    pub(crate) fn len(&self, key: KeyId) -> u32 {
        self.key_end[key.at()] - self.key_start(key)
    }

    /// All that stands at an index of a log; the first is the one chosen.
    pub(crate) fn at(&self, key: KeyId, index: u32) -> &[Entry] {
        let position = (self.key_start(key) + index).to_usize();
        let start = if position == 0 { 0 } else { self.position_end[position - 1] };
        &self.entries[start.to_usize()..self.position_end[position].to_usize()]
    }

    /// The index of a message: the last one at which it is chosen.
    pub(crate) fn index(&self, msg: MsgId) -> Option<u32> {
        let index = self.index[msg.at()];
        (index != NONE).then_some(index)
    }

    /// The first and the last index at which a message stands.
    pub(crate) fn spread(&self, msg: MsgId) -> Option<(u32, u32)> {
        let spread = self.spread.get(&msg).copied();
        spread.or_else(|| self.index(msg).map(|index| (index, index)))
    }

    /// What stands where of messages at several offsets, or of which another one is chosen at theirs; by message, then offset.
    pub(crate) fn blurred(&self) -> Vec<Entry> {
        if self.spread.is_empty() {
            return Vec::new();
        }
        let is_blurred = |entry: &&Entry| self.spread.contains_key(&entry.msg);
        let mut all: Vec<Entry> = self.entries.iter().filter(is_blurred).copied().collect();
        all.sort_unstable_by_key(|entry| (entry.msg, entry.offset));
        all
    }

    /// Whether an op took effect, as far as is known.
    pub(crate) fn is_committed(&self, op: OpId) -> bool {
        self.committed[op.at()]
    }

    /// How much later in its log the second message stands; nothing if the place of one is not known.
    pub(crate) fn delta(&self, one: MsgId, next: MsgId) -> Option<i64> {
        Some(i64::from(self.index(next)?) - i64::from(self.index(one)?))
    }

    /// The place in the log of the first offset that is not below this one.
    pub(crate) fn index_from(&self, key: KeyId, offset: i64) -> u32 {
        let (mut low, mut high) = (0, self.len(key));
        while low < high {
            let middle = low.midpoint(high);
            if self.at(key, middle)[0].offset < offset { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// What stands where, by key, offset and op.
fn entries(ops: &Ops, messages: &Messages, committed: &[bool]) -> Vec<Entry> {
    let mut entries = Vec::new();
    // Whether it is known to be at its own offset.
    let mut placed = vec![false; messages.len()];
    for op in ops.ids().filter(|op| !ops.function(*op).is_assignment()) {
        for (segment, range) in ops.segments(op) {
            let counts = match segment.role() {
                Role::Sent => committed[op.at()],
                Role::Polled => true,
                Role::Poll | Role::Assigned => false,
            };
            if !counts {
                continue;
            }
            for seen in ops.sightings(range, |msg| messages.offset(msg)) {
                let is_own = seen.offset == messages.offset(seen.msg);
                if seen.offset == NO_OFFSET || is_own && std::mem::replace(&mut placed[seen.msg.at()], true) {
                    continue;
                }
                entries.push(Entry { offset: seen.offset, msg: seen.msg, op });
            }
        }
    }
    let mut entries = by_key(entries, messages);
    // Ops are in order: of one message at one offset the first op comes first.
    for of_key in entries.chunk_by_mut(|a, b| messages.key(a.msg) == messages.key(b.msg)) {
        of_key.sort_by_key(|entry| entry.offset);
    }
    dedup(entries, messages)
}

/// A stable counting sort by key.
fn by_key(entries: Vec<Entry>, messages: &Messages) -> Vec<Entry> {
    let mut next = vec![0_usize; messages.keys()];
    for entry in &entries {
        next[messages.key(entry.msg).at()] += 1;
    }
    let mut total = 0;
    for count in &mut next {
        total += std::mem::replace(count, total);
    }
    let Some(first) = entries.first().copied() else { return entries };
    let mut sorted = vec![first; entries.len()];
    for entry in entries {
        let place = &mut next[messages.key(entry.msg).at()];
        sorted[*place] = entry;
        *place += 1;
    }
    sorted
}

/// Keeps each message at an offset once, in the order of ops.
fn dedup(entries: Vec<Entry>, messages: &Messages) -> Vec<Entry> {
    let is_same = |a: &Entry, b: &Entry| a.offset == b.offset && messages.key(a.msg) == messages.key(b.msg);
    if entries.windows(2).all(|pair| !is_same(&pair[0], &pair[1])) {
        return entries;
    }
    let mut kept = Vec::with_capacity(entries.len());
    for at_offset in entries.chunk_by(is_same) {
        let mut run = at_offset.to_vec();
        run.sort_unstable_by_key(|entry| (entry.msg, entry.op));
        run.dedup_by_key(|entry| entry.msg);
        run.sort_unstable_by_key(|entry| (entry.op, entry.msg));
        kept.extend(run);
    }
    kept
}
