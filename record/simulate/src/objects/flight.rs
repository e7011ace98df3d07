//! An operation in flight: its request and its result.

use super::keys::ObjectId;
use super::wrong_read::Overwriters;
use crate::lists::registers::RegisterMop;
use crate::op::Kind;
use crate::op::object::{ObjectKey, ObjectOp, ObjectValue, WriteId};

/// The request of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ask {
    #[default]
    Read,
    Write(i64),
    Cas {
        old: i64,
        new: i64,
    },
    /// The micro-operations are in `mops`.
    Txn,
    Acquire,
    Release,
    Enqueue(i64),
    Dequeue,
    Push(i64),
    Pop,
    PushFront(i64),
    PushBack(i64),
    PopFront,
    PopBack,
    Insert(i64),
    DeleteMin,
    Add(i64),
    Get,
    Put(i64),
    Append(i64),
    Transfer {
        from: u32,
        to: u32,
        amount: i64,
    },
    Generate,
    Drain,
    WriteSubkey {
        key: i64,
        subkey: u32,
    },
    ReadSubkeys(i64),
}

impl Ask {
    /// The name of the function.
    pub(super) fn f(self) -> &'static str {
        match self {
            Ask::Read | Ask::ReadSubkeys(_) => "read",
            Ask::Write(_) | Ask::WriteSubkey { .. } => "write",
            Ask::Cas { .. } => "cas",
            Ask::Txn => "txn",
            Ask::Acquire => "acquire",
            Ask::Release => "release",
            Ask::Enqueue(_) => "enqueue",
            Ask::Dequeue => "dequeue",
            Ask::Push(_) => "push",
            Ask::Pop => "pop",
            Ask::PushFront(_) => "push-front",
            Ask::PushBack(_) => "push-back",
            Ask::PopFront => "pop-front",
            Ask::PopBack => "pop-back",
            Ask::Insert(_) => "insert",
            Ask::DeleteMin => "delete-min",
            Ask::Add(_) => "add",
            Ask::Get => "get",
            Ask::Put(_) => "put",
            Ask::Append(_) => "append",
            Ask::Transfer { .. } => "transfer",
            Ask::Generate => "generate",
            Ask::Drain => "drain",
        }
    }
}

/// The id of each version, computed from its number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Versions {
    /// Makes the ids different for each seed.
    pub(super) salt: u64,
}

