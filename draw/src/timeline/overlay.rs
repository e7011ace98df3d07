//! Adds faults and annotations to a timeline: rows above those of the processes.

use super::{BARS_MAX, Bar, BarStatus, Scale, Timeline};
use crate::bands::Band;
use history_core::cast::Cast as _;

/// The maximum number of added rows.
const ROWS_MAX: usize = 40;

/// Adds a row for the faults, and one for each lane of annotations, above the rows of a timeline: more where some
/// overlap.
///
/// Only bands within the timeline's extent are added, up to the maximum number of bars.
pub fn lay_over(timeline: &mut Timeline, bands: &[Band]) {
    let (first, last) = timeline.extent.unwrap_or_else(|| extent(&timeline.bars));
    let mut rows: Vec<Row> = Vec::new();
    let mut bars = Vec::new();
    let mut sorted: Vec<(i64, Option<i64>, &Band)> =
        bands.iter().filter_map(|band| span(band, timeline.scale)).collect();
    sorted.sort_by_key(|(from, _, band)| (band.lane.is_some(), *from));
    for (from, until, band) in sorted {
        let is_seen = from <= last && until.is_none_or(|until| until >= first);
        if !is_seen || timeline.bars.len() + bars.len() >= BARS_MAX {
            continue;
        }
        let Some(row) = Row::for_bar(&mut rows, band.lane.as_deref(), from, until) else { continue };
        bars.push(Bar {
            row: row.to_u32(),
            index: band.first,
            completed: band.last.filter(|last| *last != band.first),
            start: from,
            end: until,
            label: band.what.clone(),
            detail: String::new(),
            status: if band.lane.is_none() { BarStatus::Fault } else { BarStatus::Annotation },
        });
    }
    let added = rows.len().to_u32();
    for bar in &mut timeline.bars {
        bar.row += added;
    }
    // Orders refer to bars by position, so new bars are appended.
    timeline.bars.extend(bars);
    timeline.rows.splice(0..0, rows.into_iter().map(|row| row.lane.unwrap_or_else(|| "faults".to_owned())));
}

/// A row of a lane, and the position up to which it is in use.
struct Row {
    lane: Option<String>,
    taken: Option<i64>,
}

impl Row {
    /// Returns the first row of a lane that is free for a bar, or adds a row.
    fn for_bar(rows: &mut Vec<Row>, lane: Option<&str>, from: i64, until: Option<i64>) -> Option<usize> {
        let is_free = |row: &Row| row.lane.as_deref() == lane && row.taken.is_some_and(|taken| taken < from);
        let at = rows.iter().position(is_free).unwrap_or(rows.len());
        if at == rows.len() {
            if rows.len() == ROWS_MAX {
                return None;
            }
            rows.push(Row { lane: lane.map(str::to_owned), taken: until });
        }
        rows[at].taken = until;
        Some(at)
    }
}

/// The beginning and the end of a band, in the numbers of a timeline.
fn span(band: &Band, scale: Scale) -> Option<(i64, Option<i64>, &Band)> {
    match scale {
        Scale::Nanoseconds => Some((band.from_ns?, band.until_ns, band)),
        Scale::Positions => Some((band.first.cast_signed(), band.last.map(u64::cast_signed), band)),
    }
}

fn extent(bars: &[Bar]) -> (i64, i64) {
    let first = bars.iter().map(|bar| bar.start).min().unwrap_or(0);
    (first, bars.iter().map(|bar| bar.end.unwrap_or(bar.start)).max().unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(what: &str, lane: Option<&str>, from: i64, until: Option<i64>) -> Band {
        let index = |time: i64| time.unsigned_abs() / 10;
        Band {
            what: what.into(),
            lane: lane.map(str::to_owned),
            first: index(from),
            last: until.map(index),
            from_ns: Some(from),
            until_ns: until,
        }
    }

    fn timeline(scale: Scale, extent: (i64, i64)) -> Timeline {
        let bar = Bar {
            row: 0,
            index: 3,
            completed: None,
            start: extent.0,
            end: None,
            label: "write 1".into(),
            detail: String::new(),
            status: BarStatus::Placed,
        };
        Timeline { scale, extent: Some(extent), rows: vec!["process 0".into()], bars: vec![bar], ..Timeline::default() }
    }

    #[test]
    fn lanes_are_rows_above_the_processes_and_overlaps_take_more_rows() {
        let bands = [
            band("log", Some("n1"), 150, Some(150)),
            band("kill", None, 100, Some(200)),
            band("partition", None, 120, None),
            band("pause", None, 210, Some(220)),
            band("before", None, 0, Some(50)),
            band("after", Some("n2"), 400, Some(400)),
        ];
        let mut timeline = timeline(Scale::Nanoseconds, (90, 300));
        lay_over(&mut timeline, &bands);
        assert_eq!(timeline.rows, ["faults", "faults", "n1", "process 0"]);
        let bars: Vec<_> = timeline.bars.iter().map(|bar| (bar.row, bar.label.as_str(), bar.end)).collect();
        let expected = [
            (3, "write 1", None),
            (0, "kill", Some(200)),
            (1, "partition", None),
            (0, "pause", Some(220)),
            (2, "log", Some(150)),
        ];
        assert_eq!(bars, expected);
    }

    #[test]
    fn without_times_bands_are_at_their_ops() {
        let mut timeline = timeline(Scale::Positions, (3, 30));
        lay_over(&mut timeline, &[band("kill", None, 100, Some(200))]);
        assert_eq!(
            (timeline.bars[1].start, timeline.bars[1].end, timeline.bars[1].status),
            (10, Some(20), BarStatus::Fault)
        );
    }
}
