//! Estimates the memory of a pass over a history while the pass is in progress.
//!
//! A share grows with the part of the history that was read. So the first pass shows early how much memory it will need
//! at its end, and a pass that would exceed the limit is ended before it does. The other passes process other keys, and
//! need about as much; memory that the first one released is reused.

use crate::job::Spill;

/// One part in this number of the history is read before the first estimate.
const WARM_UP: u64 = 20;

/// The memory at the end of a share, in percent of its memory before: graphs, and sorted data.
const PEAK_PERCENT: u64 = 200;
/// The same, if a share searches for an order.
const PEAK_OF_SEARCH_PERCENT: u64 = 400;

/// Measures one pass.
#[derive(Debug)]
pub(crate) struct Gauge<'s> {
    spill: &'s Spill,
    is_first: bool,
    peak_percent: u64,
    /// The bytes of text and of memory at the end of the warm-up.
    base: Option<(u64, u64)>,
}

/// A pass needs too much memory: this percentage of its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMuch {
    pub(crate) percent: u64,
}

impl<'s> Gauge<'s> {
    /// For a pass, which may be the first one, and may search for an order at its end.
    pub(crate) fn new(spill: &'s Spill, is_first: bool, searches: bool) -> Gauge<'s> {
        let peak_percent = if searches { PEAK_OF_SEARCH_PERCENT } else { PEAK_PERCENT };
        Gauge { spill, is_first, peak_percent, base: None }
    }

    /// Examines the memory after this part of the text was read: bytes, and the total if that is known.
    pub(crate) fn look(&mut self, (read, all): (u64, Option<u64>)) -> Result<(), TooMuch> {
        let Some(memory) = (self.spill.memory)() else { return Ok(()) };
        let limit = self.spill.bytes_max.max(1);
        if memory > limit {
            return Err(TooMuch { percent: 200 });
        }
        let Some(all) = all.filter(|_| self.is_first) else { return Ok(()) };
        let Some((base_read, base)) = self.base else {
            if read > all / WARM_UP {
                self.base = Some((read, memory));
            }
            return Ok(());
        };
        // Too little was read for an estimate.
        if read < base_read.saturating_add(all / WARM_UP) {
            return Ok(());
        }
        let grown = u128::from(memory.saturating_sub(base));
        let share = grown * u128::from(all) / u128::from(read - base_read);
        let peak = share * u128::from(self.peak_percent) / 100;
        let left = u128::from(limit.saturating_sub(base).max(1));
        if peak <= left {
            return Ok(());
        }
        Err(TooMuch { percent: u64::try_from(peak * 100 / left).unwrap_or(u64::MAX) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        static MEMORY: Cell<u64> = const { Cell::new(0) };
    }

    /// The result of a pass with `base` bytes at first, and `share` more by its end.
    fn pass(limit: u64, base: u64, share: u64, is_first: bool) -> Option<(u64, u64)> {
        let spill = Spill::new("", limit, || Some(MEMORY.get()));
        let mut gauge = Gauge::new(&spill, is_first, false);
        (0..=1000).find_map(|read| {
            MEMORY.set(base + share * read / 1000);
            gauge.look((read, Some(1000))).err().map(|TooMuch { percent }| (read, percent))
        })
    }

    #[test]
    fn a_pass_that_fits_continues() {
        assert_eq!(pass(1_000_000, 100_000, 400_000, true), None);
        assert_eq!(pass(1_000_000, 100_000, 800_000, false), None, "a later pass is not estimated");
    }

    #[test]
    fn a_pass_that_will_not_fit_ends_early() {
        let (read, percent) = pass(1_000_000, 100_000, 1_800_000, true).unwrap();
        assert!(read < 150 && (440..=450).contains(&percent), "{read} {percent}");
        assert_eq!(pass(1_000_000, 2_000_000, 0, true), Some((0, 200)));
        let (read, _) = pass(1_000_000, 100_000, 1_800_000, false).unwrap();
        assert!((500..=510).contains(&read), "{read}");
    }
}
