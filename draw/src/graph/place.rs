//! Positions of boxes on their ranks: their order from left to right, and their x.

use super::spread::spread_within;
use crate::text::px;

/// The gap between two boxes of a rank.
pub(super) const BOX_GAP: i32 = 36;

/// The number of rounds over all ranks, down and up. Further rounds make no visible difference.
const ROUNDS: usize = 6;

/// Computes the left ends of all boxes. Each rank is sorted by the preferred positions of its boxes: the mean position
/// of the boxes to which each is related. If each rank has one box, all left ends are 0.
///
/// Costs rounds × (ops × log(ops) + pairs).
pub(super) fn place(ranks: &mut [Vec<usize>], pairs: &[(usize, usize)], widths: &[i32]) -> Vec<i32> {
    let mut lefts = vec![0; widths.len()];
    if ranks.iter().all(|rank| rank.len() == 1) {
        return lefts;
    }
    let mut related = vec![Vec::new(); widths.len()];
    for (upper, lower) in pairs {
        related[*upper].push(*lower);
        related[*lower].push(*upper);
    }
    let width_of = |rank: &Vec<usize>| rank.iter().map(|op| widths[*op] + BOX_GAP).sum::<i32>() - BOX_GAP;
    let end = ranks.iter().map(width_of).max().unwrap_or(0);
    for rank in ranks.iter() {
        let mut left = (end - width_of(rank)) / 2;
        for op in rank {
            lefts[*op] = left;
            left += widths[*op] + BOX_GAP;
        }
    }
    for round in 0..ROUNDS {
        for step in 0..2 * ranks.len() {
            let at = if step < ranks.len() { step } else { 2 * ranks.len() - 1 - step };
            let center = |op: usize| lefts[op] + widths[op] / 2;
            let mean = |op: usize| {
                let centers = related[op].iter().map(|other| i64::from(center(*other)));
                let count = i64::from(px(related[op].len()));
                let mean = centers.sum::<i64>().checked_div(count).and_then(|mean| i32::try_from(mean).ok());
                mean.unwrap_or_else(|| center(op))
            };
            let mut wanted: Vec<(i32, usize)> = ranks[at].iter().map(|op| (mean(*op), *op)).collect();
            // In the last round the order is fixed, and only positions change.
            if round + 1 < ROUNDS {
                wanted.sort_by_key(|(center, _)| *center);
            }
            ranks[at] = wanted.iter().map(|(_, op)| *op).collect();
            let widths_here: Vec<i32> = ranks[at].iter().map(|op| widths[*op]).collect();
            let wanted: Vec<i32> = wanted.iter().map(|(center, op)| center - widths[*op] / 2).collect();
            let placed = spread_within(&wanted, &widths_here, BOX_GAP, end);
            for (op, left) in ranks[at].iter().zip(placed) {
                lefts[*op] = left;
            }
        }
    }
    lefts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_flush_left() {
        let mut ranks = vec![vec![0], vec![1]];
        assert_eq!(place(&mut ranks, &[(0, 1)], &[100, 30]), [0, 0]);
    }

    #[test]
    fn relations_do_not_cross_without_need() {
        let mut ranks = vec![vec![0, 1], vec![2, 3]];
        let lefts = place(&mut ranks, &[(0, 3), (1, 2)], &[50; 4]);
        assert_eq!((lefts[0], lefts[1]), (lefts[3], lefts[2]));
    }
}
