//! Propagation: orders of writers that follow from reachability.
//!
//! For a read of x by r from t1 and another writer t2 of x:
//!
//! - (A) if t2's commit reaches r's start, t2 is before t1;
//! - (B) if t2 before t1 would close a cycle, t1 is before t2, and r's start is before t2's commit;
//! - (C) the same for any two writers at snapshot isolation, where they may not overlap;
//! - at parallel snapshot isolation, if r writes x as well and t1 reaches t2, r is before t2: otherwise t2 would be
//!   visible to r.
//!
//! Along a chain, (A) needs only the last visible writer, and the others only the last one that reaches t2: earlier
//! ones follow by the chain. So a node costs O(keys · chains that write them · log), and only nodes whose clocks grew
//! are examined again.

use super::state::{Conflict, Reason, State, reverse};
use crate::evidence::Before;
use crate::ids::{KeyId, TxnId};
use crate::level::Axiom;
use history_core::cast::Cast as _;

impl State<'_> {
    /// Applies all rules to a node.
    pub(super) fn apply_rules(&mut self, node: u32) -> Result<(), Conflict> {
        let txn = self.shape.txn(node);
        if self.shape.is_start(node) {
            self.look_at_reads(txn)?;
        }
        if self.shape.is_commit(node) {
            self.look_at_writes(txn)?;
        }
        Ok(())
    }

    /// The number of a chain's transactions that have committed when a transaction starts.
    fn committed(&self, chain: u32, txn: TxnId) -> u32 {
        if chain == self.chains.of[txn.at()] {
            self.chains.at[txn.at()]
        } else {
            self.clock(self.shape.start(txn), chain) / self.shape.width
        }
    }

    fn look_at_reads(&mut self, txn: TxnId) -> Result<(), Conflict> {
        for at in self.txns.reads_range(txn) {
            let read = self.txns.all_reads()[at];
            let groups = self.writers.groups(read.key).len();
            self.steps += groups.to_u64();
            for group in 0..groups {
                let group = self.writers.groups(read.key)[group];
                let count = self.committed(group.chain, txn);
                let Some(last) = self.writers.last_within(group, count) else { continue };
                if last == read.writer {
                    continue;
                }
                if read.writer == TxnId::NONE {
                    return Err(Conflict::First { reader: txn, writer: last, key: read.key });
                }
                if !self.reaches(self.shape.commit(last), self.shape.overwrites_at(read.writer)) {
                    let order = Before { key: read.key, first: last, second: read.writer };
                    self.assert(order, Reason::Visible(at.to_u32()))?;
                }
            }
        }
        Ok(())
    }

    fn look_at_writes(&mut self, txn: TxnId) -> Result<(), Conflict> {
        for at in 0..self.txns.writes(txn).len() {
            let key = self.txns.writes(txn)[at];
            let groups = self.writers.groups(key).len();
            self.steps += groups.to_u64();
            for group in 0..groups {
                let group = self.writers.groups(key)[group];
                let count = self.before_commit(group.chain, txn);
                let Some(last) = self.writers.last_within(group, count) else { continue };
                if last == txn {
                    continue;
                }
                if self.shape.axiom == Axiom::ParallelSnapshot {
                    self.look_at_updaters(key, last, txn)?;
                } else if self.lacks_arcs(key, last, txn) {
                    self.assert(Before { key, first: last, second: txn }, Reason::Inevitable)?;
                }
            }
        }
        Ok(())
    }

    /// The number of a chain's transactions that certainly precede another one if both write a key.
    fn before_commit(&self, chain: u32, txn: TxnId) -> u32 {
        if chain == self.chains.of[txn.at()] {
            return self.chains.at[txn.at()];
        }
        let clock = self.clock(self.shape.commit(txn), chain);
        match self.shape.axiom {
            // Those that have started.
            Axiom::Snapshot => clock.div_ceil(2),
            // Those that have committed.
            Axiom::Prefix => clock / 2,
            _ => clock,
        }
    }

    /// Returns true if some arc that follows from an order of two writers is new.
    fn lacks_arcs(&self, key: KeyId, first: TxnId, second: TxnId) -> bool {
        let shape = self.shape;
        let commit = shape.commit(second);
        let is_late = |reader: &u32| {
            let reader = TxnId::from(*reader);
            reader != second && !self.reaches(shape.start(reader), commit)
        };
        !self.reaches(shape.commit(first), shape.overwrites_at(second))
            || self.readers.last(self.txns, first, key).iter().any(is_late)
    }

    /// Orders transactions that replaced a write of a writer before the later writers.
    fn look_at_updaters(&mut self, key: KeyId, writer: TxnId, later: TxnId) -> Result<(), Conflict> {
        for at in 0..self.readers.updaters(self.txns, writer, key).len() {
            let updater = TxnId::from(self.readers.updaters(self.txns, writer, key)[at]);
            if updater != later && !self.reaches(self.shape.commit(updater), self.shape.start(later)) {
                let order = Before { key, first: updater, second: later };
                self.assert(order, Reason::Replaced(writer))?;
            }
        }
        Ok(())
    }

    /// At parallel snapshot isolation, orders transactions that replaced a first state before all other writers of the
    /// key.
    pub(super) fn replace_first_states(&mut self) -> Result<(), Conflict> {
        for key in (0..self.txns.keys()).map(KeyId::new) {
            for at in 0..self.readers.of_first.row(key.at()).len() {
                let reader = TxnId::from(self.readers.of_first.row(key.at())[at]);
                if !self.txns.is_writer(reader, key) {
                    continue;
                }
                for group in 0..self.writers.groups(key).len() {
                    let first = self.writers.of(self.writers.groups(key)[group])[0];
                    if first != reader {
                        let order = Before { key, first: reader, second: first };
                        self.assert(order, Reason::Replaced(TxnId::NONE))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The value of a literal: whether it or its reverse is decided.
    pub(super) fn value(&self, literal: Before) -> Option<bool> {
        if self.numbers.contains_key(&literal) {
            Some(true)
        } else if self.numbers.contains_key(&reverse(literal)) {
            Some(false)
        } else {
            None
        }
    }
}
