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

/// An `ok` read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) id: Packed,
    pub(crate) value: Packed,
    /// Absent if its beginning is unknown.
    pub(crate) invoked: Option<At>,
    /// The place of the head at its invocation; 0 if that is unknown.
    pub(crate) head_at: u32,
}

/// A write as requested by its invocation.
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

/// The data of a read for an explanation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOp {
    pub(crate) seen: Seen,
    pub(crate) invoked: Option<At>,
    pub(crate) id: Packed,
    pub(crate) value: Packed,
}

impl ReadOp {
    /// The first read of a version that no write had proposed at that time.
    pub(crate) fn first_of(row: &Version, value: Packed) -> ReadOp {
        let seen = Seen { at: row.first, client: row.observer, is_read: true };
        ReadOp { seen, invoked: None, id: row.id, value }
    }
}
