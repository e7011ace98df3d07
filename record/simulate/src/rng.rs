//! Random numbers, the same on every machine: one PCG stream per purpose.
//!
//! `rand_pcg::Pcg64` is the published generator PCG XSL RR 128/64 (LCG). Its own tests compare it with the reference
//! vectors, so its stream cannot change. The ranges, floats and shuffles that `rand` draws from it may change between
//! versions; therefore this module has its own draws, which use only integers.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

/// The purpose of random numbers. Each purpose has its own stream, so that another bug or another rate of failures does
/// not change the transactions that clients request.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The requests of clients.
    Plan = 1,
    /// The times of events.
    Timing = 2,
    /// The outcomes of ops.
    Fate = 3,
    /// The operations that the store's bug affects.
    Bug = 4,
    /// The times and the actions of the nemesis.
    Nemesis = 5,
    /// Ids.
    Ids = 6,
}

/// A source of random numbers.
pub(crate) struct Rng(Pcg64);

impl Rng {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Rng {
        // Seeds are small numbers, often adjacent. Generators that were started directly from adjacent seeds would stay
        // close to each other for a while.
        let high = scramble(seed);
        let low = scramble(high ^ purpose as u64);
        Rng(Pcg64::new(u128::from(high) << 64 | u128::from(low), purpose as u128))
    }

    /// A random number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`, which is not 0. No number is more likely than another by more than `end` in 2^64.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        assert!(end > 0);
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high && high - low < u64::MAX);
        low + self.below(high - low + 1)
    }

    /// Returns true with the probability `chance`.
    pub(crate) fn happens(&mut self, chance: Chance) -> bool {
        self.ticket() < chance.0
    }

    /// A number below 2^53, to be compared with a [`Chance`].
    pub(crate) fn ticket(&mut self) -> u64 {
        self.next() >> 11
    }
}

/// Maps each number to a different number without a visible pattern: the output function of `SplitMix64`, one step from
/// `n`.
fn scramble(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// A probability, in units of 2^-53. At most 2^53.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chance(u64);

impl Chance {
    /// One half.
    pub(crate) const HALF: Chance = Chance(1 << 52);

    /// Creates it from a probability between 0 and 1. Exact: scaling by a power of two loses nothing that a comparison
    /// with a ticket could show.
    #[expect(clippy::cast_sign_loss, reason = "the assertion keeps it from 0 to 2^53")]
    pub(crate) fn new(probability: f64) -> Chance {
        assert!((0.0..=1.0).contains(&probability));
        Chance((probability * 9_007_199_254_740_992.0) as u64)
    }

    /// Returns `Ok` if a ticket is below the probability, and otherwise the ticket minus the probability.
    pub(crate) fn wins(self, ticket: u64) -> Result<(), u64> {
        if ticket < self.0 { Ok(()) } else { Err(ticket - self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_pinned() {
        // Computed without this crate. If these numbers changed, every recorded seed would mean another history.
        let mut rng = Rng::new(42, Purpose::Plan);
        let drawn = [rng.next(), rng.next(), rng.next()];
        assert_eq!(drawn, [9_042_489_003_664_762_152, 8_991_947_896_070_359_125, 16_115_993_858_538_105_016]);
    }

    #[test]
    fn scrambling_returns_the_first_output_of_splitmix64() {
        assert_eq!([0, 1_234_567].map(scramble), [0xe220_a839_7b1d_cdaf, 6_457_827_717_110_365_317]);
    }

    #[test]
    fn both_ends_of_a_range_are_reached() {
        let mut rng = Rng::new(1, Purpose::Plan);
        let mut seen = [0_u32; 5];
        for _ in 0..5000 {
            seen[(rng.between(3, 7) - 3) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
    }

    #[test]
    fn certainty_and_impossibility_are_exact() {
        let mut rng = Rng::new(7, Purpose::Fate);
        assert!((0..1000).all(|_| rng.happens(Chance::new(1.0))));
        assert!((0..1000).all(|_| !rng.happens(Chance::new(0.0))));
    }
}
