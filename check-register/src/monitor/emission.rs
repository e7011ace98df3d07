//! A linearization of a queue, from the moments at which each value is moved if no operation finds the queue empty.

use super::moments::Moments;
use super::sheet::NONE;
use history_core::cast::Cast as _;

/// A value, and the moments at which it is inserted and removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// Its position among the values.
    pub(super) value: u32,
    pub(super) put: u32,
    pub(super) take: u32,
}

/// The operations in order, if values are moved in the given order and the operations that found nothing take effect at
/// `empty`.
///
/// The moments of `empty` divide time into stretches: each value stays in the stretch that contains the call of its
/// take.
pub(super) fn order(moments: &Moments, moved: &[Moved], empty: &[u32]) -> Vec<u32> {
    let mut borders = empty.to_vec();
    borders.sort_unstable();
    borders.dedup();
    // Sort key: stretch, moment, whether the operation found nothing, rank, whether it is a take; then the operation.
    let mut steps: Vec<(u32, u32, bool, u32, bool, u32)> = Vec::with_capacity(2 * moved.len() + empty.len());
    for (rank, moved) in (0..).zip(moved) {
        let value = &moments.values[moved.value.to_usize()];
        let stretch = borders.partition_point(|border| *border < value.take_call);
        let start = stretch.checked_sub(1).map_or(0, |before| borders[before]);
        let end = borders.get(stretch).copied().unwrap_or(NONE);
        let stretch = stretch.to_u32();
        if value.put != NONE {
            steps.push((stretch, moved.put.clamp(start, end), false, rank, false, value.put));
        }
        let take = moved.take.clamp(start, end);
        // A removal at the last moment may not have happened.
        if value.take != NONE && take != moments.end {
            steps.push((stretch, take, false, rank, true, value.take));
        }
    }
    for (nothing, moment) in moments.nothings.iter().zip(empty) {
        let stretch = borders.partition_point(|border| border < moment).to_u32();
        steps.push((stretch, *moment, true, 0, false, nothing.op));
    }
    steps.sort_unstable();
    steps.into_iter().map(|step| step.5).collect()
}
