//! A micro-op of rw-register, packed into two words.

use crate::ids::{KeyId, VersionId};

/// What a micro-op does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Write(VersionId),
    Read(VersionId),
    /// A read of which nobody knows what it saw.
    Unseen,
}

/// A micro-op, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mop {
    pub(crate) key: KeyId,
    /// The version's id, and above it the bit that says whether it is written; or `UNSEEN`.
    what: u32,
}

/// Marks a write.
const WRITE: u32 = 1 << 31;
/// The id of no version.
const UNSEEN: u32 = WRITE - 1;

impl Mop {
    /// Ids of versions stay below this, so that they can be packed.
    pub(crate) const IDS_MAX: usize = UNSEEN as usize;

    #[inline]
    pub(crate) fn write(key: KeyId, version: VersionId) -> Mop {
        Mop { key, what: version.at() as u32 | WRITE }
    }

    #[inline]
    pub(crate) fn read(key: KeyId, version: VersionId) -> Mop {
        Mop { key, what: version.at() as u32 }
    }

    pub(crate) fn unseen(key: KeyId) -> Mop {
        Mop { key, what: UNSEEN }
    }

    #[inline]
    pub(crate) fn what(self) -> What {
        if self.what & WRITE != 0 {
            What::Write(VersionId::new((self.what & !WRITE) as usize))
        } else if self.what == UNSEEN {
            What::Unseen
        } else {
            What::Read(VersionId::new(self.what as usize))
        }
    }
}
