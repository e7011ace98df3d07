//! Decodes ops into rows: each op is decoded once, into columns of micro-ops.
//!
//! A history is of registers (`:w`) or lists (`:append`), never both. For a list only the longest read of each key is
//! stored, its **trunk**. Every other read is a prefix of the trunk, and is stored as a length; otherwise the reads
//! contradict each other.

mod block;
mod decoded;
mod lists;
mod prefixes;
mod raw;
mod registers;
mod rows;
mod run;
mod seen;
mod settle;
mod shown;
mod versions;

pub(crate) use decoded::{Decoded, Settings};
pub(crate) use prefixes::Prefixes;
pub(crate) use run::IsolationRun;
pub(crate) use settle::Settled;
pub(crate) use shown::{Ambiguous, Direct, DirectCase};
pub(crate) use versions::VersionId;

use crate::ids::KeyId;

history_core::id! {
    /// A recorded transaction: it happened, may have happened, or failed after it wrote something.
    pub(crate) Row
}

/// The type of a history's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Registers,
    Lists,
}

/// A read of a list that is not a prefix of the longest read of its key.
#[derive(Clone, Debug)]
pub(crate) struct Contradiction {
    /// The length of the common prefix.
    pub(crate) shared: u32,
    /// The remaining elements.
    pub(crate) rest: Vec<VersionId>,
}

/// A micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mop {
    pub(crate) key: KeyId,
    /// The version written, with the highest bit set; the number of a contradiction, with the second-highest bit set;
    /// the version read, or for a list the number of elements; or one of two codes.
    code: u32,
}

/// The kind of a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Writes or appends this version.
    Write(VersionId),
    /// Reads this: a version, or this number of elements of a list.
    Read(u32),
    /// Reads the state before all writes.
    First,
    /// Reads a list that is not a prefix of another read of the key: an index into [`Decoded::contradictions`].
    Contradicts(u32),
    /// Reads an unknown value.
    Unseen,
}

impl Mop {
    const WRITE: u32 = 1 << 31;
    const CONTRADICTS: u32 = 1 << 30;
    const UNSEEN: u32 = Mop::CONTRADICTS - 1;
    const FIRST: u32 = Mop::CONTRADICTS - 2;
    /// An upper bound of the numbers of versions, of elements and of contradictions, which they do not reach.
    pub(crate) const IDS_MAX: usize = (1 << 30) - 4;

    pub(crate) fn new(key: KeyId, what: What) -> Mop {
        let code = match what {
            What::Write(version) => version.number() | Mop::WRITE,
            What::Read(number) => number,
            What::First => Mop::FIRST,
            What::Contradicts(number) => number | Mop::CONTRADICTS,
            What::Unseen => Mop::UNSEEN,
        };
        Mop { key, code }
    }

    #[inline]
    pub(crate) fn what(self) -> What {
        match self.code {
            Mop::UNSEEN => What::Unseen,
            Mop::FIRST => What::First,
            code if code & Mop::WRITE != 0 => What::Write((code & !Mop::WRITE).into()),
            code if code & Mop::CONTRADICTS != 0 => What::Contradicts(code & !Mop::CONTRADICTS),
            number => What::Read(number),
        }
    }

    #[inline]
    pub(crate) fn is_write(self) -> bool {
        self.code & Mop::WRITE != 0
    }
}
