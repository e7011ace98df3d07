//! Tests with small random graphs: each cycle found is of its type and as short as possible, and no existing type is
//! missed.

use super::{Cycle, find};
use crate::anomaly::AnomalyType;
use crate::cycle_spec::Suffix;
use crate::graph::{Graph, Relation};
use history_core::Budget;
use history_core::cast::Cast as _;
use proptest::prelude::*;
use std::collections::BTreeMap;

const TXNS: u32 = 6;

/// A relation between two transactions.
type Edge = (u32, u32, Relation);

/// Transactions that all precede each of some others, through gates.
type Crowd = (Vec<u32>, Vec<u32>, Relation);

fn relation() -> impl Strategy<Value = Relation> {
    prop_oneof![Just(Relation::Ww), Just(Relation::Wr), Just(Relation::Rw), Just(Relation::Rw), Just(Relation::Process)]
}

fn edges() -> impl Strategy<Value = Vec<Edge>> {
    let edge = (0..TXNS, 0..TXNS, relation()).prop_filter("not to itself", |(a, b, _)| a != b);
    // No transaction follows itself in its process.
    let forward = |(a, b, relation): Edge| {
        if relation == Relation::Process { (a.min(b), a.max(b), relation) } else { (a, b, relation) }
    };
    prop::collection::vec(edge.prop_map(forward), 0..14)
}

/// The same edges, some of which become realtime edges, which also lead forward.
fn timed_edges() -> impl Strategy<Value = Vec<Edge>> {
    let timed = |((a, b, relation), is_timed): (Edge, bool)| {
        if is_timed { (a.min(b), a.max(b), Relation::Realtime) } else { (a, b, relation) }
    };
    let add_times = move |edges: Vec<Edge>| {
        let flags = prop::collection::vec(prop::bool::weighted(0.2), edges.len());
        flags.prop_map(move |flags| edges.iter().copied().zip(flags).map(timed).collect())
    };
    edges().prop_flat_map(add_times)
}

/// The two sides are disjoint, so that no path leads from a transaction to itself without a step between.
fn crowd() -> impl Strategy<Value = Crowd> {
    let side = prop::collection::vec(0..3u8, TXNS.to_usize());
    let data = relation().prop_filter("processes have no crowds", |relation| relation.is_data());
    (side, data).prop_map(|(side, relation)| {
        let of = |which: u8| (0..TXNS).filter(|txn| side[txn.to_usize()] == which).collect();
        (of(0), of(1), relation)
    })
}

fn build(edges: &[Edge], crowds: &[Crowd]) -> Graph {
    let mut graph = Graph::new(TXNS.to_usize());
    for txn in 0..TXNS {
        edges.iter().filter(|edge| edge.0 == txn).for_each(|(_, to, relation)| graph.push_edge(*to, *relation));
        for (gate, (before, _, relation)) in (TXNS..).zip(crowds) {
            if before.contains(&txn) {
                graph.push_edge(gate, *relation);
            }
        }
        graph.end_node();
    }
    for (_, after, _) in crowds {
        for txn in after {
            graph.push_edge(*txn, Relation::Through);
        }
        graph.end_node();
    }
    graph
}

/// For each type, the length of the shortest of all elementary cycles, by enumeration.
fn shortest(edges: &[Edge], crowds: &[Crowd]) -> BTreeMap<&'static str, usize> {
    // The strongest data relation of two transactions names the step between them.
    let weaker = |(a, b, relation): &Edge| {
        let stronger = |other: &Edge| other.0 == *a && other.1 == *b && other.2 < *relation;
        relation.is_data() && edges.iter().any(stronger)
    };
    let mut all: Vec<Edge> = edges.iter().filter(|edge| !weaker(edge)).copied().collect();
    for (before, after, relation) in crowds {
        all.extend(before.iter().flat_map(|a| after.iter().map(|b| (*a, *b, *relation))));
    }
    // The process order is transitive.
    for via in 0..TXNS {
        let of_process = |edge: &&Edge| edge.2 == Relation::Process;
        let before: Vec<u32> = all.iter().filter(of_process).filter(|edge| edge.1 == via).map(|edge| edge.0).collect();
        let after: Vec<u32> = all.iter().filter(of_process).filter(|edge| edge.0 == via).map(|edge| edge.1).collect();
        all.extend(before.iter().flat_map(|a| after.iter().map(|b| (*a, *b, Relation::Process))));
    }
    let mut found = BTreeMap::new();
    let mut path: Vec<(u32, Relation)> = Vec::new();
    for start in 0..TXNS {
        extend(start, start, &all, &mut path, &mut found);
    }
    found
}

fn extend(
    start: u32,
    at: u32,
    edges: &[Edge],
    path: &mut Vec<(u32, Relation)>,
    found: &mut BTreeMap<&'static str, usize>,
) {
    for (_, to, relation) in edges.iter().filter(|edge| edge.0 == at) {
        path.push((at, *relation));
        if *to == start {
            let cycle = Cycle(path.clone());
            let shortest = found.entry(cycle.anomaly().name()).or_insert(usize::MAX);
            *shortest = cycle.len().min(*shortest);
        } else if *to > start && path.iter().all(|(node, _)| node != to) {
            extend(start, *to, edges, path, found);
        }
        path.pop();
    }
}

/// Compares the cycles found in a graph with all its cycles.
fn compare(edges: &[Edge], crowds: &[Crowd], order: Suffix) -> Result<(), TestCaseError> {
    let graph = build(edges, crowds);
    let found = find(&graph, order, false, &Budget::default());
    let shortest = shortest(edges, crowds);
    let mut types = crate::anomaly::AnomalySet::EMPTY;
    for (anomaly, cycle) in &found.cycles {
        prop_assert_eq!(*anomaly, cycle.anomaly());
        prop_assert!(cycle.is_simple());
        types.insert(*anomaly);
        types = types.union(anomaly.implied());
    }
    for (name, len) in &shortest {
        let anomaly = name.parse::<AnomalyType>().unwrap();
        prop_assert!(types.contains(anomaly), "{} is there, and not found", name);
        // If there are several components, the shortest cycle may be in one where a worse type was found, so that this
        // type was not searched. Walks without adjacent rw edges may have to be cut to become cycles.
        let own = found.cycles.iter().filter(|(found, _)| *found == anomaly).map(|(_, cycle)| cycle.len()).min();
        if found.cycles.len() == 1
            && !name.starts_with("G-nonadjacent")
            && let Some(own) = own
        {
            prop_assert_eq!(own, *len, "the shortest {}", name);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn every_type_is_found_and_by_a_shortest_cycle(edges in edges(), crowds in prop::collection::vec(crowd(), 0..3)) {
        compare(&edges, &crowds, Suffix::Process)?;
    }

    #[test]
    fn so_it_is_where_process_edges_stand_beside_realtime_edges(
        edges in timed_edges(),
        crowds in prop::collection::vec(crowd(), 0..3),
    ) {
        compare(&edges, &crowds, Suffix::Realtime)?;
    }
}
