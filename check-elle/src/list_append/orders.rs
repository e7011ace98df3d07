//! Version orders: for each key, the order in which its elements were appended, as far as reads prove it.
//!
//! A read of `[a b c]` proves a << b << c. All reads being prefixes of the longest one, that gives the order; where they are
//! not (`incompatible-order`), the longest gives it all the same, of several the one read first, so that the choice is the
//! same every time, and what stands in the others alone has no place. A key to which only one append was made has that for
//! its order, read or not. Kingsbury and Alvaro, "Elle" (VLDB 2020), section 4.2.

use super::mop::{Mop, What};
use super::states::{ElemFlags, States};
use crate::ids::{ElemId, KeyId, TxnId};
use crate::txn::Txns;
use history_core::OpKind;

/// Where an element stands that no order holds.
const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Orders {
    /// For each key, where its order begins in `elems`.
    /// Nondecreasing; its last entry is `elems.len()`.
    start: Vec<u32>,
    /// The orders, one after another, each element once.
    elems: Vec<ElemId>,
    /// For each element its position in `elems`, or `NOWHERE`.
    at: Vec<u32>,
    /// For each key, where its appends begin in `unread`.
    /// Nondecreasing; its last entry is `unread.len()`.
    unread_start: Vec<u32>,
    /// Appends that may have happened and stand in no list that was read, nor in an order, grouped by key, each group in the
    /// order of transactions.
    unread: Vec<ElemId>,
}

impl Orders {
    /// O(elements + micro-ops).
    pub(crate) fn infer(states: &States, txns: &Txns<Mop>) -> Orders {
        let mut orders = Orders {
            start: Vec::with_capacity(states.key.len() + 1),
            elems: Vec::new(),
            at: vec![NOWHERE; states.elem.len()],
            unread_start: Vec::new(),
            unread: Vec::new(),
        };
        let sole = sole_appends(states, txns);
        for key in (0..states.key.len()).map(KeyId::new) {
            orders.start.push(orders.elems.len() as u32);
            for state in states.trunk(key) {
                orders.place(states.state[state.at()].elem);
            }
            if states.trunk(key).is_empty() && sole[key.at()] != ElemId::NONE {
                orders.place(sole[key.at()]);
            }
        }
        orders.start.push(orders.elems.len() as u32);
        orders.find_unread(states, txns);
        orders
    }

    fn place(&mut self, elem: ElemId) {
        // A list that holds an element twice is an anomaly of its own; the first place counts.
        if self.at[elem.at()] == NOWHERE {
            self.at[elem.at()] = self.elems.len() as u32;
            self.elems.push(elem);
        }
    }

    /// A counting sort of the appends left over.
    fn find_unread(&mut self, states: &States, txns: &Txns<Mop>) {
        let mut counts = vec![0u32; states.key.len() + 1];
        // What was read in a list beside the longest one comes before or after its elements: nobody knows.
        let left =
            |elem: ElemId, at: &[u32]| at[elem.at()] == NOWHERE && !states.elem[elem.at()].flags.has(ElemFlags::SEEN);
        each_possible_append(txns, |key, elem| counts[key.at()] += u32::from(left(elem, &self.at)));
        let mut total = 0;
        for count in &mut counts {
            total += std::mem::replace(count, total);
        }
        self.unread = vec![ElemId::NONE; total as usize];
        let mut next = counts.clone();
        each_possible_append(txns, |key, elem| {
            if left(elem, &self.at) {
                self.unread[next[key.at()] as usize] = elem;
                next[key.at()] += 1;
            }
        });
        self.unread_start = counts;
    }

    /// The order of a key.
    pub(crate) fn of(&self, key: KeyId) -> &[ElemId] {
        &self.elems[self.start[key.at()] as usize..self.start[key.at() + 1] as usize]
    }

