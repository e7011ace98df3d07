//! The links that a partition cuts.
//!
//! A link has a direction: from a node to another one. Nodes are numbered from 0.

use super::Fault;
use std::collections::BTreeSet;

/// Links that are cut, from the first node to the second.
pub(crate) type Cuts = BTreeSet<(u32, u32)>;

/// The links that a fault cuts, among `count` nodes; empty if it is not a partition.
pub(crate) fn cuts(fault: Fault, nodes: &[u32], count: u32) -> Cuts {
    let is_hit = |node: u32| nodes.contains(&node);
    links(count)
        .filter(|&(from, to)| match fault {
            Fault::Isolate | Fault::Split => is_hit(from) != is_hit(to),
            Fault::DropOutgoing => is_hit(from) && !is_hit(to),
            Fault::DropIncoming => !is_hit(from) && is_hit(to),
            Fault::Bridge => {
                let is_bridge = |node: u32| nodes.first() == Some(&node);
                !is_bridge(from) && !is_bridge(to) && is_hit(from) != is_hit(to)
            }
            Fault::Ring => !hears(nodes, from, to),
            _ => false,
        })
        .collect()
}

/// All links, each with its direction.
fn links(count: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..count).flat_map(move |from| (0..count).filter(move |to| *to != from).map(move |to| (from, to)))
}

/// Returns true if `to` receives messages of `from` in this ring: its majority begins half a majority before it.
fn hears(ring: &[u32], from: u32, to: u32) -> bool {
    let place = |node: u32| ring.iter().position(|other| *other == node);
    let (Some(from), Some(to)) = (place(from), place(to)) else { return true };
    let majority = ring.len() / 2 + 1;
    (from + ring.len() - to + majority / 2) % ring.len() < majority
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::cast::Cast as _;

    fn both_ways(pairs: &[(u32, u32)]) -> Cuts {
        pairs.iter().flat_map(|&(one, other)| [(one, other), (other, one)]).collect()
    }

    #[test]
    fn each_shape_cuts_its_links() {
        assert_eq!(cuts(Fault::Isolate, &[1], 3), both_ways(&[(1, 0), (1, 2)]));
        let halves = [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)];
        assert_eq!(cuts(Fault::Split, &[0, 1], 5), both_ways(&halves));
        assert_eq!(cuts(Fault::DropOutgoing, &[1], 3), [(1, 0), (1, 2)].into());
        assert_eq!(cuts(Fault::DropIncoming, &[1], 3), [(0, 1), (2, 1)].into());
        assert_eq!(cuts(Fault::Bridge, &[2, 0, 1], 5), both_ways(&[(0, 3), (0, 4), (1, 3), (1, 4)]));
        assert_eq!(cuts(Fault::Kill, &[1], 3), Cuts::new());
    }

    #[test]
    fn in_a_ring_every_node_hears_a_majority_of_its_own() {
        for count in 3_u32..9 {
            let ring: Vec<u32> = (0..count).rev().collect();
            let cut = cuts(Fault::Ring, &ring, count);
            let heard: BTreeSet<Vec<u32>> = (0..count)
                .map(|to| (0..count).filter(|from| *from == to || !cut.contains(&(*from, to))).collect())
                .collect();
            assert_eq!(heard.len(), count.to_usize(), "of {count}: {heard:?}");
            assert!(heard.iter().all(|nodes| nodes.len() == count.to_usize() / 2 + 1), "of {count}: {heard:?}");
        }
        // A majority of five is odd, so neighbours reach each other in both directions.
        assert_eq!(cuts(Fault::Ring, &[0, 1, 2, 3, 4], 5), both_ways(&[(0, 2), (0, 3), (1, 3), (1, 4), (2, 4)]));
    }
}
