//! How far the clocks of nodes were off, as a clock nemesis measured them.

use super::axis::{PANEL, Time};
use super::frame::{self, Entry, Mark, Panel};
use super::performance::Performance;
use crate::text;
use maud::html;
use std::fmt::Write as _;

/// Looks of lines; more nodes than these share them.
const LOOKS: [&str; 4] = ["q0", "q1", "q2", "q3"];

/// Draws the offsets, if any op has them.
pub(super) fn draw(run: &Performance, time: Time) -> Option<String> {
    let offsets = || run.clocks.values().flatten().map(|(_, offset)| i128::from(*offset));
    // Zero is always shown.
    let (least, most) = (offsets().min()?.min(0), offsets().max()?.max(0));
    let length = (most - least).max(1);
    let y = |offset: i64| {
        PANEL - i64::try_from((i128::from(offset) - least) * i128::from(PANEL) / length).unwrap_or_default()
    };
    let ends = [least, 0, most].map(|offset| i64::try_from(offset).unwrap_or_default());
    let mut marks: Vec<(i64, String)> = ends.iter().map(|offset| (y(*offset), text::duration(*offset))).collect();
    marks.dedup();
    let lines: Vec<(&str, String)> = LOOKS
        .into_iter()
        .cycle()
        .zip(run.clocks.values().map(|points| {
            let mut line = String::new();
            for (at, (when, offset)) in points.iter().enumerate() {
                let letter = if at == 0 { 'M' } else { 'L' };
                _ = write!(line, "{letter}{} {}", time.x(*when), y(*offset));
            }
            line
        }))
        .collect();
    let body = html! { @for (class, line) in &lines { g class=(class) { path class="l" d=(line) {} } } };
    let entry =
        |(class, node): (&'static str, &String)| Entry { class, mark: Mark::Line, words: text::clipped(node, 16) };
    let legend: Vec<Entry> = LOOKS.into_iter().cycle().zip(run.clocks.keys()).map(entry).collect();
    let panel = Panel { title: "ahead of the control node's clock".into(), marks, body };
    Some(frame::draw("Clock offsets", time, &run.bands(), &legend, &[panel]))
}
