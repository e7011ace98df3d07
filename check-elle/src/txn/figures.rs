//! Figures of cycles, and of the components that contain them.

use super::analysis::Analysis;
use super::explain;
use crate::cycles::Found;
use crate::graph::{Graph, Relation};
use crate::ids::TxnId;
use history_core::Anomaly;
use history_core::cast::Cast as _;
use history_core::figure::{Content, Figure, STEPS_MAX, TXNS_MAX};

/// A figure of each cycle that has a witness, as `TYPE/0`.
pub(crate) fn of_cycles(anomalies: &[Anomaly]) -> impl Iterator<Item = Figure> {
    let witnesses = |anomaly: &Anomaly| {
        let named = anomaly.witnesses.iter().enumerate();
        let cycles = named.filter(|(_, witness)| !witness.steps.is_empty());
        cycles.map(|(at, witness)| Figure::of_cycle(&anomaly.name, at, witness)).collect::<Vec<_>>()
    };
    anomalies.iter().flat_map(witnesses)
}

/// A figure of each of the first `max` components in which cycles were found, as `sccs/0`: all their transactions and
/// the relations between them, but only those realtime relations that do not follow from others.
pub(crate) fn of_components<A: Analysis>(analysis: &A, graph: &Graph, found: &Found, max: usize) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (at, nodes) in found.components.iter().take(max).enumerate() {
        let txns = &nodes[..nodes.partition_point(|node| !graph.is_gate(*node))];
        let title = format!("component #{at}: {} transactions", txns.len());
        let too_large = |count: usize, what: &str, max: usize| {
            Content::TooLarge(format!(
                "No picture was drawn, because {count} {what} are more than the maximum of {max}."
            ))
        };
        let content = if txns.len() > TXNS_MAX {
            too_large(txns.len(), "transactions", TXNS_MAX)
        } else {
            let relations = relations(&graph.induced(nodes), txns);
            if relations.len() > STEPS_MAX {
                too_large(relations.len(), "relations", STEPS_MAX)
            } else {
                let txns: Vec<TxnId> = txns.iter().map(|txn| TxnId::new(txn.to_usize())).collect();
                let (ops, steps) = explain::component(analysis, &txns, &relations);
                Content::Graph { title, ops, steps }
            }
        };
        figures.push(Figure { name: format!("sccs/{at}"), content });
    }
    figures
}

/// All relations between transactions. `part` is the graph of these, as its first nodes; no gate outside it leads back
/// to any of them.
fn relations(part: &Graph, txns: &[u32]) -> Vec<(usize, usize, Relation)> {
    let mut relations: Vec<(usize, usize, Relation)> = Vec::new();
    for from in 0..txns.len() {
        // Of several data relations between two transactions, only the strongest is drawn.
        let mut last = None;
        for (to, relation) in part.steps_of(from.to_u32()) {
            if !(relation.is_data() && last == Some(to)) {
                relations.push((from, to.to_usize(), relation));
            }
            last = Some(to);
        }
    }
    let realtime = |a: usize, b: usize| relations.contains(&(a, b, Relation::Realtime));
    let follows = |a: usize, b: usize| (0..txns.len()).any(|between| realtime(a, between) && realtime(between, b));
    let kept = relations.iter().filter(|(a, b, relation)| *relation != Relation::Realtime || !follows(*a, *b));
    kept.copied().collect()
}
