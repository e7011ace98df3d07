//! Anomalies on one key or in one transaction, without cycles.
//!
//! G1a and G1b: Adya, "Weak Consistency", section 3.1. Dirty and lost updates, duplicate elements and incompatible
//! orders: Kingsbury and Alvaro, "Elle" (VLDB 2020), sections 4 and 6. Cyclic versions: a transaction takes effect in
//! its own order at every level (Adya, section 3.1: the events of a transaction are ordered, and its reads see its own
//! writes), so each of its appends comes after its earlier ones. A version order that reverses two of them contradicts
//! this. No edge between transactions shows it.

use super::mop::{Mop, What};
use super::orders::Orders;
use super::states::{ElemFlags, Facts, States};
use super::within::{Findings, Internal};
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::ids::{ElemId, KeyId, StateId, TxnId};
use crate::txn::{Txns, updates as lost_updates};
use history_core::OpKind;
use history_core::cast::Cast as _;

/// The results, each list in the order of the history (or of keys).
#[derive(Debug, Default)]
pub(crate) struct Direct {
    /// A reader, the position of its micro-op, and an element that a failed transaction appended.
    pub(crate) g1a: Vec<(TxnId, u32, ElemId)>,
    /// A reader, the position of its micro-op, and the last element read, which its writer appended before another.
    pub(crate) g1b: Vec<(TxnId, u32, ElemId)>,
    pub(crate) internal: Vec<Internal>,
    pub(crate) future_reads: Vec<(TxnId, u32, ElemId)>,
    /// A key and a range of its order: from a failed append to the next `ok` one.
    pub(crate) dirty_updates: Vec<(KeyId, std::ops::Range<u32>)>,
    /// A list and the transactions that read it and then appended to it.
    pub(crate) lost_updates: Vec<(StateId, Vec<TxnId>)>,
    /// For each element that was read and never appended, its first reader and the position of the micro-op.
    pub(crate) garbage: Vec<(TxnId, u32, ElemId)>,
    /// A reader and the position of its micro-op.
    pub(crate) duplicates: Vec<(TxnId, u32)>,
    /// A transaction that may have happened, and two of its appends to one key, the second of which comes first in the
    /// version order.
    pub(crate) reversed: Vec<(TxnId, [ElemId; 2])>,
    /// For a key, two reads of which neither is a prefix of the other: reader and position of the micro-op.
    pub(crate) incompatible: Vec<(KeyId, [(TxnId, u32); 2])>,
}

/// Finds all of these anomalies. O(micro-ops + states), plus the lengths of the reported lists.
pub(crate) fn find(states: &States, txns: &Txns<Mop>, orders: &Orders, facts: Facts, found: Findings) -> Direct {
    let Findings { mut internal, future_reads, updates } = found;
    // Keep only the first of each transaction: later ones may be its consequence.
    internal.dedup_by_key(|case| case.txn);
    let mut direct = Direct { internal, future_reads, ..Direct::default() };
    direct.lost_updates = lost_updates::lost(updates);
    direct.find_bad_reads(states, txns, facts);
    if facts.is_unwritten_seen {
        direct.find_garbage(states, txns);
    }
    if facts.any.has(ElemFlags::FAILED) {
        direct.find_dirty_updates(states, txns, orders);
    }
    direct.find_duplicates(states, txns, orders);
    if facts.any.has(ElemFlags::INTERMEDIATE) {
        direct.find_reversed(states, txns, orders);
    }
    direct.find_incompatible(states, txns);
    direct
}

fn each_read(txns: &Txns<Mop>, mut see: impl FnMut(TxnId, u32, StateId)) {
    for txn in txns.ids() {
        for (at, mop) in txns.mops(txn).iter().enumerate() {
            if let What::Read(state) = mop.what() {
                see(txn, at.to_u32(), state);
            }
        }
    }
}

impl Direct {
    /// The types of the anomalies found.
    pub(crate) fn types(&self) -> AnomalySet {
        [
            (AnomalyType::G1A, !self.g1a.is_empty()),
            (AnomalyType::G1B, !self.g1b.is_empty()),
            (AnomalyType::GARBAGE_READ, !self.garbage.is_empty()),
            (AnomalyType::INTERNAL, !self.internal.is_empty()),
            (AnomalyType::FUTURE_READ, !self.future_reads.is_empty()),
            (AnomalyType::DIRTY_UPDATE, !self.dirty_updates.is_empty()),
            (AnomalyType::LOST_UPDATE, !self.lost_updates.is_empty()),
            (AnomalyType::DUPLICATE_ELEMENTS, !self.duplicates.is_empty()),
            (AnomalyType::CYCLIC_VERSIONS, !self.reversed.is_empty()),
            (AnomalyType::INCOMPATIBLE_ORDER, !self.incompatible.is_empty()),
        ]
        .into_iter()
        .filter_map(|(anomaly, found)| found.then_some(anomaly))
        .collect()
    }

