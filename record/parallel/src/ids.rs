//! Conversions of integers. Every conversion that may not fit is here, and panics if the value does not fit. The
//! conversions of `history_core::cast` panic only in debug builds.

/// Converts an integer to another type.
#[inline]
#[track_caller]
fn fit<N, M>(n: N) -> M
where
    N: TryInto<M>,
{
    n.try_into().unwrap_or_else(|_| too_large())
}

#[cold]
#[track_caller]
fn too_large() -> ! {
    panic!("the number does not fit the type")
}

/// An index or a length.
#[inline]
#[track_caller]
pub(crate) fn index(n: impl TryInto<usize>) -> usize {
    fit(n)
}

/// A count.
#[inline]
#[track_caller]
pub(crate) fn wide(n: impl TryInto<u64>) -> u64 {
    fit(n)
}

/// The number of an item of a list.
#[inline]
#[track_caller]
pub(crate) fn small(n: impl TryInto<u32>) -> u32 {
    fit(n)
}

/// A number below 256.
#[inline]
#[track_caller]
pub(crate) fn byte(n: impl TryInto<u8>) -> u8 {
    fit(n)
}
