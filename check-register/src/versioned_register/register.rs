//! The state of one register, and the settings of all of them.

use super::packed::Packed;
use super::versions::VersionId;

/// What is known of the registers before the history begins, and what may be forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) initial_id: Option<Packed>,
    pub(crate) initial_value: Option<Packed>,
    /// Versions of each chain that are kept, from the head back.
    pub(crate) window: Option<u32>,
    /// The order of the file is that of the events, whatever the times say.
    pub(crate) in_order: bool,
    pub(crate) witnesses_max: usize,
}

/// Why nothing more is said of one register.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Doubt {
    /// Two writes that may both have happened propose one id.
    Twice { id: Packed, first: u64, second: u64 },
    /// A read that began before the window showed a version that is not in it.
    Forgotten { id: Packed, index: u64 },
}

/// One register.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub(crate) key: Packed,
    /// The newest version of the chain; none before anything was observed, if the initial version was not given.
    pub(crate) head: VersionId,
    pub(crate) head_place: u32,
    /// The oldest version of the chain that is kept.
    pub(crate) oldest: VersionId,
    pub(crate) oldest_place: u32,
    /// The initial version, unless it was given.
    pub(crate) inferred: VersionId,
    /// Its id, which is not forgotten.
    pub(crate) inferred_id: Option<Packed>,
    pub(crate) doubt: Option<Doubt>,
    /// Nothing more is judged.
    pub(crate) stopped: bool,
    /// One bit for each [`Kind`] that has a witness.
    pub(crate) reported: u16,
}
