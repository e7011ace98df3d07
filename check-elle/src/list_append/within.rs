//! What a transaction's micro-ops show about each other: internal anomalies, future reads, and the reads that it
//! overwrites.
//!
//! INT and EXT of Cerone, Bernardi and Gotsman, "A Framework for Transactional Consistency Models with Atomic
//! Visibility" (CONCUR 2015), section 3, for lists. O(micro-ops), plus the lengths of lists read before an append to
//! them.

use super::mop::{Mop, What};
use super::states::{ElemFlags, States};
use crate::ids::{ElemId, KeyId, StateId, TxnId};
use history_core::OpKind;
use history_core::cast::Cast as _;

/// The anomalies found so far, in the order of the history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// For each transaction and key, the first read that disagrees with earlier micro-ops of the transaction.
    pub(crate) internal: Vec<Internal>,
    /// A transaction, its read, and an element in it that the transaction appends only later.
    pub(crate) future_reads: Vec<(TxnId, u32, ElemId)>,
    /// The first state of a key that a transaction read, if the transaction appended to the key after that. Two
    /// transactions with the same state are a lost update.
    pub(crate) updates: Vec<(StateId, TxnId)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Internal {
    pub(crate) txn: TxnId,
    /// The micro-op's position in the transaction.
    pub(crate) mop: u32,
    /// The list as it was last read; `None` if only the later appends are known.
    pub(crate) base: Option<StateId>,
    /// The appends since then.
    pub(crate) tail: Vec<ElemId>,
}

/// The micro-ops of a transaction on one key so far.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The last read.
    base: Option<StateId>,
    /// The latest append since, in `Within::tails`.
    tail: u32,
    tail_len: u32,
    first_read: Option<StateId>,
    /// Whether an append followed the first read.
    updated: bool,
    last_append: ElemId,
    /// Whether all reads agreed so far.
    sound: bool,
}

const NO_TAIL: u32 = u32::MAX;

/// Examines one transaction after another, and reuses its buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Within {
    /// For each key, the transaction that used it last and its slot there.
    marks: Vec<(u32, u32)>,
    stamp: u32,
    slots: Vec<Slot>,
    /// Appends, each with the position of the one before it to the same key.
    tails: Vec<(ElemId, u32)>,
    /// Elements appended after a read of their key, and the positions of these appends.
    late: Vec<(ElemId, u32)>,
}

impl Within {
    /// Examines a transaction. If it did not complete `ok`, only its appends are used.
    #[inline]
    pub(crate) fn look(&mut self, states: &mut States, kind: OpKind, txn: TxnId, mops: &[Mop], found: &mut Findings) {
        if mops.len() > 1 {
            self.look_at_many(states, kind, txn, mops, found);
        }
    }

    fn look_at_many(&mut self, states: &mut States, kind: OpKind, txn: TxnId, mops: &[Mop], found: &mut Findings) {
        self.begin(states);
        for (at, mop) in mops.iter().enumerate() {
            let slot = self.slot(mop.key);
            match mop.what() {
                What::Write(elem) => self.append(slot, elem, at.to_u32(), kind, txn, states, found),
                What::Read(state) if kind == OpKind::Ok => {
                    if self.slots[slot].sound && !self.agrees(slot, state, states) {
                        // Only the first is reported: later ones may be its consequence.
                        self.slots[slot].sound = false;
                        let tail = self.tail(slot);
                        found.internal.push(Internal { txn, mop: at.to_u32(), base: self.slots[slot].base, tail });
                    }
                    let slot = &mut self.slots[slot];
                    slot.first_read.get_or_insert(state);
                    *slot = Slot { base: Some(state), tail: NO_TAIL, tail_len: 0, ..*slot };
                }
                What::Read(_) | What::Unseen => {}
            }
        }
        if kind == OpKind::Ok && !self.late.is_empty() {
            self.find_future_reads(states, txn, mops, found);
        }
    }

    fn begin(&mut self, states: &States) {
        if self.stamp == u32::MAX {
            self.marks.fill((0, 0));
            self.stamp = 0;
        }
        self.stamp += 1;
        self.marks.resize(states.key.len(), (0, 0));
        self.slots.clear();
        self.tails.clear();
        self.late.clear();
    }

    fn slot(&mut self, key: KeyId) -> usize {
        let mark = &mut self.marks[key.at()];
        if mark.0 != self.stamp {
            *mark = (self.stamp, self.slots.len().to_u32());
            self.slots.push(Slot {
                base: None,
                tail: NO_TAIL,
                tail_len: 0,
                first_read: None,
                updated: false,
                last_append: ElemId::NONE,
                sound: true,
            });
        }
        mark.1.to_usize()
    }

    #[expect(clippy::too_many_arguments, reason = "a step of the loop above as a function")]
    fn append(
        &mut self,
        slot: usize,
        elem: ElemId,
        at: u32,
        kind: OpKind,
        txn: TxnId,
        states: &mut States,
        found: &mut Findings,
    ) {
        let slot = &mut self.slots[slot];
        if slot.last_append != ElemId::NONE {
            states.elem[slot.last_append.at()].flags.add(ElemFlags::INTERMEDIATE);
        }
        // A first read that shows an append of its own transaction counts too. Two transactions with the same such read
        // are also a G1b, so this rejects no history that would otherwise be valid; and Elle reports it in the same
        // way.
        if let (Some(read), OpKind::Ok, false) = (slot.first_read, kind, slot.updated) {
            slot.updated = true;
            found.updates.push((read, txn));
        }
        slot.last_append = elem;
        self.tails.push((elem, slot.tail));
        slot.tail = (self.tails.len() - 1).to_u32();
        slot.tail_len += 1;
        if slot.first_read.is_some() && states.elem[elem.at()].flags.has(ElemFlags::SEEN) {
            self.late.push((elem, at));
        }
    }

    /// Returns true if a read of `state` agrees with the last read and all later appends.
    fn agrees(&self, slot: usize, state: StateId, states: &States) -> bool {
        let Slot { base, mut tail, tail_len, .. } = self.slots[slot];
        if base.is_none() && tail_len == 0 {
            return true;
        }
        if states.state[state.at()].len < tail_len {
            return false;
        }
        let mut at = state;
        while tail != NO_TAIL {
            let (elem, before) = self.tails[tail.to_usize()];
            if states.state[at.at()].elem != elem {
                return false;
            }
            at = states.state[at.at()].parent;
            tail = before;
        }
        base.is_none_or(|base| base == at)
    }

    fn tail(&self, slot: usize) -> Vec<ElemId> {
        let mut elems = Vec::new();
        let mut tail = self.slots[slot].tail;
        while tail != NO_TAIL {
            let (elem, before) = self.tails[tail.to_usize()];
            elems.push(elem);
            tail = before;
        }
        elems.reverse();
        elems
    }

    fn find_future_reads(&mut self, states: &States, txn: TxnId, mops: &[Mop], found: &mut Findings) {
        // Appends are unique, so an element occurs once.
        self.late.sort_unstable();
        for (at, mop) in mops.iter().enumerate() {
            let What::Read(state) = mop.what() else { continue };
            let slot = self.marks[mop.key.at()].1.to_usize();
            if self.slots[slot].last_append == ElemId::NONE {
                continue;
            }
            let from = found.future_reads.len();
            for elem in states.elems_back(state) {
                if let Ok(i) = self.late.binary_search_by_key(&elem, |(elem, _)| *elem)
                    && self.late[i].1 > at.to_u32()
                {
                    found.future_reads.push((txn, at.to_u32(), elem));
                }
            }
            found.future_reads[from..].reverse();
        }
    }
}
