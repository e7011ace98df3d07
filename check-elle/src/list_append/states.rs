//! The states of each list that were read: a trie per key, whose longest path is stored as a flat slice.
//!
//! In a history without anomalies, all reads of a key are prefixes of the longest one. So a read is one comparison of
//! slices with this **trunk**, and is then a single number, its [`StateId`]. Reads that leave the trunk branch off it.
//! Every state is created once, and its parent before it.

use super::mop::Mop;
use crate::ids::{ElemId, KeyId, StateId, TxnId};
use crate::txn::Txns;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use history_core::{IntMap, KeyedIds};

/// All keys, elements and states of a history.
#[derive(Clone, Debug, Default)]
pub(crate) struct States {
    keys: IntMap<KeyId>,
    pub(crate) key: Vec<Key>,
    pub(crate) elem: Vec<Elem>,
    pub(crate) state: Vec<State>,
    elem_ids: KeyedIds<KeyId>,
    /// Children that are not the next state on their key's trunk.
    branches: HashMap<(StateId, ElemId), StateId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) code: i64,
    /// The empty list.
    pub(crate) root: StateId,
    /// The codes of the longest list read so far; if there are several, the first one.
    trunk: Vec<i64>,
    /// The states along it, without the root; as long as `trunk`.
    trunk_states: Vec<StateId>,
    /// Whether some state is not on the trunk.
    pub(crate) branched: bool,
    /// The number of appends by transactions that may have happened.
    pub(crate) appends: u32,
    /// Whether the key is not checked, because of ops that were not understood.
    pub(crate) left_out: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Elem {
    pub(crate) code: i64,
    pub(crate) key: KeyId,
    /// The transaction that appended it: `TxnId::NONE` if none is known.
    pub(crate) writer: TxnId,
    pub(crate) flags: ElemFlags,
}

/// Facts about an element, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ElemFlags(u8);

impl ElemFlags {
    /// Some invocation appends it.
    pub(crate) const INVOKED: ElemFlags = ElemFlags(1);
    /// Some completion appends it.
    pub(crate) const COMPLETED: ElemFlags = ElemFlags(2);
    /// Its own transaction appended to the key again.
    pub(crate) const INTERMEDIATE: ElemFlags = ElemFlags(4);
    /// It was appended by a transaction that failed.
    pub(crate) const FAILED: ElemFlags = ElemFlags(8);
    /// It is in some list that was read.
    pub(crate) const SEEN: ElemFlags = ElemFlags(16);
    /// A completion whose invocation is unknown appends it.
    pub(crate) const ALONE: ElemFlags = ElemFlags(32);

    pub(crate) fn has(self, other: ElemFlags) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn add(&mut self, other: ElemFlags) {
        self.0 |= other.0;
    }

    /// Removes a fact. Returns true if it was known.
    pub(crate) fn take(&mut self, other: ElemFlags) -> bool {
        let had = self.has(other);
        self.0 &= !other.0;
        had
    }
}

/// The flags of the elements of a history.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// Of all elements.
    pub(crate) any: ElemFlags,
    /// Of the elements in lists that were read.
    pub(crate) seen: ElemFlags,
    /// Whether one of the latter was not appended by a transaction that may have happened.
    pub(crate) is_unwritten_seen: bool,
}

/// A list: its parent with one more element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// The state itself, for the empty list.
    pub(crate) parent: StateId,
    /// `ElemId::NONE` for the empty list.
    pub(crate) elem: ElemId,
    pub(crate) len: u32,
    pub(crate) key: KeyId,
}

impl States {
    /// The key with this code, which is created if it is new. O(1).
    #[inline]
    pub(crate) fn key_id(&mut self, code: i64) -> KeyId {
        if let Some(id) = self.keys.get(code) {
            return *id;
        }
        let id = KeyId::new(self.key.len());
        let root = StateId::new(self.state.len());
        self.state.push(State { parent: root, elem: ElemId::NONE, len: 0, key: id });
        self.key.push(Key {
            code,
            root,
            trunk: Vec::new(),
            trunk_states: Vec::new(),
            branched: false,
            appends: 0,
            left_out: false,
        });
        self.elem_ids.push_key();
        self.keys.insert(code, id);
        id
    }

    /// The element with this code, created if it is new. O(1).
    #[inline]
    pub(crate) fn elem_id(&mut self, key: KeyId, code: i64) -> ElemId {
        match self.elem_ids.get(key, code) {
            Some(id) => ElemId::new(id.to_usize()),
            None => self.new_elem(key, code),
        }
    }

    fn new_elem(&mut self, key: KeyId, code: i64) -> ElemId {
        let id = ElemId::new(self.elem.len());
        self.elem.push(Elem { code, key, writer: TxnId::NONE, flags: ElemFlags::default() });
        self.elem_ids.insert(key, code, id.at().to_u32());
        id
    }

    /// Gives an element that a failed transaction appended, and that no read shows, to a later one. What the failed
    /// transaction appended is another element from now on, with the same name; it is returned.
    #[cold]
    pub(crate) fn part(&mut self, elem: ElemId) -> ElemId {
        let own = ElemId::new(self.elem.len());
        let shared = &mut self.elem[elem.at()];
        let failed = *shared;
        (shared.writer, shared.flags) = (TxnId::NONE, ElemFlags::default());
        self.elem.push(failed);
        own
    }

