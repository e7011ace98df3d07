//! Decoded ops of registers: proposed writes, reads, and completions that show a version.

use super::packed::Packed;
use super::versions::{At, ClientId, Version};

/// A completion that shows a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) at: At,
    pub(crate) client: ClientId,
    pub(crate) is_read: bool,
}

/// An ok read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) id: Packed,
    pub(crate) value: Packed,
    /// Absent where it is unknown when it began.
    pub(crate) invoked: Option<At>,
    /// The place of the head at that time; 0 where that is unknown.
    pub(crate) head_at: u32,
}

/// A write as it was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal {
    pub(crate) id: Packed,
    pub(crate) prev: Packed,
    pub(crate) value: Packed,
    pub(crate) at: At,
    pub(crate) client: ClientId,
    /// `flag::OPEN`, `flag::NAMELESS`, or neither.
    pub(crate) flags: u8,
}

/// A read as an explanation needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOp {
    pub(crate) seen: Seen,
    pub(crate) invoked: Option<At>,
    pub(crate) id: Packed,
    pub(crate) value: Packed,
}

impl ReadOp {
    /// The first read of a version that no write had proposed by then.
    pub(crate) fn first_of(row: &Version, value: Packed) -> ReadOp {
        let seen = Seen { at: row.first, client: row.observer, is_read: true };
        ReadOp { seen, invoked: None, id: row.id, value }
    }
}
