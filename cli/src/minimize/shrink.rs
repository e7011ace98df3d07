//! Delta debugging: removes parts, many at a time and then one by one, as long as the rest still shows the anomaly.
//!
//! Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): the algorithm ddmin, whose test is a
//! check of the sub-history. Removing a part also removes the parts that need it, so every set that is tried is closed.

use super::needs::Needs;
use super::whole::{Unit, Whole};
use history_core::cast::Cast as _;
use std::collections::{BTreeMap, BTreeSet};

/// Returns whether a sub-history shows the anomaly; `None` if no more may be tried.
pub(super) type Shows<'o> = dyn FnMut(&BTreeSet<Unit>) -> Option<bool> + 'o;

/// The remaining parts, and whether they are minimal.
pub(super) struct Shrunk {
    pub(super) units: BTreeSet<Unit>,
    /// Whether every single operation and micro-op was tried and is needed. If false, the limit on checks was reached.
    pub(super) is_minimal: bool,
}

struct Shrink<'a> {
    whole: &'a Whole<'a>,
    units: BTreeSet<Unit>,
    /// The parts that need each part.
    dependents: BTreeMap<Unit, Vec<Unit>>,
    /// The parts that are never removed.
    kept: &'a BTreeSet<Unit>,
}

/// Removes parts from a closed set that shows the anomaly. Parts in `kept` are never removed.
pub(super) fn shrink(
    whole: &Whole<'_>,
    needs: &Needs<'_>,
    start: BTreeSet<Unit>,
    kept: &BTreeSet<Unit>,
    shows: &mut Shows<'_>,
) -> Shrunk {
    let mut dependents: BTreeMap<Unit, Vec<Unit>> = BTreeMap::new();
    for unit in &start {
        for needed in needs.of(*unit).iter() {
            dependents.entry(*needed).or_default().push(*unit);
        }
    }
    let mut shrink = Shrink { whole, units: start, dependents, kept };
    let is_minimal = shrink.run(shows).is_some();
    Shrunk { units: shrink.units, is_minimal }
}

impl Shrink<'_> {
    /// Returns `None` if the limit on checks was reached.
    fn run(&mut self, shows: &mut Shows<'_>) -> Option<()> {
        loop {
            let mut size = self.free().len().div_ceil(2);
            while size > 0 {
                let went = self.pass(size, shows)?;
                size = if size == 1 && went { 1 } else { size / 2 };
            }
            // Each micro-op alone may be needed although all micro-ops of the operation together are not.
            if !self.operations(shows)? {
                return Some(());
            }
        }
    }

    /// The parts that may be removed, the last ones first: other parts rarely need late parts.
    fn free(&self) -> Vec<Unit> {
        self.units.iter().rev().copied().filter(|unit| !self.kept.contains(unit)).collect()
    }

    /// Tries to remove this number of adjacent parts at a time, until all were tried. Returns whether some were
    /// removed.
    fn pass(&mut self, size: usize, shows: &mut Shows<'_>) -> Option<bool> {
        let mut went = false;
        for chunk in self.free().chunks(size) {
            went |= self.without(chunk.iter().copied(), shows)?;
        }
        Some(went)
    }

    /// Tries to remove each operation that has several parts as a whole.
    fn operations(&mut self, shows: &mut Shows<'_>) -> Option<bool> {
        let operations: BTreeSet<u32> =
            self.units.iter().map(|unit| self.whole.parts[(*unit).to_usize()].operation).collect();
        let mut went = false;
        for operation in operations.into_iter().rev() {
            let units = self.whole.units_of(operation);
            if units.len() > 1 {
                went |= self.without(units, shows)?;
            }
        }
        Some(went)
    }

    fn without(&mut self, units: impl Iterator<Item = Unit>, shows: &mut Shows<'_>) -> Option<bool> {
        let mut gone: BTreeSet<Unit> = BTreeSet::new();
        let mut open: Vec<Unit> = units.filter(|unit| self.units.contains(unit)).collect();
        while let Some(unit) = open.pop() {
            if gone.insert(unit) {
                let dependents = self.dependents.get(&unit).into_iter().flatten();
                open.extend(dependents.copied().filter(|dependent| self.units.contains(dependent)));
            }
        }
        if gone.is_empty() || gone.iter().any(|unit| self.kept.contains(unit)) {
            return Some(false);
        }
        let rest: BTreeSet<Unit> = self.units.difference(&gone).copied().collect();
        let shown = !rest.is_empty() && shows(&rest)?;
        if shown {
            self.units = rest;
        }
        Some(shown)
    }
}
