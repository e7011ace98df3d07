//! The needs of operations on registers: the writes that a read may have seen, and one that separates it from earlier
//! ones.

use super::{Access, Needs, Write};
use crate::minimize::whole::{Operation, Unit};
use history_core::{OpKind, Value};

impl Needs<'_> {
    /// The reads and writes of an operation on registers.
    pub(super) fn accesses(&self, operation: &Operation) -> Vec<Access> {
        let (whole, op) = (self.whole, self.whole.history.op(operation.first));
        let is_ok = operation.kind(whole.history) == OpKind::Ok;
        let value = whole.value(operation);
        let one = String::new;
        match op.f {
            Some("read") => vec![Access::Read(one(), Some(value.canonical()))],
            Some("write") => vec![Access::Write(one(), value.canonical(), true)],
            Some("cas") => match value.as_seq().map(|values| values.iter().collect::<Vec<_>>()).as_deref() {
                Some([old, new]) => {
                    let written = Access::Write(one(), new.canonical(), true);
                    vec![Access::Read(one(), Some(old.canonical())), written]
                }
                _ => Vec::new(),
            },
            Some("txn") => {
                let access = |mop: Value<'_>| {
                    let mut items = mop.as_seq()?.iter();
                    let (f, key, value) = (items.next()?, items.next()?.canonical(), items.next()?);
                    match f.as_name()? {
                        "read" | "r" if is_ok => Some(Access::Read(key, Some(value.canonical()))),
                        "write" | "w" => Some(Access::Write(key, value.canonical(), true)),
                        _ => None,
                    }
                };
                value.as_seq().into_iter().flat_map(history_core::Seq::iter).filter_map(access).collect()
            }
            f => {
                let key = op.extra.get("key").map(Value::canonical).unwrap_or_default();
                match f {
                    Some("get") => vec![Access::Read(key, None)],
                    Some("put") => vec![Access::Write(key, value.canonical(), true)],
                    Some("append") => vec![Access::Write(key, value.canonical(), false)],
                    _ => Vec::new(),
                }
            }
        }
    }

    pub(super) fn index_register(&mut self, unit: Unit) {
        let operation = self.whole.operation_of(unit);
        let is_ok = operation.kind(self.whole.history) == OpKind::Ok;
        let returns = operation.returns(self.whole.history);
        let accesses = self.accesses(operation);
        let is_blind = !accesses.iter().any(|access| matches!(access, Access::Read(..)));
        for access in accesses {
            let Access::Write(key, value, replaces) = access else { continue };
            let ended = operation.last();
            let write = Write { unit, first: operation.first, ended, decides: is_ok && replaces, is_blind, value };
            let register = self.registers.entry(key).or_default();
            if returns {
                register.latest_ends.push(register.latest_ends.last().map_or(ended, |latest| ended.max(*latest)));
                register.ended.push(write);
            } else {
                register.open.push(write);
            }
        }
    }

    pub(super) fn of_register(&self, unit: Unit) -> Vec<Unit> {
        let operation = self.whole.operation_of(unit);
        let op = self.whole.history.op(operation.first);
        // A crashed operation returned nothing. But whether a compare-and-set may have happened depends on the earlier
        // value.
        let until = match operation.kind(self.whole.history) {
            OpKind::Ok => operation.last(),
            _ if op.f == Some("cas") => usize::MAX,
            _ => return Vec::new(),
        };
        let mut needed = Vec::new();
        for access in self.accesses(operation) {
            let Access::Read(key, value) = access else { continue };
            let Some(register) = self.registers.get(&key) else { continue };
            let began = |writes: &[Write]| writes.partition_point(|write| write.first < until);
            let ended = &register.ended[..began(&register.ended)];
            let open = &register.open[..began(&register.open)];
            let is_seen = |write: &&Write| value.as_ref().is_none_or(|value| *value == write.value);
            let may_be_seen = |last: Option<&Write>| {
                let hidden_before = last.map_or(0, |last| last.first);
                // All writes before this position had ended by then.
                let from = register.latest_ends.partition_point(|latest| *latest < hidden_before).min(ended.len());
                let writes = ended[from..].iter().filter(|write| write.ended >= hidden_before).chain(open);
                writes.filter(is_seen).map(|write| write.unit).collect::<Vec<Unit>>()
            };
            let mut deciding = ended.iter().rev().filter(|write| write.decides && write.ended < operation.first);
            let mut last = deciding.clone().next();
            let mut may = may_be_seen(last);
            // A write that needs nothing itself is preferred, if the same writes may be seen after it.
            if let Some(blind) = deciding.find(|write| write.is_blind) {
                let seen = may_be_seen(Some(blind));
                if seen == may {
                    (last, may) = (Some(blind), seen);
                }
            }
            needed.extend(last.map(|write| write.unit));
            needed.extend(may);
            // Keeps one write of the value, which shows its origin; preferably one that needs nothing itself.
            if value.is_some() {
                let seen = || ended.iter().rev().filter(is_seen);
                needed.extend(seen().find(|write| write.is_blind).or_else(|| seen().next()).map(|write| write.unit));
            }
        }
        needed
    }
}
