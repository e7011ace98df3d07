//! Numbers over time as lines, for example the offsets of clocks.

use super::axis::{PANEL, Time, step};
use super::frame::{self, Entry, Mark, Panel};
use super::performance::Performance;
use crate::text;
use history_core::figure::{LINES_MAX, Line, POINTS_MAX, Series, Unit};
use maud::html;
use std::fmt::Write as _;

/// The styles of lines, which are reused if there are more lines.
const LOOKS: [&str; 6] = ["q0", "q1", "q2", "q3", "o1", "o2"];
/// The maximum number of characters of a line's name.
const NAME_CHARS_MAX: usize = 16;
const TITLE_CHARS_MAX: usize = 80;

/// The first and the last time of all points, if there are any.
pub(crate) fn range(series: &Series) -> Option<(i64, i64)> {
    let times = || series.lines.iter().flat_map(|line| &line.points).map(|(time, _)| *time);
    times().min().zip(times().max())
}

/// The line between two points.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A straight line.
    Lines,
    /// A step: the first number, up to the time of the second.
    Steps,
}

/// Draws lines over the times of a range. The axis always contains zero.
pub(crate) fn draw(series: &Series, range: (i64, i64), run: &Performance, shape: Shape) -> String {
    let time = Time::new(range);
    let lines = &series.lines[..series.lines.len().min(LINES_MAX)];
    let numbers = || lines.iter().flat_map(|line| &line.points).map(|(_, number)| *number);
    let (least, most) = (numbers().min().unwrap_or(0).min(0), numbers().max().unwrap_or(0).max(0));
    let length = (i128::from(most) - i128::from(least)).max(1);
    let y = |number: i64| {
        PANEL - i64::try_from((i128::from(number) - i128::from(least)) * i128::from(PANEL) / length).unwrap_or_default()
    };
    let path = |points: &[(i64, i64)]| {
        let mut path = String::new();
        for (at, (when, number)) in points.iter().take(POINTS_MAX).enumerate() {
            let (x, y) = (time.x(*when), y(*number));
            _ = match (at, shape) {
                (0, _) => write!(path, "M{x} {y}"),
                (_, Shape::Lines) => write!(path, "L{x} {y}"),
                (_, Shape::Steps) => write!(path, "H{x}V{y}"),
            };
        }
        // A line of length zero is drawn as a dot.
        if points.len() == 1 { path + "h0" } else { path }
    };
    let body = html! {
        @for (class, line) in LOOKS.iter().cycle().zip(lines) { g class=(class) { path class="l" d=(path(&line.points)) {} } }
    };
    let entry = |(class, line): (&&'static str, &Line)| {
        let words = text::clipped(&line.name, NAME_CHARS_MAX);
        Entry { class, mark: Mark::Line, words }
    };
    let legend: Vec<Entry> = LOOKS.iter().cycle().zip(lines).map(entry).collect();
    let marks = marks(least, most).into_iter().map(|number| (y(number), label(number, series.unit))).collect();
    let panel = Panel { title: String::new(), marks, body };
    frame::draw(&text::clipped(&series.title, TITLE_CHARS_MAX), time, run, &legend, &[panel])
}

/// Round numbers between the minimum and the maximum, with zero.
fn marks(least: i64, most: i64) -> Vec<i64> {
    let step = i64::try_from(step(most.abs_diff(least))).unwrap_or(i64::MAX).max(1);
    let (first, last) = (least.div_euclid(step), most.div_euclid(step));
    (first..=last).filter_map(|at| at.checked_mul(step)).filter(|mark| (least..=most).contains(mark)).collect()
}

fn label(number: i64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => text::duration(number),
        Unit::Count => text::grouped(number.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_have_zero() {
        assert_eq!(marks(-20, 30), [-20, -10, 0, 10, 20, 30]);
        assert_eq!(marks(0, 0), [0]);
        assert_eq!(marks(0, 7), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(marks(i64::MIN, i64::MAX).len() <= 12);
    }
}
