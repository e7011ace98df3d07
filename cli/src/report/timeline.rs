//! Draws the operations around a witness: each row is a process, each bar an operation, each column an invocation or
//! completion.
//!
//! Columns show the order of ops, not time: the order determines the verdict, and in real time a bar is often too short
//! to be visible. Times are in the bars' titles, and in the table below the picture.

use super::gather::{Around, Band, Bar};
use histcheck_draw::text;
use history_core::OpKind;
use history_core::cast::Cast as _;
use maud::{Markup, html};
use std::fmt::Write as _;

/// The minimum width of a column, so that labels are readable on a screen.
const COLUMN_MIN: usize = 32;
const COLUMN_MAX: usize = 120;
const WIDTH: usize = 1040;
const ROW: usize = 34;
const BAR: usize = 24;
/// The height of a lane of annotations.
const LANE: usize = 20;
const TOP: usize = 36;
/// The height of the space below for the line that marks a limit.
const BELOW: usize = 26;
/// The distance to the left of that line at which a narrow screen begins.
const LEAD: usize = 150;
const PADDING: usize = 10;
/// The width of a letter in a bar, in tenths of a unit.
const LETTER_TENTHS: usize = 66;
/// The number of columns between two indices on the axis.
const TICK: usize = 2;
/// The width from which columns have space for every index.
const ROOMY: usize = 48;

/// Draws the chosen operations. `limit` is the index up to which a linearization exists, if linearizability was
/// checked.
pub(super) fn draw(around: &Around, limit: Option<u64>, title: &str) -> Markup {
    let step = (WIDTH / (around.columns.len() + 1)).clamp(COLUMN_MIN, COLUMN_MAX);
    let width = (around.columns.len() + 1) * step + PADDING;
    let x = |column: usize| column * step + step / 2;
    let limit_at = limit.and_then(|index| around.columns.iter().position(|(other, _)| *other == index));
    let lanes_at = TOP + around.rows.len() * ROW;
    let bottom = lanes_at + around.lanes.len() * LANE;
    let height = bottom + if limit_at.is_some() { BELOW } else { 0 };
    let bands = |width: usize| {
        html! {
            @for row in (0..around.rows.len()).step_by(2) { rect class="band" x="0" y=(TOP + row * ROW) width=(width) height=(ROW) {} }
        }
    };
    let longest = around.rows.iter().chain(&around.lanes).map(|row| row.chars().count()).max().unwrap_or(1).max(4);
    let left = PADDING + longest * 8 + PADDING;
    // The position at which a narrow screen begins. The names of rows stay visible, and cover as much as they are wide.
    let named = around.bars.iter().filter(|bar| bar.name.is_some());
    let focus = match limit_at {
        Some(column) => Some(x(column).saturating_sub(LEAD)),
        None => named.filter_map(|bar| bar.start.or(bar.end)).min().map(|column| x(column).saturating_sub(PADDING)),
    };
    html! {
        div.beside {
            svg xmlns="http://www.w3.org/2000/svg" class="tl names" aria-hidden="true" width=(left) height=(height) viewBox={ "0 0 " (left) " " (height) } {
                (bands(left))
                text class="axis" x=(left - PADDING) y="18" text-anchor="end" { "index" }
                @for (row, name) in around.rows.iter().enumerate() {
                    text class="who" x=(left - PADDING) y=(TOP + row * ROW + ROW / 2 + 4) text-anchor="end" { (name) }
                }
                @for (lane, name) in around.lanes.iter().enumerate() {
                    text class="axis" x=(left - PADDING) y=(lanes_at + lane * LANE + LANE - 6) text-anchor="end" { (name) }
                }
            }
            div.canvas {
                @if let Some(focus) = focus { span.focus style={ "left:" (focus) "px; margin-left:-" (left) "px" } {} }
                svg xmlns="http://www.w3.org/2000/svg" class="tl" role="img" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                    title { (title) }
                    desc { (describe(around, limit_at.is_some())) }
                    (bands(width))
                    @for band in &around.bands {
                        @match band.row {
                            None => { (fault(band, width, lanes_at, step, &x)) },
                            Some(row) => { (annotation(band, width, lanes_at + row * LANE, step, &x)) },
                        }
                    }
                    @for (column, (index, left_out)) in around.columns.iter().enumerate() {
                        @let after_gap = *left_out > 0 && column > 0;
                        @if after_gap {
                            line class="gap" x1=(x(column) - step / 2) x2=(x(column) - step / 2) y1=(TOP) y2=(bottom) {
                                title { (text::count(*left_out, "op", "ops")) " not shown here" }
                            }
                        }
                        @if step >= ROOMY || column % TICK == 0 || after_gap { text class="axis" x=(x(column)) y="18" text-anchor="middle" { (index) } }
                    }
                    @for bar in around.bars.iter().filter(|bar| bar.name.is_none()) { (one(bar, width - PADDING, step, &x)) }
                    @for bar in around.bars.iter().filter(|bar| bar.name.is_some()) { (one(bar, width - PADDING, step, &x)) }
                    @if let Some(column) = limit_at {
                        line class="limit" x1=(x(column)) x2=(x(column)) y1=(TOP) y2=(bottom + 4) {}
                        text class="limit" x=(x(column)) y=(bottom + 18)
                            text-anchor=(if column * 2 > around.columns.len() { "end" } else { "start" }) { "linearizable up to here" }
                    }
                }
            }
        }
    }
}

