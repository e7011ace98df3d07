//! Latencies of operations at the times of their invocations: each operation, or their number; and quantiles.
//!
//! The axis of latency is logarithmic, and linear between powers of two, so that integers are sufficient.

use super::axis::{PANEL, Time};
use super::bins::{LATENCIES, PER_OCTAVE, TIMES, latency_of};
use super::frame::{self, Entry, Mark, Panel};
use super::performance::{Function, OUTCOMES, PER_TIME, Performance};
use crate::text;
use history_core::cast::Cast as _;
use maud::{Markup, html};
use std::fmt::Write as _;

/// The number of bins of latency in a row of the heat map.
const ROW: usize = 4;
/// The number of shades of the heat map.
const SHADES: usize = 5;
/// The approximate number of points of a line of quantiles.
const COLUMNS: usize = 40;
/// The quantiles in hundredths, with their names.
const QUANTILES: [(u64, &str); 4] = [(50, "median"), (95, "95 %"), (99, "99 %"), (100, "longest")];
/// The number of positions on the axis between two bins.
const PER_BIN: i64 = 128;

/// The bins of latency that an axis shows.
#[derive(Clone, Copy)]
struct Axis {
    from: i64,
    until: i64,
}

impl Axis {
    /// The axis from the power of ten below all latencies to the one above.
    fn of(function: &Function) -> Option<Axis> {
        let has_any = |bin: &usize| {
            (0..TIMES).any(|time| {
                let at = time * PER_TIME + bin * OUTCOMES;
                function.latencies[at..at + OUTCOMES].iter().any(|count| *count > 0)
            })
        };
        let first = (0..LATENCIES).find(has_any)?;
        let last = (0..LATENCIES).rev().find(has_any)?;
        let below = 10_u64.pow(latency_of(first).max(1).ilog10());
        let above = 10_u64.pow(latency_of(last).max(1).ilog10() + 1);
        Some(Axis { from: position(below), until: position(above) })
    }

    /// The y of a position.
    fn y(self, position: i64) -> i64 {
        (PANEL - (position - self.from) * PANEL / (self.until - self.from).max(1)).clamp(0, PANEL)
    }

    /// The marks at powers of ten.
    fn marks(self) -> Vec<(i64, String)> {
        let tens = (0..15).map(|power| 10_i64.pow(power));
        let shown =
            tens.map(|ns| (position(ns.cast_unsigned()), ns)).filter(|(at, _)| (self.from..=self.until).contains(at));
        shown.map(|(at, ns)| (self.y(at), text::duration(ns))).collect()
    }
}

/// The position of a latency on an axis that begins at a nanosecond.
fn position(ns: u64) -> i64 {
    let ns = ns.max(1);
    let octave = ns.ilog2();
    let within = (u128::from(ns) << 10 >> octave) & 1023;
    i64::from(octave) * PER_OCTAVE.to_u64().cast_signed() * PER_BIN + i64::try_from(within).unwrap_or_default()
}

/// Draws all latencies.
pub(super) fn raw(run: &Performance, time: Time) -> Option<String> {
    let panel = |(at, function): (usize, &Function)| {
        let axis = Axis::of(function)?;
        let completed = if run.has_points() { points(run, at, time, axis) } else { heat(run, function, time, axis) };
        let body = html! { (completed) (open(run, at, time)) };
        Some(Panel { title: super::title_of(function), marks: axis.marks(), body })
    };
    let panels: Vec<Panel> = run.functions.iter().enumerate().filter_map(panel).collect();
    let words = if run.has_points() {
        "Latency of each operation"
    } else {
        "Latency of operations: the stronger the colour, the more"
    };
    let mut legend = super::outcomes(Mark::Area);
    if (0..run.functions.len()).any(|function| run.open(function).next().is_some()) {
        legend.push(Entry { class: "op", mark: Mark::Area, words: "not completed".into() });
    }
    (!panels.is_empty()).then(|| frame::draw(words, time, run, &legend, &panels))
}

/// Draws operations that never completed, and so have no latency, as ticks at the top edge, at their invocation times.
fn open(run: &Performance, function: usize, time: Time) -> Markup {
    let mut path = String::new();
    for invoked_ns in run.open(function) {
        _ = write!(path, "M{} 0h2v9h-2z", time.x(invoked_ns) - 1);
    }
    html! { @if !path.is_empty() { g class="op" { path class="a" d=(path) {} } } }
}

fn points(run: &Performance, function: usize, time: Time, axis: Axis) -> Markup {
    let mut paths: [String; OUTCOMES] = Default::default();
    for point in run.points.iter().filter(|point| point.function == function) {
        let (x, y) = (time.x(point.invoked_ns), axis.y(position(point.latency_ns)));
        // A square, a triangle, a cross: outcomes can be distinguished without colour.
        _ = match point.outcome {
            0 => write!(paths[0], "M{} {}h3v3h-3z", x - 1, y - 1),
            1 => write!(paths[1], "M{} {}l4 6h-8z", x, y - 3),
            _ => write!(paths[2], "M{} {}h3v-3h2v3h3v2h-3v3h-2v-3h-3z", x - 4, y - 1),
        };
    }
    html! {
        @for (outcome, path) in paths.iter().enumerate() {
            @if !path.is_empty() { g class={ "o" (outcome) } { path class="a" opacity=".75" d=(path) {} } }
        }
    }
}

