//! Bins of time and of latency, for histories whose length is not known before their end.
//!
//! The number of bins of time is constant. When a time is outside of all bins, each bin becomes at least twice as wide,
//! so bins are merged and counts move. A bin of latency is an eighth of an octave: 9 % wide.

use history_core::cast::Cast as _;

/// The number of bins of time.
pub(super) const TIMES: usize = 128;
/// The number of bins of latency: up to 2^44 ns, which is almost five hours.
pub(super) const LATENCIES: usize = 44 * PER_OCTAVE;
/// The number of bins of latency in an octave: from one latency to twice that latency.
pub(super) const PER_OCTAVE: usize = 1 << OCTAVE_BITS;
const OCTAVE_BITS: u32 = 3;
/// The initial width of a bin of time: 2^10 ns.
const SHIFT_MIN: u32 = 10;

/// The positions of the bins of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TimeBins {
    /// The first and the last time.
    range: Option<(i64, i64)>,
    /// The width of a bin is 2^shift ns.
    shift: u32,
    /// The number of the first bin, counted from time 0.
    base: i64,
}

/// A change of the bins' positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    from: TimeBins,
    to: TimeBins,
}

impl TimeBins {
    /// The first and the last time, if there are any.
    pub(super) fn range(&self) -> Option<(i64, i64)> {
        self.range
    }

    /// Extends the range to a time. Returns the change of the bins, if they moved.
    pub(super) fn extend(&mut self, time_ns: i64) -> Option<Move> {
        let Some((first, last)) = self.range else {
            *self = TimeBins { range: Some((time_ns, time_ns)), shift: SHIFT_MIN, base: time_ns >> SHIFT_MIN };
            return None;
        };
        self.range = Some((first.min(time_ns), last.max(time_ns)));
        if (0..TIMES.to_u64()).contains(&(time_ns >> self.shift).wrapping_sub(self.base).cast_unsigned()) {
            return None;
        }
        let from = *self;
        let (first, last) = self.range?;
        // The bins become at least twice as wide, so that they move at most a few dozen times for any order of times.
        let mut shift = self.shift + 1;
        while (last >> shift) - (first >> shift) >= TIMES.to_u64().cast_signed() {
            shift += 1;
        }
        *self = TimeBins { range: self.range, shift, base: first >> shift };
        Some(Move { from, to: *self })
    }

    /// The bin of a time within the range.
    pub(super) fn bin(&self, time_ns: i64) -> usize {
        (time_ns >> self.shift).wrapping_sub(self.base).cast_unsigned().to_usize().min(TIMES - 1)
    }

    /// The interval of a bin, limited to the first and the last time.
    pub(super) fn span(&self, bin: usize) -> (i64, i64) {
        let (first, last) = self.range.unwrap_or_default();
        let start = |bin: i64| (self.base + bin).checked_mul(1 << self.shift).unwrap_or(i64::MAX);
        let bin = bin.to_u64().cast_signed();
        (start(bin).clamp(first, last), start(bin + 1).clamp(first, last))
    }

    /// The number of bins up to the last time.
    pub(super) fn used(&self) -> usize {
        self.range.map_or(0, |(_, last)| self.bin(last) + 1)
    }
}

impl Move {
    /// Moves the counts of a table with `each` counts per bin of time.
    pub(super) fn apply(self, counts: &mut [u32], each: usize) {
        let old = counts.to_vec();
        counts.fill(0);
        for (bin, row) in old.chunks_exact(each).enumerate() {
            let moved =
                ((self.from.base + bin.to_u64().cast_signed()) >> (self.to.shift - self.from.shift)) - self.to.base;
            // Bins after the last time are empty.
            let Some(at) = usize::try_from(moved).ok().filter(|at| *at < TIMES) else { continue };
            for (count, old) in counts[at * each..].iter_mut().zip(row) {
                *count += old;
            }
        }
    }
}

/// The bin of a latency.
pub(super) fn latency_bin(ns: u64) -> usize {
    let ns = ns.max(1);
    let octave = ns.ilog2();
    let within = if octave >= OCTAVE_BITS { ns >> (octave - OCTAVE_BITS) } else { ns << (OCTAVE_BITS - octave) };
    let within = (within & (PER_OCTAVE.to_u64() - 1)).to_usize();
    (octave.to_usize() * PER_OCTAVE + within).min(LATENCIES - 1)
}

/// The latency in the middle of a bin.
pub(super) fn latency_of(bin: usize) -> u64 {
    let (octave, within) = (bin / PER_OCTAVE, (bin % PER_OCTAVE).to_u64());
    let sixteenths = 2 * (PER_OCTAVE.to_u64() + within) + 1;
    ((1_u64 << octave) * sixteenths) >> (OCTAVE_BITS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn latencies_are_in_bins_a_tenth_wide() {
        for ns in (1..2000).chain([1_000_000, 999_999_999, 3_600_000_000_000]) {
            let middle = latency_of(latency_bin(ns));
            assert!(middle.abs_diff(ns) * 16 <= ns + 16, "{ns} ns in the bin of {middle} ns");
        }
        assert_eq!(latency_bin(0), 0);
        assert_eq!(latency_bin(u64::MAX), LATENCIES - 1);
        assert!((1..LATENCIES).all(|bin| latency_of(bin) >= latency_of(bin - 1)));
    }

    proptest! {
        #[test]
        fn counts_keep_their_times(times in prop::collection::vec(prop_oneof![0..10_000_i64, any::<i64>().prop_map(|time| time >> 8)], 1..60)) {
            let mut bins = TimeBins::default();
            let mut counts = vec![0; TIMES];
            let mut moves = 0;
            for time in &times {
                if let Some(moved) = bins.extend(*time) {
                    moved.apply(&mut counts, 1);
                    moves += 1;
                }
                counts[bins.bin(*time)] += 1;
            }
            prop_assert!(moves < 64);
            let mut expected = vec![0; TIMES];
            for time in &times {
                expected[bins.bin(*time)] += 1;
            }
            prop_assert_eq!(counts, expected);
            for time in times {
                let (from, until) = bins.span(bins.bin(time));
                prop_assert!(from <= time && time <= until);
            }
        }
    }
}
