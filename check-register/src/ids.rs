//! Ids: small numbers that index columns, a type for each so that they cannot be mixed up.

history_core::id! {
    /// An operation of the history: a call with its return, if it has one.
    pub(crate) OpId
    /// What an operation does: equal operations are one class.
    pub(crate) ClassId
    /// A state of the model.
    pub(crate) StateId
}
