//! At the end, versions that no source orders are put in an order, for a verdict that needs one.
//!
//! Whoever had the one leads to the writer of the other then. As long as that closes no cycle, the history obeys an
//! order of transactions in which it is so: see [the parent](super). What closes one either way round is left as it is:
//! the order of others may be to blame.

use super::judge::RegisterJudge;
use crate::txn::online::judge::{Stop, Violation};
use crate::txn::online::time::{End, NEVER, NONE};

/// Versions of a key, at the most: the pairs of more are not looked at.
const VERSIONS_MAX: usize = 200;

impl RegisterJudge {
    /// Puts the versions of each key in an order, where nothing is violated, and real time is in numbers.
    pub(super) fn put_all_in_order(&mut self) {
        if self.graph.has_floors && !self.graph.leaves_out && !self.findings.goes_on {
            for key in self.registers.all_keys().collect::<Vec<_>>() {
                let versions = self.registers.key(key).versions.clone();
                self.put_in_order(&versions);
            }
        }
    }

    /// Puts each two of these versions in an order that closes no cycle: those first that have one order only.
    fn put_in_order(&mut self, versions: &[u32]) {
        if versions.len() > VERSIONS_MAX {
            return;
        }
        let pairs = |at: usize| versions[at + 1..].iter().map(move |other| (versions[at], *other));
        let mut pairs: Vec<(u32, u32)> = (0..versions.len()).flat_map(pairs).collect();
        pairs.retain(|(a, b)| !self.are_ordered(*a, *b) && !self.are_free(*a, *b));
        for is_choice in [false, true] {
            pairs.retain(|(a, b)| {
                let (version, later) = match (self.may_precede(*a, *b), self.may_precede(*b, *a)) {
                    (true, false) => (*a, *b),
                    (false, true) => (*b, *a),
                    (true, true) if is_choice => (*a, *b),
                    _ => return true,
                };
                // Versions that nobody wrote may be between them.
                let placed = self.precede(version, later);
                let is_cycle = matches!(placed, Err(Stop::Violated(Violation { direct: None, .. })));
                debug_assert!(!is_cycle && !self.graph.leaves_out, "it was looked for");
                if placed.is_err() || self.graph.leaves_out {
                    self.unordered.get_or_insert(self.registers.key(self.registers.version(version).key).code);
                }
                false
            });
        }
    }

    /// Whether a version can come before another one.
    fn may_precede(&self, version: u32, later: u32) -> bool {
        let (at, own) = (self.registers.version(version), self.end(version));
        let readers = at.readers.iter().map(|reader| self.graph.end(*reader));
        let forgotten = End { txn: NONE, after: 0, done: NEVER, floor: at.floor, index: u64::MAX };
        let forgotten = Some(forgotten).filter(|end| end.floor > 0);
        let from: Vec<End> = readers.chain(forgotten).chain(at.is_installed().then_some(own)).collect();
        !self.graph.would_close(&from, self.end(later))
    }
}
