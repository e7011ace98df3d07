//! All reads of one key in a table, as a page that highlights the differences.
//!
//! Each distinct list is a row. The longest list is first, and a list with a longer common prefix with another list is
//! nearer to it, as in the branches of a trie. Lists that are a prefix of another list follow at the end.

mod rows;

use crate::graph::PlotOptions;
use crate::text;
use history_core::Datum;
use history_core::figure::KeyRead;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use rows::{Column, Row, Rows};

/// The maximum number of rows of a page.
const ROWS_MAX: usize = 100;
/// The maximum number of readers named for one row.
const READERS_MAX: usize = 3;
/// The maximum number of text columns for an element, and for the key.
const ELEMENT_COLUMNS_MAX: usize = 24;
const KEY_COLUMNS_MAX: usize = 60;
/// The maximum length of the note on omitted parts, with the end of the page.
const TAIL_BYTES: usize = 400;

const CSS: &str = "\
:root{color-scheme:light dark;--ink:#1f2328;--calm:#6a737d;--line:#d1d9e0;--fork:#c04d00;--fork-ink:#fff;\
--off:#fdebdc;--page:#fff}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--calm:#9198a1;--line:#3d444d;--fork:#ff9a4d;--fork-ink:#0d1117;\
--off:#3b2714;--page:#0d1117}}\
body{margin:1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}\
p{max-width:44rem}\
.wide{overflow-x:auto}\
table{border-collapse:collapse;font:.875rem/1.4 ui-monospace,Menlo,Consolas,monospace}\
th,td{padding:.2rem .5rem;border:1px solid var(--line);text-align:center;white-space:nowrap}\
th[scope=row]{font:.8125rem/1.4 system-ui,sans-serif;text-align:left;white-space:normal;min-width:11rem;\
position:sticky;left:0;background:var(--page)}\
thead th,th[scope=rowgroup],td.gap{text-align:left;color:var(--calm);font-weight:normal}\
td{white-space:pre}td.same{color:var(--calm)}td.off{background:var(--off)}\
.fork{background:var(--fork);color:var(--fork-ink);font-weight:bold}\
span{padding:.1rem .4rem}\
@media(max-width:40rem){body{margin:.5rem}th[scope=row]{min-width:6rem;position:static}th,td{padding:.1rem .3rem}}";

/// A page on the reads of one key that do not agree on one order of its elements, as
/// `incompatible-order/KEY.html`.
///
/// Omit reads that end in `nil` or have no result. The page takes at most [`PlotOptions::max_plot_bytes`], plus its
/// frame of about four thousand bytes, and has at most a hundred distinct lists and sixty columns; a sentence states
/// what was omitted. Lists that are a prefix of another are omitted first, as they contradict nothing that the other
/// does not. The title of the options, if there is one, is at the top.
///
/// Takes time in proportion to the number of elements, and their logarithm.
///
/// ```
/// use histcheck_draw::{graph::PlotOptions, reads};
/// use history_core::figure::KeyRead;
/// use history_core::OpKind;
///
/// let read = |index, list: &[i64]| KeyRead {
///     index,
///     process: Some(1.into()),
///     kind: OpKind::Ok,
///     list: list.iter().map(|element| (*element).into()).collect(),
/// };
/// let page = reads::html(&7.into(), &[read(3, &[1, 2]), read(5, &[2])], &PlotOptions::default());
/// assert!(page.contains("<h1>Reads of key 7</h1>"));
/// ```
pub fn html(key: &Datum, reads: &[KeyRead], options: &PlotOptions) -> String {
    let mut rows = Rows::new(reads);
    let distinct = rows.all.len();
    rows.limit(ROWS_MAX);
    let columns = rows.columns();
    let head = head(key);
    let introduction = introduction(key, options, &rows, (reads.len(), distinct));
    let positions = positions(&columns);
    let frame = head.0.len() + introduction.0.len() + positions.0.len() + TAIL_BYTES;
    let mut body = String::new();
    let mut shown = 0;
    for (at, row) in rows.all.iter().enumerate() {
        let row = html! {
            @if at == rows.branches {
                tr { th colspan=(columns.len() + 1) scope="rowgroup" { "prefixes of the lists above" } }
            }
            (write_row(reads, &rows, (at, row), &columns))
        };
        // The first row is the order with which the others are compared, so it is always written.
        if at > 0 && frame + body.len() + row.0.len() > options.max_plot_bytes {
            break;
        }
        body.push_str(&row.0);
        shown += 1;
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head)
            body {
                main {
                    (introduction)
                    div.wide tabindex="0" role="region" aria-label="Reads" {
                        table { (positions) tbody { (PreEscaped(body)) } }
                    }
                    @if shown < distinct { p { (distinct - shown) " of " (distinct) " distinct lists were omitted." } }
                }
            }
        }
    };
    page.into_string()
}

