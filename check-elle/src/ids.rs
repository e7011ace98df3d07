//! Ids: small numbers that index columns, a type for each so that they cannot be mixed up.

/// What all ids have in common.
pub(crate) trait Id: Copy {
    /// The id of the row at `at`.
    fn new(at: usize) -> Self;
    /// The row.
    fn at(self) -> usize;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub(crate) struct $name(u32);

        impl $name {
            /// Stands for none.
            #[allow(dead_code, reason = "not every id has to stand for none")]
            pub(crate) const NONE: $name = $name(u32::MAX);

            /// The id of the row at `at`. Rows are limited where they are made: see `Workload::IDS_MAX`.
            #[inline]
            pub(crate) fn new(at: usize) -> $name {
                debug_assert!(at < u32::MAX as usize);
                $name(at as u32)
            }

            #[inline]
            pub(crate) fn at(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            #[inline]
            fn new(at: usize) -> $name {
                $name::new(at)
            }

            #[inline]
            fn at(self) -> usize {
                $name::at(self)
            }
        }
    };
}

id! {
    /// A transaction: an invocation with its completion.
    TxnId
}
id! {
    /// A key.
    KeyId
}
id! {
    /// An element of a list: a value appended to a key.
    ElemId
}
id! {
    /// A list that a key held, or was seen to hold.
    StateId
}
id! {
    /// A value that a register held, or was seen to hold, the initial one included.
    VersionId
}
