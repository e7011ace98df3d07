//! Anomalies of lists that no cycle shows, found as events reveal them.

use super::judge::ListJudge;
use super::lists::{Elem, UNREAD};
use crate::anomaly::AnomalyType;
use crate::txn::online::decode::Mop;
use crate::txn::online::judge::Stop;
use crate::txn::online::time::NONE;
use history_core::cast::Cast as _;

impl ListJudge {
    /// Finds reads that end with an element after which its transaction turns out to have appended another.
    pub(super) fn find_late_g1b(&self, txn: u32) -> Result<(), Stop> {
        for elem in &self.graph.at(txn).writes {
            let elem = self.lists.elem(*elem);
            if elem.pos == UNREAD || !elem.is_intermediate {
                continue;
            }
            let key = self.lists.key(elem.key);
            let readers = key.readers.get(elem.pos.to_usize() + 1).into_iter().flatten();
            if let Some(reader) = readers.into_iter().find(|reader| **reader != txn) {
                self.findings.direct(AnomalyType::G1B, self.graph.at(*reader).index, key.code, Some(elem.code))?;
            }
        }
        Ok(())
    }

    /// Finds an append whose place precedes that of an earlier append of its own transaction.
    pub(super) fn find_reversed(&self, elem: u32) -> Result<(), Stop> {
        let Elem { pos, before, index, code, key, .. } = *self.lists.elem(elem);
        if before != NONE && self.lists.elem(before).pos > pos {
            return self.findings.direct(AnomalyType::CYCLIC_VERSIONS, index, self.lists.key(key).code, Some(code));
        }
        Ok(())
    }

    pub(super) fn find_g1b(&self, txn: u32, index: u64, key: u32, len: usize) -> Result<(), Stop> {
        let key = self.lists.key(key);
        let Some(last) = len.checked_sub(1).map(|at| self.lists.elem(key.elems[at])) else { return Ok(()) };
        if last.is_intermediate && last.index != self.graph.at(txn).index {
            return self.findings.direct(AnomalyType::G1B, index, key.code, Some(last.code));
        }
        Ok(())
    }

    /// Finds two transactions that read the same list of a key and then appended to it.
    pub(super) fn find_lost_update(&mut self, txn: u32, index: u64, mops: &[Mop]) -> Result<(), Stop> {
        let own = self.graph.at(txn).index;
        for (at, mop) in mops.iter().enumerate() {
            let Mop::Write { key, .. } = mop else { continue };
            let first = mops[..at].iter().find_map(|mop| match mop {
                Mop::Read { key: read, seen } if read == key => Some(seen.len()),
                _ => None,
            });
            let Some(len) = first else { continue };
            let id = self.lists.key_id(*key, index);
            let updater = *self.lists.key_mut(id).updaters.entry(len.to_u32()).or_insert(own);
            if updater != own {
                self.findings.direct(AnomalyType::LOST_UPDATE, index, *key, None)?;
            }
        }
        Ok(())
    }
}
