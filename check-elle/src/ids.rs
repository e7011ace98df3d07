//! Ids: small numbers that index columns, with one type per kind so that they cannot be confused.

pub(crate) use history_core::Id;

history_core::id! {
    /// A transaction: an invocation with its completion.
    pub(crate) TxnId
    /// A key.
    pub(crate) KeyId
    /// An element of a list: a value appended to a key.
    pub(crate) ElemId
    /// A list that was the content of a key, or that a read returned as such.
    pub(crate) StateId
    /// A value that was the content of a register, or that a read returned as such, including the initial one.
    pub(crate) VersionId
}
