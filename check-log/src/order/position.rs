//! The positions of processes in logs, and which of them ops without a process may have moved.

use crate::columns::{KeyId, MsgId, OpId};

/// The position of a process: for each key, the last message of an op that counts. Sorted by key.
#[derive(Debug, Default)]
pub(crate) struct Position(Vec<Place>);

#[derive(Clone, Copy, Debug)]
struct Place {
    key: KeyId,
    op: OpId,
    msg: MsgId,
    moves: Moves,
}

/// The last message of a process in a log, with its op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    pub(crate) op: OpId,
    pub(crate) msg: MsgId,
    /// Whether the next message of the process must be the next one in the log.
    pub(crate) skip_is_certain: bool,
    /// Whether the next message of the process must be after it.
    pub(crate) back_is_certain: bool,
}

impl Position {
    fn find(&self, key: KeyId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |place| place.key)
    }

    /// The place in a log. It is not certain if an op without a process may have moved it meanwhile.
    pub(crate) fn get(&self, key: KeyId, nameless: &Nameless) -> Option<Last> {
        let Place { op, msg, moves, .. } = self.0[self.find(key).ok()?];
        let now = nameless.moves(key);
        let back_is_certain = now.anywhere == moves.anywhere;
        Some(Last { op, msg, skip_is_certain: now == moves, back_is_certain })
    }

    pub(crate) fn insert(&mut self, key: KeyId, op: OpId, msg: MsgId, nameless: &Nameless) {
        let place = Place { key, op, msg, moves: nameless.moves(key) };
        match self.find(key) {
            Ok(at) => self.0[at] = place,
            Err(at) => self.0.insert(at, place),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn retain(&mut self, is_kept: impl Fn(KeyId) -> bool) {
        self.0.retain(|place| is_kept(place.key));
    }
}

/// How often ops without a process may have moved the position of any process in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Moves {
    /// To a message whose place in the log is known. If the process goes back after that, it went back at the move or
    /// after it.
    placed: u32,
    anywhere: u32,
}

/// The moves of ops without a process. O(1) per op and key that the op shows.
#[derive(Debug)]
pub(crate) struct Nameless {
    /// Moves in all logs.
    all: u32,
    /// By key: its moves, without those in all logs. Negative numbers wrap.
    by_key: Vec<Moves>,
}

impl Nameless {
    pub(crate) fn new(keys: usize) -> Nameless {
        Nameless { all: 0, by_key: vec![Moves::default(); keys] }
    }

    fn moves(&self, key: KeyId) -> Moves {
        let Moves { placed, anywhere } = self.by_key[key.at()];
        Moves { placed, anywhere: anywhere.wrapping_add(self.all) }
    }

    /// Records an op with messages of a key. `is_placed`: the places of all its messages are compared with each other.
    pub(crate) fn show(&mut self, key: KeyId, is_placed: bool) {
        let moves = &mut self.by_key[key.at()];
        let count = if is_placed { &mut moves.placed } else { &mut moves.anywhere };
        *count = count.wrapping_add(1);
    }

    /// Records an assignment that removes the position in all keys except for these, which must differ.
    pub(crate) fn keep_only(&mut self, keys: &[KeyId]) {
        self.all = self.all.wrapping_add(1);
        for key in keys {
            let anywhere = &mut self.by_key[key.at()].anywhere;
            *anywhere = anywhere.wrapping_sub(1);
        }
    }
}
