//! What the micro-ops of one transaction show about each other, as in `list_append::within`: a read that contradicts
//! earlier micro-ops of its transaction (`internal`), and one that returns a later append of it (`future-read`).

use crate::txn::online::decode::Mop;
use crate::txn::online::judge::Inner;
use history_core::hash::HashMap;
use std::ops::Range;

/// The micro-ops of a transaction on one key so far.
#[derive(Clone, Debug, Default)]
struct Slot {
    /// The last read.
    base: Option<Range<usize>>,
    /// Appends since then.
    tail: Vec<i64>,
    /// All reads.
    reads: Vec<Range<usize>>,
    is_unsound: bool,
}

/// Examines one transaction after another, and reuses its buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Within {
    slots: HashMap<i64, Slot>,
}

impl Within {
    /// Examines an `ok` transaction. `codes` contains the lists. O(length of its lists).
    pub(super) fn look(&mut self, mops: &[Mop], codes: &[i64]) -> Inner {
        let mut found = Inner::default();
        if are_of_different_keys(mops) {
            return found;
        }
        self.slots.clear();
        for mop in mops {
            match mop {
                Mop::Write { key, value } => {
                    let slot = self.slots.entry(*key).or_default();
                    slot.tail.push(*value);
                    let mut reads = slot.reads.iter();
                    if found.future_read.is_none() && reads.any(|read| codes[read.clone()].contains(value)) {
                        found.future_read = Some((*key, *value));
                    }
                }
                Mop::Read { key, seen: list } => {
                    let slot = self.slots.entry(*key).or_default();
                    if !slot.is_unsound && !agrees(slot, &codes[list.clone()], codes) {
                        slot.is_unsound = true;
                        found.internal.get_or_insert(*key);
                    }
                    slot.base = Some(list.clone());
                    slot.tail.clear();
                    slot.reads.push(list.clone());
                }
            }
        }
        found
    }
}

/// Returns true if there are few micro-ops, all on different keys, so that they show nothing about each other.
fn are_of_different_keys(mops: &[Mop]) -> bool {
    /// For so few, comparing all pairs is faster than a lookup.
    const FEW: usize = 12;
    mops.len() <= FEW && (1..mops.len()).all(|at| mops[..at].iter().all(|before| before.key() != mops[at].key()))
}

/// Returns true if a list is the last read with all later appends.
fn agrees(slot: &Slot, list: &[i64], codes: &[i64]) -> bool {
    match &slot.base {
        Some(base) => list.strip_prefix(&codes[base.clone()]).is_some_and(|rest| rest == slot.tail),
        None => list.ends_with(&slot.tail),
    }
}
