//! The data of a page: columns of numbers, and a table of texts, as JSON.
//!
//! Bars are sorted by their starts, so that starts and indices are small differences, and each text is stored once.

use super::{Bar, BarStatus, Order, Scale, Timeline, instants};
use crate::text::{push_json, shorten_chars};
use history_core::cast::Cast as _;
use std::collections::HashMap;
use std::fmt::Write;

/// The number of parts of a position, so that several steps at one position are drawn side by side.
const PARTS: i128 = 1000;

/// Numbers up to this one are exact in a browser.
const EXACT_MAX: i128 = 1 << 52;

/// The maximum number of characters of a bar's label. More would not be visible.
const LABEL_CHARS_MAX: usize = 120;

/// The maximum number of characters of a row's name.
const ROW_CHARS_MAX: usize = 40;

/// The part of a timeline that a page shows, and the maximum length of its texts.
pub(super) struct Shown<'a> {
    timeline: &'a Timeline,
    /// The maximum number of characters of a text.
    pub(super) chars_max: usize,
    /// The orders shown.
    pub(super) orders: &'a [Order],
    /// The first and the last number of the page.
    extent: (i128, i128),
    /// Positions of bars, sorted by their starts.
    sorted: Vec<u32>,
    /// The place of each bar in `sorted`.
    place: Vec<u32>,
    /// For each order, the instants of its steps, and the number of steps that do not fit their order.
    instants: Vec<(Vec<i128>, usize)>,
}

impl<'a> Shown<'a> {
    /// Prepares a verified timeline.
    pub(super) fn new(timeline: &'a Timeline, orders_max: usize, chars_max: usize) -> Shown<'a> {
        let bars = &timeline.bars;
        let mut sorted: Vec<u32> = (0..bars.len().to_u32()).collect();
        sorted.sort_by_key(|bar| bars[bar.to_usize()].start);
        let mut place = vec![0; bars.len()];
        for (at, bar) in sorted.iter().enumerate() {
            place[bar.to_usize()] = at.to_u32();
        }
        let first = sorted.first().map_or(0, |bar| bars[bar.to_usize()].start);
        let last = bars.iter().map(|bar| bar.end.unwrap_or(bar.start)).max().unwrap_or(0);
        let (from, until) = timeline.extent.unwrap_or((first, last));
        let mut shown = Shown {
            timeline,
            chars_max,
            orders: &timeline.orders[..timeline.orders.len().min(orders_max)],
            extent: (from.into(), until.max(from).into()),
            sorted,
            place,
            instants: Vec::new(),
        };
        shown.instants = shown.orders.iter().map(|order| shown.place(order, last)).collect();
        shown
    }

    /// The number of steps without an instant, in all orders shown.
    pub(super) fn late(&self) -> usize {
        self.instants.iter().map(|(_, late)| late).sum()
    }

    fn place(&self, order: &Order, last: i64) -> (Vec<i128>, usize) {
        let parts = self.parts();
        let span = |bar: u32| {
            let Bar { start, end, .. } = self.timeline.bars[bar.to_usize()];
            let end = end.unwrap_or_else(|| last.max(start));
            (i128::from(start) * parts, i128::from(end) * parts)
        };
        let spans: Vec<(i128, i128)> = order.steps.iter().map(|step| span(step.bar)).collect();
        let placed = instants::place(&spans);
        (placed.at, placed.late.len())
    }

    /// The number at which the page starts to count, if it is not zero.
    fn origin(&self) -> String {
        match self.timeline.scale {
            Scale::Nanoseconds => time(self.extent.0),
            Scale::Positions => format!("position {}", self.extent.0),
        }
    }

    fn parts(&self) -> i128 {
        match self.timeline.scale {
            Scale::Nanoseconds => 1,
            Scale::Positions => PARTS,
        }
    }

    /// The data as JSON; `None` if it takes more bytes than `bytes_max`.
    pub(super) fn json(&self, bytes_max: usize) -> Option<String> {
        let parts = self.parts();
        // If a browser could not represent the numbers exactly, they are relative to the first one.
        let (from, until) = (self.extent.0 * parts, self.extent.1 * parts);
        let is_exact = from.abs() < EXACT_MAX && until.abs() < EXACT_MAX;
        let base = if is_exact { 0 } else { from };
        let mut texts = Texts { bytes_max, ..Texts::default() };
        let mut out = String::with_capacity(64 * self.sorted.len());
        let unit = if self.timeline.scale == Scale::Positions { "position" } else { "ns" };
        let (first, last) = (from - base, until - base);
        let _ = write!(out, "{{\"unit\":\"{unit}\",\"parts\":{parts},\"extent\":[{first},{last}],\"base\":");
        push_json(&mut out, &if is_exact { String::new() } else { self.origin() });
        out.push_str(",\n\"rows\":[");
        for (at, row) in self.timeline.rows.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            push_json(&mut out, &shorten_chars(row, ROW_CHARS_MAX));
            texts.spend(out.len())?;
        }
        out.push(']');
        self.push_bars(&mut out, &mut texts, base)?;
        self.push_orders(&mut out, &mut texts, base)?;
        out.push_str(",\n\"texts\":[");
        texts.write(&mut out);
        out.push_str("]}");
        (out.len() <= bytes_max).then_some(out)
    }

