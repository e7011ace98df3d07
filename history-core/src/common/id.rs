//! Ids: small numbers that index columns, with a separate type for each so that they cannot be confused.

/// The common interface of all ids.
pub trait Id: Copy {
    /// The id that represents no row.
    const NONE: Self;

    /// The id of the row at `at`.
    fn new(at: usize) -> Self;

    /// The position of the row.
    fn at(self) -> usize;
}

/// Declares types of ids. Each contains a `u32`, so there are at most 2^32 - 1 rows.
///
/// ```
/// history_core::id! {
///     /// A transaction.
///     pub(crate) TxnId
/// }
///
/// assert_eq!(TxnId::new(3).at(), 3);
/// assert_ne!(TxnId::new(3), TxnId::NONE);
/// ```
#[macro_export]
macro_rules! id {
    ($($(#[$doc:meta])* $vis:vis $name:ident)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            $vis struct $name(u32);

            #[allow(dead_code, reason = "not every id needs all of it")]
            impl $name {
                /// The id that represents none.
                $vis const NONE: $name = $name(u32::MAX);

                /// The id of the row at `at`. The code that creates rows limits their number.
                #[inline]
                $vis fn new(at: usize) -> $name {
                    debug_assert!(at < u32::MAX as usize, "more than 2^32 - 1 rows");
                    $name($crate::cast::Cast::to_u32(at))
                }

                /// The position of the row.
                #[inline]
                $vis fn at(self) -> usize {
                    self.0 as usize
                }

                /// The number, for columns that hold ids of more than one type.
                #[inline]
                $vis fn number(self) -> u32 {
                    self.0
                }
            }

            impl $crate::Id for $name {
                const NONE: $name = $name::NONE;

                #[inline]
                fn new(at: usize) -> $name {
                    $name::new(at)
                }

                #[inline]
                fn at(self) -> usize {
                    $name::at(self)
                }
            }

            impl From<u32> for $name {
                #[inline]
                fn from(number: u32) -> $name {
                    $name(number)
                }
            }
        )*
    };
}
