//! Ranks: assigns transactions to ranks from top to bottom, so that most relations lead down, and none stays on its
//! rank.
//!
//! A cycle keeps its own order; anything else has the order of the history, so a relation that leads up leads back in
//! time.

use history_core::{Step, WitnessOp};

/// The positions of the ops in the order of the ranks.
pub(super) fn order(ops: &[WitnessOp], steps: &[Step]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ops.len()).collect();
    let is_ring = steps.len() == ops.len()
        && steps.iter().enumerate().all(|(at, step)| step.from == at && step.to == (at + 1) % ops.len());
    if !is_ring {
        order.sort_by_key(|op| (ops[*op].index, *op));
    }
    order
}

/// The ranks of boxes: `ranks[r]` lists the ops of rank `r`, from left to right. The input is the order of the ops, the
/// pairs of related ops (each with the earlier one first), and the widths of boxes. A rank is at most `width_max` wide,
/// unless a single box is wider.
///
/// Costs ops × (ranks + pairs) at worst.
pub(super) fn ranks(order: &[usize], pairs: &[(usize, usize)], widths: &[i32], width_max: i32) -> Vec<Vec<usize>> {
    let count = order.len();
    let mut before = vec![Vec::new(); count];
    let mut after = vec![Vec::new(); count];
    for (upper, lower) in pairs {
        after[*upper].push(*lower);
        before[*lower].push(*upper);
    }
    let mut rank_of = vec![0_usize; count];
    // One entry more than the maximum number of ranks, so that moving down always finds space.
    let mut width_of = vec![0_i32; count + 1];
    let fits = |used: i32, width: i32| used == 0 || used.saturating_add(width) <= width_max;
    for op in order {
        let mut rank = before[*op].iter().map(|earlier| rank_of[*earlier] + 1).max().unwrap_or(0);
        while !fits(width_of[rank], widths[*op]) {
            rank += 1;
        }
        rank_of[*op] = rank;
        width_of[rank] += widths[*op];
    }
    // An op with more relations to later ops than to earlier ones is moved close to the later ones.
    for op in order.iter().rev().filter(|op| after[**op].len() > before[**op].len()) {
        let Some(first_after) = after[*op].iter().map(|later| rank_of[*later]).min() else { continue };
        let lower = (rank_of[*op] + 1..first_after).rev().find(|rank| fits(width_of[*rank], widths[*op]));
        if let Some(rank) = lower {
            width_of[rank_of[*op]] -= widths[*op];
            width_of[rank] += widths[*op];
            rank_of[*op] = rank;
        }
    }
    let mut ranks = vec![Vec::new(); count];
    for op in order {
        ranks[rank_of[*op]].push(*op);
    }
    ranks.retain(|rank: &Vec<usize>| !rank.is_empty());
    ranks
}

#[cfg(test)]
mod tests {
    use super::super::samples::{op, step};
    use super::*;

    #[test]
    fn a_cycle_keeps_its_order_and_other_graphs_have_that_of_the_history() {
        let ops = [op(30, "[]"), op(10, "[]"), op(20, "[]")];
        let ring = [step(0, 1, "ww"), step(1, 2, "ww"), step(2, 0, "ww")];
        assert_eq!(order(&ops, &ring), [0, 1, 2]);
        assert_eq!(order(&ops, &ring[..2]), [1, 2, 0]);
        assert_eq!(order(&[], &[]), [0; 0]);
    }

    #[test]
    fn related_boxes_are_on_separate_ranks() {
        let order = [0, 1, 2, 3];
        assert_eq!(ranks(&order, &[(0, 1), (1, 2), (2, 3), (0, 3)], &[10; 4], 100), [[0], [1], [2], [3]]);
        assert_eq!(ranks(&order, &[(0, 1), (0, 2), (1, 3), (2, 3)], &[10; 4], 100), [vec![0], vec![1, 2], vec![3]]);
        assert_eq!(ranks(&order, &[], &[10; 4], 100), [[0, 1, 2, 3]]);
    }

    #[test]
    fn a_rank_is_not_too_wide() {
        assert_eq!(ranks(&[0, 1, 2, 3], &[], &[10; 4], 25), [[0, 1], [2, 3]]);
        assert_eq!(ranks(&[0, 1, 2], &[], &[10, 500, 10], 25), [vec![0, 2], vec![1]]);
    }

    #[test]
    fn an_op_with_relations_to_later_ops_only_is_near_to_them() {
        let pairs = [(0, 1), (1, 2), (3, 2)];
        assert_eq!(ranks(&[0, 1, 3, 2], &pairs, &[10; 4], 100), [vec![0], vec![1, 3], vec![2]]);
        assert_eq!(ranks(&[0, 3, 1, 2], &pairs, &[60; 4], 100), [[0], [3], [1], [2]], "no room");
    }
}
