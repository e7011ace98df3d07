//! The lists of the store, one for each key that an op may still use.
//!
//! A list only grows at its end (except if a bug changes that). So what a transaction read, and the content of the list
//! at an earlier commit, are both a length. Nothing else is stored of reads and versions.

pub(crate) mod mops;
pub(crate) mod registers;

use crate::ids::{index, small};
use crate::slot::Slot;

/// The place of a key in the store. It is reused for another key once this key is no longer used.
pub(crate) type ListId = u32;

/// The number of a commit. Numbers increase.
pub(crate) type Commit = u64;

/// The list of one key.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// The key, as clients name it.
    pub(crate) key: i64,
    /// The values of the list.
    pub(crate) items: Vec<i64>,
    /// The commit of each item. As long as `items`, and nondecreasing.
    commits: Vec<Commit>,
    /// The only transaction that may append to the list.
    lock: Option<Slot>,
    /// The number of micro-operations in flight that name this key.
    users: u32,
    /// Whether clients still choose this key.
    live: bool,
}

/// All lists.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    places: Vec<List>,
    /// The places of lists that no transaction can read any more.
    free: Vec<ListId>,
    next_key: i64,
    /// The last commit.
    commit: Commit,
}

/// Creation and removal of keys.
impl Lists {
    /// Creates the list of a new key, which gets the next number.
    pub(crate) fn create(&mut self) -> ListId {
        let key = self.next_key;
        self.next_key += 1;
        self.create_for(key)
    }

    /// Creates the list of a new key with this number, which is none of those that count up.
    pub(crate) fn create_for(&mut self, key: i64) -> ListId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.places.push(List::default());
            self.places.len() as ListId - 1
        });
        let list = self.get_mut(id);
        assert!(list.items.is_empty() && list.users == 0);
        list.live = true;
        list.key = key;
        id
    }

    /// Records that no new transaction will name this key.
    pub(crate) fn retire(&mut self, id: ListId) {
        self.get_mut(id).live = false;
        self.drop_if_over(id);
    }

    /// Records that a micro-operation in flight names this key.
    pub(crate) fn hold(&mut self, id: ListId) {
        self.get_mut(id).users += 1;
    }

    /// Records that a micro-operation that named this key has ended.
    pub(crate) fn let_go(&mut self, id: ListId) {
        self.get_mut(id).users -= 1;
        self.drop_if_over(id);
    }

    fn drop_if_over(&mut self, id: ListId) {
        let list = self.get_mut(id);
        if !list.live && list.users == 0 {
            assert!(list.lock.is_none());
            list.items.clear();
            list.commits.clear();
            self.free.push(id);
        }
    }

    /// The number of places: of live keys, and of keys that are still used.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.places.len()
    }
}

/// Reading and appending.
impl Lists {
    pub(crate) fn get(&self, id: ListId) -> &List {
        &self.places[index(id)]
    }

    fn get_mut(&mut self, id: ListId) -> &mut List {
        &mut self.places[index(id)]
    }

    /// The last commit.
    pub(crate) fn commit(&self) -> Commit {
        self.commit
    }

    /// Begins the next commit.
    pub(crate) fn next_commit(&mut self) -> Commit {
        self.commit += 1;
        self.commit
    }

    /// Appends a value, as part of the last commit.
    pub(crate) fn append(&mut self, id: ListId, value: i64) {
        let commit = self.commit;
        let list = self.get_mut(id);
        list.items.push(value);
        list.commits.push(commit);
    }

    /// Removes the last item.
    pub(crate) fn take_back(&mut self, id: ListId) {
        let list = self.get_mut(id);
        list.items.pop();
        list.commits.pop();
    }

    /// Exchanges the last two items.
    pub(crate) fn swap_last(&mut self, id: ListId) {
        if let [.., a, b] = &mut self.get_mut(id).items[..] {
            std::mem::swap(a, b);
        }
    }

    /// The length of a list.
    pub(crate) fn len(&self, id: ListId) -> u32 {
        small(self.get(id).items.len())
    }

    /// The length of a list after a commit. O(log length).
    pub(crate) fn len_at(&self, id: ListId, commit: Commit) -> u32 {
        small(self.get(id).commits.partition_point(|c| *c <= commit))
    }

    /// The commits of the items from `len` on.
    pub(crate) fn commits_from(&self, id: ListId, len: u32) -> &[Commit] {
        &self.get(id).commits[index(len)..]
    }
}

/// Locks: other transactions may read a locked list, but not append to it.
impl Lists {
    /// Returns true if another transaction than this one holds the lock.
    pub(crate) fn locked_to(&self, id: ListId, slot: Slot) -> bool {
        self.get(id).lock.is_some_and(|owner| owner != slot)
    }

    /// Locks a list for a transaction, unless another one holds the lock. Returns true if it is locked.
    pub(crate) fn lock(&mut self, id: ListId, slot: Slot) -> bool {
        if self.locked_to(id, slot) {
            return false;
        }
        self.get_mut(id).lock = Some(slot);
        true
    }

    /// Returns true if this transaction holds the lock.
    pub(crate) fn holds(&self, id: ListId, slot: Slot) -> bool {
        self.get(id).lock == Some(slot)
    }

    /// Releases the lock of this transaction, if it holds it.
    pub(crate) fn unlock(&mut self, id: ListId, slot: Slot) {
        if self.holds(id, slot) {
            self.get_mut(id).lock = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_dropped_with_its_last_user_and_its_place_is_reused() {
        let mut lists = Lists::default();
        let first = lists.create();
        lists.next_commit();
        lists.append(first, 7);
        lists.hold(first);
        lists.retire(first);
        assert_eq!(lists.get(first).items, [7], "a transaction in flight may still read it");
        lists.let_go(first);
        let second = lists.create();
        assert_eq!(second, first, "the place is free again");
        assert_eq!((lists.get(second).key, lists.len(second)), (1, 0));
    }

    #[test]
    fn a_version_is_a_length() {
        let mut lists = Lists::default();
        let id = lists.create();
        for value in [4, 5, 6] {
            lists.next_commit();
            lists.append(id, value);
        }
        assert_eq!([0, 1, 2, 3, 9].map(|commit| lists.len_at(id, commit)), [0, 1, 2, 3, 3]);
        assert_eq!(lists.commits_from(id, 1), [2, 3]);
    }

    #[test]
    fn a_lock_excludes_other_transactions_until_it_is_released() {
        let mut lists = Lists::default();
        let id = lists.create();
        assert!(lists.lock(id, 1) && lists.lock(id, 1), "a transaction can lock a list again");
        assert!(!lists.lock(id, 2));
        lists.unlock(id, 2);
        assert!(lists.holds(id, 1), "only the owner can unlock");
        lists.unlock(id, 1);
        assert!(lists.lock(id, 2));
    }
}
