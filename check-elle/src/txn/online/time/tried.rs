//! Removes edges, restores paths, and tests whether edges would close a cycle.

use super::{Dependency, End, Graph, NONE};
use crate::cycle_spec::Suffix;
use history_core::cast::Cast as _;
use history_core::hash::HashSet;

impl Graph {
    /// Removes the edges among some transactions, except those from a transaction to a later one of its process.
    pub(crate) fn part(&mut self, txns: &[u32]) {
        let txns_of = &self.txns;
        let follows = |from: u32, to: u32| {
            let (from, to) = (&txns_of[from.to_usize()], &txns_of[to.to_usize()]);
            from.process.is_some() && from.process == to.process && from.index < to.index
        };
        let keeps = self.suffix == Suffix::Process;
        self.order.part(txns, |from, to| keeps && follows(from, to));
    }

    /// Adds an edge that followed from removed dependencies. It closes no cycle that was not there before.
    pub(crate) fn relate_again(&mut self, from: End, to: End) {
        if from.txn != to.txn {
            _ = self.lead(from.txn, to.txn, Dependency::Dep);
        }
    }

    /// Returns true if edges from these would close a cycle, if real-time gates are numbers. Adds no edge.
    pub(crate) fn would_close(&self, from: &[End], to: End) -> bool {
        let from = from.iter().filter(|from| from.index != to.index && from.done > to.after);
        let floor = from.clone().map(|from| if from.txn == NONE { from.floor } else { self.at(from.txn).floor }).max();
        let Some(floor) = floor else { return false };
        if floor >= to.done || from.clone().any(|from| to.done <= from.after) {
            return true;
        }
        let mut seen: HashSet<u32> = HashSet::default();
        let mut stack: Vec<u32> = Some(to.txn).filter(|txn| *txn != NONE).into_iter().collect();
        while let Some(txn) = stack.pop() {
            for next in self.order.out(txn) {
                if floor >= self.at(*next).done || from.clone().any(|from| from.txn == *next) {
                    return true;
                }
                if seen.insert(*next) {
                    stack.push(*next);
                }
            }
        }
        false
    }
}