    fn push_bars(&self, out: &mut String, texts: &mut Texts<'a>, base: i128) -> Option<()> {
        let parts = self.parts();
        self.column(out, "row", |bar| bar.row.into());
        let mut before = base;
        self.column(out, "start", |bar| delta(&mut before, i128::from(bar.start) * parts));
        let length = |bar: &Bar| bar.end.map(|end| (i128::from(end) - i128::from(bar.start)) * parts);
        self.column(out, "length", |bar| length(bar).unwrap_or(-1));
        let mut before = 0;
        self.column(out, "index", |bar| delta(&mut before, bar.index.into()));
        self.column(out, "completed", |bar| bar.completed.map_or(0, |at| i128::from(at) - i128::from(bar.index)));
        self.column(out, "status", |bar| status(bar.status));
        let label_max = LABEL_CHARS_MAX.min(self.chars_max);
        self.column(out, "label", |bar| texts.id(&bar.label, label_max));
        self.column(out, "detail", |bar| texts.id(&bar.detail, self.chars_max));
        texts.spend(out.len())
    }

    fn push_orders(&self, out: &mut String, texts: &mut Texts<'a>, base: i128) -> Option<()> {
        out.push_str(",\n\"orders\":[");
        for (at, (order, (instants, _))) in self.orders.iter().zip(&self.instants).enumerate() {
            let _ = write!(out, "{}{{\"skipped\":{},\"before\":", if at > 0 { ",\n" } else { "" }, order.skipped);
            let before = texts.id(&order.before, self.chars_max);
            let _ = write!(out, "{before},\"refusal\":{}", texts.id(&order.refusal, self.chars_max));
            let place = |bar: u32| i128::from(self.place[bar.to_usize()]);
            numbers(out, "earlier", order.earlier.iter().map(|bar| place(*bar)));
            let mut before = 0;
            numbers(out, "bar", order.steps.iter().map(|step| delta(&mut before, place(step.bar))));
            let mut before = base;
            numbers(out, "at", instants.iter().map(|at| delta(&mut before, *at)));
            numbers(out, "state", order.steps.iter().map(|step| texts.id(&step.state, self.chars_max)));
            out.push('}');
            texts.spend(out.len())?;
        }
        out.push(']');
        Some(())
    }

    fn column(&self, out: &mut String, name: &str, mut number: impl FnMut(&'a Bar) -> i128) {
        numbers(out, name, self.sorted.iter().map(|bar| number(&self.timeline.bars[bar.to_usize()])));
    }
}

/// Appends `,"name":[1,2]`.
fn numbers(out: &mut String, name: &str, numbers: impl Iterator<Item = i128>) {
    let _ = write!(out, ",\n\"{name}\":[");
    for (at, number) in numbers.enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        let _ = write!(out, "{number}");
    }
    out.push(']');
}

fn delta(before: &mut i128, number: i128) -> i128 {
    number - std::mem::replace(before, number)
}

/// The number of a status in `model.js`.
fn status(status: BarStatus) -> i128 {
    match status {
        BarStatus::Placed => 0,
        BarStatus::Pending => 1,
        BarStatus::Refused => 2,
        BarStatus::After => 3,
        BarStatus::Failed => 4,
        BarStatus::Fault => 5,
        BarStatus::Annotation => 6,
    }
}

/// The distinct texts, in the order of their first use.
#[derive(Default)]
struct Texts<'a> {
    ids: HashMap<(&'a str, usize), usize>,
    shortened: Vec<String>,
    bytes: usize,
    bytes_max: usize,
}

impl<'a> Texts<'a> {
    fn id(&mut self, text: &'a str, chars_max: usize) -> i128 {
        let next = self.shortened.len();
        let id = *self.ids.entry((text, chars_max)).or_insert(next);
        if id == next {
            // After the limit is exceeded, further texts are not stored: `spend` then rejects the page.
            let short = if self.bytes > self.bytes_max { String::new() } else { shorten_chars(text, chars_max) };
            self.bytes += short.len() + 3;
            self.shortened.push(short);
        }
        id as i128
    }

    /// Returns `None` if the texts and this number of other bytes exceed the limit.
    fn spend(&self, bytes: usize) -> Option<()> {
        (self.bytes + bytes <= self.bytes_max).then_some(())
    }

    fn write(&self, out: &mut String) {
        for (at, text) in self.shortened.iter().enumerate() {
            out.push_str(if at > 0 { ",\n" } else { "" });
            push_json(out, text);
        }
    }
}

/// Formats a time in nanoseconds exactly: `"1.5 ms"`.
pub(super) fn time(number: i128) -> String {
    let (unit, digits) = match number.unsigned_abs() {
        0..1_000 => ("ns", 0),
        1_000..1_000_000 => ("\u{b5}s", 3),
        1_000_000..1_000_000_000 => ("ms", 6),
        _ => ("s", 9),
    };
    let sign = if number < 0 { "-" } else { "" };
    let one = 10_u128.pow(digits);
    let (whole, part) = (number.unsigned_abs() / one, number.unsigned_abs() % one);
    let part = format!("{part:0width$}", width = digits.to_usize());
    let part = part.trim_end_matches('0');
    if digits == 0 || part.is_empty() {
        format!("{sign}{whole} {unit}")
    } else {
        format!("{sign}{whole}.{part} {unit}")
    }
}
