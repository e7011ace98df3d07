//! A micro-op of list-append, packed into two words.

use crate::ids::{ElemId, KeyId, StateId};

/// What a micro-op does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Append(ElemId),
    Read(StateId),
    /// A read of which nobody knows what it saw.
    Unseen,
}

/// A micro-op, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mop {
    pub(crate) key: KeyId,
    /// The id of an element or state, and above it the bit that says which; or `UNSEEN`.
    what: u32,
}

/// Marks an append.
const APPEND: u32 = 1 << 31;
/// The id of no state.
const UNSEEN: u32 = APPEND - 1;

impl Mop {
    /// Ids of elements and states stay below this, so that they can be packed.
    pub(crate) const IDS_MAX: usize = UNSEEN as usize;

    #[inline]
    pub(crate) fn append(key: KeyId, elem: ElemId) -> Mop {
        Mop { key, what: elem.at() as u32 | APPEND }
    }

    #[inline]
    pub(crate) fn read(key: KeyId, state: StateId) -> Mop {
        Mop { key, what: state.at() as u32 }
    }

    pub(crate) fn unseen(key: KeyId) -> Mop {
        Mop { key, what: UNSEEN }
    }

    #[inline]
    pub(crate) fn what(self) -> What {
        if self.what & APPEND != 0 {
            What::Append(ElemId::new((self.what & !APPEND) as usize))
        } else if self.what == UNSEEN {
            What::Unseen
        } else {
            What::Read(StateId::new(self.what as usize))
        }
    }
}
