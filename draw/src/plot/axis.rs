//! Positions of times in a picture, and round numbers for axes.

use crate::text;

pub(super) const WIDTH: i64 = 960;
pub(super) const LEFT: i64 = 84;
pub(super) const RIGHT: i64 = 18;
/// The height of a panel, whose upper edge is at y = 0.
pub(super) const PANEL: i64 = 150;
/// The maximum number of marks on an axis.
const MARKS_MAX: u64 = 8;
/// The width of a letter, in tenths.
pub(super) const LETTER_TENTHS: i64 = 62;

/// The axis of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    first_ns: i64,
    length_ns: i128,
}

impl Time {
    pub(super) fn new((first_ns, last_ns): (i64, i64)) -> Time {
        Time { first_ns, length_ns: (i128::from(last_ns) - i128::from(first_ns)).max(1) }
    }

    /// Returns true if the axis overlaps the interval between two times.
    pub(super) fn meets(&self, from_ns: i64, until_ns: i64) -> bool {
        let passed = |time: i64| i128::from(time) - i128::from(self.first_ns);
        passed(until_ns) >= 0 && passed(from_ns) <= self.length_ns
    }

    /// The x of a time.
    pub(super) fn x(&self, time_ns: i64) -> i64 {
        let passed = (i128::from(time_ns) - i128::from(self.first_ns)).clamp(0, self.length_ns);
        let room = i128::from(WIDTH - LEFT - RIGHT);
        LEFT + i64::try_from(passed * room / self.length_ns).unwrap_or_default()
    }

    /// Round times, and their positions.
    pub(super) fn marks(&self) -> Vec<(i64, String)> {
        let length = u64::try_from(self.length_ns).unwrap_or(u64::MAX);
        let step = step(length);
        let mark = |at: u64| {
            let passed = i64::try_from(at.saturating_mul(step)).unwrap_or(i64::MAX);
            (self.x(self.first_ns.saturating_add(passed)), text::duration(passed))
        };
        (0..=length / step).map(mark).collect()
    }
}

/// The smallest of 1, 2, 5, 10, ... that divides a length into few parts.
pub(super) fn step(length: u64) -> u64 {
    let mut step = 1_u64;
    for factor in [2, 5, 10].into_iter().cycle() {
        if length / step <= MARKS_MAX {
            break;
        }
        let decade = 10_u64.pow(step.ilog10());
        step = decade.saturating_mul(factor);
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_few_marks_at_round_numbers() {
        assert_eq!([0, 5, 9, 18, 45, 1000, 123_456].map(step), [1, 1, 2, 5, 10, 200, 20_000]);
        assert!(u64::MAX / step(u64::MAX) <= MARKS_MAX + 1);
        let marks = Time::new((-500, 1500)).marks();
        let labels: Vec<&str> = marks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels.first().zip(labels.last()), Some((&"0 ns", &"2 \u{b5}s")));
        assert_eq!(marks.first().map(|(x, _)| *x).zip(marks.last().map(|(x, _)| *x)), Some((LEFT, WIDTH - RIGHT)));
        // A single moment, and the full range of times.
        assert_eq!(Time::new((7, 7)).x(7), LEFT);
        assert_eq!(Time::new((i64::MIN, i64::MAX)).x(i64::MAX), WIDTH - RIGHT);
    }
}
