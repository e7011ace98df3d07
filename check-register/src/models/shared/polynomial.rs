//! Hashes of compound values: polynomials at a random point, modulo 2^61 - 1.
//!
//! Carter and Wegman, "Universal classes of hash functions" (1979). Numbers of the field are below the prime.

use history_core::cast::low_u64;
use history_core::hash::hash_one;
use std::sync::OnceLock;

/// The field: 2^61 - 1, a prime.
pub(super) const PRIME: u64 = (1 << 61) - 1;

/// The product of two numbers.
pub(super) fn times(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    plus(low_u64(product & u128::from(PRIME)), low_u64(product >> 61))
}

/// The sum of two numbers.
pub(super) fn plus(one: u64, other: u64) -> u64 {
    let sum = one + other;
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// The random point of this process, which the author of a history cannot know.
pub(super) fn base() -> u64 {
    static BASE: OnceLock<u64> = OnceLock::new();
    *BASE.get_or_init(|| hash_one(&0x5E9_u64) % PRIME)
}
