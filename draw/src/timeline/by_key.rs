//! Combines the timelines of several keys into one, with the rows of each key together. It shows the activity on other
//! keys when an operation on one key failed.

use super::{BARS_MAX, Bar, BarStatus, Scale, Timeline};
use history_core::cast::Cast as _;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The maximum number of rows. A key has as many rows as it has concurrent operations.
const ROWS_MAX: usize = 1000;

/// Combines the timelines of keys: a lane for each key, with as many rows as it has concurrent operations. `None` if
/// fewer than two timelines have a key.
///
/// If one of the timelines has no times, positions replace them. Orders are omitted, because each is of a single key.
pub(crate) fn by_key(timelines: &[&Timeline]) -> Option<Timeline> {
    let of_keys: Vec<(&str, &Timeline)> =
        timelines.iter().filter_map(|timeline| Some((timeline.key.as_deref()?, *timeline))).collect();
    if of_keys.len() < 2 {
        return None;
    }
    let has_times = of_keys.iter().all(|(_, timeline)| timeline.scale == Scale::Nanoseconds);
    let mut all = Timeline {
        title: "operations by key".to_owned(),
        scale: if has_times { Scale::Nanoseconds } else { Scale::Positions },
        ..Timeline::default()
    };
    let (mut shown, mut failed) = (0, 0);
    for (key, timeline) in &of_keys {
        let mut bars: Vec<Bar> = timeline.bars.iter().map(|bar| moved(bar, timeline, all.scale)).collect();
        let rows = pack(&mut bars, all.rows.len().to_u32());
        if all.bars.len() + bars.len() > BARS_MAX || all.rows.len() + rows > ROWS_MAX {
            break;
        }
        shown += 1;
        failed += usize::from(bars.iter().any(|bar| bar.status == BarStatus::Refused));
        all.rows.extend(std::iter::repeat_n((*key).to_owned(), rows));
        all.bars.append(&mut bars);
    }
    all.summary = format!("{shown} keys, {failed} of them with an operation that cannot be placed.");
    let mut notes = vec!["Each key also has a page of its own, with orders and all that is known.".to_owned()];
    if shown < of_keys.len() {
        notes.push(format!("Keys without room here: {}.", of_keys.len() - shown));
    }
    if of_keys[..shown].iter().any(|(_, timeline)| timeline.note.is_some()) {
        notes.push("Of some keys not all operations are shown: their own pages say which.".to_owned());
    }
    all.note = Some(notes.join(" "));
    Some(all)
}

/// A bar of another timeline, with the name of its process.
fn moved(bar: &Bar, timeline: &Timeline, scale: Scale) -> Bar {
    // A plugin may refer to a row that does not exist. The page of the key reports this error.
    let whose = timeline.rows.get(bar.row.to_usize()).map_or("unknown process", String::as_str);
    let detail = if bar.detail.is_empty() { whose.to_owned() } else { format!("{whose}; {}", bar.detail) };
    let (start, end) = match (scale, timeline.scale) {
        (Scale::Positions, Scale::Nanoseconds) => {
            let end = bar.end.and(bar.completed).map(u64::cast_signed);
            (bar.index.cast_signed(), end)
        }
        _ => (bar.start, bar.end),
    };
    Bar { start, end, detail, ..bar.clone() }
}

/// Assigns each bar the first free row from `first` on. Returns the number of rows used.
fn pack(bars: &mut [Bar], first: u32) -> usize {
    bars.sort_by_key(|bar| (bar.start, bar.index));
    // The rows in use, by the time at which they become free, and the free rows.
    let mut taken: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut rows = 0;
    for bar in bars {
        while let Some(Reverse((_, row))) = taken.peek().filter(|Reverse((until, _))| *until < bar.start) {
            free.push(Reverse(*row));
            taken.pop();
        }
        let row = free.pop().map_or_else(
            || {
                rows += 1;
                rows - 1
            },
            |Reverse(row)| row,
        );
        bar.row = first + row;
        taken.push(Reverse((bar.end.unwrap_or(i64::MAX), row)));
    }
    rows.to_usize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(row: u32, start: i64, end: Option<i64>, label: &str, status: BarStatus) -> Bar {
        let completed = end.map(|end| end.unsigned_abs() / 10);
        let index = start.unsigned_abs() / 10;
        Bar { row, index, completed, start, end, label: label.into(), detail: String::new(), status }
    }

    fn of(key: &str, scale: Scale, bars: Vec<Bar>) -> Timeline {
        let rows = vec!["process 0".into(), "process 1".into()];
        Timeline { key: Some(key.into()), scale, rows, bars, ..Timeline::default() }
    }

    fn two(scale: Scale) -> Timeline {
        let x = [
            bar(0, 0, Some(20), "write 1", BarStatus::Placed),
            bar(1, 10, None, "write 2", BarStatus::Pending),
            bar(0, 30, Some(40), "read -> 3", BarStatus::Refused),
        ];
        let y = [bar(1, 25, Some(35), "read -> nil", BarStatus::Placed)];
        by_key(&[&of("key x", Scale::Nanoseconds, x.into()), &of("key y", scale, y.into())]).unwrap()
    }

    #[test]
    fn each_key_has_separate_rows_and_bars_name_their_process() {
        let timeline = two(Scale::Nanoseconds);
        assert_eq!(timeline.rows, ["key x", "key x", "key y"]);
        assert_eq!(timeline.summary, "2 keys, 1 of them with an operation that cannot be placed.");
        let bars: Vec<_> = timeline.bars.iter().map(|bar| (bar.row, &*bar.label, &*bar.detail, bar.end)).collect();
        let expected = [
            (0, "write 1", "process 0", Some(20)),
            (1, "write 2", "process 1", None),
            (0, "read -> 3", "process 0", Some(40)),
            (2, "read -> nil", "process 1", Some(35)),
        ];
        assert_eq!(bars, expected);
    }

    #[test]
    fn if_one_key_has_no_times_all_are_at_their_positions() {
        let timeline = two(Scale::Positions);
        assert_eq!(timeline.scale, Scale::Positions);
        let spans: Vec<_> = timeline.bars.iter().map(|bar| (bar.start, bar.end)).collect();
        assert_eq!(spans, [(0, Some(2)), (1, None), (3, Some(4)), (25, Some(35))]);
    }

    #[test]
    fn a_single_key_has_no_combined_page() {
        let x = of("key x", Scale::Nanoseconds, Vec::new());
        assert_eq!(by_key(&[&x, &Timeline::default()]), None);
    }

    #[test]
    fn keys_beyond_the_limit_are_counted() {
        let crowd: Vec<Bar> = (0..600).map(|at| bar(0, at, None, "write 1", BarStatus::Placed)).collect();
        let timelines = ["key x", "key y"].map(|key| of(key, Scale::Nanoseconds, crowd.clone()));
        let timeline = by_key(&[&timelines[0], &timelines[1]]).unwrap();
        assert_eq!((timeline.rows.len(), timeline.bars.len()), (600, 600));
        assert!(timeline.note.unwrap().contains("Keys without room here: 1."));
    }
}
