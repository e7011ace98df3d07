//! Cycles: for each type, whether one exists, and a short one if so.
//!
//! The graph is divided into its strongly connected components, outside of which there are no cycles, and each is
//! searched for each type in the order of [`CYCLES`], worst first. A type that is implied by one already found in the
//! component is skipped there. This makes the search both complete and polynomial: when a type is searched for, the
//! types that imply it are known to be absent from the component, and a cycle found under weaker conditions must be of
//! the type. Each search in [`search`] explains this.

pub(crate) mod cycle;
mod exists;
pub(crate) mod predicate;
mod search;

pub(crate) use cycle::Cycle;

use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::{CYCLES, Suffix};
use crate::graph::chains;
use crate::graph::scc::components;
use crate::graph::views::Masked;
use crate::graph::{Graph, Mask, Relation};
use history_core::cast::Cast as _;
use history_core::parallel;
use history_core::{Budget, Spent};

/// The relation that defines a suffix.
pub(crate) fn order_relation(order: Suffix) -> Option<Relation> {
    match order {
        Suffix::None => None,
        Suffix::Process => Some(Relation::Process),
        Suffix::Realtime => Some(Relation::Realtime),
    }
}

/// The relations in addition to ww, wr and rw that a cycle with this suffix may have. Process edges are added to
/// realtime edges if the invocations of some transactions are unknown.
fn order_relations(suffix: Suffix) -> &'static [Relation] {
    match suffix {
        Suffix::None => &[],
        Suffix::Process => &[Relation::Process],
        Suffix::Realtime => &[Relation::Process, Relation::Realtime],
    }
}

/// The edges of a graph in addition to ww, wr and rw.
#[derive(Clone, Copy)]
struct Ordered {
    by: Suffix,
    by_process: bool,
    lacks_invocations: bool,
}

impl Ordered {
    fn new(graph: &Graph, by: Suffix, lacks_invocations: bool) -> Ordered {
        let is_process = |(_, relation)| relation == Relation::Process;
        let by_process = by != Suffix::None && (0..graph.nodes()).any(|node| graph.out(node).any(is_process));
        Ordered { by, by_process, lacks_invocations }
    }

    /// Returns true if the graph has all edges of a level with this suffix. It has process edges too if realtime edges
    /// were requested and some invocations are unknown.
    fn includes(self, suffix: Suffix) -> bool {
        let is_by_process = self.by == Suffix::Realtime && self.lacks_invocations;
        suffix == Suffix::None || suffix == self.by || suffix == Suffix::Process && is_by_process
    }

    /// Returns true if cycles with this suffix may exist.
    fn has(self, suffix: Suffix) -> bool {
        suffix == Suffix::None || suffix == self.by || suffix == Suffix::Process && self.by_process
    }
}

/// The cycles of a graph.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// One for each type in each component, in the order of components and then of the search. Nodes are the graph's.
    pub(crate) cycles: Vec<(AnomalyType, Cycle)>,
    /// Models that some cycle rules out: of each the smallest component, its transactions in ascending order.
    pub(crate) exists: Vec<(AnomalyType, Vec<u32>)>,
    /// The components in which cycles were found: the transactions and gates of each, in ascending order.
    pub(crate) components: Vec<Vec<u32>>,
    /// Why some component was not searched for some type, if so.
    pub(crate) spent: Option<Spent>,
}

/// The result for one component, and the number of states of its search.
#[derive(Default)]
struct Part {
    found: Found,
    states: u64,
}

/// Finds the cycles in a graph whose edges in addition to ww, wr and rw are those of `order`. `lacks_invocations` is
/// true if the invocation of some client's transaction is unknown.
///
/// The budget is checked before each search of a component for a type; a search counts as many states as the component
/// has nodes and edges. For any number of threads, the states of components are added in their order, up to the first
/// component that exceeds the limit. Components: O(nodes + edges). For the search within a component see [`search`].
pub(crate) fn find(graph: &Graph, order: Suffix, lacks_invocations: bool, budget: &Budget) -> Found {
    let components = components(&Masked { graph, mask: Mask::ALL }).large;
    let worth = components.len() > 1 && graph.txns.to_usize() >= parallel::WORTH_OPS;
    let mut all = Found::default();
    let mut states = 0;
    let parts = parallel::map(worth, &components, |nodes| find_in(graph, nodes, (order, lacks_invocations), budget));
    for (part, nodes) in parts.into_iter().zip(components) {
        states += part.states;
        let spent = part.found.spent.or(budget.check(states, 0).err());
        if !part.found.cycles.is_empty() {
            all.components.push(nodes);
        }
        all.add(part.found);
        if spent.is_some() {
            all.spent = spent;
            break;
        }
    }
    all
}

impl Found {
    /// Adds the result for the next component.
    fn add(&mut self, next: Found) {
        self.cycles.extend(next.cycles);
        for (anomaly, txns) in next.exists {
            match self.exists.iter_mut().find(|(known, _)| *known == anomaly) {
                None => self.exists.push((anomaly, txns)),
                Some((_, smallest)) if txns.len() < smallest.len() => *smallest = txns,
                Some(_) => {}
            }
        }
    }
}

fn find_in(graph: &Graph, nodes: &[u32], (order, lacks_invocations): (Suffix, bool), budget: &Budget) -> Part {
    let mut graph = graph.induced(nodes);
    let ordered = Ordered::new(&graph, order, lacks_invocations);
    if ordered.by_process {
        // Make each later transaction of a process reachable in one step.
        graph = chains::gated(&graph);
    }
    let cost = u64::from(graph.nodes()) + graph.edges().to_u64();
    let outer = |node: &u32| nodes[node.to_usize()];
    let mut part = Part { states: cost, ..Part::default() };
    part.found.spent = budget.check(cost, 0).err();
    if part.found.spent.is_some() {
        return part;
    }
    for (anomaly, txns) in exists::find(&graph, ordered) {
        part.found.exists.push((anomaly, txns.iter().map(outer).collect()));
    }
    let mut search = search::Search::new(&graph);
    let mut implied = AnomalySet::EMPTY;
    for spec in CYCLES.iter().filter(|spec| ordered.has(spec.suffix)) {
        if implied.contains(spec.anomaly) {
            continue;
        }
        part.states += cost;
        if let Err(spent) = budget.check(part.states, 0) {
            part.found.spent = Some(spent);
            break;
        }
        let Some(cycle) = search.find(*spec) else { continue };
        // Report the cycle under its actual type.
        let anomaly = cycle.anomaly();
        implied.insert(anomaly);
        implied = implied.union(anomaly.implied());
        part.found.cycles.push((anomaly, cycle.renumbered(outer)));
    }
    part
}

#[cfg(test)]
mod tests;
