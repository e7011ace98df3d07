//! Sets of names of anomalies and models, stored as bits because each history makes many such sets.

use super::lattice::ALL;
use std::fmt;
use std::ops::{BitAnd, BitOr, Sub};

/// A sorted set of names.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Names(u128);

impl Names {
    pub(crate) fn new() -> Names {
        Names::default()
    }

    /// Returns the bit of a name, or `None` if there is no such name.
    fn bit(name: &str) -> Option<u128> {
        ALL.binary_search(&name).ok().map(|number| 1 << number)
    }

    pub(crate) fn insert(&mut self, name: &str) {
        self.0 |= Names::bit(name).unwrap_or_else(|| panic!("{name} is no name of an anomaly or model"));
    }

    /// Returns true if the name was in the set.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let was_there = self.contains(name);
        self.0 &= !Names::bit(name).unwrap_or(0);
        was_there
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        Names::bit(name).is_some_and(|bit| self.0 & bit != 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) fn is_disjoint(&self, other: &Names) -> bool {
        self.0 & other.0 == 0
    }

    pub(crate) fn is_subset(&self, other: &Names) -> bool {
        (self - other).is_empty()
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&&'static str) -> bool) {
        *self = self.iter().filter(|name| keep(name)).copied().collect();
    }

    pub(crate) fn iter(&self) -> Iter {
        Iter { left: self.0 }
    }
}

/// The names of a set.
pub(crate) struct Iter {
    left: u128,
}

impl Iterator for Iter {
    type Item = &'static &'static str;

    fn next(&mut self) -> Option<&'static &'static str> {
        let name = ALL.get(self.left.trailing_zeros() as usize)?;
        self.left &= self.left - 1;
        Some(name)
    }
}

impl IntoIterator for &Names {
    type Item = &'static &'static str;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}

impl IntoIterator for Names {
    type Item = &'static str;
    type IntoIter = std::iter::Copied<Iter>;

    fn into_iter(self) -> std::iter::Copied<Iter> {
        self.iter().copied()
    }
}

impl Extend<&'static str> for Names {
    fn extend<I: IntoIterator<Item = &'static str>>(&mut self, names: I) {
        names.into_iter().for_each(|name| self.insert(name));
    }
}

impl FromIterator<&'static str> for Names {
    fn from_iter<I: IntoIterator<Item = &'static str>>(names: I) -> Names {
        let mut all = Names::new();
        all.extend(names);
        all
    }
}

impl BitAnd for &Names {
    type Output = Names;

    fn bitand(self, other: &Names) -> Names {
        Names(self.0 & other.0)
    }
}

impl BitOr for &Names {
    type Output = Names;

    fn bitor(self, other: &Names) -> Names {
        Names(self.0 | other.0)
    }
}

impl Sub for &Names {
    type Output = Names;

    fn sub(self, other: &Names) -> Names {
        Names(self.0 & !other.0)
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

#[test]
fn a_set_is_what_was_put_into_it() {
    assert!(ALL.len() < 128, "{} names", ALL.len());
    for (at, name) in ALL.iter().enumerate() {
        let (one, rest): (Names, Names) = ALL.iter().copied().partition(|other| other == name);
        assert_eq!((one.len(), rest.len()), (1, ALL.len() - 1));
        assert!(one.contains(name) && !rest.contains(name) && one.is_disjoint(&rest));
        assert_eq!(one.iter().collect::<Vec<_>>(), [&ALL[at]]);
        assert_eq!(rest.iter().collect::<Vec<_>>(), [&ALL[..at], &ALL[at + 1..]].concat().iter().collect::<Vec<_>>());
        assert_eq!((&(&one | &rest) - &one, &one & &rest), (rest, Names::new()));
    }
}
