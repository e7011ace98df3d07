//! Ids: small numbers that index columns, a type for each so that they cannot be mixed up.

history_core::id! {
    /// A transaction: a row of [`Transactions`](crate::Transactions).
    pub TxnId
    /// A key.
    pub KeyId
}