fn one(bar: &Bar, right: usize, step: usize, x: &dyn Fn(usize) -> usize) -> Markup {
    let y = TOP + bar.row * ROW + (ROW - BAR) / 2;
    let (from, until) = match (bar.start, bar.end) {
        (Some(start), end) => (x(start), end.map_or(right, x)),
        // An operation in a history without invocations.
        (None, Some(end)) => (x(end) - step / 2 + 2, x(end) + step / 2 - 2),
        (None, None) => (0, right),
    };
    let open = bar.end.is_none();
    let (class, mark) = match bar.kind {
        Some(OpKind::Ok) => ("ok", ""),
        Some(OpKind::Fail) => ("fail", "\u{d7} "),
        Some(OpKind::Info) => ("info", "? "),
        _ => ("info", "\u{2026} "),
    };
    let label = match &bar.name {
        Some(name) => format!("{name} {mark}{}", bar.label),
        None => format!("{mark}{}", bar.label),
    };
    let width = (until - from).max(12);
    let letters = (width - 8) * 10 / LETTER_TENTHS;
    html! {
        g class={ "bar " (class) @if bar.name.is_some() { " on" } @if open { " open" } } {
            title { (tip(bar)) }
            rect x=(from) y=(y) width=(width) height=(BAR) rx="4" {}
            @if letters >= 1 { text x=(from + 5) y=(y + BAR / 2 + 4) { (text::clipped(&label.replace('\n', " "), letters)) } }
        }
    }
}

/// Draws a fault, behind the operations.
fn fault(band: &Band, width: usize, bottom: usize, step: usize, x: &dyn Fn(usize) -> usize) -> Markup {
    let (from, until) = edges(band, width, step, x);
    html! {
        g class="fault" {
            title { "fault: " (band.what) }
            rect x=(from) y=(TOP) width=(until - from) height=(bottom - TOP) {}
            text x=(from + 4) y=(TOP - 2) { (text::clipped(&band.what, ((until - from) * 10 / LETTER_TENTHS).max(1))) }
        }
    }
}

/// Draws an annotation, below the operations. Its text is beside it, if it is short.
fn annotation(band: &Band, width: usize, top: usize, step: usize, x: &dyn Fn(usize) -> usize) -> Markup {
    let (from, until) = edges(band, width, step, x);
    html! {
        g class="annotation" {
            title { (band.what) }
            line x1=(from) x2=(from) y1=(TOP) y2=(top) {}
            rect x=(from) y=(top + 3) width=(until - from) height=(LANE - 6) {}
            text x=(from + 5) y=(top + LANE - 6) { (text::clipped(&band.what, (width.saturating_sub(from + 5) * 10 / LETTER_TENTHS).max(1))) }
        }
    }
}

/// The edges of a band: between the columns before and after its ends.
fn edges(band: &Band, width: usize, step: usize, x: &dyn Fn(usize) -> usize) -> (usize, usize) {
    let from = band.from.map_or(0, |column| x(column) - step / 2);
    (from, band.until.map_or(width, |column| x(column) - step / 2).max(from + 2))
}

/// A line with all data of an operation.
fn tip(bar: &Bar) -> String {
    let mut tip = bar.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    tip += &bar.label;
    let host = bar.invoked.as_ref().or(bar.completed.as_ref()).map_or("", |half| half.host.as_str());
    if !host.is_empty() {
        _ = write!(tip, "; through {host}");
    }
    for (what, half) in [("invoked", &bar.invoked), ("completed", &bar.completed)] {
        let Some(half) = half else { continue };
        let kind = if what == "completed" { half.kind.name() } else { "" };
        let space = if kind.is_empty() { "" } else { " " };
        _ = write!(tip, "; {what} {kind}{space}at index {}", half.index);
        if let Some(time) = half.time_ns {
            _ = write!(tip, ", {}", text::duration(time));
        }
    }
    tip
}

fn describe(around: &Around, is_limited: bool) -> String {
    let (rows, bars) = (around.rows.len().to_u64(), around.bars.len().to_u64());
    let limit = if is_limited { " A line marks where a linearization ends." } else { "" };
    format!(
        "{} of {}, in the order of their invocations and completions.{limit} The table below has the same data as text.",
        text::count(bars, "operation", "operations"),
        text::count(rows, "process", "processes"),
    )
}
