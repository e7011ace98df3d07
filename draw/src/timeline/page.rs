//! The page: a template, and what readers without script need of it as plain HTML.

use super::data::{Shown, time};
use super::{Bar, BarStatus, CHARS_MAX, Order, Scale, Timeline};
use crate::text::{escape, shorten_chars};
use history_core::cast::Cast as _;
use std::fmt::Write;

const PAGE: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const SCRIPT: [&str; 5] = [
    include_str!("model.js"),
    include_str!("axis.js"),
    include_str!("draw.js"),
    include_str!("steps.js"),
    include_str!("page.js"),
];

/// Steps of an order in its table: the last ones.
const TABLE_STEPS: usize = 12;

/// Operations that could not be placed, in the list of them.
const REFUSED_MAX: usize = 8;

/// Characters of a value in a table, at most.
const CELL_CHARS_MAX: usize = 160;

/// Writes the page, or nothing if it takes more bytes.
pub(super) fn write(timeline: &Timeline, shown: &Shown<'_>, bytes_max: usize) -> Option<String> {
    let data = shown.json(bytes_max)?;
    let mut page = String::with_capacity(PAGE.len() + CSS.len() + data.len() + (64 << 10));
    let mut rest = PAGE;
    // Only the template is searched for places, never what was put in: texts may hold anything.
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
            "notes" => push_notes(&mut page, timeline, shown),
            "orders" => push_facts(&mut page, timeline, shown),
            _ => return None,
        }
    }
    page.push_str(rest);
    (page.len() <= bytes_max).then_some(page)
}

fn push_notes(page: &mut String, timeline: &Timeline, shown: &Shown<'_>) {
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
    for note in notes {
        page.push_str("<p class=\"note\">");
        escape(page, &note);
        page.push_str("</p>\n");
    }
}

/// What is essential, without script: the operations that could not be placed, and how each order ends.
fn push_facts(page: &mut String, timeline: &Timeline, shown: &Shown<'_>) {
    let refused: Vec<&Bar> = timeline.bars.iter().filter(|bar| bar.status == BarStatus::Refused).collect();
    if !refused.is_empty() {
        page.push_str("<h2>Operations that cannot be placed</h2>\n<ul class=\"refused\">\n");
        for bar in refused.iter().take(REFUSED_MAX) {
            page.push_str("<li>");
            push_op(page, timeline, bar);
            page.push_str("</li>\n");
        }
        if refused.len() > REFUSED_MAX {
            let _ = writeln!(page, "<li>and {} more</li>", refused.len() - REFUSED_MAX);
        }
        page.push_str("</ul>\n");
    }
    for (at, order) in shown.orders.iter().enumerate() {
        push_order(page, timeline, order, at, shown.orders.len(), refused.first().copied());
    }
}

/// An operation in a line: label, row, index, times, and what else there is.
fn push_op(page: &mut String, timeline: &Timeline, bar: &Bar) {
    page.push_str("<b>");
    escape(page, &shorten_chars(&bar.label, CELL_CHARS_MAX));
    page.push_str("</b> by ");
    escape(page, &shorten_chars(&timeline.rows[bar.row.to_usize()], CELL_CHARS_MAX));
    let _ = write!(page, ", index {}", bar.index);
    if let Some(completed) = bar.completed {
        let _ = write!(page, " to {completed}");
    }
    let _ = match (timeline.scale, bar.end) {
        (_, None) => write!(page, ", never completed"),
        (Scale::Positions, _) => Ok(()),
        (Scale::Nanoseconds, Some(end)) => write!(page, ", {} to {}", time(bar.start.into()), time(end.into())),
    };
    if !bar.detail.is_empty() {
        page.push_str("; ");
        escape(page, &shorten_chars(&bar.detail, CELL_CHARS_MAX));
    }
}

/// The last steps of an order as a table. Of several orders all but the first are folded.
fn push_order(page: &mut String, timeline: &Timeline, order: &Order, at: usize, count: usize, refused: Option<&Bar>) {
    let first = order.steps.len().saturating_sub(TABLE_STEPS);
    let steps = &order.steps[first..];
    let before = if first > 0 { &order.steps[first - 1].state } else { &order.before };
    let number = order.skipped + first.to_u64();
    let title = match (count, number) {
        (1, 0) => "The order".to_owned(),
        (1, _) => format!("The last {} steps of the order", steps.len()),
        _ => format!("Order {} of {count}: its last {} steps", at + 1, steps.len()),
    };
    let open = if at == 0 { " open" } else { "" };
    let _ = write!(
        page,
        "<details{open}>\n<summary>{title}</summary>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table aria-label=\"{title}\">\n"
    );
    page.push_str(
        "<thead><tr><th scope=\"col\">step</th><th scope=\"col\">operation</th><th scope=\"col\">by</th>\
         <th scope=\"col\">index</th><th scope=\"col\">state after it</th></tr></thead>\n<tbody>\n",
    );
    let mut row = |head: &str, cells: [&str; 4], class: &str| {
        let _ = write!(page, "<tr{class}><th scope=\"row\">{head}</th>");
        for cell in cells {
            page.push_str("<td>");
            escape(page, &shorten_chars(cell, CELL_CHARS_MAX));
            page.push_str("</td>");
        }
        page.push_str("</tr>\n");
    };
    let from = if number == 0 { "at first".to_owned() } else { format!("after {number}") };
    row(&from, ["", "", "", before], "");
    for (nth, step) in steps.iter().enumerate() {
        let bar = &timeline.bars[step.bar.to_usize()];
        let head = (number + nth.to_u64() + 1).to_string();
        row(&head, [&bar.label, &timeline.rows[bar.row.to_usize()], &bar.index.to_string(), &step.state], "");
    }
    if let Some(bar) = refused.filter(|_| !order.refusal.is_empty()) {
        let cells = [&*bar.label, &timeline.rows[bar.row.to_usize()], &bar.index.to_string(), &order.refusal];
        row("\u{2715}", cells, " class=\"refused\"");
    }
    page.push_str("</tbody>\n</table></div>\n</details>\n");
}
