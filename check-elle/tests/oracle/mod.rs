//! An oracle: what list-append must conclude, found by means that share nothing with the checker and are too slow for it.
#![allow(dead_code, reason = "each of the test binaries uses its own part of this")]

pub(crate) mod against;
pub(crate) mod cases;
pub(crate) mod choices;
pub(crate) mod cycles;
pub(crate) mod direct;
pub(crate) mod graph;
pub(crate) mod lattice;
pub(crate) mod laws;
pub(crate) mod semantic;
pub(crate) mod world;
pub(crate) mod worlds;

use graph::{Graph, Order};
use history_core::{History, Verdict};
use lattice::{Names, also_is, forbids};
use world::World;

/// What was asked of a history.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Question<'a> {
    /// Friendly names.
    pub(crate) models: &'a [&'a str],
    /// Anomalies asked for by name.
    pub(crate) anomalies: &'a [&'a str],
}

/// What the oracle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    pub(crate) anomaly_types: Names,
    pub(crate) not: Names,
    pub(crate) also_not: Names,
    /// All types found, asked for or not.
    pub(crate) found: Names,
}

/// The cycle types without suffix, worst first.
const CYCLE_TYPES: [&str; 5] = ["G0", "G1c", "G-single-item", "G-nonadjacent-item", "G2-item"];

impl Question<'_> {
    pub(crate) fn is_prohibited(&self, anomaly: &str) -> bool {
        let asked = also_is(anomaly).iter().any(|also| self.anomalies.contains(&also.as_str()));
        asked || self.models.iter().any(|model| forbids(model, anomaly))
    }

    /// The order that the question makes the graph take in.
    pub(crate) fn order(&self) -> Order {
        let any = |suffix: &str| CYCLE_TYPES.iter().any(|cycle| self.is_prohibited(&format!("{cycle}{suffix}")));
        match (any("-realtime"), any("-process")) {
            (true, _) => Order::Realtime,
            (false, true) => Order::Process,
            (false, false) => Order::None,
        }
    }
}

/// The types of cycles to report of a graph: in each component those that no worse one there implies.
pub(crate) fn cycle_types(graph: &Graph, order: Order) -> Names {
    let suffix = match order {
        Order::None => "",
        Order::Process => "-process",
        Order::Realtime => "-realtime",
    };
    let mut found = Names::new();
    for component in graph.components() {
        let there: Names = cycles::shapes(graph, &component)
            .into_iter()
            .map(|shape| format!("{}{}", shape.cycle_type(), if shape.ordered { suffix } else { "" }))
            .collect();
        let implied = |name: &String| there.iter().any(|other| other != name && also_is(other).contains(name));
        found.extend(there.iter().filter(|name| !implied(name)).cloned());
    }
    found
}

/// What must be concluded of a history.
///
/// # Errors
///
/// Why it has no verdict.
pub(crate) fn judge(history: &History, question: &Question<'_>) -> Result<Judgement, String> {
    let world = World::of(history)?;
    let order = question.order();
    let graph = Graph::of(&world, order);
    let mut found = cycle_types(&graph, order);
    found.extend(direct::types(&world).into_iter().map(str::to_owned));
    Ok(conclude(found, graph.is_empty(), question))
}

/// From the types found to the verdict.
pub(crate) fn conclude(mut found: Names, graph_is_empty: bool, question: &Question<'_>) -> Judgement {
    let mut anomaly_types: Names = found.iter().filter(|name| question.is_prohibited(name)).cloned().collect();
    let mut verdict = if anomaly_types.is_empty() { Verdict::Valid } else { Verdict::Invalid };
    if graph_is_empty {
        verdict = verdict.max(Verdict::Unknown);
        anomaly_types.insert("empty-transaction-graph".into());
        found.insert("empty-transaction-graph".into());
    }
    let (not, also_not) = if anomaly_types.is_empty() { Default::default() } else { lattice::ruled_out(&found) };
    Judgement { verdict, anomaly_types, not, also_not, found }
}
