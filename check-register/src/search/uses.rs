//! How many crashed operations of each class a configuration has made use of.

use hashbrown::HashTable;
use history_core::hash::hash_one;

/// The uses of one configuration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct UsesId(u32);

impl UsesId {
    /// As a number. In a search that counts the uses of all classes together it is that count.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// One use more, in such a search.
    #[inline]
    pub(crate) fn one_more(self) -> UsesId {
        UsesId(self.0 + 1)
    }
}

/// All of them, each kept once.
#[derive(Debug)]
pub(crate) struct Uses {
    /// Crashed class and count, by class; counts are positive.
    all: Vec<Box<[(u32, u32)]>>,
    /// The sum of the counts of each.
    totals: Vec<u32>,
    ids: HashTable<u32>,
}

impl Uses {
    /// No use of any.
    pub(crate) const NONE: UsesId = UsesId(0);

    pub(crate) fn new() -> Uses {
        let mut uses = Uses { all: Vec::new(), totals: Vec::new(), ids: HashTable::new() };
        uses.intern(Box::new([]));
        uses
    }

    fn intern(&mut self, uses: Box<[(u32, u32)]>) -> UsesId {
        let Uses { all, ids, .. } = self;
        let found = ids.entry(hash_one(&uses), |id| all[*id as usize] == uses, |id| hash_one(&all[*id as usize]));
        let id = *found.or_insert(all.len() as u32).get();
        if id as usize == all.len() {
            self.totals.push(uses.iter().map(|(_, count)| count).sum());
            all.push(uses);
        }
        UsesId(id)
    }

    /// How often a class was used.
    pub(crate) fn count(&self, uses: UsesId, class: u32) -> u32 {
        let uses = &self.all[uses.0 as usize];
        uses.binary_search_by_key(&class, |(class, _)| *class).map_or(0, |at| uses[at].1)
    }

    /// The same, and one more.
    pub(crate) fn add(&mut self, uses: UsesId, class: u32) -> UsesId {
        let mut more = self.all[uses.0 as usize].to_vec();
        match more.binary_search_by_key(&class, |(class, _)| *class) {
            Ok(at) => more[at].1 += 1,
            Err(at) => more.insert(at, (class, 1)),
        }
        self.intern(more.into())
    }

    /// The same without those of classes that do not matter.
    pub(crate) fn without(&mut self, uses: UsesId, matters: impl Fn(u32) -> bool) -> UsesId {
        let all = &self.all[uses.0 as usize];
        if all.iter().all(|(class, _)| matters(*class)) {
            return uses;
        }
        let left = all.iter().copied().filter(|(class, _)| matters(*class)).collect();
        self.intern(left)
    }

    /// How many crashed operations were used.
    #[inline]
    pub(crate) fn total(&self, uses: UsesId) -> u32 {
        self.totals[uses.0 as usize]
    }

    /// Whether one uses no class more often than the other. Such a configuration can do whatever the other can.
    pub(crate) fn at_most(&self, one: UsesId, other: UsesId) -> bool {
        one == other
            || self.total(one) <= self.total(other)
                && self.all[one.0 as usize].iter().all(|(class, count)| *count <= self.count(other, *class))
    }

    /// Bytes held, about.
    pub(crate) fn bytes(&self) -> usize {
        self.all.len() * 48
    }
}
