//! The number of crashed operations of each class that a configuration has used.
//!
//! The batch search numbers the crashed classes of a part, the online search the entries of its pile: both are a `key`
//! here.

use super::rows::Rows;
use history_core::hash::hash_one;

/// The uses of one configuration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UsesId(u32);

impl UsesId {
    /// The id as a number. In a search that counts the uses of all classes together, it is that count.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The id of one use more, in such a search.
    #[inline]
    #[must_use]
    pub fn one_more(self) -> UsesId {
        UsesId(self.0 + 1)
    }
}

/// All distinct uses, each stored once.
#[derive(Debug)]
pub struct Uses {
    rows: Rows<Row>,
}

#[derive(Debug)]
struct Row {
    /// Keys with their counts, in the order of the keys, which are distinct; counts are positive.
    counts: Box<[(u32, u32)]>,
    /// The sum of the counts.
    total: u32,
}

impl Row {
    fn new(counts: Box<[(u32, u32)]>) -> Row {
        debug_assert!(counts.is_sorted_by(|one, next| one.0 < next.0), "keys grow: {counts:?}");
        debug_assert!(counts.iter().all(|(_, count)| *count > 0), "counts are positive: {counts:?}");
        Row { total: counts.iter().map(|(_, count)| count).sum(), counts }
    }
}

impl Uses {
    /// The id of no uses.
    pub const NONE: UsesId = UsesId(0);

    /// Creates a table that contains only [`Uses::NONE`].
    pub fn new() -> Uses {
        let mut uses = Uses { rows: Rows::new() };
        let none = uses.intern(&[]);
        assert_eq!(none, Uses::NONE, "the first row has the first number");
        uses
    }

    fn intern(&mut self, counts: &[(u32, u32)]) -> UsesId {
        let hash = hash_one(counts);
        let is = |row: &Row| *row.counts == *counts;
        let new = || Row::new(counts.into());
        UsesId(self.rows.intern_with(hash, is, |row| hash_one(&*row.counts), new))
    }

    /// Keys and counts, in the order of the keys.
    #[inline]
    pub fn get(&self, uses: UsesId) -> &[(u32, u32)] {
        &self.rows.get(uses.0).counts
    }

    /// The number of uses of a key.
    #[inline]
    pub fn count(&self, uses: UsesId, key: u32) -> u32 {
        let counts = self.get(uses);
        counts.binary_search_by_key(&key, |(key, _)| *key).map_or(0, |at| counts[at].1)
    }

    /// The same uses, and one more use of `key`.
    pub fn add(&mut self, uses: UsesId, key: u32) -> UsesId {
        let mut more = self.get(uses).to_vec();
        match more.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => more[at].1 += 1,
            Err(at) => more.insert(at, (key, 1)),
        }
        self.intern(&more)
    }

    /// The same uses without those of keys that do not matter.
    pub fn without(&mut self, uses: UsesId, matters: impl Fn(u32) -> bool) -> UsesId {
        let all = self.get(uses);
        if all.iter().all(|(key, _)| matters(*key)) {
            return uses;
        }
        let left: Vec<(u32, u32)> = all.iter().copied().filter(|(key, _)| matters(*key)).collect();
        self.intern(&left)
    }

    /// The same uses without `fewer`, all of which they contain.
    pub fn less(&mut self, uses: UsesId, fewer: &[(u32, u32)]) -> UsesId {
        if uses == Uses::NONE {
            return uses;
        }
        let by = |key: u32| fewer.iter().find(|(other, _)| *other == key).map_or(0, |(_, count)| *count);
        debug_assert!(fewer.iter().all(|(key, by)| *by <= self.count(uses, *key)), "no more than there are: {fewer:?}");
        let left = self.get(uses).iter().map(|(key, count)| (*key, count - by(*key)));
        let left: Vec<(u32, u32)> = left.filter(|(_, count)| *count > 0).collect();
        self.intern(&left)
    }

    /// The number of crashed operations that were used.
    #[inline]
    pub fn total(&self, uses: UsesId) -> u32 {
        self.rows.get(uses.0).total
    }

    /// The same uses in a search that counts the uses of all classes together.
    pub fn as_sum(&self, uses: UsesId) -> UsesId {
        UsesId(self.total(uses))
    }

    /// Returns true if `one` uses no key more often than `other`. A configuration with `one` can take every step that a
    /// configuration with `other` can.
    #[inline]
    pub fn at_most(&self, one: UsesId, other: UsesId) -> bool {
        one == other
            || self.total(one) <= self.total(other)
                && self.get(one).iter().all(|(key, count)| *count <= self.count(other, *key))
    }

    /// Returns true if it is time for [`Uses::collect`].
    #[inline]
    pub fn wants_collect(&self) -> bool {
        self.rows.wants_collect(0)
    }

    /// Discards all uses except those of `live`. Their ids do not change.
    pub fn collect(&mut self, live: impl Iterator<Item = UsesId>) {
        let mut keep = vec![false; self.rows.numbers()];
        keep[super::ids::index(Uses::NONE.0)] = true;
        live.for_each(|uses| keep[super::ids::index(uses.0)] = true);
        self.rows.collect(&keep);
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.numbers() * 48
    }
}

impl Default for Uses {
    fn default() -> Uses {
        Uses::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_compared_by_key() {
        let mut uses = Uses::new();
        let one = uses.add(Uses::NONE, 7);
        let two = uses.add(one, 7);
        let other = uses.add(one, 3);
        assert_eq!((uses.get(other), uses.total(other), uses.count(two, 7)), (&[(3, 1), (7, 1)][..], 2, 2));
        assert!(uses.at_most(Uses::NONE, one) && uses.at_most(one, two) && uses.at_most(one, other));
        assert!(!uses.at_most(two, other) && !uses.at_most(other, two) && !uses.at_most(two, one));
        assert_eq!((uses.less(two, &[(7, 2)]), uses.without(other, |key| key == 7)), (Uses::NONE, one));
    }

    #[test]
    fn collecting_keeps_ids_and_reuses_numbers() {
        let mut uses = Uses::new();
        let dead = uses.add(Uses::NONE, 1);
        let live = uses.add(Uses::NONE, 2);
        uses.collect([live].into_iter());
        assert_eq!((uses.get(live), uses.get(Uses::NONE)), (&[(2, 1)][..], &[][..]));
        let new = uses.add(live, 9);
        assert_eq!((new.number(), uses.get(new)), (dead.number(), &[(2, 1), (9, 1)][..]));
    }
}
