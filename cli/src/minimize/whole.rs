//! Divides a history into the parts that can be omitted: operations, and for transactions their micro-ops.

use history_core::cast::Cast as _;
use history_core::{ClientRule, Datum, History, HistoryBuilder, HistoryError, NewOp, OpKind, Pair, Value};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A position in the list of all units.
pub(super) type Unit = u32;

/// An operation of a client: an invocation with its completion, or only one of them.
pub(super) struct Operation {
    /// The position of the first op.
    pub(super) first: usize,
    /// The position of the completion, if there are two ops.
    pub(super) second: Option<usize>,
}

/// A part that can be omitted: an operation, or one of its micro-ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// A position in [`Whole::operations`].
    pub(super) operation: u32,
    /// The position of a micro-op; `None` for a whole operation.
    pub(super) mop: Option<u32>,
}

/// A history and its parts, both in the same order.
pub(super) struct Whole<'h> {
    pub(super) history: &'h History,
    pub(super) operations: Vec<Operation>,
    pub(super) parts: Vec<Part>,
    /// The first part of each operation; one longer than `operations`.
    starts: Vec<Unit>,
    /// Whether values are `[key value]`, of which the checker receives only the value.
    is_paired: bool,
    /// The rule on which names are clients, as given for the history.
    pub(super) rule: ClientRule,
}

/// The key of an operation, from its field or its value.
pub(super) fn key_of<'a>(history: &'a History, operation: &Operation) -> Option<Value<'a>> {
    let op = history.op(operation.first);
    op.extra.get("key").filter(|key| !key.is_nil()).or_else(|| op.value.as_pair().map(|(key, _)| key))
}

/// The position of the op with an index. O(log ops), because indices increase.
pub(super) fn position_of(history: &History, index: u64) -> Option<usize> {
    let (mut from, mut until) = (0, history.len());
    while from < until {
        let middle = usize::midpoint(from, until);
        match history.op(middle).index.cmp(&index) {
            Ordering::Less => from = middle + 1,
            Ordering::Equal => return Some(middle),
            Ordering::Greater => until = middle,
        }
    }
    None
}

impl Operation {
    pub(super) fn last(&self) -> usize {
        self.second.unwrap_or(self.first)
    }

    /// The kind of its last op: its outcome, or an invocation if it never completed.
    pub(super) fn kind(&self, history: &History) -> OpKind {
        history.op(self.last()).kind
    }

    /// Returns true if the operation certainly ended, so that later operations follow it in real time.
    pub(super) fn returns(&self, history: &History) -> bool {
        matches!(self.kind(history), OpKind::Ok | OpKind::Fail)
    }
}

impl<'h> Whole<'h> {
    /// Divides a history into parts. For transactions, `mops` selects the micro-ops that matter; an operation without
    /// any is omitted, as is one for which `keeps` returns false.
    pub(super) fn new(
        history: &'h History,
        is_paired: bool,
        keeps: &dyn Fn(&Operation) -> bool,
        mops: Option<&dyn Fn(Value<'_>) -> bool>,
    ) -> Whole<'h> {
        let mut whole = Whole {
            history,
            operations: Vec::new(),
            parts: Vec::new(),
            starts: vec![0],
            is_paired,
            rule: ClientRule::new(),
        };
        for at in 0..history.len() {
            let op = history.op(at);
            if !op.process.is_client() || matches!(op.pair, Pair::Completes { .. }) {
                continue;
            }
            let operation = Operation { first: at, second: history.partner(at) };
            if !keeps(&operation) {
                continue;
            }
            let number = whole.operations.len().to_u32();
            let of_mops = mops.and_then(|counts| whole.mops(&operation, counts));
            match of_mops {
                Some(mops) if mops.is_empty() => continue,
                Some(mops) => {
                    whole.parts.extend(mops.into_iter().map(|mop| Part { operation: number, mop: Some(mop) }));
                }
                None => whole.parts.push(Part { operation: number, mop: None }),
            }
            whole.operations.push(operation);
            whole.starts.push(whole.parts.len() as Unit);
        }
        whole
    }

