//! The offsets of the nodes' clocks, as a clock nemesis measured them.

use super::performance::Performance;
use super::series::{self, Shape};
use history_core::figure::{Line, Series, Unit};

/// Draws the offsets, if any op has them.
pub(super) fn draw(run: &Performance, range: (i64, i64)) -> Option<String> {
    let line = |(node, points): (&String, &Vec<(i64, i64)>)| Line { name: node.clone(), points: points.clone() };
    let lines: Vec<Line> = run.clocks.iter().map(line).collect();
    let series = Series { title: "Clock offsets from the control node".into(), unit: Unit::Nanoseconds, lines };
    (!series.lines.is_empty()).then(|| series::draw(&series, range, run, Shape::Steps))
}
