//! Latencies of operations as a histogram: small, fast to update, and precise to a quarter.

use history_core::cast::Cast as _;
use serde::{Deserialize, Serialize};

/// The number of classes: four for each power of two of nanoseconds.
const CLASSES: usize = 256;

/// The durations of operations, as a histogram.
///
/// ```
/// use histcheck_serve::Latencies;
///
/// let mut latencies = Latencies::default();
/// (1..=1000).for_each(|time_ns| latencies.add(time_ns * 1000));
/// let median = latencies.quantile(0.5).unwrap();
/// assert!((500_000..=640_000).contains(&median));
/// assert_eq!(latencies.count(), 1000);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// The number of operations in each class, up to the last class that is not empty.
    counts: Vec<u32>,
}

impl Latencies {
    /// The class of a latency in nanoseconds.
    #[inline]
    fn class(time_ns: u64) -> usize {
        if time_ns < 4 {
            return time_ns.to_usize();
        }
        let power = time_ns.ilog2();
        (4 * power + low_two(time_ns >> (power - 2))).to_usize() - 4
    }

    /// The longest latency of a class in nanoseconds.
    fn longest_ns(class: usize) -> u64 {
        if class < 4 {
            return class.to_u64();
        }
        let (power, part) = (class.to_u32() / 4 + 1, class.to_u64() % 4);
        if power > 63 {
            return u64::MAX;
        }
        ((4 + part + 1) << (power - 2)).wrapping_sub(1)
    }

    /// Adds an operation with this duration in nanoseconds.
    #[inline]
    pub fn add(&mut self, time_ns: u64) {
        self.add_to(Latencies::class(time_ns), 1);
    }

    /// Adds operations to a class.
    fn add_to(&mut self, class: usize, count: u32) {
        if class >= self.counts.len() {
            self.counts.resize((class + 1).min(CLASSES), 0);
        }
        if let Some(sum) = self.counts.get_mut(class) {
            *sum = sum.saturating_add(count);
        }
    }

    /// Adds all latencies of another histogram.
    pub fn join(&mut self, other: &Latencies) {
        other
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .for_each(|(at, count)| self.add_to(at, *count));
    }

    /// Moves all counts from another histogram, which is then empty and keeps its memory.
    pub(super) fn take_all(&mut self, other: &mut Latencies) {
        self.join(other);
        other.counts.clear();
    }

    /// The number of operations.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// The time that this share of the operations did not exceed, at most a quarter too long; `None` if there are no
    /// operations.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let all = self.count();
        let mut seen = 0;
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).find_map(|(class, count)| {
            seen += u64::from(*count);
            #[expect(clippy::cast_precision_loss, reason = "a share of a count need not be exact")]
            let is_reached = seen as f64 >= all as f64 * share;
            is_reached.then(|| Latencies::longest_ns(class))
        })
    }
}

fn low_two(number: u64) -> u32 {
    (number & 3).to_u32()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_one_another_and_are_narrow() {
        let mut before = 0;
        for power in 0..64_u32 {
            for time in [1_u64 << power, (1_u64 << power) + (1_u64 << power) / 3, u64::MAX >> (63 - power)] {
                let class = Latencies::class(time);
                assert!(class < CLASSES && class >= before, "{time}");
                before = class;
                let longest = Latencies::longest_ns(class);
                assert!(longest >= time && Latencies::class(longest) == class, "{time}: {class} ends at {longest}");
                assert!(u128::from(longest) * 4 <= u128::from(time) * 5, "{time}: {longest}");
            }
        }
        assert_eq!((Latencies::class(0), Latencies::longest_ns(0)), (0, 0));
    }

    #[test]
    fn joined_histograms_are_summed() {
        let (mut one, mut other) = (Latencies::default(), Latencies::default());
        assert_eq!(one.quantile(0.5), None);
        one.add(10);
        other.add(1_000_000);
        one.join(&other);
        assert_eq!((one.count(), one.quantile(0.5), one.quantile(1.0)), (2, Some(11), Some(1_048_575)));
    }
}