    /// The positions of the selected micro-ops, if both ops of the operation have the same number of micro-ops.
    fn mops(&self, operation: &Operation, counts: &dyn Fn(Value<'_>) -> bool) -> Option<Vec<u32>> {
        let value = |at: usize| self.inner(self.history.op(at).value);
        let first = value(operation.first);
        let second = operation.second.map(value).filter(|value| !value.is_nil());
        let count = first.as_seq()?.len();
        if second.is_some_and(|second| second.as_seq().map(history_core::Seq::len) != Some(count)) {
            return None;
        }
        let seen = second.unwrap_or(first).as_seq()?;
        Some(seen.iter().enumerate().filter(|(_, mop)| counts(*mop)).map(|(at, _)| at.to_u32()).collect())
    }

    /// The parts of an operation.
    pub(super) fn units_of(&self, operation: u32) -> std::ops::Range<Unit> {
        self.starts[operation.to_usize()]..self.starts[operation.to_usize() + 1]
    }

    pub(super) fn operation_of(&self, unit: Unit) -> &Operation {
        &self.operations[self.parts[unit.to_usize()].operation.to_usize()]
    }

    /// The operation of the op with an index. O(log ops).
    pub(super) fn operation_at(&self, index: u64) -> Option<u32> {
        let at = position_of(self.history, index)?;
        let first = self.history.partner(at).map_or(at, |other| at.min(other));
        self.operations
            .binary_search_by_key(&first, |operation| operation.first)
            .ok()
            .map(history_core::cast::Cast::to_u32)
    }

    /// The value of an operation as its checker uses it: that of the completion, if it is ok and has one. The value of
    /// other completions is usually a reason, such as `:timed-out`.
    pub(super) fn value(&self, operation: &Operation) -> Value<'h> {
        let last = self.history.op(operation.last());
        match self.inner(last.value) {
            value if last.kind == OpKind::Ok && !value.is_nil() => value,
            _ => self.inner(self.history.op(operation.first).value),
        }
    }

    /// The micro-ops of a transaction: those of its completion, with any outcome, if it has a value.
    fn transaction(&self, operation: &Operation) -> Value<'h> {
        match self.inner(self.history.op(operation.last()).value) {
            Value::Nil => self.inner(self.history.op(operation.first).value),
            value => value,
        }
    }

    /// The value without its key.
    fn inner(&self, value: Value<'h>) -> Value<'h> {
        match value.as_pair() {
            Some((_, value)) if self.is_paired => value,
            _ => value,
        }
    }

    /// The micro-op of a part, from the completion.
    pub(super) fn mop(&self, unit: Unit) -> Option<Value<'h>> {
        let part = self.parts[unit.to_usize()];
        self.transaction(self.operation_of(unit)).as_seq()?.iter().nth(part.mop?.to_usize())
    }

    /// Removes all micro-ops but some from a transaction.
    fn keep(&self, value: &mut Datum, mops: &[u32]) {
        match value {
            Datum::Tagged(_, inner) if self.is_paired => self.keep(inner, mops),
            Datum::Vector(pair) | Datum::List(pair) if self.is_paired && pair.len() == 2 => {
                keep_mops(&mut pair[1], mops);
            }
            value => keep_mops(value, mops),
        }
    }

    /// The history of some parts only.
    ///
    /// # Errors
    ///
    /// If the ops do not form a history. This is a bug: they were read from one.
    pub(super) fn history_of(&self, units: &BTreeSet<Unit>) -> Result<History, HistoryError> {
        let mut events: BTreeMap<usize, Option<Vec<u32>>> = BTreeMap::new();
        for unit in units {
            let part = self.parts[(*unit).to_usize()];
            let operation = &self.operations[part.operation.to_usize()];
            for at in [Some(operation.first), operation.second].into_iter().flatten() {
                let mops = events.entry(at).or_insert_with(|| part.mop.map(|_| Vec::new()));
                if let (Some(mops), Some(mop)) = (mops, part.mop) {
                    mops.push(mop);
                }
            }
        }
        let mut builder = HistoryBuilder::new().with_client_rule(self.rule.clone());
        for (at, mops) in events {
            let op = self.history.op(at);
            let mut kept = NewOp::from(&op);
            if let Some(mops) = mops {
                self.keep(&mut kept.value, &mops);
            }
            builder.push_op(&kept)?;
        }
        Ok(builder.build())
    }
}

fn keep_mops(value: &mut Datum, mops: &[u32]) {
    if let Datum::Vector(all) | Datum::List(all) = value {
        *all = mops.iter().filter_map(|mop| all.get((*mop).to_usize())).cloned().collect();
    }
}