fn title(key: &Datum) -> String {
    format!("Reads of key {}", text::datum(key, KEY_COLUMNS_MAX))
}

fn head(key: &Datum) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            title { (title(key)) }
            style { (PreEscaped(CSS)) }
        }
    }
}

/// The part above the table.
fn introduction(key: &Datum, options: &PlotOptions, rows: &Rows<'_>, (reads, distinct): (usize, usize)) -> Markup {
    html! {
        h1 { (title(key)) }
        @if !options.title.is_empty() { p { (text::shorten(&options.title, 2 * KEY_COLUMNS_MAX)) } }
        p { (reads) " reads saw " (distinct) " distinct lists; each is a row below." }
        @if rows.forks.is_empty() {
            p { "Of any two, one is a prefix of the other: they agree." }
        } @else {
            p {
                "A list only grows at its end, so of any two reads one must be a prefix of the other. These reads "
                "violate that: where a row " span.fork { "differs" } " from the first one, or from the one above it, "
                "both elements are highlighted. Later elements that differ from those of the first row are tinted."
            }
        }
    }
}

/// The header row with positions.
fn positions(columns: &[Column]) -> Markup {
    html! {
        thead {
            tr {
                th scope="col" { "read by" }
                @for column in columns {
                    th scope="col" {
                        @match column {
                            Column::At(at) => (at),
                            Column::Gap { from, to } if to - from == 1 => (from),
                            Column::Gap { from, to } => { (from) " to " (to - 1) },
                            Column::Rest(from) => { "from " (from) },
                        }
                    }
                }
            }
        }
    }
}

fn write_row(reads: &[KeyRead], rows: &Rows<'_>, (at, row): (usize, &Row), columns: &[Column]) -> Markup {
    let length = row.elements.len();
    html! {
        tr {
            th scope="row" {
                @for (nth, read) in row.reads.iter().take(READERS_MAX).map(|read| &reads[*read]).enumerate() {
                    @if nth > 0 { br; }
                    (read.kind.name()) ", index " (read.index)
                    (read.process.as_ref().map(text::process).unwrap_or_default())
                }
                @if row.reads.len() > READERS_MAX { br; "and " (row.reads.len() - READERS_MAX) " more" }
            }
            @for column in columns {
                @match column {
                    Column::At(place) => (cell(rows, (at, row), *place)),
                    Column::Gap { from, to } => (gap(length.min(*to).saturating_sub(*from), "elements")),
                    Column::Rest(from) => (gap(length.saturating_sub(*from), "more")),
                }
            }
        }
    }
}

/// The element of a row at a position, if it has one.
fn cell(rows: &Rows<'_>, (at, row): (usize, &Row), place: usize) -> Markup {
    let Some(element) = row.elements.get(place) else { return html! { td {} } };
    let class = if rows.forks.contains(&(at, place)) {
        Some("fork")
    } else if place < rows.all[0].shared_with(row) {
        Some("same")
    } else if rows.all[0].elements.get(place) == Some(element) {
        None
    } else {
        Some("off")
    };
    html! { td class=[class] { (text::datum(rows.element(*element), ELEMENT_COLUMNS_MAX)) } }
}

/// A cell that represents omitted elements.
fn gap(hidden: usize, what: &str) -> Markup {
    html! { @if hidden == 0 { td {} } @else { td.gap { (hidden) " " (what) } } }
}

#[cfg(test)]
mod tests;
