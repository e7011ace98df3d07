//! Places items side by side, each as near as possible to its preferred position: isotonic regression by pooling
//! adjacent items that overlap.

/// The left ends of items with these widths, in this order, with a gap between neighbours, that minimize the sum of
/// squared distances to the preferred left ends (except for rounding). Linear.
pub(super) fn spread(wanted: &[i32], widths: &[i32], gap: i32) -> Vec<i32> {
    /// Adjacent items that touch. Their left ends, without all widths and gaps before them, as a sum and a count.
    struct Pool {
        sum: i64,
        count: i64,
    }

    let offsets: Vec<i32> = widths
        .iter()
        .scan(0_i32, |end, width| {
            let offset = *end;
            *end += width + gap;
            Some(offset)
        })
        .collect();
    let mut pools: Vec<Pool> = Vec::new();
    for (wanted, offset) in wanted.iter().zip(&offsets) {
        let mut pool = Pool { sum: i64::from(wanted - offset), count: 1 };
        while let Some(last) = pools.pop_if(|last| last.sum * pool.count > pool.sum * last.count) {
            pool = Pool { sum: pool.sum + last.sum, count: pool.count + last.count };
        }
        pools.push(pool);
    }
    // The means increase from pool to pool, and rounding down keeps this order, so every gap is exact.
    let bases = pools.iter().flat_map(|pool| (0..pool.count).map(|_| pool.sum.div_euclid(pool.count)));
    let base = |base: i64| i32::try_from(base).unwrap_or_default();
    bases.zip(&offsets).map(|(at, offset)| base(at) + offset).collect()
}

/// The same, between `0` and `end`. Items that do not fit extend beyond `end`.
pub(super) fn spread_within(wanted: &[i32], widths: &[i32], gap: i32, end: i32) -> Vec<i32> {
    // Clamping the optimal left ends to their ranges one by one gives the optimum within the ranges.
    let mut from_left = 0;
    let mut lefts = spread(wanted, widths, gap);
    let total: i32 = widths.iter().map(|width| width + gap).sum::<i32>() - if widths.is_empty() { 0 } else { gap };
    let slack = (end - total).max(0);
    for (left, width) in lefts.iter_mut().zip(widths) {
        *left = (*left).clamp(from_left, from_left + slack);
        from_left += width + gap;
    }
    lefts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn items_with_room_are_at_their_preferred_positions() {
        assert_eq!(spread(&[0, 100, 200], &[10, 10, 10], 5), [0, 100, 200]);
        assert_eq!(spread(&[], &[], 5), [0; 0]);
    }

    #[test]
    fn overlapping_neighbours_share_the_middle() {
        assert_eq!(spread(&[50, 50], &[10, 10], 10), [40, 60]);
        assert_eq!(spread(&[100, 0], &[10, 10], 10), [40, 60], "the order is given");
        assert_eq!(spread_within(&[-50, 500], &[10, 10], 10, 100), [0, 90]);
        assert_eq!(spread_within(&[0, 0], &[80, 80], 10, 100), [0, 90], "no room: out at the right");
    }

    proptest! {
        #[test]
        fn nothing_overlaps(things in prop::collection::vec((-900..900_i32, 0..90_i32), 0..40), gap in 0..20_i32) {
            let (wanted, widths): (Vec<i32>, Vec<i32>) = things.into_iter().unzip();
            let end = 700;
            for lefts in [spread(&wanted, &widths, gap), spread_within(&wanted, &widths, gap, end)] {
                prop_assert_eq!(lefts.len(), widths.len());
                for at in 1..lefts.len() {
                    prop_assert!(lefts[at] >= lefts[at - 1] + widths[at - 1] + gap, "{:?}", lefts);
                }
            }
            let within = spread_within(&wanted, &widths, gap, end);
            if widths.iter().map(|width| width + gap).sum::<i32>() <= end {
                prop_assert!(within.iter().zip(&widths).all(|(left, width)| *left >= 0 && left + width <= end));
            }
        }
    }
}
