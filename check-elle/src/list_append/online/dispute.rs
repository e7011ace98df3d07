//! Revokes parts of version orders at levels that forbid neither aborted reads nor disagreeing reads, although these
//! determine the order.
//!
//! - **A writer fails whose append was read.** The elements before and after the append then become neighbours.
//! - **Two lists disagree.** Their common prefix stays in order. All other elements that were read come after it, in no
//!   known order, as in `list_append::orders`.
//!
//! In both cases, the remaining pairs were ordered in the same way before. So no cycle is new, and none is reported. (A
//! run that continues has omitted the edge that closed a cycle.)

use super::judge::ListJudge;
use super::lists::UNREAD;
use crate::anomaly::AnomalyType;
use crate::txn::online::decode::Mop;
use crate::txn::online::judge::Stop;
use history_core::cast::Cast as _;
use std::cmp::Reverse;

impl ListJudge {
    /// Compares the lists that a transaction read with each other and with earlier ones, before any of them is used.
    pub(super) fn find_disputes(&mut self, index: u64, mops: &[Mop], codes: &[i64]) {
        let mut reads = std::mem::take(&mut self.reads);
        reads.clear();
        reads.extend(mops.iter().filter_map(|mop| match mop {
            Mop::Read { key, seen } => Some((*key, seen.clone())),
            Mop::Write { .. } => None,
        }));
        // The longest list of a key is first: the earliest difference between any two lists is one between it and
        // another.
        reads.sort_unstable_by_key(|(key, seen)| (*key, Reverse(seen.len())));
        for of_key in reads.chunk_by(|(a, _), (b, _)| a == b) {
            let key = self.lists.key_id(of_key[0].0, index);
            let longest = &codes[of_key[0].1.clone()];
            let others = of_key[1..].iter().map(|(_, seen)| &codes[seen.clone()]);
            let others = others.chain([&self.lists.key(key).list[..]]);
            if let Some(agreed) = others.filter_map(|other| differ_at(longest, other)).min() {
                self.dispute(key, agreed);
            }
        }
        self.reads = reads;
    }

    /// The part of a list that shows the order of its key.
    pub(super) fn agreed<'l>(&mut self, index: u64, key: u32, list: &'l [i64]) -> Result<&'l [i64], Stop> {
        let Some(agreed) = self.lists.key(key).agreed.filter(|agreed| agreed.to_usize() < list.len()) else {
            return Ok(list);
        };
        self.sorted.clear();
        self.sorted.extend_from_slice(list);
        self.sorted.sort_unstable();
        if let Some(two) = self.sorted.windows(2).find(|two| two[0] == two[1]) {
            let code = self.lists.key(key).code;
            self.findings.direct(AnomalyType::DUPLICATE_ELEMENTS, index, code, Some(two[0]))?;
        }
        Ok(&list[..agreed.to_usize()])
    }

    /// Truncates the order of a key to this length, because reads disagree about what follows.
    fn dispute(&mut self, key: u32, agreed: usize) {
        let before = self.lists.key_mut(key).agreed.get_or_insert(u32::MAX);
        *before = (*before).min(agreed.to_u32());
        if self.lists.key(key).list.len() <= agreed {
            return;
        }
        let after = self.lists.dispute(key, agreed).to_vec();
        let mut writers: Vec<u32> = after.into_iter().map(|elem| self.lists.elem(elem).writer).collect();
        writers.sort_unstable();
        writers.dedup();
        self.graph.part(&writers);
        // Their order may follow from other keys.
        for txn in writers {
            for at in 0..self.graph.at(txn).writes.len() {
                self.lead_on(self.graph.at(txn).writes[at]);
            }
        }
        if let Some(last) = self.lists.last_written(key, agreed) {
            self.lead_on(last);
        }
    }

    /// Connects the neighbours of an append that was read, because its transaction failed.
    pub(super) fn bridge(&mut self, failed: u32) {
        let (key, pos) = (self.lists.elem(failed).key, self.lists.elem(failed).pos);
        if pos == UNREAD {
            return;
        }
        if let Some(before) = self.lists.last_written(key, pos.to_usize()) {
            self.lead_on(before);
        }
    }

    /// Adds an edge from an element in a list to the next one.
    fn lead_on(&mut self, elem: u32) {
        let (key, pos) = (self.lists.elem(elem).key, self.lists.elem(elem).pos);
        if pos == UNREAD {
            return;
        }
        let from = self.end(elem);
        if let Some(next) = self.lists.next_written(key, pos.to_usize() + 1) {
            return self.graph.relate_again(from, self.end(next));
        }
        for at in 0..self.lists.key(key).unread.len() {
            let to = self.end(self.lists.key(key).unread[at]);
            self.graph.relate_again(from, to);
        }
    }
}

/// The position of the first difference between two lists; `None` if one is a prefix of the other.
fn differ_at(a: &[i64], b: &[i64]) -> Option<usize> {
    a.iter().zip(b).position(|(a, b)| a != b)
}
