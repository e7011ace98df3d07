//! Compares PQ-trees with all permutations.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

impl PqTree {
    /// One of the possible orders.
    fn frontier(&self) -> Vec<u32> {
        let mut order = Vec::new();
        // The nodes to visit, each with the neighbour that precedes it.
        let mut stack = vec![(self.root, NONE)];
        while let Some((node, before)) = stack.pop() {
            if node == NONE {
                continue;
            }
            if node != self.root {
                stack.push((self.after(node, before), node));
            }
            match self.nodes[node.to_usize()].kind {
                Kind::Leaf => order.push(node),
                Kind::P | Kind::Q => stack.push((self.nodes[node.to_usize()].ends[0], NONE)),
            }
        }
        order
    }
}

fn permutations(count: u32) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for next in 0..count {
        let insert = |order: &Vec<u32>| -> Vec<Vec<u32>> {
            let at = |at: usize| [&order[..at], &[next], &order[at..]].concat();
            (0..=order.len()).map(at).collect()
        };
        all = all.iter().flat_map(insert).collect();
    }
    all
}

fn stands_together(order: &[u32], set: &[u32]) -> bool {
    let first = order.iter().position(|leaf| set.contains(leaf)).unwrap_or(0);
    order.iter().skip(first).take(set.len()).all(|leaf| set.contains(leaf))
}

/// All orders that a node permits. For small trees only.
fn frontiers(tree: &PqTree, node: u32) -> BTreeSet<Vec<u32>> {
    let mut children = Vec::new();
    let (mut child, mut before) = (tree.nodes[node.to_usize()].ends[0], NONE);
    while child != NONE {
        children.push(child);
        (child, before) = (tree.after(child, before), child);
    }
    assert_eq!(children.len(), tree.nodes[node.to_usize()].children.to_usize(), "{tree:?}");
    let orders = match tree.nodes[node.to_usize()].kind {
        Kind::Leaf => return BTreeSet::from([vec![node]]),
        Kind::P => {
            assert!(children.len() > 1, "{tree:?}");
            permutations(children.len().to_u32())
        }
        Kind::Q => {
            assert!(children.len() > 2, "{tree:?}");
            let order: Vec<u32> = (0..children.len().to_u32()).collect();
            vec![order.iter().copied().rev().collect(), order]
        }
    };
    let below: Vec<BTreeSet<Vec<u32>>> = children.iter().map(|child| frontiers(tree, *child)).collect();
    let mut all = BTreeSet::new();
    for order in orders {
        let mut fronts = vec![Vec::new()];
        for at in order {
            let longer = |front: &Vec<u32>| -> Vec<Vec<u32>> {
                below[at.to_usize()].iter().map(|below| [&front[..], below].concat()).collect()
            };
            fronts = fronts.iter().flat_map(longer).collect();
        }
        all.extend(fronts);
    }
    all
}

/// Adds sets one after another and checks after each that the tree has exactly the remaining orders.
fn agrees(leaves: u32, sets: &[Vec<u32>]) -> bool {
    let mut tree = PqTree::new(leaves);
    let mut left: BTreeSet<Vec<u32>> = permutations(leaves).into_iter().collect();
    for set in sets {
        left.retain(|order| stands_together(order, set));
        assert_eq!(tree.reduce(set), !left.is_empty(), "{leaves} {sets:?}");
        if left.is_empty() {
            return false;
        }
        assert_eq!(frontiers(&tree, tree.root), left, "{leaves} {sets:?}");
        assert!(left.contains(&tree.frontier()), "{leaves} {sets:?}");
        assert!(tree.nodes.iter().all(|node| !node.mark.touched && node.mark.waiting == 0));
    }
    true
}

fn members(bits: usize) -> Vec<u32> {
    (0..usize::BITS).filter(|leaf| bits >> leaf & 1 == 1).collect()
}

#[test]
fn every_small_family_of_sets_leaves_the_orders_it_should() {
    for (leaves, len) in [(2, 2), (3, 4), (4, 3), (5, 3)] {
        // Sets with fewer than two members have no effect.
        let sets: Vec<Vec<u32>> = (0..1 << leaves).map(members).filter(|set| set.len() > 1).collect();
        let (mut possible, mut impossible) = (0, 0);
        for number in 0..sets.len().pow(len) {
            let family: Vec<Vec<u32>> =
                (0..len).map(|at| sets[number / sets.len().pow(at) % sets.len()].clone()).collect();
            if agrees(leaves, &family) {
                possible += 1;
            } else {
                impossible += 1;
            }
        }
        assert!(possible > 0 && (leaves < 4 || impossible > 0), "{leaves}: {possible} {impossible}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_families_leave_the_orders_they_should(sets in prop::collection::vec(1..64usize, 1..8)) {
        agrees(6, &sets.into_iter().map(members).collect::<Vec<_>>());
    }

    /// Deep trees: sets that are nested, adjacent or overlapping in a hidden order.
    #[test]
    fn intervals_of_some_order_are_possible(
        order in Just((0..60u32).collect::<Vec<_>>()).prop_shuffle(),
        ends in prop::collection::vec((0..60usize, 0..60usize), 1..80),
    ) {
        let sets: Vec<Vec<u32>> = ends.iter().map(|(a, b)| order[*a.min(b)..=*a.max(b)].to_vec()).collect();
        let mut tree = PqTree::new(60);
        for (at, set) in sets.iter().enumerate() {
            prop_assert!(tree.reduce(set));
            let frontier = tree.frontier();
            prop_assert_eq!(frontier.iter().collect::<BTreeSet<_>>().len(), 60);
            for set in &sets[..=at] {
                prop_assert!(stands_together(&frontier, set), "{:?} {:?}", frontier, set);
            }
        }
    }
}

#[test]
fn long_paths_and_deep_trees_are_read_without_recursion() {
    const LEAVES: u32 = 300_000;
    let mut path = PqTree::new(LEAVES);
    // From the middle outwards, so that the path grows at both ends.
    for step in 0..LEAVES / 2 - 1 {
        let middle = LEAVES / 2;
        assert!(path.reduce(&[middle + step, middle + step + 1]));
        assert!(path.reduce(&[middle - step, middle - step - 1]));
    }
    let frontier = path.frontier();
    let at = frontier.iter().position(|leaf| *leaf == 5).unwrap();
    let neighbours = [frontier[at - 1], frontier[at + 1]];
    assert!(neighbours == [4, 6] || neighbours == [6, 4], "{neighbours:?}");
    assert!(!path.reduce(&[LEAVES / 2, LEAVES / 2 + 2]));
    // A chain of sets, each contained in the next: as deep as it is long.
    let mut deep = PqTree::new(600);
    for size in 2..600 {
        assert!(deep.reduce(&(0..size).collect::<Vec<_>>()));
    }
    assert!(deep.reduce(&[0, 599]));
    assert_eq!(deep.frontier().len(), 600);
    assert!(!deep.reduce(&[1, 599]));
}

#[test]
fn a_cycle_has_no_order() {
    for leaves in 3..40 {
        let mut tree = PqTree::new(leaves);
        for leaf in 0..leaves {
            let set = [leaf, (leaf + 1) % leaves];
            assert_eq!(tree.reduce(&set), leaf + 1 < leaves, "{leaves} {leaf}");
        }
    }
}
