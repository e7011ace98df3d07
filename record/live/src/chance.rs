//! Random choices that a seed repeats.

use history_core::cast::Cast as _;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;
use std::time::Duration;

/// A source of random choices; equal seeds and streams give equal choices on every machine.
#[derive(Debug)]
pub struct Chance(Pcg64);

impl Chance {
    /// The choices of one part of a run: `stream` distinguishes the parts.
    pub fn new(seed: u64, stream: u64) -> Chance {
        // Seeds are small numbers, often consecutive; the multiplier spreads them.
        let state = u128::from(seed ^ stream.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        Chance(Pcg64::new(state, u128::from(stream)))
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        assert!(end > 0, "there is no number below 0");
        let product = u128::from(self.0.next_u64()) * u128::from(end);
        u64::try_from(product >> 64).unwrap_or(u64::MAX)
    }

    /// True `percent` times out of 100.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let index = self.below(of.len().to_u64());
        &of[usize::try_from(index).unwrap_or(0)]
    }

    /// A pause with the mean `mean`: exponentially distributed, at most ten times as long.
    pub fn pause(&mut self, mean: Duration) -> Duration {
        // A fraction in (0, 1].
        let whole = u32::MAX;
        let part = u32::try_from(self.below(u64::from(whole))).unwrap_or(whole - 1) + 1;
        let fraction = f64::from(part) / f64::from(whole);
        mean.mul_f64(-fraction.ln()).min(mean * 10)
    }
}
