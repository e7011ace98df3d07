//! Panels one below the other over one axis of time, with the faults as bands behind them.

use super::style::CSS;
use crate::faults::Fault;
use crate::text;
use maud::{Markup, PreEscaped, html};

const WIDTH: i64 = 960;
const LEFT: i64 = 84;
const RIGHT: i64 = 18;
/// The height of a panel, and where its upper edge is 0.
pub(super) const PANEL: i64 = 150;
/// What stands above each panel: its title.
const HEAD: i64 = 26;
/// What stands above all: the title and the legend, then the names of faults.
const TOP: i64 = 52;
const BOTTOM: i64 = 42;
/// Marks on an axis, at most.
const MARKS_MAX: u64 = 8;
/// The width of a letter, in tenths.
const LETTER_TENTHS: i64 = 62;
/// Characters of a panel's title.
const TITLE_CHARS_MAX: usize = 80;

/// One coordinate system.
pub(super) struct Panel {
    pub(super) title: String,
    /// Where lines go across, and what stands beside each.
    pub(super) marks: Vec<(i64, String)>,
    /// What is drawn, `PANEL` high.
    pub(super) body: Markup,
}

/// An entry of the legend: a class, and what it means.
pub(super) struct Entry {
    pub(super) class: &'static str,
    pub(super) mark: Mark,
    pub(super) words: String,
}

/// How an entry of the legend looks.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    Area,
    Line,
}

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

    /// Where a time is, from left to right.
    pub(super) fn x(&self, time_ns: i64) -> i64 {
        let passed = (i128::from(time_ns) - i128::from(self.first_ns)).clamp(0, self.length_ns);
        let room = i128::from(WIDTH - LEFT - RIGHT);
        LEFT + i64::try_from(passed * room / self.length_ns).unwrap_or_default()
    }

    fn marks(&self) -> Vec<(i64, String)> {
        let length = u64::try_from(self.length_ns).unwrap_or(u64::MAX);
        let step = step(length);
        let mark = |at: u64| {
            let passed = i64::try_from(at.saturating_mul(step)).unwrap_or(i64::MAX);
            (self.x(self.first_ns.saturating_add(passed)), text::duration(passed))
        };
        (0..=length / step).map(mark).collect()
    }
}

/// The least of 1, 2, 5, 10, ... that divides a length into few parts.
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

/// Draws a figure as a picture that stands alone.
pub(super) fn draw(title: &str, time: Time, faults: &[Fault], legend: &[Entry], panels: &[Panel]) -> String {
    let count = i64::try_from(panels.len()).unwrap_or_default();
    let height = TOP + count * (HEAD + PANEL) + BOTTOM;
    let bottom = TOP + count * (HEAD + PANEL);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="hcp" width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } role="img" {
            title { (title) }
            style { (PreEscaped(CSS)) }
            rect class="bg" width=(WIDTH) height=(height) {}
            text class="h" x=(LEFT) y="20" { (title) }
            (legend_of(legend))
            @for (at, panel) in (0..).zip(panels) {
                g transform={ "translate(0 " (TOP + at * (HEAD + PANEL) + HEAD) ")" } {
                    (bands(faults, time, at == 0))
                    text class="t" x=(LEFT) y="-7" { (text::clipped(&panel.title, TITLE_CHARS_MAX)) }
                    @for (y, label) in &panel.marks {
                        line class="g" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y) y2=(y) {}
                        text class="y" x=(LEFT - 8) y=(y + 4) { (label) }
                    }
                    @for (x, _) in time.marks() { line class="g" x1=(x) x2=(x) y1="0" y2=(PANEL) {} }
                    (panel.body)
                }
            }
            @for (x, label) in time.marks() { text class="x" x=(x) y=(bottom + 17) { (label) } }
            text class="x" x=((LEFT + WIDTH - RIGHT) / 2) y=(bottom + 34) { "time since the first op" }
        }
    }
    .into_string()
}

/// The legend, from the right edge leftwards.
fn legend_of(legend: &[Entry]) -> Markup {
    let mut at = WIDTH - RIGHT;
    let placed: Vec<(i64, &Entry)> = legend
        .iter()
        .rev()
        .map(|entry| {
            at -= i64::try_from(entry.words.chars().count()).unwrap_or_default() * LETTER_TENTHS / 10 + 34;
            (at, entry)
        })
        .collect();
    html! {
        @for (x, entry) in placed {
            g class=(entry.class) {
                @match entry.mark {
                    Mark::Area => { rect class="a" x=(x) y="11" width="14" height="10" {} },
                    Mark::Line => { path class="l" d={ "M" (x) " 16h18" } {} },
                }
                text x=(x + 23) y="20" { (entry.words) }
            }
        }
    }
}

/// The faults; their names stand above the first panel only, where there is room.
fn bands(faults: &[Fault], time: Time, is_named: bool) -> Markup {
    let mut free_from = LEFT;
    let bands = faults.iter().filter_map(|fault| {
        let x = time.x(fault.from_ns?);
        let width = (fault.until_ns.map_or(WIDTH - RIGHT, |until| time.x(until)) - x).max(2);
        let mut name = String::new();
        if is_named && x >= free_from {
            let letters = usize::try_from(width.max(64) * 10 / LETTER_TENTHS).unwrap_or_default();
            name = text::clipped(&fault.what, letters);
            free_from = x + 8 + i64::try_from(name.chars().count()).unwrap_or_default() * LETTER_TENTHS / 10;
        }
        Some((x, width, name, fault))
    });
    let bands: Vec<_> = bands.collect();
    html! {
        @for (x, width, name, fault) in bands {
            g class="f" {
                title { "fault: " (fault.what) }
                rect x=(x) y="0" width=(width) height=(PANEL) {}
                @if !name.is_empty() { text x=(x + 2) y="-20" { (name) } }
            }
        }
    }
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
        // A single moment, and all of time.
        assert_eq!(Time::new((7, 7)).x(7), LEFT);
        assert_eq!(Time::new((i64::MIN, i64::MAX)).x(i64::MAX), WIDTH - RIGHT);
    }
}
