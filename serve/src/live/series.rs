//! Figures over time, with a maximum number of columns for runs of any length. When all columns are used, each two of
//! them are combined into one of twice the width.

use super::latencies::Latencies;
use super::news::LiveTick;
use history_core::cast::Cast as _;

/// The maximum number of columns.
pub(super) const COLUMNS_MAX: usize = 480;
/// The initial width of a column in milliseconds.
const WIDTH_MS: u64 = 500;

/// Figures over time.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) width_ms: u64,
    pub(super) columns: Vec<Column>,
    /// The number of ops at the last update.
    ops: u64,
    completed: [u64; 3],
}

/// The events in a time span.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Column {
    pub(super) ops: u64,
    /// The number of completions: ok, fail, info.
    pub(super) completed: [u64; 3],
    /// The number of operations in flight at its end.
    pub(super) open: u64,
    pub(super) latencies: Latencies,
}

impl Default for Series {
    fn default() -> Series {
        Series { width_ms: WIDTH_MS, columns: Vec::new(), ops: 0, completed: [0; 3] }
    }
}

impl Series {
    /// The index of the column for a time.
    pub(super) fn at(&self, time_ms: u64) -> usize {
        (time_ms / self.width_ms).to_usize()
    }

    /// Adds the news of a time; without news, the operations in flight remain unchanged.
    pub(super) fn add(&mut self, time_ms: u64, tick: Option<&LiveTick>) {
        while self.at(time_ms) >= COLUMNS_MAX {
            self.join();
        }
        let at = self.at(time_ms);
        let open = self.columns.last().map_or(0, |column| column.open);
        while self.columns.len() <= at {
            self.columns.push(Column { open, ..Column::default() });
        }
        let Some(tick) = tick else { return };
        let column = &mut self.columns[at];
        column.ops += tick.ops.saturating_sub(self.ops);
        for (kind, sum) in column.completed.iter_mut().enumerate() {
            *sum += tick.completed[kind].saturating_sub(self.completed[kind]);
        }
        column.open = tick.open;
        column.latencies.join(&tick.latencies);
        (self.ops, self.completed) = (tick.ops, tick.completed);
    }

    fn join(&mut self) {
        let joined = self.columns.chunks(2).map(|two| {
            let mut column = two[0].clone();
            for second in &two[1..] {
                column.ops += second.ops;
                column.completed.iter_mut().zip(second.completed).for_each(|(sum, more)| *sum += more);
                column.open = second.open;
                column.latencies.join(&second.latencies);
            }
            column
        });
        self.columns = joined.collect();
        self.width_ms *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combining_columns_keeps_all_counts() {
        let mut series = Series::default();
        let mut tick = LiveTick::default();
        for at in 0..2000_u64 {
            tick.ops += 3;
            tick.completed[0] += 1;
            tick.open = at % 7;
            tick.latencies = Latencies::default();
            tick.latencies.add(1000);
            series.add(at * WIDTH_MS, Some(&tick));
            assert!(series.columns.len() <= COLUMNS_MAX);
        }
        let sum = |of: fn(&Column) -> u64| series.columns.iter().map(of).sum::<u64>();
        assert_eq!((sum(|column| column.ops), sum(|column| column.completed[0])), (6000, 2000));
        assert_eq!(sum(|column| column.latencies.count()), 2000);
        assert_eq!((series.width_ms, series.columns.last().unwrap().open), (WIDTH_MS * 8, 1999 % 7));
    }

    #[test]
    fn times_without_news_are_shown() {
        let mut series = Series::default();
        series.add(0, Some(&LiveTick { ops: 10, open: 2, ..LiveTick::default() }));
        series.add(WIDTH_MS * 3, None);
        assert_eq!(
            series.columns.iter().map(|column| (column.ops, column.open)).collect::<Vec<_>>(),
            [(10, 2), (0, 2), (0, 2), (0, 2)]
        );
    }
}
