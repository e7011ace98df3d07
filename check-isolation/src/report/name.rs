//! Names of results: a single cycle has Adya's name, because it is well known.

use super::derivation::NO_COMMIT_ORDER;
use crate::evidence::{Link, Refutation, Relation};
use crate::level::Axiom;

impl Refutation {
    /// The name of the anomaly. A cycle without rw is G0 or G1c only if it rules out read committed: at other levels,
    /// orders in it follow from those levels.
    pub fn anomaly(&self) -> &'static str {
        let has_rw = self.cycle.iter().any(|link| matches!(link.relation, Relation::Rw(..)));
        if self.has_cases() || self.cycle.is_empty() || !has_rw && self.axiom != Axiom::ReadCommitted {
            NO_COMMIT_ORDER.0
        } else {
            of_cycle(&self.cycle)
        }
    }
}

/// Names by the number of rw steps; each without other steps, with session order, and with real time.
const NAMES: [[&str; 3]; 5] = [
    ["G0", "G0-process", "G0-realtime"],
    ["G1c", "G1c-process", "G1c-realtime"],
    ["G-single-item", "G-single-item-process", "G-single-item-realtime"],
    ["G-nonadjacent-item", "G-nonadjacent-item-process", "G-nonadjacent-item-realtime"],
    ["G2-item", "G2-item-process", "G2-item-realtime"],
];

fn of_cycle(cycle: &[Link]) -> &'static str {
    let has = |relation: fn(&Relation) -> bool| cycle.iter().any(|link| relation(&link.relation));
    let is_rw = |at: usize| matches!(cycle[at % cycle.len()].relation, Relation::Rw(..));
    let rw = (0..cycle.len()).filter(|at| is_rw(*at)).count();
    let kind = match rw {
        0 if has(|relation| matches!(relation, Relation::Wr(_))) => 1,
        0 => 0,
        1 => 2,
        _ if (0..cycle.len()).any(|at| is_rw(at) && is_rw(at + 1)) => 4,
        _ => 3,
    };
    let order = if has(|relation| *relation == Relation::RealTime) {
        2
    } else {
        usize::from(has(|relation| *relation == Relation::Session))
    };
    NAMES[kind][order]
}
