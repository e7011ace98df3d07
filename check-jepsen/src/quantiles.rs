//! Quantiles by nearest rank: of n numbers in order, the quantile q is the one at rank ⌈q·n⌉, counted from 1; for 0 it
//! is the least.

use history_core::cast::Cast as _;
use std::borrow::Cow;

/// The quantiles in reports, in thousandths, with their names.
const QUANTILES: [(usize, &str); 5] = [(0, "min"), (500, "p50"), (950, "p95"), (990, "p99"), (1000, "max")];

/// The quantiles of some numbers, by name: `stable-latency-ms-p95`. None if there are no numbers. Sorts them.
pub(crate) fn quantiles(name: &str, numbers: &mut [u64]) -> Vec<(Cow<'static, str>, u64)> {
    numbers.sort_unstable();
    let named = |(permille, suffix): &(usize, &str)| {
        Some((Cow::Owned(format!("{name}-{suffix}")), *numbers.get(rank(*permille, numbers.len()))?))
    };
    QUANTILES.iter().filter_map(named).collect()
}

/// The position of a quantile among `count` numbers in order.
fn rank(permille: usize, count: usize) -> usize {
    // In u128, because a thousand times a count may not fit.
    let rank = (permille as u128 * count as u128).div_ceil(1000).to_usize();
    rank.max(1) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mut numbers: Vec<u64>) -> Vec<u64> {
        quantiles("x", &mut numbers).into_iter().map(|(_, number)| number).collect()
    }

    #[test]
    fn ranks_are_the_nearest() {
        assert_eq!(of(vec![]), []);
        assert_eq!(of(vec![7]), [7; 5]);
        assert_eq!(of(vec![2, 1]), [1, 1, 2, 2, 2]);
        assert_eq!(of((1..=100).rev().collect()), [1, 50, 95, 99, 100]);
        assert_eq!(of((1..=101).collect()), [1, 51, 96, 100, 101]);
        let names: Vec<_> = quantiles("x", &mut [1]).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["x-min", "x-p50", "x-p95", "x-p99", "x-max"]);
    }
}
