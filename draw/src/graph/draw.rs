//! Converts geometry to SVG text with a limited size.

use super::layout::{Edge, Layout};
use super::style::{self, CSS, LOOKS, Look, OTHER};
use super::txn_box::{
    CELL_COLUMN_WIDTH, CELL_HEIGHT, Cell, NAME_COLUMN_WIDTH, PADDING, Part, Point, SMALL_COLUMN_WIDTH, TxnBox,
};
use super::zone::{LABEL_COLUMN_WIDTH, LABEL_HEIGHT, label, label_width};
use super::{PlotOptions, TooLarge};
use crate::text::{self, columns, px};
use history_core::{Step, WitnessOp};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The margin around the picture.
const MARGIN: i32 = 16;
/// The height of a line of text above or below the picture.
const LINE: i32 = 24;
/// The radius of an edge's corners.
const RADIUS: i32 = 5;
const ARROW_LENGTH: i32 = 9;
const ARROW_HALF_WIDTH: i32 = 4;
/// The maximum number of columns of the title.
const TITLE_COLUMNS_MAX: usize = 120;
const TITLE_COLUMN_WIDTH: i32 = 9;
/// The maximum number of columns of a tooltip.
const REASON_COLUMNS_MAX: usize = 240;
/// The maximum number of steps listed in the description.
const TOLD_MAX: usize = 64;
const LEGEND_COLUMN_WIDTH: i32 = 7;
const LEGEND_LINE_WIDTH: i32 = 44;

/// Text that is extended up to a maximum length.
struct Out {
    text: String,
    bytes_max: usize,
}

impl Out {
    fn check(&self) -> Result<(), TooLarge> {
        if self.text.len() > self.bytes_max { Err(TooLarge::Bytes { bytes_max: self.bytes_max }) } else { Ok(()) }
    }

    fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    fn put(&mut self, piece: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(piece);
    }

    fn escaped(&mut self, text: &str) {
        text::escape(&mut self.text, text);
    }

    /// Writes a line of text. If its font may lack some letters, sets its length explicitly.
    fn line(&mut self, class: &str, at: Point, text: &str, column_width: i32) {
        self.put(format_args!("<text x=\"{}\" y=\"{}\"", at.x, at.y));
        if !class.is_empty() {
            self.put(format_args!(" class=\"{class}\""));
        }
        if !text.is_ascii() {
            let length = px(columns(text)) * column_width;
            self.put(format_args!(" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\""));
        }
        self.push(">");
        self.escaped(text);
        self.push("</text>");
    }
}

/// The texts around a picture.
struct Frame {
    title: String,
    /// The looks used in the picture.
    legend: Vec<&'static Look>,
    /// A note on omitted parts.
    note: Option<String>,
}

pub(super) fn draw(
    layout: &Layout,
    ops: &[WitnessOp],
    steps: &[Step],
    options: &PlotOptions,
) -> Result<String, TooLarge> {
    let frame = Frame::new(layout, steps, options);
    let head = if frame.title.is_empty() { 0 } else { LINE };
    let width = layout.width.max(frame.width()) + 2 * MARGIN;
    let foot = frame.height(width);
    let height = layout.height + head + foot + 2 * MARGIN;
    let mut out = Out { text: String::new(), bytes_max: options.max_plot_bytes };
    out.put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"hc\" role=\"img\" xml:space=\"preserve\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
    ));
    out.push("<title>");
    out.escaped(if frame.title.is_empty() { "Transactions and their relations" } else { &frame.title });
    out.push("</title>\n<desc>");
    out.escaped(&description(layout, ops, steps));
    out.put(format_args!(
        "</desc>\n<style>{CSS}</style>\n<rect class=\"bg\" width=\"{width}\" height=\"{height}\"/>\n"
    ));
    if !frame.title.is_empty() {
        out.line("h1", Point { x: MARGIN, y: MARGIN + 14 }, &frame.title, TITLE_COLUMN_WIDTH);
        out.push("\n");
    }
    out.put(format_args!("<g transform=\"translate({MARGIN} {})\">\n", MARGIN + head));
    // Edges are drawn over boxes, because edges of inner rows run within boxes.
    for ((corner, txn), op) in layout.boxes.iter().zip(ops) {
        draw_box(&mut out, *corner, txn, op);
        out.check()?;
    }
    for edge in &layout.edges {
        draw_edge(&mut out, edge, &steps[edge.step], ops);
        out.check()?;
    }
    out.push("</g>\n");
    frame.draw(&mut out, width, MARGIN + head + layout.height);
    out.push("</svg>\n");
    out.check()?;
    Ok(out.text)
}

