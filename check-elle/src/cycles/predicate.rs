//! Cycles with predicate rw edges: the same search twice, without these edges and with them.
//!
//! A cycle with an rwp edge has the name of its shape without `-item`: G-single, G-nonadjacent, G2. Without such edges
//! the search finds every type of cycle of items. With them it finds every type of any cycle, with any edges. A cycle
//! of this second search without an rwp edge is of a type that the first one found, or that one of its types implies. A
//! type that the second search skipped, because it found a cycle whose type implies it, is implied by a type that is
//! reported: by the first search if that cycle is of items, else by the second. So every level that some cycle rules
//! out is ruled out by a reported one.

use super::{Cycle, Found};
use crate::anomaly::AnomalyType;
use crate::cycle_spec::Suffix;
use crate::graph::{Graph, Relation};
use history_core::Budget;
use history_core::cast::Cast as _;

/// The result of [`super::find`] if some rw edges are of predicates: these pairs of transactions, ascending.
pub(crate) fn find(
    graph: &Graph,
    predicates: &[(u32, u32)],
    order: Suffix,
    lacks_invocations: bool,
    budget: &Budget,
) -> Found {
    if predicates.is_empty() {
        return super::find(graph, order, lacks_invocations, budget);
    }
    let is_of_predicate =
        |from: u32, to: u32, relation| relation == Relation::Rw && predicates.binary_search(&(from, to)).is_ok();
    let mut items = Graph::new(graph.txns.to_usize());
    for node in 0..graph.nodes() {
        for (to, relation) in graph.out(node).filter(|(to, relation)| !is_of_predicate(node, *to, *relation)) {
            items.push_edge(to, relation);
        }
        items.end_node();
    }
    let mut found = super::find(&items, order, lacks_invocations, budget);
    let with = super::find(graph, order, lacks_invocations, budget);
    let has_predicate = |cycle: &Cycle| {
        let next = cycle.0.iter().cycle().skip(1);
        cycle.0.iter().zip(next).any(|((from, relation), (to, _))| is_of_predicate(*from, *to, *relation))
    };
    let of_predicates = with.cycles.into_iter().filter(|(_, cycle)| has_predicate(cycle));
    found.cycles.extend(of_predicates.map(|(anomaly, cycle)| (without_item(anomaly), cycle)));
    // Repeatable read is the level that allows rw edges of predicates.
    let allows = AnomalyType::PL_2_99_CYCLE_EXISTS;
    found.exists.retain(|(anomaly, _)| *anomaly == allows);
    found.exists.extend(with.exists.into_iter().filter(|(anomaly, _)| *anomaly != allows));
    found.components = with.components;
    found.spent = found.spent.or(with.spent);
    found
}

/// The type of a cycle of this shape with an rw edge of a predicate.
fn without_item(anomaly: AnomalyType) -> AnomalyType {
    let name = anomaly.name().replacen("-item", "", 1);
    name.parse().unwrap_or(anomaly)
}
