//! Version orders: for each key, the order in which its elements were appended, as far as reads prove it.
//!
//! A read of `[a b c]` proves a << b << c. If all reads are prefixes of the longest one, it gives the order. If a key
//! has only one append, that is its order, whether it was read or not. Appends that were never read come after all that
//! were read. Kingsbury and Alvaro, "Elle" (VLDB 2020), section 4.2.
//!
//! # Reads that disagree
//!
//! If neither of two reads is a prefix of the other (`incompatible-order`), at most one shows the order, and it is
//! unknown which one. So only facts are used that hold whichever read is right. Let `p` be the longest common prefix of
//! all reads of the key.
//!
//! - Within `p` the order is that of `p`: every read shows it.
//! - Any other element comes after all of `p`. Take the read that is right. If it shows the element, the element is
//!   after `p` in it, because it is not in `p`. If it does not, the element was appended after the read, and the read
//!   shows `p`.
//! - There is no order between two elements that are not in `p`: for `[1 2 4]` and `[1 2 3]`, 3 comes after 4 if the
//!   first is right, and 4 after 3 if the second is.
//!
//! So such a key is treated as if `p` were its longest read. Some pairs outside `p` have the same order in all reads,
//! as 2 and 3 in `[1 2 3]` and `[9 2 3]`; these orders are not used. (For dirty updates the order is the longest read,
//! or the first of several longest ones: no verdict is based on it, because an incompatible order rules out every level
//! that a dirty update rules out.)
//!
//! # Elements that were never appended
//!
//! A list may contain elements that were never appended, or that a failed transaction appended. They are skipped: the
//! neighbour of an element is the next one by a transaction that may have happened, and the version that a read
//! observed is the last element by such a transaction. In `[1 2 3]`, 3 was appended after 1, whichever transaction
//! appended 2.

use super::mop::{Mop, What};
use super::states::{Facts, States};
use crate::ids::{ElemId, KeyId, StateId, TxnId};
use crate::txn::Txns;
use history_core::OpKind;
use history_core::cast::Cast as _;

/// The position of an element that is in no order.
const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Orders {
    /// For each key, the start of its longest list in `elems`. Nondecreasing; its last entry is `elems.len()`.
    start: Vec<u32>,
    /// The longest lists, one after another, each element once.
    elems: Vec<ElemId>,
    /// For each element, its position in `elems`, or `NOWHERE`.
    at: Vec<u32>,
    /// For each key, the end in `elems` of the part on which all its reads agree. Between its start and the next key's.
    end: Vec<u32>,
    /// For each position in `elems`, the first one from there on with a writer that may have happened, or a position at
    /// or after the key's end if there is none before it. Absent if all elements have such writers.
    written: Option<Vec<u32>>,
    /// For each key, the start of its appends in `unread`. Nondecreasing; its last entry is `unread.len()`.
    unread_start: Vec<u32>,
    /// Appends that may have happened and are in no list that all reads agree on, grouped by key, each group in the
    /// order of transactions.
    unread: Vec<ElemId>,
}

impl Orders {
    /// O(elements + states + micro-ops).
    pub(crate) fn infer(states: &States, txns: &Txns<Mop>, facts: Facts) -> Orders {
        let sole = sole_appends(states, txns);
        let mut orders = of_lists(states, &sole).unwrap_or_else(|| of_any(states, &sole));
        if facts.is_unwritten_seen {
            orders.skip_unwritten(states, txns);
        }
        orders.find_unread(states, txns);
        orders
    }

    fn place_all(&mut self, path: &[StateId], states: &States) {
        for state in path {
            self.push(states.state[state.at()].elem);
        }
    }

    fn push(&mut self, elem: ElemId) {
        // A list that contains an element twice is a separate anomaly; only the first position counts.
        if self.at[elem.at()] == NOWHERE {
            self.at[elem.at()] = self.elems.len().to_u32();
            self.elems.push(elem);
        }
    }

    fn skip_unwritten(&mut self, states: &States, txns: &Txns<Mop>) {
        let is_written = |elem: &ElemId| states.is_written(*elem, txns);
        if self.elems.iter().all(is_written) {
            return;
        }
        let mut written = vec![self.elems.len().to_u32(); self.elems.len()];
        let mut next = self.elems.len().to_u32();
        for (at, elem) in self.elems.iter().enumerate().rev() {
            if is_written(elem) {
                next = at.to_u32();
            }
            written[at] = next;
        }
        self.written = Some(written);
    }

    /// A counting sort of the appends that are in no agreed list.
    fn find_unread(&mut self, states: &States, txns: &Txns<Mop>) {
        let mut left: Vec<(KeyId, ElemId)> = Vec::new();
        each_possible_append(txns, |key, elem| {
            if self.at[elem.at()] >= self.end[key.at()] {
                left.push((key, elem));
            }
        });
        let mut counts = vec![0u32; states.key.len() + 1];
        for (key, _) in &left {
            counts[key.at()] += 1;
        }
        let mut total = 0;
        for count in &mut counts {
            total += std::mem::replace(count, total);
        }
        self.unread = vec![ElemId::NONE; left.len()];
        let mut next = counts.clone();
        for (key, elem) in left {
            self.unread[next[key.at()].to_usize()] = elem;
            next[key.at()] += 1;
        }
        self.unread_start = counts;
    }

