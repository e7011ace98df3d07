//! Panels one below the other over one axis of time, with the faults as bands behind them.

use super::axis::{LEFT, LETTER_TENTHS, PANEL, RIGHT, Time, WIDTH};
use super::over::{self, LANE};
use super::style::CSS;
use crate::bands::Band;
use crate::text;
use maud::{Markup, PreEscaped, html};

/// What stands above each panel: its title.
const HEAD: i64 = 26;
/// What stands above all: the title and the legend, then the names of faults.
const TOP: i64 = 52;
const BOTTOM: i64 = 42;
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

/// Draws a figure as a picture that stands alone.
pub(super) fn draw(title: &str, time: Time, bands: &[Band], legend: &[Entry], panels: &[Panel]) -> String {
    let lanes = over::lanes(bands, time);
    let count = |length: usize| i64::try_from(length).unwrap_or_default();
    let top = TOP + count(lanes.len()) * LANE;
    let bottom = top + count(panels.len()) * (HEAD + PANEL);
    let height = bottom + BOTTOM;
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="hcp" width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } role="img" {
            title { (title) }
            style { (PreEscaped(CSS)) }
            rect class="bg" width=(WIDTH) height=(height) {}
            text class="h" x=(LEFT) y="20" { (title) }
            (legend_of(legend))
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
