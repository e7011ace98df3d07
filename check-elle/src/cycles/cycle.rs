//! A cycle: its transactions, the relation from each to the next, and the type that follows from the relations.

use crate::anomaly::AnomalyType;
use crate::cycle_spec::{CYCLES, Family, Suffix};
use crate::graph::{Graph, Relation};

/// Each transaction once, with the relation to the next one; that of the last one leads to the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cycle(pub(crate) Vec<(u32, Relation)>);

impl Cycle {
    /// Creates a cycle from the edges of a closed walk that begins at the transaction `start`. Omits gates.
    pub(crate) fn from_edges(graph: &Graph, start: u32, edges: impl IntoIterator<Item = u32>) -> Cycle {
        let mut steps = Vec::new();
        let mut at = start;
        for edge in edges {
            let (to, relation) = graph.edge(edge);
            if !graph.is_gate(at) {
                steps.push((at, relation));
            }
            at = to;
        }
        debug_assert_eq!(at, start, "the walk is closed");
        Cycle(steps)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if each transaction occurs once.
    pub(crate) fn is_simple(&self) -> bool {
        let mut nodes: Vec<u32> = self.0.iter().map(|(node, _)| *node).collect();
        nodes.sort_unstable();
        nodes.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// The target of the step that leads back farthest, by the numbers of transactions.
    pub(crate) fn farthest_back(&self) -> u32 {
        let next = self.0.iter().cycle().skip(1);
        let steps = self.0.iter().zip(next).map(|(a, b)| (a.0, b.0));
        steps.max_by_key(|(from, to)| i64::from(*from) - i64::from(*to)).map_or(0, |(_, to)| to)
    }

    /// A part of a closed walk in which no transaction occurs twice and which still contains a step of this relation.
    pub(crate) fn simplified(mut self, relation: Relation) -> Cycle {
        'again: loop {
            for (at, (node, _)) in self.0.iter().enumerate() {
                let Some(later) = self.0[at + 1..].iter().position(|(other, _)| other == node) else { continue };
                let inner: Vec<_> = self.0.splice(at..=at + later, []).collect();
                if inner.iter().any(|(_, own)| *own == relation) {
                    self.0 = inner;
                }
                continue 'again;
            }
            return self;
        }
    }

    /// The same cycle, starting at its smallest transaction, with new numbers for the nodes.
    pub(crate) fn renumbered(mut self, number: impl Fn(&u32) -> u32) -> Cycle {
        for (node, _) in &mut self.0 {
            *node = number(node);
        }
        let first = (0..self.0.len()).min_by_key(|i| self.0[*i].0).unwrap_or(0);
        self.0.rotate_left(first);
        self
    }

    /// The type, determined by the relations alone.
    pub(crate) fn anomaly(&self) -> AnomalyType {
        let has = |relation| self.0.iter().any(|(_, own)| *own == relation);
        let rw = self.0.iter().filter(|(_, relation)| *relation == Relation::Rw).count();
        let next = self.0.iter().cycle().skip(1);
        let adjacent = self.0.iter().zip(next).any(|(a, b)| a.1 == Relation::Rw && b.1 == Relation::Rw);
        let family = match rw {
            0 if has(Relation::Wr) => Family::G1c,
            0 => Family::G0,
            1 => Family::GSingle,
            _ if adjacent => Family::G2,
            _ => Family::GNonadjacent,
        };
        let suffix = if has(Relation::Realtime) {
            Suffix::Realtime
        } else if has(Relation::Process) {
            Suffix::Process
        } else {
            Suffix::None
        };
        let spec = CYCLES.iter().find(|spec| spec.family == family && spec.suffix == suffix);
        spec.map_or(AnomalyType::G0, |spec| spec.anomaly)
    }
}
