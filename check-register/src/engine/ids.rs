//! Ids, and the only conversions between integers of different widths: each states its precondition, and debug builds
//! verify it.

/// Declares an id: a number below 2^32 - 1 that indexes a column, with a separate type so that it cannot be confused
/// with others.
#[macro_export]
#[doc(hidden)]
macro_rules! engine_id {
    ($(#[$doc:meta])* $vis:vis $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $vis struct $name(u32);

        impl $name {
            /// The id of the row at `at`.
            #[inline]
            $vis fn new(at: usize) -> $name {
                debug_assert!(at < $crate::engine::ids::index(u32::MAX), "the last number represents no row");
                $name($crate::engine::ids::number(at))
            }

            /// The row's position.
            #[inline]
            $vis fn at(self) -> usize {
                $crate::engine::ids::index(self.0)
            }

            /// The row's position as a number.
            #[inline]
            #[allow(dead_code, reason = "not every id is needed as a number")]
            $vis fn number(self) -> u32 {
                self.0
            }
        }
    };
}

engine_id! {
    /// An operation of the history: a call with its return, if it has one.
    pub OpId
}
engine_id! {
    /// The effect of an operation: equal operations are one class.
    pub ClassId
}
engine_id! {
    /// A state of the model.
    pub StateId
}

const _: () =
    assert!(usize::BITS >= u32::BITS && usize::BITS <= u64::BITS, "lengths fit 64 bits, and ids index columns");

/// Converts a number to a position.
#[inline]
pub const fn index(number: u32) -> usize {
    number as usize
}

/// Converts a position or length that is known to be below 2^32. Columns are indexed by numbers of 32 bits.
#[inline]
pub const fn number(at: usize) -> u32 {
    debug_assert!(at <= index(u32::MAX), "a column of more than 2^32 rows");
    at as u32
}

/// Converts a length to a count.
#[inline]
pub const fn count(len: usize) -> u64 {
    len as u64
}

/// The lower half of a hash, as a position in a table. The number of entries is a power of two.
#[inline]
pub const fn low_bits(hash: u64, entries: usize) -> usize {
    debug_assert!(entries.is_power_of_two(), "a mask is one less than a power of two");
    hash as usize & (entries - 1)
}

/// The upper `bits` of a hash, as a position in a table of `1 << bits` entries.
#[inline]
pub const fn high_bits(hash: u64, bits: u32) -> usize {
    debug_assert!(bits > 0 && bits < usize::BITS, "a table has a size that can be addressed");
    (hash >> (u64::BITS - bits)) as usize
}