    /// The state of a key with this list. O(length), by one comparison of slices if the list is on the trunk.
    #[inline]
    pub(crate) fn state_id(&mut self, key: KeyId, list: &[i64]) -> StateId {
        let k = &self.key[key.at()];
        let common = list.len().min(k.trunk.len());
        if list[..common] != k.trunk[..common] {
            return self.branch(key, list);
        }
        if list.len() > common {
            self.grow(key, list, common);
        }
        match list.len() {
            0 => self.key[key.at()].root,
            len => self.key[key.at()].trunk_states[len - 1],
        }
    }

    /// Extends the trunk, which is the first `from` elements of `list`, to the whole list.
    fn grow(&mut self, key: KeyId, list: &[i64], from: usize) {
        for code in &list[from..] {
            let elem = self.elem_id(key, *code);
            let k = &self.key[key.at()];
            let parent = k.trunk_states.last().copied().unwrap_or(k.root);
            // A list that branched off may already have created this state.
            let state = match k.branched.then(|| self.branches.get(&(parent, elem))).flatten() {
                Some(state) => *state,
                None => self.make(parent, elem, key),
            };
            let k = &mut self.key[key.at()];
            k.trunk.push(*code);
            k.trunk_states.push(state);
        }
    }

    fn make(&mut self, parent: StateId, elem: ElemId, key: KeyId) -> StateId {
        let id = StateId::new(self.state.len());
        self.elem[elem.at()].flags.add(ElemFlags::SEEN);
        let len = self.state[parent.at()].len + 1;
        self.state.push(State { parent, elem, len, key });
        id
    }

    /// The state of a list that is not on the trunk.
    #[cold]
    fn branch(&mut self, key: KeyId, list: &[i64]) -> StateId {
        let k = &mut self.key[key.at()];
        if !k.branched {
            // From here on children are looked up, so those on the trunk must be in `branches` as well.
            k.branched = true;
            let states = std::mem::take(&mut k.trunk_states);
            let root = k.root;
            let mut parent = root;
            for state in &states {
                self.branches.insert((parent, self.state[state.at()].elem), *state);
                parent = *state;
            }
            self.key[key.at()].trunk_states = states;
        }
        let k = &self.key[key.at()];
        let common = list.iter().zip(&k.trunk).take_while(|(a, b)| a == b).count();
        let mut at = if common == 0 { k.root } else { k.trunk_states[common - 1] };
        for code in &list[common..] {
            let elem = self.elem_id(key, *code);
            at = if let Some(child) = self.branches.get(&(at, elem)) {
                *child
            } else {
                let child = self.make(at, elem, key);
                self.branches.insert((at, elem), child);
                child
            };
        }
        if list.len() > self.key[key.at()].trunk.len() {
            self.retrunk(key, list, at);
        }
        at
    }

    /// Makes the path to `state`, whose list is `list`, the trunk.
    fn retrunk(&mut self, key: KeyId, list: &[i64], state: StateId) {
        let k = &mut self.key[key.at()];
        let old = std::mem::take(&mut k.trunk_states);
        let root = k.root;
        k.trunk.clear();
        k.trunk.extend_from_slice(list);
        let mut path = Vec::with_capacity(list.len());
        let mut at = state;
        while at != root {
            path.push(at);
            at = self.state[at.at()].parent;
        }
        path.reverse();
        // The old trunk may have grown since its states were added to `branches`.
        let mut parent = root;
        for state in old {
            self.branches.insert((parent, self.state[state.at()].elem), state);
            parent = state;
        }
        self.key[key.at()].trunk_states = path;
    }

    /// The states of a key's longest list, without the empty one.
    pub(crate) fn trunk(&self, key: KeyId) -> &[StateId] {
        &self.key[key.at()].trunk_states
    }

    /// Returns true if a state is on its key's trunk, or is the empty list.
    pub(crate) fn is_on_trunk(&self, state: &State) -> bool {
        let Some(at) = state.len.to_usize().checked_sub(1) else { return true };
        let on_trunk = self.trunk(state.key).get(at).map(|on_trunk| &self.state[on_trunk.at()]);
        on_trunk.is_some_and(|on_trunk| (on_trunk.parent, on_trunk.elem) == (state.parent, state.elem))
    }

    /// Returns true if an element was appended by a transaction that may have happened.
    #[inline]
    pub(crate) fn is_written(&self, elem: ElemId, txns: &Txns<Mop>) -> bool {
        let writer = self.elem[elem.at()].writer;
        writer != TxnId::NONE && txns.is_possible(writer)
    }

    /// The flags of the elements. O(elements).
    pub(crate) fn facts(&self, txns: &Txns<Mop>) -> Facts {
        let mut facts = Facts::default();
        for elem in &self.elem {
            facts.any.add(elem.flags);
            if elem.flags.has(ElemFlags::SEEN) {
                facts.seen.add(elem.flags);
                facts.is_unwritten_seen |= elem.writer == TxnId::NONE || !txns.is_possible(elem.writer);
            }
        }
        facts
    }

    /// The elements of a state's list, the last one first.
    pub(crate) fn elems_back(&self, mut state: StateId) -> impl Iterator<Item = ElemId> {
        std::iter::from_fn(move || {
            let State { parent, elem, .. } = self.state[state.at()];
            state = parent;
            (elem != ElemId::NONE).then_some(elem)
        })
    }

    /// The elements of a state's list, in order.
    pub(crate) fn elems(&self, state: StateId) -> Vec<ElemId> {
        let mut elems: Vec<ElemId> = self.elems_back(state).collect();
        elems.reverse();
        elems
    }

    /// The last element of a state's list.
    pub(crate) fn last(&self, state: StateId) -> Option<ElemId> {
        let elem = self.state[state.at()].elem;
        (elem != ElemId::NONE).then_some(elem)
    }
}