    /// Finds G1a and G1b: elements that `ok` transactions should not have read.
    fn find_bad_reads(&mut self, states: &States, txns: &Txns<Mop>, facts: Facts) {
        // Parents precede their children, so one pass finds all lists with a failed element.
        let failed_elem = |elem: ElemId| states.elem[elem.at()].flags.has(ElemFlags::FAILED);
        let mut failed: Vec<bool> = Vec::new();
        if facts.seen.has(ElemFlags::FAILED) {
            failed.reserve(states.state.len());
            for state in &states.state {
                let inherited = failed.get(state.parent.at()).copied().unwrap_or_default();
                failed.push(inherited || state.elem != ElemId::NONE && failed_elem(state.elem));
            }
        }
        each_read(txns, |txn, at, state| {
            if txns.kind(txn) != OpKind::Ok {
                return;
            }
            if failed.get(state.at()).copied().unwrap_or_default() {
                let seen = states.elems(state).into_iter().filter(|elem| failed_elem(*elem));
                self.g1a.extend(seen.map(|elem| (txn, at, elem)));
            }
            if let Some(last) = states.last(state) {
                let elem = &states.elem[last.at()];
                if elem.flags.has(ElemFlags::INTERMEDIATE) && elem.writer != txn {
                    self.g1b.push((txn, at, last));
                }
            }
        });
    }

    fn find_garbage(&mut self, states: &States, txns: &Txns<Mop>) {
        let garbage = |elem: ElemId| {
            let elem = &states.elem[elem.at()];
            elem.writer == TxnId::NONE && elem.flags.has(ElemFlags::SEEN)
        };
        // Every list is visited once, and every element reported once.
        let mut passed = vec![false; states.state.len()];
        let mut is_reported = vec![false; states.elem.len()];
        each_read(txns, |txn, at, state| {
            let mut state = state;
            while txns.is_ok(txn) && !std::mem::replace(&mut passed[state.at()], true) {
                let elem = states.state[state.at()].elem;
                if elem != ElemId::NONE && garbage(elem) && !std::mem::replace(&mut is_reported[elem.at()], true) {
                    self.garbage.push((txn, at, elem));
                }
                state = states.state[state.at()].parent;
            }
        });
    }

    fn find_dirty_updates(&mut self, states: &States, txns: &Txns<Mop>, orders: &Orders) {
        for key in (0..states.key.len()).map(KeyId::new) {
            let mut failed_at: Option<u32> = None;
            for (at, elem) in orders.of(key).iter().enumerate() {
                let writer = states.elem[elem.at()].writer;
                if writer == TxnId::NONE {
                    continue;
                }
                match txns.kind(writer) {
                    OpKind::Fail => {
                        failed_at.get_or_insert(at.to_u32());
                    }
                    OpKind::Ok => {
                        if let Some(from) = failed_at.take() {
                            self.dirty_updates.push((key, from..at.to_u32() + 1));
                        }
                    }
                    OpKind::Info | OpKind::Invoke => {}
                }
            }
        }
    }

    fn find_duplicates(&mut self, states: &States, txns: &Txns<Mop>, orders: &Orders) {
        // A list can contain an element twice only if its key's order is shorter than its longest list, or in a branch.
        let suspect = |key: KeyId| states.key[key.at()].branched || states.trunk(key).len() > orders.of(key).len();
        let keys: Vec<bool> = (0..states.key.len()).map(|key| suspect(KeyId::new(key))).collect();
        if !keys.contains(&true) {
            return;
        }
        let mut judged: history_core::hash::HashMap<StateId, bool> = history_core::hash::HashMap::default();
        // For each element, the list in which it was last seen.
        let mut seen_in = vec![StateId::NONE; states.elem.len()];
        each_read(txns, |txn, at, state| {
            if !keys[states.state[state.at()].key.at()] {
                return;
            }
            let twice = *judged.entry(state).or_insert_with(|| {
                states.elems_back(state).any(|elem| std::mem::replace(&mut seen_in[elem.at()], state) == state)
            });
            if twice {
                self.duplicates.push((txn, at));
            }
        });
    }

    /// Finds appends of one transaction that the version order reverses. It suffices to compare consecutive appends to
    /// a key: if their places increase, all places do.
    fn find_reversed(&mut self, states: &States, txns: &Txns<Mop>, orders: &Orders) {
        // For each key, the last transaction that appended to it, and the element.
        let mut last = vec![(TxnId::NONE, ElemId::NONE); states.key.len()];
        for txn in txns.ids().filter(|txn| txns.is_possible(*txn)) {
            for mop in txns.mops(txn) {
                let What::Write(elem) = mop.what() else { continue };
                let (writer, before) = std::mem::replace(&mut last[mop.key.at()], (txn, elem));
                if writer == txn && orders.place(mop.key, elem) < orders.place(mop.key, before) {
                    self.reversed.push((txn, [before, elem]));
                }
            }
        }
    }

    fn find_incompatible(&mut self, states: &States, txns: &Txns<Mop>) {
        if !states.key.iter().any(|key| key.branched) {
            return;
        }
        let mut off_trunk: Vec<Option<(TxnId, u32)>> = vec![None; states.key.len()];
        let mut longest: Vec<Option<(TxnId, u32)>> = vec![None; states.key.len()];
        each_read(txns, |txn, at, state| {
            let key = states.state[state.at()].key;
            if !states.key[key.at()].branched {
                return;
            }
            let trunk = states.trunk(key);
            let len = states.state[state.at()].len.to_usize();
            if len > 0 && trunk.get(len - 1) != Some(&state) {
                off_trunk[key.at()].get_or_insert((txn, at));
            } else if len == trunk.len() {
                longest[key.at()].get_or_insert((txn, at));
            }
        });
        for key in 0..states.key.len() {
            if let (Some(a), Some(b)) = (off_trunk[key], longest[key]) {
                self.incompatible.push((KeyId::new(key), [a, b]));
            }
        }
    }
}
