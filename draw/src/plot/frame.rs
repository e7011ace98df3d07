//! Draws panels below one another with one axis of time, and faults as bands behind them.

use super::axis::{LEFT, LETTER_TENTHS, PANEL, RIGHT, Time, WIDTH};
use super::over::{self, LANE};
use super::performance::Performance;
use super::style::CSS;
use crate::text;
use maud::{Markup, PreEscaped, html};

/// The height above each panel, for its title.
const HEAD: i64 = 26;
/// The height above all panels: for the title and the legend, then for the names of faults.
const TOP: i64 = 52;
const BOTTOM: i64 = 42;
/// The height of a row of the legend and of notes. `STEP` is the same number.
const ROW: i64 = 18;
const STEP: usize = 18;
/// The width of a letter of the title, and of an entry of the legend without its text.
const TITLE_LETTER: i64 = 9;
const ENTRY: i64 = 40;
/// The maximum number of characters of a panel's title.
const TITLE_CHARS_MAX: usize = 80;

/// One coordinate system.
pub(super) struct Panel {
    pub(super) title: String,
    /// The y of horizontal lines, each with its label.
    pub(super) marks: Vec<(i64, String)>,
    /// The content, which is `PANEL` high.
    pub(super) body: Markup,
}

/// An entry of the legend: a class, and its meaning.
pub(super) struct Entry {
    pub(super) class: &'static str,
    pub(super) mark: Mark,
    pub(super) words: String,
}

/// The mark of an entry in the legend.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    Area,
    Line,
}

/// Draws a figure as a self-contained picture.
pub(super) fn draw(title: &str, time: Time, run: &Performance, legend: &[Entry], panels: &[Panel]) -> String {
    let (bands, notes) = (&run.bands(), run.notes());
    let lanes = over::lanes(bands, time);
    let count = |length: usize| i64::try_from(length).unwrap_or_default();
    let (legend, rows) = legend_of(legend, LEFT + count(title.chars().count()) * TITLE_LETTER);
    // The height above the lanes.
    let shift = rows * ROW;
    let top = TOP + count(lanes.len()) * LANE;
    let bottom = top + count(panels.len()) * (HEAD + PANEL);
    let height = shift + bottom + BOTTOM + count(notes.len()) * ROW;
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="hcp" width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } role="img" {
            title { (title) }
            style { (PreEscaped(CSS)) }
            rect class="bg" width=(WIDTH) height=(height) {}
            text class="h" x=(LEFT) y="20" { (title) }
            (legend)
            g transform={ "translate(0 " (shift) ")" } {
                (over::draw_lanes(&lanes, time, bottom))
                @for (at, panel) in (0..).zip(panels) {
                    g transform={ "translate(0 " (top + at * (HEAD + PANEL) + HEAD) ")" } {
                        (over::faults(bands, time, at == 0))
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
                @for (y, note) in (bottom + 34 + ROW..).step_by(STEP).zip(&notes) { text class="s" x=(LEFT) y=(y) { (note) } }
            }
        }
    }
    .into_string()
}

/// The legend, and the number of its rows below the title: none if it fits to the right of the title's end.
fn legend_of(legend: &[Entry], title_end: i64) -> (Markup, i64) {
    let width =
        |entry: &Entry| i64::try_from(entry.words.chars().count()).unwrap_or_default() * LETTER_TENTHS / 10 + ENTRY;
    let all: i64 = legend.iter().map(width).sum();
    let is_beside = title_end + all <= WIDTH - RIGHT;
    let (mut x, mut row) = if is_beside { (WIDTH - RIGHT - all, 0) } else { (LEFT, 1) };
    let mut placed = Vec::new();
    for entry in legend {
        if x + width(entry) > WIDTH - RIGHT && x > LEFT {
            (x, row) = (LEFT, row + 1);
        }
        placed.push((x, row * ROW, entry));
        x += width(entry);
    }
    let drawn = html! {
        @for (x, y, entry) in placed {
            g class=(entry.class) {
                @match entry.mark {
                    Mark::Area => { rect class="a" x=(x) y=(y + 11) width="14" height="10" {} },
                    Mark::Line => { path class="l" d={ "M" (x) " " (y + 16) "h18" } {} },
                }
                text x=(x + 23) y=(y + 20) { (entry.words) }
            }
        }
    };
    (drawn, row)
}
