//! Finds the models that a cycle of any type rules out: those whose steps lead from some transaction back to it.

use super::graph::{Graph, Order, Relation};
use super::lattice;
use super::names::Names;
use super::reach::Reach;
use std::sync::LazyLock;

/// The relations that may be a step of a cycle that rules the model out.
struct Steps {
    model: &'static str,
    order: Order,
    wr: bool,
    rw: bool,
    /// Whether two rw edges may be adjacent.
    rw_twice: bool,
}

const fn steps(model: &'static str, order: Order, wr: bool, rw: bool, rw_twice: bool) -> Steps {
    Steps { model, order, wr, rw, rw_twice }
}

const MODELS: [Steps; 13] = [
    steps("PL-1", Order::None, false, false, false),
    steps("PL-2", Order::None, true, false, false),
    steps("PL-SI", Order::None, true, true, false),
    steps("PL-2.99", Order::None, true, true, true),
    steps("PL-3", Order::None, true, true, true),
    steps("strong-session-PL-1", Order::Process, false, false, false),
    steps("strong-session-PL-2", Order::Process, true, false, false),
    steps("strong-session-snapshot-isolation", Order::Process, true, true, false),
    steps("strong-session-serializable", Order::Process, true, true, true),
    steps("strong-PL-1", Order::Realtime, false, false, false),
    steps("strong-PL-2", Order::Realtime, true, false, false),
    steps("strong-snapshot-isolation", Order::Realtime, true, true, false),
    steps("PL-SS", Order::Realtime, true, true, true),
];

fn anomaly(steps: &Steps) -> &'static str {
    static ALL: LazyLock<[&str; 13]> =
        LazyLock::new(|| MODELS.map(|steps| lattice::name(&format!("{}-cycle-exists", steps.model))));
    ALL[MODELS.iter().position(|other| other.model == steps.model).expect("one of them")]
}

/// Returns the order that a cycle-exists anomaly includes.
pub(crate) fn order_of(name: &str) -> Option<Order> {
    let model = name.strip_suffix("-cycle-exists")?;
    MODELS.iter().find(|steps| steps.model == model).map(|steps| steps.order)
}

/// Returns the friendly name of the model that a cycle-exists anomaly rules out.
pub(crate) fn model_of(name: &str) -> String {
    let model = name.strip_suffix("-cycle-exists").expect("it is one");
    let friendly = |name: &str| match name {
        "PL-1" => "read-uncommitted".to_owned(),
        "PL-2" => "read-committed".to_owned(),
        "PL-SI" => "snapshot-isolation".to_owned(),
        "PL-2.99" => "repeatable-read".to_owned(),
        "PL-3" => "serializable".to_owned(),
        "PL-SS" => "strict-serializable".to_owned(),
        other => other.to_owned(),
    };
    match model.split_once("PL-") {
        Some((strong, level @ ("1" | "2"))) => format!("{strong}{}", friendly(&format!("PL-{level}"))),
        _ => friendly(model),
    }
}

/// Returns all cycle-exists anomalies of a graph with edges of these orders; each order includes the edges of the
/// others.
pub(crate) fn types(graph: &Graph, orders: &[Order]) -> Names {
    let applies = |steps: &&Steps| steps.order == Order::None || orders.contains(&steps.order);
    MODELS.iter().filter(applies).filter(|steps| has_cycle(graph, steps)).map(anomaly).collect()
}

fn has_cycle(graph: &Graph, steps: &Steps) -> bool {
    // Each transaction has two nodes: reached by rw (odd), or by another relation (even).
    let n = graph.edges.len();
    let mut reach = Reach::new(2 * n);
    for from in 0..n {
        for to in 0..n {
            for relation in &graph.edges[from][to] {
                match relation {
                    Relation::Rw => {
                        if steps.rw {
                            reach.add(2 * from, 2 * to + 1);
                        }
                        if steps.rw_twice {
                            reach.add(2 * from + 1, 2 * to + 1);
                        }
                    }
                    Relation::Wr if !steps.wr => {}
                    Relation::Order if steps.order == Order::None => {}
                    Relation::Ww | Relation::Wr | Relation::Order => {
                        reach.add(2 * from, 2 * to);
                        reach.add(2 * from + 1, 2 * to);
                    }
                }
            }
        }
    }
    let reach = reach.closed();
    (0..2 * n).any(|node| reach.contains(node, node))
}
