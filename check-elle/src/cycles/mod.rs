//! Cycles: for each type, whether one exists, and a short one if so.
//!
//! The graph is cut into its strongly connected components, outside of which there are no cycles, and each is searched for
//! each type in the order of [`CYCLES`], worst first. A type that one already found in the component implies is skipped
//! there. That is what makes the search both complete and polynomial: by the time a type is searched for, the types that
//! imply it are known to be absent from the component, and a cycle found under weaker conditions must be of the type.
//! Each search in [`search`] says why.

pub(crate) mod cycle;
mod exists;
mod search;

pub(crate) use cycle::Cycle;

use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::{CYCLES, Suffix};
use crate::graph::scc::{Masked, components};
use crate::graph::{Graph, Mask, Relation};

/// The relation that gives a suffix to the types of cycles with it.
pub(crate) fn order_relation(order: Suffix) -> Option<Relation> {
    match order {
        Suffix::None => None,
        Suffix::Process => Some(Relation::Process),
        Suffix::Realtime => Some(Relation::Realtime),
    }
}

/// Whether a graph ordered so can have cycles with this suffix.
fn has(order: Suffix, suffix: Suffix) -> bool {
    suffix == Suffix::None || suffix == order
}

/// What cycles a graph has.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// One for each type in each component, in the order of components and then of the search. Nodes are the graph's.
    pub(crate) cycles: Vec<(AnomalyType, Cycle)>,
    /// Models that some cycle rules out: of each the smallest component, its transactions in ascending order.
    pub(crate) exists: Vec<(AnomalyType, Vec<u32>)>,
}

/// Finds them in a graph whose edges beside ww, wr and rw are of `order`. Components: O(nodes + edges). Within a component see [`search`].
pub(crate) fn find(graph: &Graph, order: Suffix) -> Found {
    let mut found = Found::default();
    for nodes in components(&Masked { graph, mask: Mask::ALL }).large {
        find_in(graph, &nodes, order, &mut found);
    }
    found
}

fn find_in(graph: &Graph, nodes: &[u32], order: Suffix, found: &mut Found) {
    let part = graph.induced(nodes);
    let outer = |node: &u32| nodes[*node as usize];
    for (anomaly, txns) in exists::find(&part, order) {
        let txns: Vec<u32> = txns.iter().map(outer).collect();
        match found.exists.iter_mut().find(|(known, _)| *known == anomaly) {
            None => found.exists.push((anomaly, txns)),
            Some((_, smallest)) if txns.len() < smallest.len() => *smallest = txns,
            Some(_) => {}
        }
    }
    let mut search = search::Search::new(&part);
    let mut implied = AnomalySet::EMPTY;
    for spec in CYCLES.iter().filter(|spec| has(order, spec.suffix)) {
        if implied.contains(spec.anomaly) {
            continue;
        }
        let Some(cycle) = search.find(spec) else { continue };
        // What was found is reported as what it is.
        let anomaly = cycle.anomaly();
        implied.insert(anomaly);
        implied = implied.union(anomaly.implied());
        found.cycles.push((anomaly, cycle.renumbered(outer)));
    }
}
