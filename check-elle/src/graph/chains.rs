//! Chains of a process: one step from each transaction to each later one, so that no cycle lists all those between.
//!
//! The process order is transitive, but its edges lead from each transaction only to the next. As for real time, gates
//! replace the missing edges without one for each pair: whatever leads to the next transaction leads to all later ones.

use super::{Graph, Relation};
use history_core::cast::Cast as _;

/// The number of an absent gate.
const NONE: u32 = u32::MAX;

/// The same graph with a gate for each transaction that is indirectly followed by a later one of its process. The gates
/// are its last nodes. O(nodes + edges).
pub(crate) fn gated(graph: &Graph) -> Graph {
    let next_of = |node: u32| {
        let process = graph.out(node).filter(|(_, relation)| *relation == Relation::Process);
        process.map(|(to, _)| to)
    };
    let is_last = |node: u32| next_of(node).next().is_none();
    let (mut gate_of, mut behind) = (vec![NONE; graph.nodes().to_usize()], Vec::new());
    for node in 0..graph.nodes() {
        if next_of(node).any(|next| !is_last(next)) {
            gate_of[node.to_usize()] = graph.nodes() + behind.len().to_u32();
            behind.push(node);
        }
    }
    let mut gated = Graph::new(graph.txns.to_usize());
    for node in 0..graph.nodes() {
        let gate = gate_of[node.to_usize()];
        for (to, relation) in graph.out(node).filter(|(_, own)| gate == NONE || *own != Relation::Process) {
            gated.push_edge(to, relation);
        }
        if gate != NONE {
            gated.push_edge(gate, Relation::Process);
        }
        gated.end_node();
    }
    for node in behind {
        for next in next_of(node) {
            gated.push_edge(next, Relation::Through);
            match gate_of[next.to_usize()] {
                NONE => next_of(next).for_each(|last| gated.push_edge(last, Relation::Through)),
                gate => gated.push_edge(gate, Relation::Through),
            }
        }
        gated.end_node();
    }
    gated
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processes; in the second one a transaction leads to two others.
    #[test]
    fn each_leads_to_all_that_come_later_in_one_step() {
        let edges = [(0, 1), (1, 2), (2, 3), (4, 5), (6, 7), (7, 8), (7, 9)];
        let mut graph = Graph::new(10);
        for node in 0..10 {
            edges.iter().filter(|(from, _)| *from == node).for_each(|(_, to)| graph.push_edge(*to, Relation::Process));
            if node == 3 {
                graph.push_edge(0, Relation::Rw);
            }
            graph.end_node();
        }
        let gated = gated(&graph);
        let steps = |from: u32| gated.steps_of(from).into_iter().map(|(to, _)| to).collect::<Vec<_>>();
        let all: Vec<Vec<u32>> = (0..10).map(steps).collect();
        let later: [&[u32]; 10] = [&[1, 2, 3], &[2, 3], &[3], &[0], &[5], &[], &[7, 8, 9], &[8, 9], &[], &[]];
        assert_eq!(all, later);
        assert_eq!(gated.nodes(), 13, "no gates where there is nothing to be left out");
        assert_eq!(gated.steps_of(3), [(0, Relation::Rw)]);
        assert!(gated.steps_of(0).iter().all(|(_, relation)| *relation == Relation::Process));
    }
}
