//! Conversions between integer types. Every conversion that may not fit is here, and panics if it does not.
//! History-core has such functions too, but only tests of this crate depend on it, so that programs which only simulate
//! histories need not compile the readers.

/// The value as another type of integer.
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
    panic!("a number does not fit its type")
}

/// An index or a length as a `usize`.
#[inline]
#[track_caller]
pub(crate) fn index(n: impl TryInto<usize>) -> usize {
    fit(n)
}

/// A count as a `u64`.
#[inline]
#[track_caller]
pub(crate) fn wide(n: impl TryInto<u64>) -> u64 {
    fit(n)
}

/// The position of an item as a `u32`.
#[inline]
#[track_caller]
pub(crate) fn small(n: impl TryInto<u32>) -> u32 {
    fit(n)
}
