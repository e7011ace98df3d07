//! The objects by key: each is retired after its share of operations, and discarded once no operation uses it.

use super::wrong_read::Tracker;
use crate::ids::{index, small};
use crate::key_distribution::{KeyDistribution, Popularity};
use crate::rng::Rng;
use std::collections::VecDeque;

/// The place of an object in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ObjectId(u32);

/// An object.
#[derive(Debug)]
pub(super) struct Entry<S> {
    pub(super) key: i64,
    pub(super) state: S,
    /// Its last states, the oldest first, if a bug needs them.
    pub(super) past: VecDeque<S>,
    /// The writes to it, if a bug needs them.
    pub(super) tracker: Option<Tracker>,
    /// The number of operations requested so far.
    ops: u64,
    /// The number of operations in flight and of clients bound to it, plus one while it is live.
    holders: u32,
}

/// The objects in memory.
pub(super) struct Keys<S> {
    entries: Vec<Entry<S>>,
    free: Vec<ObjectId>,
    live: Vec<ObjectId>,
    next_key: i64,
    popularity: Popularity,
    /// 0 if objects are never replaced.
    ops_per_key: u64,
    /// Objects that still get a final operation at the end, if the model has one. They are kept until then.
    last: Option<VecDeque<ObjectId>>,
}

impl<S> Keys<S> {
    pub(super) fn new(
        distribution: KeyDistribution,
        count: u32,
        ops_per_key: u64,
        has_last: bool,
        mut fresh: impl FnMut() -> S,
    ) -> Keys<S> {
        let popularity = Popularity::new(distribution, count);
        let (entries, free, live) = (Vec::new(), Vec::new(), Vec::with_capacity(index(count)));
        let mut keys =
            Keys { entries, free, live, next_key: 0, popularity, ops_per_key, last: has_last.then(VecDeque::new) };
        for _ in 0..count {
            let id = keys.create(fresh());
            keys.live.push(id);
        }
        keys
    }

    /// Chooses a live object for an operation, and keeps it in memory for the operation.
    pub(super) fn choose(&mut self, rng: &mut Rng, fresh: impl FnOnce() -> S) -> ObjectId {
        let place = if self.live.len() == 1 { 0 } else { self.popularity.draw(rng) };
        let mut id = self.live[place];
        if self.ops_per_key > 0 && self.get(id).ops == self.ops_per_key {
            self.let_go(id);
            id = self.create(fresh());
            self.live[place] = id;
        }
        self.get_mut(id).ops += 1;
        self.hold(id);
        id
    }

    /// The number of objects that still get a final operation.
    pub(super) fn last_count(&self) -> usize {
        self.last.as_ref().map_or(0, VecDeque::len)
    }

    /// The next object that gets its final operation; it is already kept in memory.
    pub(super) fn choose_last(&mut self) -> Option<ObjectId> {
        self.last.as_mut()?.pop_front()
    }

    pub(super) fn get(&self, id: ObjectId) -> &Entry<S> {
        &self.entries[index(id.0)]
    }

    pub(super) fn get_mut(&mut self, id: ObjectId) -> &mut Entry<S> {
        &mut self.entries[index(id.0)]
    }

    /// Keeps an object in memory until it is released by `let_go`.
    pub(super) fn hold(&mut self, id: ObjectId) {
        self.get_mut(id).holders += 1;
    }

    pub(super) fn let_go(&mut self, id: ObjectId) {
        let entry = self.get_mut(id);
        assert!(entry.holders > 0);
        entry.holders -= 1;
        if entry.holders == 0 {
            self.free.push(id);
        }
    }

    fn create(&mut self, state: S) -> ObjectId {
        let holders = 1 + u32::from(self.last.is_some());
        let entry = Entry { key: self.next_key, state, past: VecDeque::new(), tracker: None, ops: 0, holders };
        self.next_key += 1;
        let id = if let Some(id) = self.free.pop() {
            *self.get_mut(id) = entry;
            id
        } else {
            self.entries.push(entry);
            ObjectId(small(self.entries.len()) - 1)
        };
        if let Some(last) = &mut self.last {
            last.push_back(id);
        }
        id
    }

    /// The number of objects that fit the allocated memory.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.entries.len()
    }
}
