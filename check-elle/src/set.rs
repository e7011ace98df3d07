//! Sets of rows of a small constant table, a bit for each row.
//!
//! Closures of these tables are computed at compile time; `bitvec`'s operations are not `const`.

pub(crate) mod closure;

use history_core::cast::Cast as _;
use std::fmt;
use std::marker::PhantomData;

/// A row of a table, by its position.
///
/// Sealed by its module: only [`AnomalyType`](crate::anomaly::AnomalyType) and [`Model`](crate::model::Model) are rows.
pub trait Row: Copy + fmt::Debug {
    /// How many rows the table has; at most 128.
    const COUNT: usize;

    /// The position; less than [`COUNT`](Row::COUNT).
    fn index(self) -> usize;

    /// The row at a position.
    ///
    /// # Panics
    ///
    /// If there is none.
    fn at(index: usize) -> Self;
}

/// A set of rows; iterates in the order of the table. All operations take constant time.
///
/// ```
/// use check_elle::anomaly::{AnomalySet, AnomalyType};
///
/// let mut found = AnomalySet::from_iter([AnomalyType::G1B, AnomalyType::G0]);
/// assert!(found.insert(AnomalyType::G1A));
/// assert!(!found.insert(AnomalyType::G0));
/// assert_eq!(found.iter().map(AnomalyType::name).collect::<Vec<_>>(), ["G0", "G1a", "G1b"]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RowSet<R> {
    /// Bit `i` represents row `i`; no bit at or above `R::COUNT` is set.
    bits: u128,
    of: PhantomData<R>,
}

impl<R: Row> RowSet<R> {
    /// The set of no rows.
    pub const EMPTY: RowSet<R> = RowSet::from_bits(0);

    /// Every row of the table.
    pub const ALL: RowSet<R> = RowSet::from_bits(u128::MAX >> (u128::BITS as usize - R::COUNT));

    pub(crate) const fn from_bits(bits: u128) -> RowSet<R> {
        RowSet { bits, of: PhantomData }
    }

    /// Whether it holds nothing.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// How many rows it holds.
    pub const fn len(self) -> usize {
        self.bits.count_ones() as usize
    }

    /// The rows in either.
    #[must_use]
    pub const fn union(self, other: RowSet<R>) -> RowSet<R> {
        RowSet::from_bits(self.bits | other.bits)
    }

    /// The rows in both.
    #[must_use]
    pub const fn intersection(self, other: RowSet<R>) -> RowSet<R> {
        RowSet::from_bits(self.bits & other.bits)
    }

    /// The rows in this one only.
    #[must_use]
    pub const fn difference(self, other: RowSet<R>) -> RowSet<R> {
        RowSet::from_bits(self.bits & !other.bits)
    }

    /// Whether no row is in both.
    pub const fn is_disjoint(self, other: RowSet<R>) -> bool {
        self.intersection(other).is_empty()
    }

    /// Whether all its rows are in the other one too.
    pub const fn is_subset(self, other: RowSet<R>) -> bool {
        self.difference(other).is_empty()
    }

    /// Adds a row; false if it was there.
    pub fn insert(&mut self, row: R) -> bool {
        let is_new = !self.contains(row);
        self.bits |= 1 << row.index();
        is_new
    }

    /// Whether it holds a row.
    pub fn contains(self, row: R) -> bool {
        self.bits >> row.index() & 1 == 1
    }

    /// Its rows, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = R> {
        let mut left = self.bits;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| R::at(left.trailing_zeros().to_usize()));
            left &= left.wrapping_sub(1);
            first
        })
    }
}

impl<R: Row> Default for RowSet<R> {
    fn default() -> RowSet<R> {
        RowSet::EMPTY
    }
}

impl<R: Row> From<R> for RowSet<R> {
    fn from(row: R) -> RowSet<R> {
        RowSet::from_bits(1 << row.index())
    }
}

impl<R: Row> FromIterator<R> for RowSet<R> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> RowSet<R> {
        let mut set = RowSet::EMPTY;
        set.extend(rows);
        set
    }
}

impl<R: Row> Extend<R> for RowSet<R> {
    fn extend<I: IntoIterator<Item = R>>(&mut self, rows: I) {
        for row in rows {
            self.insert(row);
        }
    }
}

impl<R: Row> fmt::Debug for RowSet<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
