//! Numbers of ops, logs and messages.

history_core::id! {
    /// A completion of a client; or an invocation that has none.
    pub(crate) OpId
    /// A log.
    pub(crate) KeyId
    /// A message: a value in one log.
    pub(crate) MsgId
}

/// Represents no offset.
pub(crate) const NO_OFFSET: i64 = -1;

/// Represents no number.
pub(crate) const NONE: u32 = u32::MAX;

/// Ids of messages and keys stay below this: the upper bits of their columns are flags.
pub(crate) const IDS_MAX: usize = 1 << 28;