fn heat(run: &Performance, function: &Function, time: Time, axis: Axis) -> Markup {
    let cells = |outcome: usize| {
        (0..run.bins.used()).flat_map(move |bin| {
            (0..LATENCIES / ROW).map(move |row| {
                let at = bin * PER_TIME + row * ROW * OUTCOMES + outcome;
                (bin, row, (0..ROW).map(|latency| function.latencies[at + latency * OUTCOMES]).sum::<u32>())
            })
        })
    };
    let most = (0..OUTCOMES).flat_map(cells).map(|(.., count)| count).max().unwrap_or_default().max(1);
    let mut paths: [[String; SHADES]; OUTCOMES] = Default::default();
    for (outcome, paths) in paths.iter_mut().enumerate() {
        for (bin, row, count) in cells(outcome).filter(|(.., count)| *count > 0) {
            let (from, until) = run.bins.span(bin);
            let (left, right) = (time.x(from), time.x(until).max(time.x(from) + 1));
            let row_at = |row: usize| axis.y((row * ROW).to_u64().cast_signed() * PER_BIN);
            let (above, below) = (row_at(row + 1), row_at(row));
            // A logarithmic scale, so that small counts are visible beside large ones.
            let shade = count.ilog2().to_usize() * SHADES / (most.ilog2().to_usize() + 1);
            _ = write!(paths[shade], "M{left} {above}H{right}V{below}H{left}z");
        }
    }
    html! {
        @for (outcome, shades) in paths.iter().enumerate() {
            g class={ "o" (outcome) } {
                @for (shade, path) in (1..).zip(shades) {
                    @if !path.is_empty() { path class="a" opacity={ "." (shade * 18) } d=(path) {} }
                }
            }
        }
    }
}

/// Draws quantiles over time.
pub(super) fn quantiles(run: &Performance, time: Time) -> Option<String> {
    let panel = |function: &Function| {
        let axis = Axis::of(function)?;
        let lines = QUANTILES.map(|(percent, _)| line(run, function, time, axis, percent));
        let body = html! { @for (at, line) in lines.iter().enumerate() { g class={ "q" (at) } { path class="l" d=(line) {} } } };
        Some(Panel { title: super::title_of(function), marks: axis.marks(), body })
    };
    let panels: Vec<Panel> = run.functions.iter().filter_map(panel).collect();
    let entry =
        |(class, (_, words)): (&'static str, (u64, &str))| Entry { class, mark: Mark::Line, words: words.into() };
    let legend: Vec<Entry> = ["q0", "q1", "q2", "q3"].into_iter().zip(QUANTILES).map(entry).collect();
    (!panels.is_empty()).then(|| frame::draw("Latency quantiles", time, run, &legend, &panels))
}

/// A line through the values of a quantile, interrupted where there is no operation.
fn line(run: &Performance, function: &Function, time: Time, axis: Axis, percent: u64) -> String {
    let used = run.bins.used();
    let width = used.div_ceil(COLUMNS).max(1);
    let (mut path, mut is_drawn) = (String::new(), false);
    for bins in (0..used).step_by(width) {
        let until = (bins + width).min(used);
        let count = |latency: usize| {
            let counts = |time: usize| &function.latencies[time * PER_TIME + latency * OUTCOMES..][..OUTCOMES];
            (bins..until).flat_map(counts).map(|count| u64::from(*count)).sum::<u64>()
        };
        let Some(bin) = quantile(count, percent) else {
            is_drawn = false;
            continue;
        };
        let (from, until) = (run.bins.span(bins).0, run.bins.span(until - 1).1);
        let (x, y) =
            (i64::midpoint(time.x(from), time.x(until)), axis.y(bin.to_u64().cast_signed() * PER_BIN + PER_BIN / 2));
        // A line of length zero is drawn as a dot.
        _ = if is_drawn { write!(path, "L{x} {y}") } else { write!(path, "M{x} {y}h0") };
        is_drawn = true;
    }
    path
}

/// The first bin at which the cumulative count reaches this percentage.
fn quantile(count: impl Fn(usize) -> u64, percent: u64) -> Option<usize> {
    let all: u64 = (0..LATENCIES).map(&count).sum();
    let wanted = (all * percent).div_ceil(100);
    let mut sum = 0;
    (0..LATENCIES).find(|bin| {
        sum += count(*bin);
        all > 0 && sum >= wanted
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::bins::latency_bin;

    #[test]
    fn positions_grow_with_latency_and_agree_with_bins() {
        let mut last = -1;
        for ns in (1..5000).chain((13..50).map(|octave| 1 << octave)) {
            let at = position(ns);
            assert!(at >= last, "{ns}");
            last = at;
            if latency_bin(ns) < LATENCIES - 1 {
                assert_eq!(at / PER_BIN, latency_bin(ns).to_u64().cast_signed(), "{ns}");
            }
        }
    }

    #[test]
    fn a_quantile_is_the_least_latency_that_its_share_does_not_exceed() {
        // There are 50 operations in bin 3, 49 in bin 5, and one in bin 9.
        let count = |bin: usize| match bin {
            3 => 50,
            5 => 49,
            9 => 1,
            _ => 0,
        };
        assert_eq!([50, 51, 95, 99, 100].map(|percent| quantile(count, percent)), [3, 5, 5, 5, 9].map(Some));
        assert_eq!(quantile(|_| 0, 50), None);
    }
}
