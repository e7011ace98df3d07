//! Draws a part of a log: a column for each offset, and a row for each op with the messages that it sent and polled.
//!
//! If ops have several messages at one offset, or one message at several offsets, the cells are coloured: this is the
//! error.

use crate::text;
use history_core::OpKind;
use history_core::cast::Cast as _;
use history_core::figure::{LOG_ROWS_MAX, LogCell, LogPart, LogRow, OFFSETS_MAX};
use maud::{Markup, PreEscaped, html};

/// The maximum numbers of characters of a message, of an op's name, and of the title.
const MESSAGE_CHARS_MAX: usize = 12;
const NAME_CHARS_MAX: usize = 46;
const TITLE_CHARS_MAX: usize = 90;
/// Widths and heights.
const LETTER: i64 = 8;
const NAME_LETTER: i64 = 7;
const ROW: i64 = 26;
const TOP: i64 = 62;
const EDGE: i64 = 10;
const COLUMN_LEAST: i64 = 44;
/// The minimum width, which fits the legend.
const WIDTH_LEAST: i64 = 660;
/// The explanation of the cells.
const LEGEND: &str =
    "w: sent, r: polled; dashed: failed, dotted: outcome unknown; coloured: two messages at one offset, or one at two";

const CSS: &str = "\
.hcl{background:#fff;max-width:100%;min-width:640px;height:auto}\
.hcl text{font-family:ui-sans-serif,system-ui,sans-serif;font-size:12.5px;fill:#1f2328;stroke:none}\
.hcl .h{font-size:15px;font-weight:bold}.hcl .x{fill:#59636e;font-size:11.5px}\
.hcl .m{font-family:ui-monospace,Menlo,Consolas,monospace;text-anchor:middle}.hcl .x{text-anchor:middle}\
.hcl .e{text-anchor:start}\
.hcl .g{stroke:#d1d9e0;stroke-width:1}\
.hcl rect{fill:#f6f8fa;stroke:#59636e;stroke-width:1.25}\
.hcl .fail rect{stroke:#a8467f;stroke-dasharray:7 3}.hcl .info rect{stroke:#c04d00;stroke-dasharray:2 3}\
.hcl .two rect{fill:#fdebdc}.hcl .two text{font-weight:bold}\
@media(prefers-color-scheme:dark){\
.hcl{background:#0d1117}.hcl text{fill:#e6edf3}.hcl .x{fill:#9198a1}.hcl .g{stroke:#30363d}\
.hcl rect{fill:#161b22;stroke:#9198a1}.hcl .fail rect{stroke:#e08fbf}.hcl .info rect{stroke:#ff9a4d}\
.hcl .two rect{fill:#3b2714}}";

/// Draws the part of a log.
pub(crate) fn svg(part: &LogPart) -> String {
    let offsets = &part.offsets[..part.offsets.len().min(OFFSETS_MAX)];
    let rows = &part.rows[..part.rows.len().min(LOG_ROWS_MAX)];
    let column = column_width(offsets, rows);
    let count = |length: usize| i64::try_from(length).unwrap_or_default();
    let chars = |text: &str| count(text.chars().count());
    let names: Vec<String> = rows.iter().map(|row| text::clipped(&row.name, NAME_CHARS_MAX)).collect();
    let title = text::clipped(&part.title, TITLE_CHARS_MAX);
    let left = EDGE + names.iter().map(|name| chars(name)).max().unwrap_or_default() * NAME_LETTER + 14;
    let width = (left + count(offsets.len()) * column).max(chars(&title) * LETTER + EDGE).max(WIDTH_LEAST) + EDGE;
    let bottom = TOP + count(rows.len()) * ROW;
    let height = bottom + 30;
    let all: Vec<&LogCell> = rows.iter().flat_map(|row| &row.cells).collect();
    let x = |offset: i64| offsets.binary_search(&offset).ok().map(|at| left + count(at) * column);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="hcl" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img" {
            title { (title) }
            style { (PreEscaped(CSS)) }
            text class="h" x=(EDGE) y="22" { (title) }
            text class="x e" x=(EDGE) y=(TOP - 10) { "offset" }
            @for (at, offset) in (0..).zip(offsets) {
                @let left = left + at * column;
                // The offsets between these may not contain messages.
                @if at > 0 && offsets[at.to_usize() - 1].checked_add(1).is_some_and(|next| next < *offset) {
                    text class="x" x=(left) y=(TOP - 10) { "…" }
                }
                text class="x" x=(left + column / 2) y=(TOP - 10) { (offset) }
            }
            @for (at, (row, name)) in (0..).zip(rows.iter().zip(&names)) {
                @let y = TOP + at * ROW;
                line class="g" x1=(EDGE) x2=(width - EDGE) y1=(y - 2) y2=(y - 2) {}
                text x=(EDGE) y=(y + 16) { (name) }
                (cells(row, y, column, &x, &all))
            }
            text class="x e" x=(EDGE) y=(bottom + 20) { (LEGEND) }
        }
    }
    .into_string()
}

fn cells(row: &LogRow, y: i64, column: i64, x: &dyn Fn(i64) -> Option<i64>, all: &[&LogCell]) -> Markup {
    let class = match row.kind {
        OpKind::Ok => "",
        OpKind::Fail => "fail",
        OpKind::Info | OpKind::Invoke => "info",
    };
    html! {
        @for cell in &row.cells {
            @if let Some(x) = x(cell.offset) {
                g class={ (class) @if is_disputed(cell, all) { " two" } } {
                    rect x=(x + 2) y=(y + 1) width=(column - 4) height=(ROW - 6) rx="3" {}
                    text class="m" x=(x + column / 2) y=(y + 16) { (shown(cell.is_sent, &cell.message)) }
                }
            }
        }
    }
}

fn shown(is_sent: bool, message: &str) -> String {
    let letter = if is_sent { "w" } else { "r" };
    format!("{letter} {}", text::clipped(message, MESSAGE_CHARS_MAX))
}

/// The width of a column that fits each message and each offset.
fn column_width(offsets: &[i64], rows: &[LogRow]) -> i64 {
    let cells = rows.iter().flat_map(|row| &row.cells).map(|cell| shown(cell.is_sent, &cell.message).chars().count());
    let widest = cells.chain(offsets.iter().map(|offset| offset.to_string().len())).max().unwrap_or_default();
    (i64::try_from(widest).unwrap_or_default() * LETTER + 12).max(COLUMN_LEAST)
}

/// Returns true if this offset also has another message, or another offset also has this message.
fn is_disputed(cell: &LogCell, all: &[&LogCell]) -> bool {
    all.iter().any(|other| (other.offset == cell.offset) != (other.message == cell.message))
}