    /// A key's appends that nobody read: they come after the last element of its order.
    pub(crate) fn unread(&self, key: KeyId) -> &[ElemId] {
        &self.unread[self.unread_start[key.at()] as usize..self.unread_start[key.at() + 1] as usize]
    }

    /// Whether an element stands in its key's order.
    #[inline]
    pub(crate) fn holds(&self, elem: ElemId) -> bool {
        self.at[elem.at()] != NOWHERE
    }

    /// What comes directly after an element (or, for `None`, after the empty list): the next one, or all the unread ones.
    #[inline]
    pub(crate) fn after(&self, key: KeyId, elem: Option<ElemId>) -> &[ElemId] {
        let next = match elem {
            None => self.start[key.at()],
            Some(elem) if self.at[elem.at()] == NOWHERE => return &[],
            Some(elem) => self.at[elem.at()] + 1,
        } as usize;
        if next < self.start[key.at() + 1] as usize { &self.elems[next..=next] } else { self.unread(key) }
    }
}

fn each_possible_append(txns: &Txns<Mop>, mut see: impl FnMut(KeyId, ElemId)) {
    for txn in txns.ids().filter(|txn| txns.is_possible(*txn)) {
        for mop in txns.mops(txn) {
            if let What::Write(elem) = mop.what() {
                see(mop.key, elem);
            }
        }
    }
}

/// For each key its append, if there was exactly one that may have happened.
fn sole_appends(states: &States, txns: &Txns<Mop>) -> Vec<ElemId> {
    let mut sole = vec![ElemId::NONE; states.key.len()];
    // Most histories have no such key.
    if states.key.iter().any(|key| key.appends == 1) {
        each_possible_append(txns, |key, elem| {
            if states.key[key.at()].appends == 1 {
                sole[key.at()] = elem;
            }
        });
    }
    sole
}

/// Who observed what: for each element the reads that end in it, and for each key those of the empty list.
#[derive(Debug)]
pub(crate) struct Readers {
    /// Where each element's readers begin in `txns`; the keys follow the elements.
    /// Nondecreasing; its last entry is `txns.len()`.
    start: Vec<u32>,
    /// In ascending order within each group.
    txns: Vec<TxnId>,
    elems: usize,
}

impl Readers {
    /// A counting sort of all reads. O(micro-ops).
    pub(crate) fn infer(states: &States, txns: &Txns<Mop>) -> Readers {
        let elems = states.elem.len();
        let mut start = vec![0u32; elems + states.key.len() + 1];
        let place = |key: KeyId, state| states.last(state).map_or(elems + key.at(), ElemId::at);
        each_read(txns, |_, key, state| start[place(key, state)] += 1);
        let mut total = 0;
        for count in &mut start {
            total += std::mem::replace(count, total);
        }
        let mut readers = vec![TxnId::NONE; total as usize];
        let mut next = start.clone();
        each_read(txns, |txn, key, state| {
            let next = &mut next[place(key, state)];
            readers[*next as usize] = txn;
            *next += 1;
        });
        Readers { start, txns: readers, elems }
    }

    /// The transactions with a read that ends in this element; one that has two such reads stands here twice.
    #[inline]
    pub(crate) fn of(&self, elem: ElemId) -> &[TxnId] {
        self.group(elem.at())
    }

    /// The transactions that read a key's empty list.
    pub(crate) fn of_empty(&self, key: KeyId) -> &[TxnId] {
        self.group(self.elems + key.at())
    }

    fn group(&self, at: usize) -> &[TxnId] {
        &self.txns[self.start[at] as usize..self.start[at + 1] as usize]
    }
}

fn each_read(txns: &Txns<Mop>, mut see: impl FnMut(TxnId, KeyId, crate::ids::StateId)) {
    for txn in txns.ids() {
        debug_assert!(txns.kind(txn) != OpKind::Invoke);
        for mop in txns.mops(txn) {
            // Failed transactions have no reads of known states.
            if let What::Read(state) = mop.what() {
                see(txn, mop.key, state);
            }
        }
    }
}
