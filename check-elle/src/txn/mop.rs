//! A micro-op, packed into two words: its key, and the value that it wrote or read.

use crate::ids::{Id, KeyId};
use history_core::cast::Cast as _;
use std::marker::PhantomData;

/// The kind of a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What<W, R> {
    Write(W),
    Read(R),
    /// A read whose result is unknown.
    Unseen,
}

/// A micro-op that writes a `W` or reads an `R`, packed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mop<W, R> {
    pub(crate) key: KeyId,
    /// The id of the value written or read, with the bit `WRITE` for a write; or `UNSEEN`.
    what: u32,
    ids: PhantomData<(W, R)>,
}

/// The bit that marks a write.
const WRITE: u32 = 1 << 31;
/// The value for an unknown result of a read.
const UNSEEN: u32 = WRITE - 1;

/// An upper bound of ids that can be packed.
pub(crate) const IDS_MAX: usize = UNSEEN as usize;

impl<W, R> Clone for Mop<W, R> {
    fn clone(&self) -> Mop<W, R> {
        *self
    }
}

impl<W, R> Copy for Mop<W, R> {}

impl<W: Id, R: Id> Mop<W, R> {
    #[inline]
    pub(crate) fn write(key: KeyId, id: W) -> Mop<W, R> {
        Mop { key, what: id.at().to_u32() | WRITE, ids: PhantomData }
    }

    #[inline]
    pub(crate) fn read(key: KeyId, id: R) -> Mop<W, R> {
        Mop { key, what: id.at().to_u32(), ids: PhantomData }
    }

    pub(crate) fn unseen(key: KeyId) -> Mop<W, R> {
        Mop { key, what: UNSEEN, ids: PhantomData }
    }

    #[inline]
    pub(crate) fn what(self) -> What<W, R> {
        if self.what & WRITE != 0 {
            What::Write(W::new((self.what & !WRITE).to_usize()))
        } else if self.what == UNSEEN {
            What::Unseen
        } else {
            What::Read(R::new(self.what.to_usize()))
        }
    }
}
