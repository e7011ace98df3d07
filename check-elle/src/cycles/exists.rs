//! The models that some cycle rules out: one pass of strongly connected components for each, without a search for the
//! cycle itself.

use super::{Ordered, order_relations};
use crate::anomaly::AnomalyType;
use crate::cycle_spec::{CYCLE_EXISTS, CycleExistsSpec, RwUse};
use crate::graph::scc::{Components, components};
use crate::graph::views::{Masked, Nonadjacent};
use crate::graph::{Graph, Mask, Relation};

/// The models ruled out in a graph, each with its smallest component. Those that a weaker one also rules out are
/// included, because the user may have requested only these. O(nodes + edges) for each.
pub(super) fn find(graph: &Graph, ordered: Ordered) -> Vec<(AnomalyType, Vec<u32>)> {
    let specs = CYCLE_EXISTS.iter().filter(|spec| ordered.includes(spec.suffix()));
    specs.filter_map(|spec| Some((spec.anomaly, smallest(graph, *spec)?))).collect()
}

/// The transactions of the smallest component with more than one.
fn smallest(graph: &Graph, spec: CycleExistsSpec) -> Option<Vec<u32>> {
    let mask = order_relations(spec.suffix()).iter().fold(Mask::from(spec.relations), |mask, own| mask.with(*own));
    let found: Components = match spec.rw {
        RwUse::None => components(&Masked { graph, mask }),
        RwUse::Free => components(&Masked { graph, mask: mask.with(Relation::Rw) }),
        RwUse::OneHop => {
            let found = components(&Nonadjacent { graph, mask });
            let nodes = |component: &Vec<u32>| component.iter().map(|node| node / 2).collect();
            return least(graph, found.large.iter().map(nodes));
        }
    };
    least(graph, found.large.into_iter())
}

fn least(graph: &Graph, components: impl Iterator<Item = Vec<u32>>) -> Option<Vec<u32>> {
    components
        .map(|mut nodes| {
            nodes.retain(|node| !graph.is_gate(*node));
            nodes.dedup();
            nodes
        })
        .filter(|txns| txns.len() > 1)
        .min_by_key(Vec::len)
}
