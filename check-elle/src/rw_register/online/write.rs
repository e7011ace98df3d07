//! Processes writes as soon as they are known: at the invocation, or later.

use super::judge::RegisterJudge;
use super::registers::{Version, VersionKind};
use crate::anomaly::AnomalyType;
use crate::txn::online::decode::Mop;
use crate::txn::online::judge::{Said, Stop};
use crate::txn::online::time::{Cycle, Gate, NONE};
use history_core::cast::Cast as _;

impl RegisterJudge {
    /// Adds the writes of a transaction.
    pub(super) fn begin(&mut self, txn: u32, op: u64, mops: &[Mop], said: Said) -> Result<(), Stop> {
        let index = self.graph.at(txn).index;
        for mop in mops {
            let (code, is_write) = match mop {
                Mop::Write { key, .. } => (*key, true),
                Mop::Read { key, .. } => (*key, false),
            };
            let key = self.key_id(code, op);
            let key = self.registers.key_mut(key);
            if key.first_touch.0 != index {
                key.first_touch = (index, is_write);
            }
            if let Mop::Write { key, value } = mop {
                let written = self.write(txn, op, *key, *value, said);
                self.findings.go_on(written)?;
            }
        }
        if said == Said::Failed {
            return Ok(());
        }
        let process = self.graph.process(txn);
        for version in self.graph.at(txn).writes.clone() {
            let begun = self.begin_write(txn, process, version);
            self.findings.go_on(begun)?;
        }
        Ok(())
    }

    /// The first gate after a read of a version whose writer is unknown; `None` if the writer is known.
    pub(super) fn first_read(&self, key: i64, value: i64) -> Option<Gate> {
        let version = self.registers.version_id(self.registers.find_key(key)?, value)?;
        let version = self.registers.version(version);
        (version.kind == VersionKind::Unwritten).then_some(version.done)
    }

    fn write(&mut self, txn: u32, op: u64, key_code: i64, value: i64, said: Said) -> Result<(), Stop> {
        let key = self.key_id(key_code, op);
        let index = self.graph.at(txn).index;
        let is_new = |kind: VersionKind| kind == VersionKind::Unwritten;
        let known = self.registers.version_id(key, value);
        let is_read = known.is_some_and(|known| is_new(self.registers.version(known).kind));
        if is_read && self.registers.key(key).is_renamed {
            // The value may also have been written before the key was dropped.
            return Err(Stop::Twice { key: key_code, value });
        }
        if is_read && self.graph.has_floors && said == Said::First {
            // Its reader completed before this invocation, but follows from it.
            return Err(Cycle { indices: vec![index], begins: self.graph.at(txn).begins }.into());
        }
        let version = match known {
            Some(version) if is_new(self.registers.version(version).kind) => version,
            _ => {
                let new = self.new_version(key, value, known)?;
                self.insert(new)
            }
        };
        let after = self.graph.at(txn).after;
        let at = self.registers.version_mut(version);
        (at.kind, at.writer, at.index, at.after) = (VersionKind::Possible, txn, index, after);
        let own = self.registers.key_mut(key);
        let (last, before) = std::mem::replace(&mut own.last_write, (index, version));
        let is_blind = own.first_touch == (index, true);
        self.registers.version_mut(version).is_blind = is_blind;
        if last == index && before != NONE {
            self.registers.version_mut(before).is_intermediate = true;
        }
        self.graph.txns[txn.to_usize()].writes.push(version);
        self.registers.note_write(key);
        Ok(())
    }

    /// A new unread version. Versions with the same value are distinct as long as none of them is read.
    fn new_version(&mut self, key: u32, value: i64, known: Option<u32>) -> Result<Version, Stop> {
        let mut new = Version::new(key, value, VersionKind::Possible);
        let at = self.registers.key(key);
        let is_initial = value == self.assumed.initial_code;
        let is_seen = known.is_some_and(|known| self.registers.version(known).is_read)
            || at.dead.contains(value)
            || is_initial && (at.initial == NONE || self.registers.version(at.initial).is_read);
        if is_seen {
            return Err(Stop::Twice { key: at.code, value });
        }
        new.is_repetition = known.is_some()
            || is_initial
            || at.failed.contains(value)
            || at.overwritten.contains(value)
            || at.repeated.contains(value);
        if new.is_repetition {
            self.registers.keep_value(key, value, |key| &mut key.repeated);
        }
        Ok(new)
    }

    /// Adds the facts that follow from a write as soon as it is invoked.
    fn begin_write(&mut self, txn: u32, process: Option<i64>, version: u32) -> Result<(), Stop> {
        let Version { key, code, is_intermediate, is_blind, .. } = *self.registers.version(version);
        let is_read = self.registers.version(version).is_read;
        if is_intermediate {
            let (seen, key) = (self.registers.version(version).seen, self.registers.key(key).code);
            return seen.map_or(Ok(()), |reader| self.findings.direct(AnomalyType::G1B, reader, key, Some(code)));
        }
        if is_read || !self.registers.version(version).before.is_empty() {
            self.install(version)?;
        }
        let initial = self.registers.key(key).initial;
        if initial != NONE {
            self.precede(initial, version)?;
        }
        if is_blind {
            self.raise_until(version, self.graph.at(txn).after)?;
            self.follow_process(process, version)?;
        }
        Ok(())
    }
}
