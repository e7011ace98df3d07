//! Conversions between integers that are known to fit; debug builds verify them.

/// Conversions of an integer to types that hold it.
///
/// Use it instead of `as`, which truncates: debug builds panic if the number does not fit. For numbers that may not
/// fit, use `try_from`.
///
/// ```
/// use history_core::cast::Cast;
///
/// let row = 7_u32;
/// assert_eq!(vec![0; 8][row.to_usize()], 0);
/// ```
pub trait Cast: Copy {
    /// The same number as a `u8`.
    fn to_u8(self) -> u8;
    /// The same number as a `u32`.
    fn to_u32(self) -> u32;
    /// The same number as a `u64`.
    fn to_u64(self) -> u64;
    /// The same number as an `i64`.
    fn to_i64(self) -> i64;
    /// The same number as a `usize`.
    fn to_usize(self) -> usize;
}

macro_rules! to {
    ($name:ident $to:ty) => {
        #[inline]
        #[allow(
            clippy::cast_possible_wrap,
            clippy::cast_sign_loss,
            clippy::cast_lossless,
            reason = "the assertion checks it"
        )]
        fn $name(self) -> $to {
            debug_assert!(<$to>::try_from(self).is_ok(), "{self} does not fit {}", stringify!($to));
            self as $to
        }
    };
}

macro_rules! cast {
    ($($from:ty)*) => {
        $(impl Cast for $from {
            to!(to_u8 u8);
            to!(to_u32 u32);
            to!(to_u64 u64);
            to!(to_i64 i64);
            to!(to_usize usize);
        })*
    };
}

cast!(u8 u16 u32 u64 u128 usize i32 i64 i128);

/// The lower half of a hash or product.
#[inline]
#[must_use]
pub const fn low_u32(wide: u64) -> u32 {
    (wide & 0xFFFF_FFFF) as u32
}

/// The lower half of a product.
#[inline]
#[must_use]
pub const fn low_u64(wide: u128) -> u64 {
    (wide & 0xFFFF_FFFF_FFFF_FFFF) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_the_same() {
        assert_eq!((255_usize.to_u8(), 3_u32.to_usize(), 4_i64.to_u64()), (255, 3, 4));
        assert_eq!((u64::from(u32::MAX).to_u32(), (-1_i32).to_i64()), (u32::MAX, -1));
        assert_eq!((low_u32(u64::MAX - 1), low_u64(u128::MAX - 1)), (u32::MAX - 1, u64::MAX - 1));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "4294967296 does not fit u32")]
    fn what_does_not_fit_is_caught() {
        let _ = (1_u64 << 32).to_u32();
    }
}
