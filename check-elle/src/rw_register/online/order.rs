//! The growing order of versions, and the edges between transactions that follow from it.

use super::judge::RegisterJudge;
use super::registers::{Version, VersionKind};
use crate::anomaly::AnomalyType;
use crate::txn::online::judge::Stop;
use crate::txn::online::time::{Dependency, End, Gate, NEVER, NONE};
use history_core::cast::Cast as _;

impl RegisterJudge {
    /// Adds a version.
    pub(super) fn insert(&mut self, version: Version) -> u32 {
        let version = self.registers.insert(version);
        self.order.insert(version);
        version
    }

    /// The key with this code, created if it is new.
    pub(super) fn key_id(&mut self, code: i64, op: u64) -> u32 {
        let (key, is_new) = self.registers.key_id(code, self.assumed.initial_code, op);
        if is_new {
            self.order.insert(self.registers.key(key).initial);
        }
        key
    }

    /// Removes a version.
    pub(super) fn remove(&mut self, version: u32) {
        let writer = self.registers.version(version).writer;
        if writer != NONE {
            self.graph.txns[writer.to_usize()].writes.retain(|other| *other != version);
        }
        self.registers.remove(version);
        self.order.remove(version);
    }

    /// The transaction that wrote a version.
    pub(super) fn end(&self, version: u32) -> End {
        let version = self.registers.version(version);
        if version.writer != NONE {
            return self.graph.end(version.writer);
        }
        End { txn: NONE, after: version.after, done: version.done, floor: version.floor, index: version.index }
    }

    /// Records that a version precedes another one of its key.
    pub(super) fn precede(&mut self, version: u32, later: u32) -> Result<(), Stop> {
        if version == later {
            return Ok(());
        }
        let Version { key, code, kind, index, ref before, .. } = *self.registers.version(later);
        if before.contains(&version) {
            return Ok(());
        }
        if kind == VersionKind::Initial || self.order.add(version, later).is_err() {
            return self.findings.direct(AnomalyType::CYCLIC_VERSIONS, index, self.registers.key(key).code, Some(code));
        }
        self.registers.version_mut(version).next.push(later);
        self.registers.version_mut(later).before.push(version);
        if self.registers.version(later).is_installed() {
            self.lead_from(version, later)?;
        }
        Ok(())
    }

    /// Adds edges from the writer and the readers of a version to the writer of another.
    fn lead_from(&mut self, version: u32, later: u32) -> Result<(), Stop> {
        let code = self.registers.key(self.registers.version(version).key).code;
        let at_key = |stop: Stop| stop.at_key(code);
        if self.registers.version(version).is_installed() {
            let related = self.graph.relate(self.end(version), self.end(later), Dependency::Dep);
            related.map_err(Stop::from).map_err(at_key)?;
        }
        if !self.graph.counts_rw() {
            return Ok(());
        }
        for at in 0..self.registers.version(version).readers.len() {
            let reader = self.graph.end(self.registers.version(version).readers[at]);
            let related = self.graph.relate(reader, self.end(later), Dependency::Rw);
            related.map_err(Stop::from).map_err(at_key)?;
        }
        let floor = self.registers.version(version).floor;
        if self.graph.has_floors && floor > 0 {
            let forgotten = End { txn: NONE, after: 0, done: NEVER, floor, index: u64::MAX };
            let related = self.graph.relate(forgotten, self.end(later), Dependency::Rw);
            related.map_err(Stop::from).map_err(at_key)?;
        }
        Ok(())
    }

    /// Adds the edges of a version that was read or ordered before its writer was known.
    pub(super) fn install(&mut self, version: u32) -> Result<(), Stop> {
        let own = self.end(version);
        for at in 0..self.registers.version(version).readers.len() {
            let reader = self.graph.end(self.registers.version(version).readers[at]);
            self.graph.relate(own, reader, Dependency::Dep)?;
        }
        for before in self.registers.version(version).before.clone() {
            self.lead_from(before, version)?;
        }
        for next in self.registers.version(version).next.clone() {
            if self.registers.version(next).is_installed() {
                self.graph.relate(own, self.end(next), Dependency::Dep)?;
            }
        }
        Ok(())
    }

    /// Adds the edges of an external read of an `ok` transaction.
    pub(super) fn lead_to_reader(&mut self, version: u32, txn: u32) -> Result<(), Stop> {
        let own = self.graph.end(txn);
        if self.registers.version(version).is_installed() {
            self.graph.relate(self.end(version), own, Dependency::Dep)?;
        }
        self.registers.version_mut(version).is_shown = true;
        self.registers.version_mut(version).readers.push(txn);
        if !self.graph.counts_rw() {
            return Ok(());
        }
        for at in 0..self.registers.version(version).next.len() {
            let next = self.registers.version(version).next[at];
            if self.registers.version(next).is_installed() {
                self.graph.relate(own, self.end(next), Dependency::Rw)?;
            }
        }
        Ok(())
    }

    /// Handles a version that was the first one of a transaction invoked after this gate: all versions that existed by
    /// then precede it.
    pub(super) fn raise_until(&mut self, version: u32, gate: Gate) -> Result<(), Stop> {
        if !self.assumed.linearizable_keys {
            return Ok(());
        }
        let Version { key, until, .. } = *self.registers.version(version);
        if until.is_some_and(|until| until >= gate) {
            return Ok(());
        }
        self.registers.version_mut(version).until = Some(gate);
        let is_new = |since: Gate| since <= gate && until.is_none_or(|until| since > until);
        for other in self.registers.key(key).versions.clone() {
            if is_new(self.registers.version(other).since) {
                self.precede(other, version)?;
            }
        }
        Ok(())
    }

    /// Orders the last versions of a process before the first one of its current transaction.
    pub(super) fn follow_process(&mut self, process: Option<i64>, first: u32) -> Result<(), Stop> {
        let key = self.registers.version(first).key;
        let Some(process) = process.filter(|_| self.assumed.sequential_keys) else { return Ok(()) };
        for before in self.registers.key(key).rows.get(&process).cloned().unwrap_or_default() {
            self.precede(before, first)?;
        }
        Ok(())
    }

    /// Records the first and last version of a key that a process had. Versions that certainly precede the last one are
    /// no longer needed.
    pub(super) fn end_process(&mut self, process: Option<i64>, first: u32, last: u32) {
        let Some(process) = process.filter(|_| self.assumed.sequential_keys) else { return };
        let is_initial = |version: u32| self.registers.version(version).kind == VersionKind::Initial;
        let is_path = first == last || self.assumed.wfr_keys && !is_initial(first);
        let is_covered = is_path && self.registers.version(first).is_installed();
        let is_last_initial = is_initial(last);
        let key = self.registers.version(first).key;
        let row = self.registers.key_mut(key).rows.entry(process).or_default();
        if is_covered {
            row.clear();
        }
        if !is_last_initial && !row.contains(&last) {
            row.push(last);
        }
    }
}