    /// The longest list of a key, each element once.
    pub(crate) fn of(&self, key: KeyId) -> &[ElemId] {
        &self.elems[self.start[key.at()].to_usize()..self.start[key.at() + 1].to_usize()]
    }

    /// A key's appends that are in no list that all reads agree on: they come after the last element of those lists.
    pub(crate) fn unread(&self, key: KeyId) -> &[ElemId] {
        &self.unread[self.unread_start[key.at()].to_usize()..self.unread_start[key.at() + 1].to_usize()]
    }

    /// The elements directly after an element (or, for `None`, after the empty list) by transactions that may have
    /// happened: the next one, or all the unread ones.
    #[inline]
    pub(crate) fn after(&self, key: KeyId, elem: Option<ElemId>) -> &[ElemId] {
        let end = self.end[key.at()];
        let mut next = match elem {
            None => self.start[key.at()],
            Some(elem) if self.at[elem.at()] >= end => return &[],
            Some(elem) => self.at[elem.at()] + 1,
        };
        if let Some(written) = &self.written
            && next < end
        {
            next = written[next.to_usize()];
        }
        if next < end { &self.elems[next.to_usize()..=next.to_usize()] } else { self.unread(key) }
    }

    /// The element directly before an element, if there is one.
    #[inline]
    pub(crate) fn before(&self, key: KeyId, elem: ElemId) -> Option<ElemId> {
        debug_assert!(self.written.is_none(), "some element comes after more than the one before it");
        // Appends that no read shows come after all elements that reads agree on.
        let at = self.at[elem.at()].min(self.end[key.at()]);
        (at > self.start[key.at()]).then(|| self.elems[at.to_usize() - 1])
    }

    /// The position of an element in the order that all reads of its key agree on. Elements outside it come after it,
    /// and have the greatest number.
    #[inline]
    pub(crate) fn place(&self, key: KeyId, elem: ElemId) -> u32 {
        let at = self.at[elem.at()];
        if at < self.end[key.at()] { at } else { NOWHERE }
    }

    /// The last element of a key's order by a transaction that may have happened.
    pub(crate) fn last(&self, key: KeyId, states: &States, txns: &Txns<Mop>) -> Option<ElemId> {
        let agreed = &self.elems[self.start[key.at()].to_usize()..self.end[key.at()].to_usize()];
        agreed.iter().copied().rfind(|elem| states.is_written(*elem, txns))
    }
}

/// The orders of keys if all reads agree and show no element twice, without unread appends; otherwise `None`. Visits
/// the states in the order of their creation, which is faster than key by key.
fn of_lists(states: &States, sole: &[ElemId]) -> Option<Orders> {
    if states.key.iter().any(|key| key.branched) {
        return None;
    }
    let mut start = Vec::with_capacity(states.key.len() + 1);
    let mut len = 0;
    for (key, sole) in sole.iter().enumerate() {
        start.push(len.to_u32());
        len += states.trunk(KeyId::new(key)).len().max(usize::from(*sole != ElemId::NONE));
    }
    start.push(len.to_u32());
    let mut orders = Orders {
        end: start[1..].to_vec(),
        elems: vec![ElemId::NONE; len],
        at: vec![NOWHERE; states.elem.len()],
        start,
        written: None,
        unread_start: Vec::new(),
        unread: Vec::new(),
    };
    let mut put = |elem: ElemId, place: u32| {
        orders.elems[place.to_usize()] = elem;
        std::mem::replace(&mut orders.at[elem.at()], place) == NOWHERE
    };
    let begins = |key: KeyId| orders.start[key.at()];
    for state in states.state.iter().filter(|state| state.len > 0) {
        if !put(state.elem, begins(state.key) + state.len - 1) {
            return None;
        }
    }
    for key in (0..states.key.len()).map(KeyId::new).filter(|key| states.trunk(*key).is_empty()) {
        if sole[key.at()] != ElemId::NONE {
            put(sole[key.at()], begins(key));
        }
    }
    Some(orders)
}