/// A text description of the picture, for readers who cannot see it.
fn description(layout: &Layout, ops: &[WitnessOp], steps: &[Step]) -> String {
    let name = |op: usize| text::shorten(&ops[op].name, 24);
    let named: Vec<String> = layout
        .edges
        .iter()
        .take(TOLD_MAX)
        .map(|edge| &steps[edge.step])
        .map(|step| format!("{} {} {}", name(step.from), label(&step.relation), name(step.to)))
        .collect();
    let more = layout.edges.len() - named.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{} transactions; relations: {}{more}.", ops.len(), named.join(", "))
}

fn draw_box(out: &mut Out, corner: Point, txn: &TxnBox, op: &WitnessOp) {
    let Point { x, y } = corner;
    out.put(format_args!(
        "<g class=\"txn {}\" transform=\"translate({x} {y})\">\
         <rect class=\"box\" width=\"{}\" height=\"{}\" rx=\"6\"/>",
        op.kind.name(),
        txn.width,
        txn.height
    ));
    for cell in &txn.cells {
        draw_cell(out, cell, txn);
    }
    out.push("</g>\n");
}

fn draw_cell(out: &mut Out, cell: &Cell, txn: &TxnBox) {
    let Cell { corner, width, height, .. } = cell;
    let left = Point { x: corner.x + PADDING, y: corner.y + height / 2 };
    if cell.part == Some(Part::Name) {
        out.line("name", Point { y: left.y - 2, ..left }, &cell.text, NAME_COLUMN_WIDTH);
        out.line("small", Point { y: left.y + 13, ..left }, &txn.small, SMALL_COLUMN_WIDTH);
        return;
    }
    let baseline = Point { y: corner.y + CELL_HEIGHT / 2 + 5, ..left };
    if cell.part.is_none() {
        out.push("<g class=\"mop\">");
    } else {
        let on = if txn.is_used(cell) { " on" } else { "" };
        out.put(format_args!(
            "<g class=\"mop{on}\"><rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>",
            corner.x, corner.y
        ));
    }
    out.line("", baseline, &cell.text, CELL_COLUMN_WIDTH);
    out.push("</g>");
}

fn draw_edge(out: &mut Out, edge: &Edge, step: &Step, ops: &[WitnessOp]) {
    let class = style::of(&step.relation).class;
    out.put(format_args!("<g class=\"e {class}\"><title>"));
    let [from, to] = [step.from, step.to].map(|op| text::shorten(&ops[op].name, 24));
    let because = if step.because.is_empty() { String::new() } else { format!(": {}", step.because) };
    let reason = format!("{from} {} {to}{because}", label(&step.relation));
    out.escaped(&text::shorten(&reason, REASON_COLUMNS_MAX));
    out.push("</title><path class=\"l\" d=\"");
    path(&mut out.text, &edge.points);
    out.push("\"/><path class=\"to\" d=\"");
    arrow(&mut out.text, &edge.points);
    out.push("\"/>");
    let text = label(&step.relation);
    let width = label_width(&step.relation);
    for middle in &edge.labels {
        let (x, y) = (middle.x - width / 2, middle.y - LABEL_HEIGHT / 2);
        out.put(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{LABEL_HEIGHT}\" rx=\"8\"/>"));
        out.line("m", Point { x: middle.x, y: middle.y + 4 }, &text, LABEL_COLUMN_WIDTH);
    }
    out.push("</g>\n");
}

