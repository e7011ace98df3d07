//! How many crashed operations of each class a possibility has made use of.

use crate::rows::{Rows, hash};

/// The uses of one possibility.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct UsesId(u32);

/// All of them, each once.
#[derive(Debug)]
pub(crate) struct Uses {
    /// Entry of the pile and count, by entry; counts are positive.
    rows: Rows<Box<[(u32, u32)]>>,
}

impl Uses {
    /// No use of any.
    pub(crate) const NONE: UsesId = UsesId(0);

    pub(crate) fn new() -> Uses {
        let mut uses = Uses { rows: Rows::new() };
        uses.intern(Vec::new());
        uses
    }

    fn intern(&mut self, uses: Vec<(u32, u32)>) -> UsesId {
        let hash = hash(&uses[..]);
        let uses = uses.into_boxed_slice();
        UsesId(self.rows.intern(hash, |other| *other == uses, |row| crate::rows::hash(&**row), || uses.clone()))
    }

    /// Entries and counts, by entry.
    pub(crate) fn get(&self, uses: UsesId) -> &[(u32, u32)] {
        self.rows.get(uses.0)
    }

    /// How often an entry was used.
    pub(crate) fn count(&self, uses: UsesId, entry: u32) -> u32 {
        let uses = self.get(uses);
        uses.binary_search_by_key(&entry, |(entry, _)| *entry).map_or(0, |at| uses[at].1)
    }

    /// The same, and one more.
    pub(crate) fn add(&mut self, uses: UsesId, entry: u32) -> UsesId {
        let mut more = self.get(uses).to_vec();
        match more.binary_search_by_key(&entry, |(entry, _)| *entry) {
            Ok(at) => more[at].1 += 1,
            Err(at) => more.insert(at, (entry, 1)),
        }
        self.intern(more)
    }

    /// The same less so many of some entries.
    pub(crate) fn less(&mut self, uses: UsesId, fewer: &[(u32, u32)]) -> UsesId {
        if uses == Uses::NONE {
            return uses;
        }
        let by = |entry: u32| fewer.iter().find(|(other, _)| *other == entry).map_or(0, |(_, count)| *count);
        let left = self.get(uses).iter().map(|(entry, count)| (*entry, count - by(*entry)));
        let left: Vec<(u32, u32)> = left.filter(|(_, count)| *count > 0).collect();
        self.intern(left)
    }

    /// How many crashed operations were used.
    pub(crate) fn total(&self, uses: UsesId) -> u32 {
        self.get(uses).iter().map(|(_, count)| count).sum()
    }

    /// Whether one uses no entry more often than the other. Such a possibility can do whatever the other can.
    pub(crate) fn at_most(&self, one: UsesId, other: UsesId) -> bool {
        one == other || self.get(one).iter().all(|(entry, count)| *count <= self.count(other, *entry))
    }

    #[inline]
    pub(crate) fn wants_collect(&self) -> bool {
        self.rows.wants_collect(0)
    }

    /// Forgets all but those in use.
    pub(crate) fn collect(&mut self, live: impl Iterator<Item = UsesId>) {
        let mut keep = vec![false; self.rows.len()];
        keep[0] = true;
        live.for_each(|uses| keep[uses.0 as usize] = true);
        self.rows.collect(&keep);
    }
}
