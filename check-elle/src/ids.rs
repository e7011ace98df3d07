//! Ids: small numbers that index columns, a type for each so that they cannot be mixed up.

pub(crate) use history_core::Id;

history_core::id! {
    /// A transaction: an invocation with its completion.
    pub(crate) TxnId
    /// A key.
    pub(crate) KeyId
    /// An element of a list: a value appended to a key.
    pub(crate) ElemId
    /// A list that was the content of a key, or was read as such.
    pub(crate) StateId
    /// A value that was the content of a register, or was read as such, including the initial one.
    pub(crate) VersionId
}
