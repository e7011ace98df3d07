//! The needs of transactions: the writes of the versions that they saw, and all micro-ops on a key or none if versions
//! follow transactions.

use super::{Needs, version};
use crate::minimize::whole::Unit;
use history_core::cast::Cast as _;
use history_core::{OpKind, Process, Value, VersionOrder};

impl Needs<'_> {
    pub(super) fn index_mop(&mut self, unit: Unit) {
        let Some(mop) = self.whole.mop(unit).and_then(Value::as_seq) else { return };
        let mut items = mop.iter();
        let (Some(f), Some(key), Some(value)) = (items.next(), items.next(), items.next()) else { return };
        if matches!(f.as_name(), Some("append" | "w")) {
            self.writers.entry(version(key, value)).or_default().push(unit);
        }
    }

    pub(super) fn of_mop(&self, unit: Unit) -> Vec<Unit> {
        let operation = self.whole.operation_of(unit);
        let mut needed = self.with_its_key(unit);
        if operation.kind(self.whole.history) != OpKind::Ok {
            return needed;
        }
        let Some(mop) = self.whole.mop(unit).and_then(Value::as_seq) else { return needed };
        let mut items = mop.iter();
        let (Some(f), Some(key), Some(value)) = (items.next(), items.next(), items.next()) else { return needed };
        if f.as_name() != Some("r") {
            return needed;
        }
        let of = |value: Value<'_>| self.writers.get(&version(key, value)).into_iter().flatten().copied();
        match value.as_seq() {
            Some(elements) => needed.extend(elements.iter().flat_map(of)),
            None => needed.extend(of(value)),
        }
        needed
    }

    /// The key of a micro-op.
    pub(super) fn key(&self, unit: Unit) -> Option<String> {
        Some(self.whole.mop(unit)?.as_seq()?.iter().nth(1)?.canonical())
    }

    /// The micro-ops of the same transaction on the same key, including the unit itself.
    pub(super) fn siblings(&self, unit: Unit) -> Vec<Unit> {
        let Some(key) = self.key(unit) else { return Vec::new() };
        let units = self.whole.units_of(self.whole.parts[unit.to_usize()].operation);
        units.filter(|other| self.key(*other).as_ref() == Some(&key)).collect()
    }

    /// If versions follow transactions: the micro-ops that determine with which version of a key the transaction begins
    /// and ends, and the last earlier transaction of the process that changed the version of the key.
    pub(super) fn with_its_key(&self, unit: Unit) -> Vec<Unit> {
        if self.order.is_none() {
            return Vec::new();
        }
        let mut needed = self.siblings(unit);
        if let (Some(key), Some(process)) = (self.key(unit), self.process(unit))
            && let Some(steps) = self.steps.get(&(process, key))
        {
            let operation = |unit: Unit| self.whole.parts[unit.to_usize()].operation;
            let before = steps.partition_point(|step| operation(*step) < operation(unit));
            needed.extend(before.checked_sub(1).map(|last| steps[last]));
        }
        needed
    }

    pub(super) fn process(&self, unit: Unit) -> Option<i64> {
        match self.whole.history.op(self.whole.operation_of(unit).first).process {
            Process::Client(process) => Some(process),
            _ => None,
        }
    }

    /// Finds transactions that may begin and end with different versions of a key.
    pub(super) fn index_steps(&mut self) {
        for unit in 0..self.whole.parts.len() as Unit {
            let is_ok = self.whole.operation_of(unit).kind(self.whole.history) == OpKind::Ok;
            let siblings = self.siblings(unit);
            if siblings.len() < 2 || siblings[0] != unit {
                continue;
            }
            match (self.order, self.key(unit), self.process(unit)) {
                (Some(VersionOrder::Given), ..) => {
                    self.common.insert(unit);
                }
                (Some(VersionOrder::Processes), Some(key), Some(process)) if is_ok => {
                    self.steps.entry((process, key)).or_default().push(unit);
                }
                _ => {}
            }
        }
    }
}
