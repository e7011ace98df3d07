//! A column of integers that change little from row to row: four bytes each, whatever the first one is.

use history_core::cast::Cast as _;

/// The number of rows that are stored relative to one number.
const BLOCK: usize = 64;

/// Represents a number that is too far from its block's number.
const FAR: i32 = i32::MIN;
/// Represents a missing number.
const NOTHING: i32 = i32::MIN + 1;

/// A column of integers, some of which may be missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Narrow {
    /// By block: the number before it; for the first block, its own first number.
    base: Vec<i64>,
    /// By row: the difference from the block's number.
    near: Vec<i32>,
    /// Numbers that are too far from their block's number, with their rows, in ascending order.
    far: Vec<(u32, i64)>,
    last: i64,
}

impl Narrow {
    #[inline]
    pub(crate) fn push(&mut self, number: Option<i64>) {
        let row = self.near.len();
        if row.is_multiple_of(BLOCK) {
            let first = if row == 0 { number.unwrap_or(0) } else { self.last };
            self.base.push(first);
        }
        let Some(number) = number else {
            self.near.push(NOTHING);
            return;
        };
        self.last = number;
        let distance = number.checked_sub(self.base[row / BLOCK]).and_then(|distance| i32::try_from(distance).ok());
        let near = distance.filter(|distance| *distance > NOTHING).unwrap_or(FAR);
        if near == FAR {
            self.far.push((row.to_u32(), number));
        }
        self.near.push(near);
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<i64> {
        match self.near[row] {
            NOTHING => None,
            FAR => {
                let at = self.far.binary_search_by_key(&row.to_u32(), |(far, _)| *far).ok()?;
                Some(self.far[at].1)
            }
            near => Some(self.base[row / BLOCK] + i64::from(near)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_kept() {
        let far = [i64::MIN, i64::MAX, 0, i64::from(i32::MIN), i64::from(i32::MIN) + 1, -7, 1 << 40];
        let numbers = (0..400_i64).map(|at| match at % 9 {
            0 => None,
            1 => Some(far[usize::try_from(at).unwrap() % far.len()]),
            _ => Some(5_000_000_000 * (at / 100) + at),
        });
        let mut column = Narrow::default();
        numbers.clone().for_each(|number| column.push(number));
        for (row, number) in numbers.enumerate() {
            assert_eq!(column.get(row), number, "{row}");
        }
    }
}
