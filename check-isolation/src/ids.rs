//! Ids: small numbers that index columns, with one type per kind so that they cannot be confused.

history_core::id! {
    /// A transaction: a row of [`Transactions`](crate::Transactions).
    pub TxnId
    /// A key.
    pub KeyId
}
