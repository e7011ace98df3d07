//! Rows of distinct values, found by their content; numbers of discarded rows are reused.

use super::ids::{index, number};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use history_core::hash::hash_one;
use std::hash::Hash;

/// Distributes the bits of its argument, mainly over the upper half of the result: a multiplication with an odd number
/// whose bits look random (2^64 over the golden ratio), the upper half folded into the lower.
///
/// For caches of fixed size only: the author of a history can make entries replace each other, which costs a step each
/// time, but in a table that must contain all of them, a search would visit every entry.
#[inline]
pub fn mix(x: u64) -> u64 {
    let product = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 32)
}

/// Distinct values, each stored once, with numbers that are reused.
#[derive(Debug)]
pub struct Rows<T> {
    /// `None` if the number is free.
    all: Vec<Option<T>>,
    free: Vec<u32>,
    ids: HashTable<u32>,
    /// The number of rows after the last collection.
    collected: usize,
}

/// With fewer rows than this, a collection is not worthwhile.
const COLLECT_MIN: usize = 1 << 12;

impl<T> Rows<T> {
    /// Creates an empty set of rows.
    pub fn new() -> Rows<T> {
        Rows { all: Vec::new(), free: Vec::new(), ids: HashTable::new(), collected: 0 }
    }

    /// The row of a number in use.
    #[inline]
    pub fn get(&self, id: u32) -> &T {
        self.all[index(id)].as_ref().expect("the id is in use")
    }

    /// The row of a number in use.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> &mut T {
        self.all[index(id)].as_mut().expect("the id is in use")
    }

    /// The number of the row that equals `row`, which is added if there is none.
    #[inline]
    pub fn intern(&mut self, row: T) -> u32
    where
        T: Hash + Eq,
    {
        let Rows { all, free, ids, .. } = self;
        let kept = |id: &u32| all[index(*id)].as_ref();
        let found = ids.entry(hash_one(&row), |id| kept(id) == Some(&row), |id| kept(id).map_or(0, hash_one));
        match found {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let id = free.pop().unwrap_or_else(|| number(all.len()));
                entry.insert(id);
                put(all, id, row);
                id
            }
        }
    }

    /// The number of the row that `is` finds, or of a new one.
    #[inline]
    pub fn intern_with(
        &mut self,
        hash: u64,
        mut is: impl FnMut(&T) -> bool,
        hash_of: impl Fn(&T) -> u64,
        new: impl FnOnce() -> T,
    ) -> u32 {
        let Rows { all, free, ids, .. } = self;
        let row = |id: &u32| all[index(*id)].as_ref();
        let found = ids.entry(hash, |id| row(id).is_some_and(&mut is), |id| row(id).map_or(0, &hash_of));
        match found {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let id = free.pop().unwrap_or_else(|| number(all.len()));
                entry.insert(id);
                put(all, id, new());
                id
            }
        }
    }

    /// The number of rows.
    #[inline]
    pub fn kept(&self) -> usize {
        self.ids.len()
    }

    /// Memory in bytes, without heap memory of rows.
    pub fn bytes(&self) -> usize {
        self.all.capacity() * (size_of::<Option<T>>() + 8)
    }

    /// The number of row numbers, including free ones.
    pub fn numbers(&self) -> usize {
        self.all.len()
    }

    /// Returns true if the rows, together with `more` stored elsewhere, are numerous enough for [`Rows::collect`].
    #[inline]
    pub fn wants_collect(&self, more: usize) -> bool {
        self.ids.len() + more > 2 * self.collected + COLLECT_MIN
    }

    /// Discards all rows except the marked ones.
    pub fn collect(&mut self, keep: &[bool]) {
        assert_eq!(keep.len(), self.all.len(), "a mark for every number");
        let Rows { all, free, ids, collected } = self;
        free.clear();
        for (at, row) in all.iter_mut().enumerate().rev() {
            if !keep[at] {
                *row = None;
                free.push(number(at));
            }
        }
        ids.retain(|id| keep[index(*id)]);
        *collected = ids.len();
        debug_assert_eq!(self.ids.len() + self.free.len(), self.all.len(), "each number is in use or free");
    }
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows::new()
    }
}

/// Stores a row at its free number, or at the end.
#[inline]
fn put<T>(all: &mut Vec<Option<T>>, id: u32, row: T) {
    if index(id) == all.len() {
        all.push(Some(row));
    } else {
        debug_assert!(all[index(id)].is_none(), "a free number has no row");
        all[index(id)] = Some(row);
    }
}
