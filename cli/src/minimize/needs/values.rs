//! The needs of operations on values and sums, and of whole reads.

use super::{Needs, is_read, mops};
use crate::minimize::whole::Unit;
use history_core::{OpKind, Value, WhichReads};
use std::collections::BTreeSet;

impl Needs<'_> {
    /// The known values of an operation.
    pub(super) fn values(&self, unit: Unit) -> Vec<String> {
        let operation = self.whole.operation_of(unit);
        let f = self.whole.history.op(operation.first).f;
        let is_result =
            is_read(f) || matches!(f, Some("dequeue" | "pop" | "pop-front" | "pop-back" | "delete-min" | "drain"));
        if is_result && operation.kind(self.whole.history) != OpKind::Ok {
            return Vec::new();
        }
        let value = self.whole.value(operation);
        match (f, value) {
            (Some("read" | "drain"), Value::Vector(all) | Value::List(all) | Value::Set(all)) => {
                all.iter().map(Value::canonical).collect()
            }
            // For an object, nil means that it was empty. In other histories, a nil that was enqueued may have been
            // dequeued.
            (_, Value::Nil) if is_result && self.reduction.prefix_decides => Vec::new(),
            _ => vec![value.canonical()],
        }
    }

    pub(super) fn index_value(&mut self, unit: Unit) {
        let operation = self.whole.operation_of(unit);
        if !is_read(self.whole.history.op(operation.first).f) {
            let values = self.values(unit);
            let is_open = !operation.returns(self.whole.history);
            // This operation may have removed any value.
            if values.is_empty() && is_open && self.reduction.prefix_decides {
                self.common.insert(unit);
            }
            for value in values {
                self.writers.entry(value).or_default().push(unit);
            }
        }
    }

    pub(super) fn of_value(&self, unit: Unit) -> Vec<Unit> {
        let of = |value: String| self.writers.get(&value).into_iter().flatten().copied().collect::<Vec<_>>();
        self.values(unit).into_iter().flat_map(of).collect()
    }

    pub(super) fn index_sum(&mut self, unit: Unit) {
        let operation = self.whole.operation_of(unit);
        let op = self.whole.history.op(operation.first);
        let counts = operation.kind(self.whole.history) != OpKind::Fail || self.reduction.failed_count;
        if counts && !is_read(op.f) {
            self.common.insert(unit);
        }
    }

    pub(super) fn index_read(&mut self, unit: Unit) {
        let operation = self.whole.operation_of(unit);
        if is_read(self.whole.history.op(operation.first).f) {
            return;
        }
        let value = self.whole.value(operation);
        let mut versions = mops(value, "w");
        if versions.is_empty() {
            versions.push(value.canonical());
        }
        for version in versions {
            self.writers.entry(version).or_default().push(unit);
        }
    }

    pub(super) fn of_read(&self, unit: Unit) -> Vec<Unit> {
        let operation = self.whole.operation_of(unit);
        let is_ok = operation.kind(self.whole.history) == OpKind::Ok;
        if !is_ok || !is_read(self.whole.history.op(operation.first).f) {
            return Vec::new();
        }
        let value = self.whole.value(operation);
        let mut versions = mops(value, "r");
        if versions.is_empty()
            && let Value::Vector(all) | Value::List(all) | Value::Set(all) = value
        {
            versions.extend(all.iter().map(Value::canonical));
        }
        versions.iter().filter_map(|version| self.writers.get(version)).flatten().copied().collect()
    }

    /// Keeps the reads that determine the set of accounts and their sum.
    pub(super) fn keep_reads(&mut self, which: WhichReads) {
        let (whole, history) = (self.whole, self.whole.history);
        let is_read = |unit: &Unit| {
            let operation = whole.operation_of(*unit);
            history.op(operation.first).f == Some("read") && operation.kind(history) == OpKind::Ok
        };
        let mut reads: Vec<Unit> = (0..whole.parts.len() as Unit).filter(is_read).collect();
        reads.sort_unstable_by_key(|unit| whole.operation_of(*unit).last());
        let balances = |unit: Unit| match whole.value(whole.operation_of(unit)) {
            Value::Map(entries) => Some(entries),
            _ => None,
        };
        let accounts = |unit: Unit| -> BTreeSet<String> {
            balances(unit).into_iter().flatten().map(|(account, _)| account.canonical()).collect()
        };
        let Some(first) = reads.first().copied() else { return };
        let known = accounts(first);
        let is_total = |unit: &Unit| {
            let is_whole =
                balances(*unit).is_some_and(|entries| entries.into_iter().all(|(_, balance)| !balance.is_nil()));
            is_whole && accounts(*unit).is_subset(&known)
        };
        let total = reads.iter().copied().find(is_total);
        match which {
            WhichReads::First => self.common.extend([first]),
            WhichReads::FirstSum => {
                self.common.extend(total);
                if total.is_none_or(|total| accounts(total) != known) {
                    self.common.insert(first);
                }
            }
            _ => self.common.extend(reads),
        }
    }
}
