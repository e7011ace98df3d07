//! Pictures for a report: each cycle that it tells, and the components that these are part of.

use super::report::Analysis;
use super::story;
use crate::cycles::Found;
use crate::graph::{Graph, Relation};
use crate::ids::TxnId;
use crate::plot::{self, PlotOptions, TooLarge};
use history_core::{Anomaly, Artifact, Step, WitnessOp};

/// A picture of each cycle that is told, as `TYPE/0.svg`; or in its place the reason why there is none, as `TYPE/0.txt`.
pub(crate) fn of_cycles(anomalies: &[Anomaly], max_plot_bytes: usize) -> Vec<Artifact> {
    let mut pictures = Vec::new();
    for anomaly in anomalies {
        let witnesses = anomaly.witnesses.iter().enumerate();
        for (at, witness) in witnesses.filter(|(_, witness)| !witness.steps.is_empty()) {
            let options = PlotOptions { title: format!("{} #{at}", anomaly.name), max_plot_bytes };
            let svg = plot::svg(&witness.ops, &witness.steps, &options);
            pictures.push(artifact(format!("{}/{at}", anomaly.name), svg));
        }
    }
    pictures
}

/// A picture of each of the first `max` components in which cycles were found, as `sccs/0.svg`: all their transactions and
/// the relations between them, of realtime only those that do not follow from others.
pub(crate) fn of_components<A: Analysis>(
    analysis: &A,
    graph: &Graph,
    found: &Found,
    max: usize,
    max_plot_bytes: usize,
) -> Vec<Artifact> {
    let mut pictures = Vec::new();
    for (at, nodes) in found.components.iter().take(max).enumerate() {
        let txns = &nodes[..nodes.partition_point(|node| !graph.is_gate(*node))];
        let title = format!("component #{at}: {} transactions", txns.len());
        let svg = if txns.len() > plot::TXNS_MAX {
            Err(TooLarge::Txns { count: txns.len() })
        } else {
            let (ops, steps) = component(analysis, &graph.induced(nodes), txns);
            plot::svg(&ops, &steps, &PlotOptions { title, max_plot_bytes })
        };
        pictures.push(artifact(format!("sccs/{at}"), svg));
    }
    pictures
}

fn artifact(path: String, svg: Result<String, TooLarge>) -> Artifact {
    match svg {
        Ok(svg) => Artifact { path: path + ".svg", content: svg.into_bytes() },
        Err(why) => Artifact { path: path + ".txt", content: format!("{why}\n").into_bytes() },
    }
}

/// Transactions and all relations between them. `part` is the graph between them, where they are the first nodes: outside
/// of it no gate leads back to any of them.
fn component<A: Analysis>(analysis: &A, part: &Graph, txns: &[u32]) -> (Vec<WitnessOp>, Vec<Step>) {
    let mut relations: Vec<(usize, usize, Relation)> = Vec::new();
    for from in 0..txns.len() {
        // The strongest relation of what two transactions wrote and read stands for the others.
        let mut last = None;
        for (to, relation) in part.steps_of(from as u32) {
            if !(relation.is_data() && last == Some(to)) {
                relations.push((from, to as usize, relation));
            }
            last = Some(to);
        }
    }
    let realtime = |a: usize, b: usize| relations.contains(&(a, b, Relation::Realtime));
    let follows = |a: usize, b: usize| (0..txns.len()).any(|between| realtime(a, between) && realtime(between, b));
    let kept = relations.iter().filter(|(a, b, relation)| *relation != Relation::Realtime || !follows(*a, *b));
    let kept: Vec<_> = kept.copied().collect();
    story::component(analysis, &txns.iter().map(|txn| TxnId::new(*txn as usize)).collect::<Vec<_>>(), &kept)
}