/// The orders of all keys, without unread appends.
fn of_any(states: &States, sole: &[ElemId]) -> Orders {
    let mut orders = Orders {
        start: Vec::with_capacity(states.key.len() + 1),
        elems: Vec::new(),
        at: vec![NOWHERE; states.elem.len()],
        end: Vec::with_capacity(states.key.len()),
        written: None,
        unread_start: Vec::new(),
        unread: Vec::new(),
    };
    let agreed = agreed(states);
    for key in (0..states.key.len()).map(KeyId::new) {
        orders.start.push(orders.elems.len().to_u32());
        let trunk = states.trunk(key);
        let (common, rest) =
            trunk.split_at(agreed.get(key.at()).map_or(trunk.len(), |len| trunk.len().min(len.to_usize())));
        orders.place_all(common, states);
        if trunk.is_empty() && sole[key.at()] != ElemId::NONE {
            orders.push(sole[key.at()]);
        }
        orders.end.push(orders.elems.len().to_u32());
        orders.place_all(rest, states);
    }
    orders.start.push(orders.elems.len().to_u32());
    orders
}

/// For each key, the length of the common prefix of its reads; empty if all reads agree.
fn agreed(states: &States) -> Vec<u32> {
    if !states.key.iter().any(|key| key.branched) {
        return Vec::new();
    }
    let mut agreed = vec![u32::MAX; states.key.len()];
    for state in &states.state {
        let parent = states.state[state.parent.at()];
        if state.len > 0
            && states.key[state.key.at()].branched
            && !states.is_on_trunk(state)
            && states.is_on_trunk(&parent)
        {
            let agreed = &mut agreed[state.key.at()];
            *agreed = (*agreed).min(parent.len);
        }
    }
    agreed
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

/// For each key, its append, if exactly one append may have happened.
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

/// The readers of each version: for each element, the reads of the version that ends with it, and for each key, the
/// reads of the empty list.
#[derive(Debug)]
pub(crate) struct Readers {
    /// The start of each element's readers in `txns`; the keys follow the elements. Nondecreasing; its last entry is
    /// `txns.len()`.
    start: Vec<u32>,
    /// In ascending order within each group.
    txns: Vec<TxnId>,
    elems: usize,
    /// For each state, the version that it shows. Absent if this is always its last element.
    observed: Option<Vec<ElemId>>,
}

/// See [`Readers::observed`].
fn observed(states: &States, txns: &Txns<Mop>, facts: Facts) -> Option<Vec<ElemId>> {
    if !facts.is_unwritten_seen {
        return None;
    }
    let shown = |elem: &ElemId| *elem == ElemId::NONE || states.is_written(*elem, txns);
    let mut observed: Vec<ElemId> = Vec::with_capacity(states.state.len());
    // Parents precede their children.
    for state in &states.state {
        let before = observed.get(state.parent.at()).copied().unwrap_or(ElemId::NONE);
        observed.push(if state.elem != ElemId::NONE && shown(&state.elem) { state.elem } else { before });
    }
    Some(observed)
}

impl Readers {
    /// A counting sort of all reads. O(micro-ops + states).
    pub(crate) fn infer(states: &States, txns: &Txns<Mop>, facts: Facts) -> Readers {
        let elems = states.elem.len();
        let mut start = vec![0u32; elems + states.key.len() + 1];
        let mut readers =
            Readers { start: Vec::new(), txns: Vec::new(), elems, observed: observed(states, txns, facts) };
        let place = |key: KeyId, state| readers.version(states, state).map_or(elems + key.at(), ElemId::at);
        each_read(txns, |_, key, state| start[place(key, state)] += 1);
        let mut total = 0;
        for count in &mut start {
            total += std::mem::replace(count, total);
        }
        let mut sorted = vec![TxnId::NONE; total.to_usize()];
        let mut next = start.clone();
        each_read(txns, |txn, key, state| {
            let next = &mut next[place(key, state)];
            sorted[next.to_usize()] = txn;
            *next += 1;
        });
        (readers.start, readers.txns) = (start, sorted);
        readers
    }

    /// The version that a read of this list observed: the last element by a transaction that may have happened.
    #[inline]
    pub(crate) fn version(&self, states: &States, state: StateId) -> Option<ElemId> {
        match &self.observed {
            Some(observed) => Some(observed[state.at()]).filter(|elem| *elem != ElemId::NONE),
            None => states.last(state),
        }
    }

    /// The transactions that read the version that ends with this element; one with two such reads occurs twice.
    #[inline]
    pub(crate) fn of(&self, elem: ElemId) -> &[TxnId] {
        self.group(elem.at())
    }

    /// The transactions that read a key's empty list.
    pub(crate) fn of_empty(&self, key: KeyId) -> &[TxnId] {
        self.group(self.elems + key.at())
    }

    fn group(&self, at: usize) -> &[TxnId] {
        &self.txns[self.start[at].to_usize()..self.start[at + 1].to_usize()]
    }
}

fn each_read(txns: &Txns<Mop>, mut see: impl FnMut(TxnId, KeyId, StateId)) {
    for txn in txns.ids() {
        debug_assert!(txns.kind(txn) != OpKind::Invoke);
        for mop in txns.mops(txn) {
            // Only `ok` transactions have reads of known states.
            if let What::Read(state) = mop.what() {
                see(txn, mop.key, state);
            }
        }
    }
}