/// Writes a line with rounded corners, up to the base of the arrow.
fn path(out: &mut String, points: &[Point]) {
    let [first, .., last] = points else { return };
    let _ = write!(out, "M{} {}", first.x, first.y);
    for at in 1..points.len() - 1 {
        let [before, here, after] = [points[at - 1], points[at], points[at + 1]];
        let room = |other: Point| (other.x - here.x).abs().max((other.y - here.y).abs()) / 2;
        let radius = RADIUS.min(room(before)).min(room(after));
        let toward = |other: Point| ((other.x - here.x).signum() * radius, (other.y - here.y).signum() * radius);
        let ((back_x, back_y), (on_x, on_y)) = (toward(before), toward(after));
        let _ =
            if before.x == here.x { write!(out, "V{}", here.y + back_y) } else { write!(out, "H{}", here.x + back_x) };
        let _ = write!(out, "q{} {} {} {}", -back_x, -back_y, on_x - back_x, on_y - back_y);
    }
    let _ = write!(out, "V{}", last.y - direction(points) * (ARROW_LENGTH - 1));
}

/// The direction of the last piece: 1 for down, -1 for up.
fn direction(points: &[Point]) -> i32 {
    match points {
        [.., before, last] => (last.y - before.y).signum(),
        _ => 1,
    }
}

/// Writes the head of an arrow whose tip is the last point.
fn arrow(out: &mut String, points: &[Point]) {
    let Some(Point { x, y }) = points.last() else { return };
    let back = -direction(points) * ARROW_LENGTH;
    let _ = write!(out, "M{x} {y}l{} {back}h{}z", -ARROW_HALF_WIDTH, 2 * ARROW_HALF_WIDTH);
}

impl Frame {
    fn new(layout: &Layout, steps: &[Step], options: &PlotOptions) -> Frame {
        let used: BTreeSet<&str> =
            layout.edges.iter().map(|edge| style::of(&steps[edge.step].relation).class).collect();
        let legend = LOOKS.iter().chain([&OTHER]).filter(|look| used.contains(look.class)).collect();
        let missing = steps.len() - layout.edges.len();
        let note = (missing > 0).then(|| {
            format!(
                "Not drawn: {missing} of {} relations, which do not connect two of these transactions.",
                steps.len()
            )
        });
        Frame { title: text::shorten(&options.title, TITLE_COLUMNS_MAX), legend, note }
    }

    /// The minimum width.
    fn width(&self) -> i32 {
        let note = self.note.as_ref().map_or(0, |note| px(columns(note)) * LEGEND_COLUMN_WIDTH);
        let legend = self.legend.iter().map(|look| entry_width(look)).max().unwrap_or(0);
        (px(columns(&self.title)) * TITLE_COLUMN_WIDTH).max(note).max(legend)
    }

    /// The entries of the legend with their positions below a picture of this width.
    fn entries(&self, width: i32) -> Vec<(Point, &'static Look)> {
        let mut at = Point { x: MARGIN, y: LINE };
        let mut placed = Vec::new();
        for look in &self.legend {
            if at.x > MARGIN && at.x + entry_width(look) > width - MARGIN {
                at = Point { x: MARGIN, y: at.y + LINE };
            }
            placed.push((at, *look));
            at.x += entry_width(look);
        }
        placed
    }

    /// The height of the part below the picture.
    fn height(&self, width: i32) -> i32 {
        let legend = self.entries(width).last().map_or(0, |(at, _)| at.y);
        legend + if self.note.is_some() { LINE } else { 0 }
    }

    fn draw(&self, out: &mut Out, width: i32, top: i32) {
        for (at, look) in self.entries(width) {
            let (x, y) = (at.x, at.y + top);
            out.put(format_args!("<g class=\"e {}\"><path class=\"l\" d=\"M{x} {y}h30\"/>", look.class));
            out.put(format_args!("<path class=\"to\" d=\"M{} {y}l-9 -4v8z\"/></g>", x + 38));
            out.line("", Point { x: x + LEGEND_LINE_WIDTH, y: y + 4 }, &entry(look), LEGEND_COLUMN_WIDTH);
            out.push("\n");
        }
        if let Some(note) = &self.note {
            let y = top + self.height(width);
            out.line("", Point { x: MARGIN, y }, note, LEGEND_COLUMN_WIDTH);
            out.push("\n");
        }
    }
}

/// The text of the legend for a relation.
fn entry(look: &Look) -> String {
    if look.relation.is_empty() { look.meaning.to_owned() } else { format!("{}: {}", look.relation, look.meaning) }
}

fn entry_width(look: &Look) -> i32 {
    LEGEND_LINE_WIDTH + px(columns(&entry(look))) * LEGEND_COLUMN_WIDTH + 20
}
