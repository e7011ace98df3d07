//! Rows of different things, each once, found by what they are; their numbers are used again when they are forgotten.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
pub(crate) use history_core::hash::hash_one as hash;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub(crate) struct $name(u32);

        impl $name {
            #[inline]
            pub(crate) fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}
pub(crate) use id;

/// Spreads what its argument's bits say, over the upper half of the result above all: a multiplication with an odd number
/// whose bits look random (2^64 over the golden ratio), the upper half folded into the lower.
///
/// For caches of fixed size only: whoever writes the history can make entries take each other's place, which costs a step each
/// time, but a table that has to hold them all would be searched from end to end.
#[inline]
pub(crate) fn mix(x: u64) -> u64 {
    let product = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 32)
}

/// Different things, each once, with numbers that are used again.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    /// `None` where the number is free.
    all: Vec<Option<T>>,
    free: Vec<u32>,
    ids: HashTable<u32>,
    /// Rows that the last collection left.
    collected: usize,
}

/// With fewer rows than this it is not worth to look for those that are no longer used.
const COLLECT_MIN: usize = 1 << 12;

impl<T> Rows<T> {
    pub(crate) fn new() -> Rows<T> {
        Rows { all: Vec::new(), free: Vec::new(), ids: HashTable::new(), collected: 0 }
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &T {
        self.all[id as usize].as_ref().expect("an id in use")
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut T {
        self.all[id as usize].as_mut().expect("an id in use")
    }

    /// The number of the row that `is` finds, or of a new one.
    #[inline]
    pub(crate) fn intern(
        &mut self,
        hash: u64,
        mut is: impl FnMut(&T) -> bool,
        hash_of: impl Fn(&T) -> u64,
        new: impl FnOnce() -> T,
    ) -> u32 {
        let Rows { all, free, ids, .. } = self;
        let row = |id: &u32| all[*id as usize].as_ref();
        let found = ids.entry(hash, |id| row(id).is_some_and(&mut is), |id| row(id).map_or(0, &hash_of));
        match found {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let id = free.pop().unwrap_or(all.len() as u32);
                entry.insert(id);
                if id as usize == all.len() {
                    all.push(Some(new()));
                } else {
                    all[id as usize] = Some(new());
                }
                id
            }
        }
    }

    /// How many numbers there are, free ones too.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    #[inline]
    pub(crate) fn wants_collect(&self, more: usize) -> bool {
        self.ids.len() + more > 2 * self.collected + COLLECT_MIN
    }

    /// Forgets all rows but those that are marked.
    pub(crate) fn collect(&mut self, keep: &[bool]) {
        let Rows { all, free, ids, collected } = self;
        free.clear();
        for (at, row) in all.iter_mut().enumerate().rev() {
            if !keep[at] {
                *row = None;
                free.push(at as u32);
            }
        }
        ids.retain(|id| keep[*id as usize]);
        *collected = ids.len();
    }
}
