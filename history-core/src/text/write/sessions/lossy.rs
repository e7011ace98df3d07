//! Unknown outcomes: which operations are assumed to have happened. No isolation level depends on the choice.
//!
//! A transaction with unknown outcome happened if a committed one read one of its writes. Otherwise it can be omitted
//! from any execution, and the rest has the same level. The results of its own reads are unknown, so only its writes
//! are written.

use super::{Act, Atom, Converter, Invoked, refusal};
use crate::cast::Cast as _;
use crate::error::HistoryError;
use crate::hash::{HashMap, HashSet};
use crate::{Format, OpKind};

impl Converter {
    /// Adds the transactions that never completed, or rejects the first of them.
    pub(super) fn end_open(&mut self) -> Result<(), HistoryError> {
        let mut open: Vec<Invoked> = std::mem::take(&mut self.open).into_iter().flatten().collect();
        open.sort_by_key(|invoked| invoked.index);
        for Invoked { index, position, session, mops } in open {
            if !self.options.lossy {
                let reason = "it never completed";
                return Err(refusal(index, position, self.format, reason, "a completion, or lossy conversion"));
            }
            self.add(session, OpKind::Info, &mops, index, position, None)?;
        }
        Ok(())
    }

    /// Decides all unknown outcomes, and omits what the format then cannot represent. O(micro-ops).
    pub(super) fn settle(&mut self) -> Result<(), HistoryError> {
        let mut read: HashSet<(Atom, Atom)> = HashSet::default();
        for i in (0..self.txns.len()).filter(|i| self.txns[*i].kind == OpKind::Ok) {
            read.extend(
                self.mops(i).iter().filter(|mop| mop.act == Act::Read).flat_map(|mop| self.seen(mop.key, mop.value)),
            );
        }
        self.verify_failed(&read)?;
        let has_aborted = super::fits::has_aborted(self.format);
        let (mut txns, mut mops) = (Vec::with_capacity(self.txns.len()), Vec::with_capacity(self.mops.len()));
        for i in 0..self.txns.len() {
            let (mut txn, all) = (self.txns[i].clone(), self.mops(i));
            if txn.kind == OpKind::Info {
                let writes = || all.iter().filter(|mop| mop.act != Act::Read);
                let happened = writes().any(|mop| read.contains(&(mop.key, mop.value)));
                if !happened && self.format == Format::Chronos && txn.stamps.is_some() && writes().next().is_some() {
                    let reason =
                        "its outcome is unknown and no transaction read its writes, but by its timestamps it committed";
                    return Err(refusal(txn.index, txn.position, self.format, reason, "a known outcome"));
                }
                if !happened && (!has_aborted || writes().next().is_none()) {
                    self.omitted.unknown += 1;
                    continue;
                }
                if self.format == Format::Chronos && txn.stamps.is_none() {
                    let reason = "its outcome is unknown, its writes were read, and it has no timestamps";
                    return Err(refusal(txn.index, txn.position, self.format, reason, "timestamps, or another format"));
                }
                txn.kind = if happened { OpKind::Ok } else { OpKind::Fail };
                mops.extend(writes().copied());
            } else {
                mops.extend_from_slice(all);
            }
            txn.end = mops.len().to_u32();
            txns.push(txn);
        }
        (self.txns, self.mops) = (txns, mops);
        Ok(())
    }

    /// Rejects an omitted failed transaction if it wrote a value that was read and that another transaction wrote, too.
    /// Without it, the history would determine which transaction was read, although that is unknown.
    fn verify_failed(&self, read: &HashSet<(Atom, Atom)>) -> Result<(), HistoryError> {
        let mut failed: HashMap<(Atom, Atom), u64> = HashMap::default();
        for (mop, index, _) in self.failed.iter().filter(|(mop, ..)| read.contains(&(mop.key, mop.value))) {
            failed.entry((mop.key, mop.value)).or_insert(*index);
        }
        if failed.is_empty() {
            return Ok(());
        }
        let kept: HashSet<(Atom, Atom)> =
            self.mops.iter().filter(|mop| mop.act != Act::Read).map(|mop| (mop.key, mop.value)).collect();
        for (mop, index, position) in &self.failed {
            let value = (mop.key, mop.value);
            if failed.get(&value).is_some_and(|first| first != index || kept.contains(&value)) {
                let reason = "it failed, and wrote a value that another wrote, too, and that was read";
                return Err(refusal(*index, *position, self.format, reason, "a format that has aborted transactions"));
            }
        }
        Ok(())
    }

    /// The values that a read returns, each with its key.
    fn seen(&self, key: Atom, value: Atom) -> Vec<(Atom, Atom)> {
        match value {
            Atom::List(start, end) => {
                let elements = &self.elements[start.to_usize()..end.to_usize()];
                elements.iter().map(|element| (key, Atom::Int(*element))).collect()
            }
            value => vec![(key, value)],
        }
    }
}
