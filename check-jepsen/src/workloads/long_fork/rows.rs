//! Rows: assigns a small number to each distinct sequence of a fixed number of integers.

use history_core::OpFault;
use history_core::cast::{Cast as _, low_u32};
use history_core::hash::hash_one;

/// The number of an absent row.
const NONE: u32 = u32::MAX;

/// A slot of the hash table. It stores the hash, so that growing reads no rows.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    id: u32,
}

const VACANT: Slot = Slot { hash: 0, id: NONE };

/// Assigns numbers to rows, in the order of first occurrence. All rows have the same width.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    width: usize,
    /// The rows, one after another.
    cells: Vec<u32>,
    count: usize,
    /// Rows by hash; its length is a power of two and at most half of it is in use.
    table: Vec<Slot>,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Rows {
        Rows { width, cells: Vec::new(), count: 0, table: Vec::new() }
    }

    /// The number of rows; their numbers are below it.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The cells of a row.
    #[inline]
    pub(crate) fn row(&self, id: usize) -> &[u32] {
        &self.cells[id * self.width..(id + 1) * self.width]
    }

    /// The number of a row, and whether the row is new.
    pub(crate) fn intern(&mut self, row: &[u32]) -> Result<(usize, bool), OpFault> {
        debug_assert_eq!(row.len(), self.width);
        if 2 * (self.count + 1) > self.table.len() {
            self.grow();
        }
        let hash = hash(row);
        let mask = self.table.len() - 1;
        let mut at = hash.to_usize() & mask;
        while self.table[at].id != NONE {
            let slot = self.table[at];
            // Rows are short, so a call to compare slices would take longer.
            if slot.hash == hash && self.row(slot.id.to_usize()).iter().zip(row).all(|(a, b)| a == b) {
                return Ok((slot.id.to_usize(), false));
            }
            at = (at + 1) & mask;
        }
        let id = self.count;
        if id >= NONE.to_usize() {
            return Err(OpFault::limit("more than 2^32 - 1 different reads"));
        }
        self.table[at] = Slot { hash, id: id.to_u32() };
        self.cells.extend_from_slice(row);
        self.count += 1;
        Ok((id, true))
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.table);
        self.table = vec![VACANT; (2 * old.len()).max(64)];
        let mask = self.table.len() - 1;
        for slot in old.into_iter().filter(|slot| slot.id != NONE) {
            let mut at = slot.hash.to_usize() & mask;
            while self.table[at].id != NONE {
                at = (at + 1) & mask;
            }
            self.table[at] = slot;
        }
    }
}

fn hash(row: &[u32]) -> u32 {
    low_u32(hash_one(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_share_a_number_and_others_do_not() {
        let mut rows = Rows::new(2);
        let all = || (0..300u32).flat_map(|a| (0..30u32).map(move |b| [a * b, b]));
        let numbers: Vec<(usize, bool)> = all().map(|row| rows.intern(&row).unwrap()).collect();
        let distinct: std::collections::BTreeSet<[u32; 2]> = all().collect();
        assert_eq!(rows.len(), distinct.len());
        for (row, (id, _)) in all().zip(&numbers) {
            assert_eq!(rows.row(*id), row);
            assert_eq!(rows.intern(&row).unwrap(), (*id, false));
        }
        assert_eq!(numbers.iter().filter(|(_, new)| *new).count(), distinct.len());
    }

    #[test]
    fn rows_of_one_hash_are_told_apart() {
        let scatter = |cell: u32| (u64::from(cell) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let all = || (0..500_000u32).map(|cell| [(scatter(cell) >> 32).to_u32(), cell ^ low_u32(scatter(cell) >> 9)]);
        let hashes: std::collections::BTreeSet<u32> = all().map(|row| hash(&row)).collect();
        assert!(hashes.len() < 500_000, "no two rows have one hash, so this shows nothing");
        let mut rows = Rows::new(2);
        all().for_each(|row| assert!(rows.intern(&row).unwrap().1));
        all().enumerate().for_each(|(id, row)| assert_eq!(rows.intern(&row).unwrap(), (id, false)));
    }

    #[test]
    fn there_is_one_row_without_cells() {
        let mut rows = Rows::new(0);
        assert_eq!((rows.intern(&[]).unwrap(), rows.intern(&[]).unwrap()), ((0, true), (0, false)));
    }
}
