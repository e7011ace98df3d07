//! The transactions of a list-append history that happened, the writers that their reads observed, and the appends that
//! are known to precede others.
//!
//! A read returns the list as it was before the transaction appended to it, followed by the transaction's own appends.
//! So it observed the writer of the last element before these. Appends that no read shows come after all appends that
//! some read shows.
//! shows.

use super::mop::{Mop, What};
use super::orders::Orders;
use super::states::{ElemFlags, States};
use crate::exact::{External, Happened, key_of};
use crate::ids::{ElemId, KeyId, StateId, TxnId};
use crate::txn::Txns;
use history_core::cast::Cast as _;

/// The transactions that happened; `None` if some read returned a list that no transaction left behind.
pub(super) fn happened(states: &States, txns: &Txns<Mop>, orders: &Orders) -> Option<Happened> {
    let is_seen = |txn: TxnId| {
        let mut writes =
            txns.mops(txn).iter().filter_map(|mop| if let What::Write(elem) = mop.what() { Some(elem) } else { None });
        writes.any(|elem| states.elem[elem.at()].flags.has(ElemFlags::SEEN))
    };
    let mut own = Own::new(states.key.len());
    let mut contradicts_itself = false;
    let mut happened = Happened::new(
        txns,
        |txn| txns.is_ok(txn) || txns.is_possible(txn) && is_seen(txn),
        |txn, reads, writes| {
            own.begin(txn);
            for mop in txns.mops(txn) {
                match mop.what() {
                    What::Write(elem) => {
                        own.append(mop.key, elem);
                        writes.push(key_of(mop.key));
                    }
                    What::Read(state) => match own.before(mop.key, state, states) {
                        Some(before) => reads.push(external(states, txn, mop.key, before)?),
                        None => contradicts_itself = true,
                    },
                    What::Unseen => {}
                }
            }
            Some(())
        },
    )?;
    happened.contradicts_itself = contradicts_itself;
    for key in (0..states.key.len()).map(KeyId::new) {
        push_orders(states, orders, key, &mut happened);
    }
    Some(happened)
}

/// The writer that a read of this list observed; `None` if no transaction left the list behind.
fn external(states: &States, txn: TxnId, key: KeyId, state: StateId) -> Option<External> {
    let Some(last) = states.last(state) else { return Some((key, None)) };
    let elem = states.elem[last.at()];
    let is_left = elem.writer != TxnId::NONE
        && elem.writer != txn
        && !elem.flags.has(ElemFlags::FAILED)
        && !elem.flags.has(ElemFlags::INTERMEDIATE);
    is_left.then_some((key, Some(elem.writer)))
}

fn push_orders(states: &States, orders: &Orders, key: KeyId, happened: &mut Happened) {
    let writer = |elem: &ElemId| states.elem[elem.at()].writer;
    let mut last = TxnId::NONE;
    for writer in orders.of(key).iter().map(writer) {
        if last != TxnId::NONE && last != writer {
            happened.push_order(key, last, writer);
        }
        last = writer;
    }
    for writer in orders.unread(key).iter().map(writer) {
        if last != TxnId::NONE && last != writer {
            happened.push_order(key, last, writer);
        }
    }
}

/// The appends of the current transaction so far.
struct Own {
    txn: TxnId,
    /// For each key, the last transaction that appended to it, and the position of its latest append in `tails`.
    last: Vec<(TxnId, u32)>,
    /// Appends, each with the position of the one before it to the same key.
    tails: Vec<(ElemId, u32)>,
}

const NO_TAIL: u32 = u32::MAX;

impl Own {
    fn new(keys: usize) -> Own {
        Own { txn: TxnId::NONE, last: vec![(TxnId::NONE, NO_TAIL); keys], tails: Vec::new() }
    }

    fn begin(&mut self, txn: TxnId) {
        self.txn = txn;
        self.tails.clear();
    }

    fn tail(&self, key: KeyId) -> u32 {
        let (txn, tail) = self.last[key.at()];
        if txn == self.txn { tail } else { NO_TAIL }
    }

    fn append(&mut self, key: KeyId, elem: ElemId) {
        let before = self.tail(key);
        self.last[key.at()] = (self.txn, self.tails.len().to_u32());
        self.tails.push((elem, before));
    }

    /// The list without the transaction's own appends; `None` if it does not end with all of them.
    fn before(&self, key: KeyId, state: StateId, states: &States) -> Option<StateId> {
        let (mut at, mut tail) = (state, self.tail(key));
        while tail != NO_TAIL {
            let (elem, before) = self.tails[tail.to_usize()];
            if states.state[at.at()].elem != elem {
                return None;
            }
            at = states.state[at.at()].parent;
            tail = before;
        }
        Some(at)
    }
}
