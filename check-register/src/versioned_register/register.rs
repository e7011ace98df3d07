//! The state of one register, and the settings of all of them.

use super::packed::Packed;
use super::versions::VersionId;

/// The initial versions, if given, and the rules for discarding versions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) initial_id: Option<Packed>,
    pub(crate) initial_value: Option<Packed>,
    /// The number of versions of each chain that are kept, the newest ones.
    pub(crate) window: Option<u32>,
    /// Whether the order of the file is that of the events, even if the times differ.
    pub(crate) in_order: bool,
    pub(crate) witnesses_max: usize,
}

/// The reason why the verdict on a register may be unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Doubt {
    /// Two writes that may both have happened propose the same id.
    Twice { id: Packed, first: u64, second: u64 },
    /// A read that began before the window returned a version that is not in it.
    Forgotten { id: Packed, index: u64 },
}

/// One register.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub(crate) key: Packed,
    /// The newest version of the chain; `NONE` until a version was observed, unless the initial version was given.
    pub(crate) head: VersionId,
    pub(crate) head_place: u32,
    /// The oldest version of the chain that is kept.
    pub(crate) oldest: VersionId,
    pub(crate) oldest_place: u32,
    /// The initial version, unless it was given.
    pub(crate) inferred: VersionId,
    /// The id of the initial version, which is kept when the version is discarded.
    pub(crate) inferred_id: Option<Packed>,
    pub(crate) doubt: Option<Doubt>,
    /// Whether the register is no longer examined.
    pub(crate) stopped: bool,
    /// One bit for each [`Kind`] that has a witness.
    pub(crate) reported: u16,
}
