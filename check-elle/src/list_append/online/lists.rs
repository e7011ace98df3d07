//! The keys, each with the longest list that was read and the appends that no read has shown.
//!
//! Rows of keys and elements are reused: of a dropped key only its name is kept.

use crate::txn::online::named::Named;
use crate::txn::online::ranges::Ranges;
use crate::txn::online::time::{Gate, NONE};
use history_core::IntMap;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// The number of recently used keys that are found without hashing.
const RECENT: usize = 32;

/// The position of an element in no list.
pub(super) const UNREAD: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    keys: Vec<Key>,
    free_keys: Vec<u32>,
    key_ids: HashMap<i64, u32>,
    /// For the last digits of a key's code, the key that was last named, if it still exists.
    recent: [u32; RECENT],
    elems: Vec<Elem>,
    free_elems: Vec<u32>,
    /// Keys that were dropped.
    dropped: Ranges,
    /// Keys that were named again after they were dropped.
    pub(super) renamed: u64,
    /// Whether some `ok` transaction read a key to which some transaction appends.
    pub(super) has_read: bool,
}

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Key {
    pub(super) code: i64,
    is_there: bool,
    is_read: bool,
    is_appended_to: bool,
    /// Whether the key was dropped before, so that some of its elements are unknown.
    pub(super) is_renamed: bool,
    /// The length of the common prefix of all lists, if some of them disagree: see [`super::dispute`].
    pub(super) agreed: Option<u32>,
    pub(super) named: Named,
    /// The key's elements by code.
    ids: IntMap<u32>,
    /// The longest list, and its elements.
    pub(super) list: Vec<i64>,
    pub(super) elems: Vec<u32>,
    /// The number of elements in the list without a writer that may have happened.
    pub(super) unwritten: u32,
    /// Appends that may have happened and are not in the list, by invocation.
    pub(super) unread: Vec<u32>,
    /// Appends that did not happen and are not in the list.
    pub(super) failed: Vec<u32>,
    /// For each length, the readers of a list of this length, if readers are kept.
    pub(super) readers: Vec<Vec<u32>>,
    /// For each length, the first transaction that read a list of this length and then appended, if these are kept.
    pub(super) updaters: HashMap<u32, u64>,
    /// The last transaction that appended, by its index, and the element.
    pub(super) last_append: (u64, u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Elem {
    pub(super) key: u32,
    pub(super) code: i64,
    /// The position in the list.
    pub(super) pos: u32,
    /// `NONE` if there is none or it is discarded.
    pub(super) writer: u32,
    /// Those of the writer: see [`crate::txn::online::time::Txn`].
    pub(super) after: Gate,
    pub(super) done: Gate,
    pub(super) index: u64,
    pub(super) kind: ElemKind,
    /// Whether its writer appended to the key again.
    pub(super) is_intermediate: bool,
    /// The writer's previous append to the key; `NONE` if there is none.
    pub(super) before: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElemKind {
    /// The element was read, and no invocation appends it.
    Unwritten,
    /// The writer may have happened.
    Possible,
    Failed,
}

history_core::state!(
    enum ElemKind {
        Unwritten,
        Possible,
        Failed,
    }
);
history_core::state!(struct Elem { key, code, pos, writer, after, done, index, kind, is_intermediate, before });
history_core::state!(struct Key {
    code, is_there, is_read, is_appended_to, is_renamed, agreed, named, ids, list, elems, unwritten, unread, failed,
    readers, updaters, last_append,
});
history_core::state!(parts Lists {
    keys, free_keys, key_ids, elems, free_elems, dropped, renamed, has_read; parts: ; same: recent
});

impl Lists {
    /// The key with this code, created if it is new.
    pub(super) fn key_id(&mut self, code: i64, op: u64) -> u32 {
        let recent = (code.cast_unsigned() % RECENT.to_u64()).to_usize();
        let known = self.recent[recent];
        if let Some(key) = self.keys.get_mut(known.to_usize()).filter(|key| key.is_there && key.code == code) {
            key.named.again(op);
            return known;
        }
        if let Some(key) = self.key_ids.get(&code) {
            self.recent[recent] = *key;
            self.keys[key.to_usize()].named.again(op);
            return *key;
        }
        let is_renamed = self.dropped.contains(code);
        self.renamed += u64::from(is_renamed);
        let new = Key {
            code,
            is_there: true,
            is_renamed,
            named: Named::at(op),
            last_append: (u64::MAX, NONE),
            ..Key::default()
        };
        let key = self.free_keys.pop().unwrap_or_else(|| {
            self.keys.push(Key::default());
            (self.keys.len() - 1).to_u32()
        });
        self.keys[key.to_usize()] = new;
        self.key_ids.insert(code, key);
        key
    }

    /// The key with this code, if it exists.
    pub(super) fn find_key(&self, code: i64) -> Option<u32> {
        self.key_ids.get(&code).copied()
    }

    /// Adds an append that no read has shown.
    pub(super) fn keep_unread(&mut self, key: u32, elem: u32) {
        let (elems, unread) = (&self.elems, &mut self.keys[key.to_usize()].unread);
        let index = elems[elem.to_usize()].index;
        // Most were invoked last.
        let at = unread.iter().rposition(|other| elems[other.to_usize()].index <= index).map_or(0, |at| at + 1);
        unread.insert(at, elem);
    }

    /// Records that an `ok` transaction read a key.
    pub(super) fn note_read(&mut self, key: u32) {
        let key = &mut self.keys[key.to_usize()];
        key.is_read = true;
        self.has_read |= key.is_appended_to;
    }

    /// Records that a transaction appends to a key.
    pub(super) fn note_append(&mut self, key: u32) {
        let key = &mut self.keys[key.to_usize()];
        key.is_appended_to = true;
        self.has_read |= key.is_read;
    }

    pub(super) fn key(&self, key: u32) -> &Key {
        &self.keys[key.to_usize()]
    }

    pub(super) fn key_mut(&mut self, key: u32) -> &mut Key {
        &mut self.keys[key.to_usize()]
    }

    pub(super) fn elem(&self, elem: u32) -> &Elem {
        &self.elems[elem.to_usize()]
    }

    pub(super) fn elem_mut(&mut self, elem: u32) -> &mut Elem {
        &mut self.elems[elem.to_usize()]
    }

    pub(super) fn elem_id(&self, key: u32, code: i64) -> Option<u32> {
        self.key(key).ids.get(code).copied()
    }

    pub(super) fn new_elem(&mut self, elem: Elem) -> u32 {
        let id = if let Some(id) = self.free_elems.pop() {
            self.elems[id.to_usize()] = elem;
            id
        } else {
            self.elems.push(elem);
            (self.elems.len() - 1).to_u32()
        };
        self.key_mut(elem.key).ids.insert(elem.code, id);
        id
    }

    pub(super) fn keys(&self) -> usize {
        self.key_ids.len()
    }

    /// The number of elements of all keys.
    pub(super) fn len(&self) -> usize {
        self.elems.len() - self.free_elems.len()
    }

    pub(super) fn is_written(&self, elem: u32) -> bool {
        self.elem(elem).kind == ElemKind::Possible
    }

    /// The last element among the first `len` of a key's list whose writer may have happened.
    pub(super) fn last_written(&self, key: u32, len: usize) -> Option<u32> {
        let key = self.key(key);
        if key.unwritten == 0 {
            return len.checked_sub(1).map(|at| key.elems[at]);
        }
        key.elems[..len].iter().copied().rfind(|elem| self.is_written(*elem))
    }

    /// The first element after the first `len` whose writer may have happened.
    pub(super) fn next_written(&self, key: u32, len: usize) -> Option<u32> {
        let key = self.key(key);
        if key.unwritten == 0 {
            return key.elems.get(len).copied();
        }
        key.elems[len..].iter().copied().find(|elem| self.is_written(*elem))
    }

    /// Adds an element at the end of its key's list.
    pub(super) fn place(&mut self, key: u32, elem: u32) {
        let at = &mut self.elems[elem.to_usize()];
        let key = &mut self.keys[key.to_usize()];
        at.pos = key.elems.len().to_u32();
        key.list.push(at.code);
        key.elems.push(elem);
        match at.kind {
            ElemKind::Possible => drop_one(&mut key.unread, elem),
            ElemKind::Failed => drop_one(&mut key.failed, elem),
            ElemKind::Unwritten => {}
        }
        key.unwritten += u32::from(at.kind != ElemKind::Possible);
    }

    /// Truncates a key's list to this length, because reads disagree about what follows. Returns the appends that
    /// follow in no known order.
    pub(super) fn dispute(&mut self, key: u32, agreed: usize) -> &[u32] {
        let key = &mut self.keys[key.to_usize()];
        key.list.truncate(agreed);
        for elem in key.elems.drain(agreed..) {
            let at = &mut self.elems[elem.to_usize()];
            at.pos = UNREAD;
            match at.kind {
                ElemKind::Possible => key.unread.push(elem),
                ElemKind::Failed => key.failed.push(elem),
                ElemKind::Unwritten => {}
            }
            key.unwritten -= u32::from(at.kind != ElemKind::Possible);
        }
        &key.unread
    }

    pub(super) fn all_keys(&self) -> impl Iterator<Item = u32> {
        (0..self.keys.len().to_u32()).filter(|key| self.keys[key.to_usize()].is_there)
    }

    /// Discards a key except for its name. No transaction may still have an append to it.
    pub(super) fn drop_key(&mut self, key: u32) {
        let gone = std::mem::take(&mut self.keys[key.to_usize()]);
        self.free_elems.extend(gone.elems.into_iter().chain(gone.unread).chain(gone.failed));
        self.key_ids.remove(&gone.code);
        self.dropped.insert(gone.code);
        self.free_keys.push(key);
    }
}

/// Removes an item and keeps the order of the others.
pub(super) fn drop_one(list: &mut Vec<u32>, item: u32) {
    if let Some(at) = list.iter().position(|other| *other == item) {
        list.remove(at);
    }
}

impl Lists {
    /// The code of a key, and an element of it that was read although no invocation appends it.
    pub(super) fn garbage(&self) -> Option<(i64, i64)> {
        let unwritten = self.all_keys().map(|key| self.key(key)).filter(|key| key.unwritten > 0 && !key.is_renamed);
        let mut unwritten = unwritten.flat_map(|key| key.elems.iter().map(move |elem| (key.code, self.elem(*elem))));
        unwritten.find(|(_, elem)| elem.kind == ElemKind::Unwritten).map(|(key, elem)| (key, elem.code))
    }
}
