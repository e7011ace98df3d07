//! From ops to rows: each op is decoded once, into columns of micro-ops.
//!
//! A history holds registers (`:w`) or lists (`:append`), never both. Of a list only the longest read of each key is kept, its **trunk**:
//! every other read is a prefix of that, and so a length, or else the reads contradict each other.

mod decoded;
mod lists;
mod registers;
mod rows;
mod run;
mod settle;
mod shown;
mod versions;

pub(crate) use decoded::{Decoded, Settings};
pub(crate) use run::IsolationRun;
pub(crate) use settle::Settled;
pub(crate) use shown::{Ambiguous, Direct, DirectCase};
pub(crate) use versions::VersionId;

use crate::ids::KeyId;

history_core::id! {
    /// A transaction as recorded: it happened, or may have, or failed after it wrote something.
    pub(crate) Row
}

/// What a history's keys hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Registers,
    Lists,
}

/// A micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mop {
    pub(crate) key: KeyId,
    /// The version written, with the highest bit set; the version read, or of a list how many elements; or one of three codes.
    code: u32,
}

/// What a micro-op does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Writes or appends this version.
    Write(VersionId),
    /// Reads this: a version, or of a list so many elements.
    Read(u32),
    /// Reads what was there before all writes.
    First,
    /// Reads a list that is no prefix of another read of the key.
    Contradicts,
    /// Reads something that nobody knows.
    Unseen,
}

impl Mop {
    const WRITE: u32 = 1 << 31;
    const UNSEEN: u32 = Mop::WRITE - 1;
    const FIRST: u32 = Mop::WRITE - 2;
    const CONTRADICTS: u32 = Mop::WRITE - 3;
    /// Numbers of versions and of elements stay below this.
    pub(crate) const IDS_MAX: usize = (1 << 31) - 4;

    pub(crate) fn new(key: KeyId, what: What) -> Mop {
        let code = match what {
            What::Write(version) => version.number() | Mop::WRITE,
            What::Read(number) => number,
            What::First => Mop::FIRST,
            What::Contradicts => Mop::CONTRADICTS,
            What::Unseen => Mop::UNSEEN,
        };
        Mop { key, code }
    }

    #[inline]
    pub(crate) fn what(self) -> What {
        match self.code {
            Mop::UNSEEN => What::Unseen,
            Mop::FIRST => What::First,
            Mop::CONTRADICTS => What::Contradicts,
            code if code & Mop::WRITE != 0 => What::Write((code & !Mop::WRITE).into()),
            number => What::Read(number),
        }
    }

    #[inline]
    pub(crate) fn is_write(self) -> bool {
        self.code & Mop::WRITE != 0
    }
}
