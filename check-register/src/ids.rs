//! Ids: small numbers that index columns, a type for each so that they cannot be mixed up.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub(crate) struct $name(u32);

        impl $name {
            /// The id of the row at `at`.
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
    };
}

id! {
    /// An operation of the history: a call with its return, if it has one.
    OpId
}
id! {
    /// What an operation does: equal operations are one class.
    ClassId
}
id! {
    /// A state of the model.
    StateId
}
