//! Writes the page: a template, and the essential content as plain HTML for readers without script.

use super::data::{Shown, time};
use super::{Bar, BarStatus, CHARS_MAX, Order, Scale, Timeline};
use crate::text::{escape, shorten_chars};
use history_core::cast::Cast as _;
use maud::{Markup, html};

const PAGE: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const SCRIPT: [&str; 5] = [
    include_str!("model.js"),
    include_str!("axis.js"),
    include_str!("draw.js"),
    include_str!("steps.js"),
    include_str!("page.js"),
];

/// The number of steps in the table of an order: the last ones.
const TABLE_STEPS: usize = 12;

/// The maximum number of operations in the list of those that could not be placed.
const REFUSED_MAX: usize = 8;

/// The maximum number of characters of a value in a table.
const CELL_CHARS_MAX: usize = 160;

/// Writes the page; `None` if it takes more bytes than `bytes_max`.
pub(super) fn write(timeline: &Timeline, shown: &Shown<'_>, bytes_max: usize) -> Option<String> {
    let data = shown.json(bytes_max)?;
    let mut page = String::with_capacity(PAGE.len() + CSS.len() + data.len() + (64 << 10));
    let mut rest = PAGE;
    // Only the template is searched for placeholders, not the inserted text, which may contain anything.
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, after) = after.split_once("}}")?;
        rest = after;
        match name {
            "title" => escape(&mut page, &shorten_chars(&timeline.title, 300)),
            "summary" => escape(&mut page, &shorten_chars(&timeline.summary, CHARS_MAX)),
            "css" => page.push_str(CSS),
            "script" => page.extend(SCRIPT),
            "data" => page.push_str(&data),
            "notes" => page.push_str(&notes(timeline, shown).0),
            "orders" => page.push_str(&facts(timeline, shown).0),
            _ => return None,
        }
    }
    page.push_str(rest);
    (page.len() <= bytes_max).then_some(page)
}

fn notes(timeline: &Timeline, shown: &Shown<'_>) -> Markup {
    let mut notes: Vec<String> = timeline.note.iter().map(|note| shorten_chars(note, CHARS_MAX)).collect();
    let hidden = timeline.orders.len() - shown.orders.len();
    if hidden > 0 {
        notes.push(format!("{hidden} more orders were omitted, because the page would be too large."));
    }
    if shown.chars_max < CHARS_MAX {
        notes.push(format!(
            "Texts are shortened to {} characters, because the page would be too large.",
            shown.chars_max
        ));
    }
    match shown.late() {
        0 => {}
        late => notes
            .push(format!("{late} steps contradict the times: they are drawn as close to their times as possible.")),
    }
    html! { @for note in notes { p.note { (note) } } }
}

/// The essential content without script: the operations that could not be placed, and the end of each order.
fn facts(timeline: &Timeline, shown: &Shown<'_>) -> Markup {
    let refused: Vec<&Bar> = timeline.bars.iter().filter(|bar| bar.status == BarStatus::Refused).collect();
    html! {
        @if !refused.is_empty() {
            h2 { "Operations that cannot be placed" }
            ul.refused {
                @for bar in refused.iter().take(REFUSED_MAX) { li { (operation(timeline, bar)) } }
                @if refused.len() > REFUSED_MAX { li { "and " (refused.len() - REFUSED_MAX) " more" } }
            }
        }
        @for (at, order) in shown.orders.iter().enumerate() {
            (last_steps(timeline, order, at, shown.orders.len(), refused.first().copied()))
        }
    }
}

/// A line on an operation: label, row, index, times, and details.
fn operation(timeline: &Timeline, bar: &Bar) -> Markup {
    html! {
        b { (cell(&bar.label)) } ", " (cell(&timeline.rows[bar.row.to_usize()])) ", index " (bar.index)
        @if let Some(completed) = bar.completed { " to " (completed) }
        @match (timeline.scale, bar.end) {
            (_, None) => ", never completed",
            (Scale::Positions, _) => {},
            (Scale::Nanoseconds, Some(end)) => { ", " (time(bar.start.into())) " to " (time(end.into())) },
        }
        @if !bar.detail.is_empty() { "; " (cell(&bar.detail)) }
    }
}

/// The last steps of an order as a table. If there are several orders, all but the first are collapsed.
fn last_steps(timeline: &Timeline, order: &Order, at: usize, count: usize, refused: Option<&Bar>) -> Markup {
    let first = order.steps.len().saturating_sub(TABLE_STEPS);
    let steps = &order.steps[first..];
    let before = if first > 0 { &order.steps[first - 1].state } else { &order.before };
    let number = order.skipped + first.to_u64();
    let title = match (count, number) {
        (1, 0) => "The order".to_owned(),
        (1, _) => format!("The last {} steps of the order", steps.len()),
        _ => format!("Order {} of {count}: its last {} steps", at + 1, steps.len()),
    };
    let from = if number == 0 { "at first".to_owned() } else { format!("after {number}") };
    html! {
        details open[at == 0] {
            summary { (title) }
            div.wide tabindex="0" role="region" aria-label=(title) {
                table aria-label=(title) {
                    thead {
                        tr { @for name in ["step", "operation", "by", "index", "state after it"] { th scope="col" { (name) } } }
                    }
                    tbody {
                        (row(&from, ["", "", "", before], None))
                        @for (nth, step) in steps.iter().enumerate() {
                            @let head = (number + nth.to_u64() + 1).to_string();
                            (bar_row(timeline, &timeline.bars[step.bar.to_usize()], &head, &step.state, None))
                        }
                        @if let Some(bar) = refused.filter(|_| !order.refusal.is_empty()) {
                            (bar_row(timeline, bar, "\u{2715}", &order.refusal, Some("refused")))
                        }
                    }
                }
            }
        }
    }
}

fn bar_row(timeline: &Timeline, bar: &Bar, head: &str, state: &str, class: Option<&str>) -> Markup {
    row(head, [&bar.label, &timeline.rows[bar.row.to_usize()], &bar.index.to_string(), state], class)
}

fn row(head: &str, cells: [&str; 4], class: Option<&str>) -> Markup {
    html! { tr class=[class] { th scope="row" { (head) } @for text in cells { td { (cell(text)) } } } }
}

fn cell(text: &str) -> String {
    shorten_chars(text, CELL_CHARS_MAX)
}