impl Versions {
    /// The id of a version. Number 0 is the version before every write. Different numbers below 2^62 have different
    /// ids.
    pub(super) fn id(self, number: u64) -> WriteId {
        if number == 0 {
            return WriteId::INITIAL;
        }
        const MASK: u64 = (1 << 62) - 1;
        // Each step is invertible within 62 bits, so different numbers have different ids.
        let n = (number ^ self.salt) & MASK;
        let n = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & MASK;
        let n = (n ^ (n >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) & MASK;
        let low = n ^ (n >> 31);
        let high = (low ^ self.salt.rotate_left(32)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The bits that mark a random UUID.
        let high = (high & !0xf000) | 0x4000;
        WriteId(u128::from(high) << 64 | u128::from(low | 1 << 63))
    }
}

/// An operation, from its draw until it is no longer needed. It is then reused for another operation.
#[derive(Debug, Default)]
pub(super) struct Flight {
    pub(super) object: ObjectId,
    pub(super) key: i64,
    pub(super) client: u32,
    pub(super) ask: Ask,
    /// A random number for the choices of the object.
    pub(super) pick: u64,
    /// Whether the object's bug applies to it.
    pub(super) spoilt: bool,
    /// Whether it was refused without being processed.
    pub(super) aborted: bool,
    /// The number of times that the operation found the lock held.
    pub(super) waits: u32,
    /// Its position among all operations that were requested.
    pub(super) number: u64,
    /// The value that was read or removed.
    pub(super) seen: Option<i64>,
    pub(super) items: Vec<i64>,
    pub(super) text: String,
    pub(super) mops: Vec<RegisterMop>,
    /// The version that was read; for a write, the new version.
    pub(super) version: u64,
    /// The version to be replaced.
    pub(super) prev_version: u64,
    /// The time of its invocation, on the clock of the store.
    pub(super) invoked: u64,
    /// The last writes that had completed at its invocation.
    pub(super) overwriters: Overwriters,
}

impl Flight {
    /// Returns true if it removes an element.
    pub(super) fn is_take(&self) -> bool {
        matches!(self.ask, Ask::Dequeue | Ask::Pop | Ask::PopFront | Ask::PopBack | Ask::DeleteMin)
    }

    /// Turns it into a new operation, and reuses its memory.
    pub(super) fn begin(&mut self, client: u32, number: u64, pick: u64) {
        (self.client, self.number, self.pick) = (client, number, pick);
        (self.aborted, self.spoilt, self.waits, self.seen) = (false, false, 0, None);
        self.items.clear();
        self.text.clear();
        self.mops.clear();
    }

    /// Returns true if it changes nothing, whatever it finds.
    pub(super) fn is_read(&self) -> bool {
        match self.ask {
            Ask::Read | Ask::Get | Ask::ReadSubkeys(_) => true,
            Ask::Txn => self.mops.iter().all(|mop| matches!(mop, RegisterMop::Read { .. })),
            _ => false,
        }
    }

    /// Returns true if its result depends on the object.
    pub(super) fn is_observation(&self) -> bool {
        self.is_take()
            || matches!(self.ask, Ask::Read | Ask::Get)
            || self.mops.iter().any(|mop| matches!(mop, RegisterMop::Read { .. }))
    }

    /// The value that a register has after it.
    pub(super) fn writes(&self) -> Option<i64> {
        match self.ask {
            Ask::Write(new) | Ask::Cas { new, .. } => Some(new),
            _ => None,
        }
    }

    /// The argument or, for `Ok`, the result.
    pub(super) fn op(&self, shape: &Shape, kind: Kind) -> ObjectOp<'_> {
        let shown = kind == Kind::Ok;
        let int = |seen: Option<i64>| seen.filter(|_| shown).map_or(ObjectValue::Nil, ObjectValue::Int);
        let value = match self.ask {
            Ask::Read | Ask::Write(_) if shape.reads == Reads::Groups => ObjectValue::Group { mops: &self.mops, shown },
            Ask::Read if shown && shape.reads == Reads::Sets => ObjectValue::Set(&self.items),
            Ask::Read if shown && shape.reads == Reads::Lists => ObjectValue::List(&self.items),
            Ask::Read if shown && shape.reads == Reads::Balances => ObjectValue::Balances(&self.items),
            Ask::Drain if shown => ObjectValue::List(&self.items),
            Ask::ReadSubkeys(key) if shown => ObjectValue::Subkeys(key, &self.items),
            Ask::ReadSubkeys(key) => ObjectValue::Int(key),
            Ask::WriteSubkey { key, subkey } => ObjectValue::Subkey(key, subkey),
            Ask::Transfer { from, to, amount } => ObjectValue::Transfer { from, to, amount },
            Ask::Generate => match (shape.ids, self.seen.filter(|_| shown)) {
                (Some(ids), Some(number)) => ObjectValue::Id(ids.id(number.unsigned_abs())),
                _ => ObjectValue::Nil,
            },
            Ask::Read | Ask::Dequeue | Ask::Pop | Ask::PopFront | Ask::PopBack | Ask::DeleteMin => int(self.seen),
            Ask::Write(n)
            | Ask::Add(n)
            | Ask::Enqueue(n)
            | Ask::Push(n)
            | Ask::PushFront(n)
            | Ask::PushBack(n)
            | Ask::Insert(n) => ObjectValue::Int(n),
            Ask::Cas { old, new } => ObjectValue::Cas(old, new),
            Ask::Txn => ObjectValue::Mops { mops: &self.mops, shown },
            Ask::Acquire | Ask::Release if shape.owners => ObjectValue::Owner(self.client),
            Ask::Get if shown => ObjectValue::Text(&self.text),
            Ask::Acquire | Ask::Release | Ask::Get | Ask::Drain => ObjectValue::Nil,
            Ask::Put(n) | Ask::Append(n) => ObjectValue::Piece(n),
        };
        let writes = matches!(self.ask, Ask::Write(_));
        let id = |number: u64| shape.versions.map(|versions| versions.id(number));
        ObjectOp {
            key: shape.key.map(|key| key(self.key)),
            value,
            write_id: if writes || shown { id(self.version) } else { None },
            prev_write_id: if writes { id(self.prev_version) } else { None },
        }
    }
}

/// The form of the results of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// One value.
    Value,
    Sets,
    Lists,
    Balances,
    /// A value of each key of a group.
    Groups,
}

/// The form of the ops of an object.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) key: Option<fn(i64) -> ObjectKey>,
    pub(super) versions: Option<Versions>,
    /// The ids that the object generates, if it does.
    pub(super) ids: Option<Versions>,
    pub(super) reads: Reads,
    /// Whether ops name their owner.
    pub(super) owners: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_differ_if_numbers_or_seeds_differ() {
        let ids = |salt: u64| (0..20_000).map(move |number| Versions { salt }.id(number));
        let all: HashSet<WriteId> = ids(1).chain(ids(2)).collect();
        // The initial version is the same for all seeds.
        assert_eq!(all.len(), 39_999);
        assert_eq!(Versions { salt: 3 }.id(0), WriteId::INITIAL);
        assert!(ids(7).skip(1).all(|id| &id.text()[14..15] == b"4" && b"89ab".contains(&id.text()[19])));
    }
}
