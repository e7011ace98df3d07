//! All reads of one key side by side, as a page: what they share is calm, and where they part stands out.
//!
//! Each distinct list is a row. The longest comes first; a list that shares a longer beginning with another stands
//! nearer to it, as the branches of a trie do. Lists that are the beginning of another follow at the end.

mod rows;

use crate::graph::PlotOptions;
use crate::text;
use history_core::Datum;
use history_core::figure::KeyRead;
use rows::{Column, Row, Rows};
use std::fmt::Write;

/// Rows of a page, at most.
const ROWS_MAX: usize = 100;
/// Readers named for one row.
const READERS_MAX: usize = 3;
/// Columns of text for one element, and for the key.
const ELEMENT_COLUMNS_MAX: usize = 24;
const KEY_COLUMNS_MAX: usize = 60;
/// What the sentence on what was omitted, and the end of the page, may take.
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
/// Reads that end in `nil` or say nothing should be left out. The page takes no more than
/// [`PlotOptions::max_plot_bytes`], but for its frame of about four thousand bytes, and no more than a hundred distinct
/// lists and sixty columns; a sentence says what was omitted. Lists that are the beginning of another go first, as
/// they disagree with nothing that the other does not. The title of the options, if there is one, stands above.
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
    let mut page = String::new();
    head(&mut page, key, options, &rows, (reads.len(), distinct));
    page.push_str("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Reads\"><table>\n");
    positions(&mut page, &columns);
    page.push_str("<tbody>\n");
    let mut shown = 0;
    for (at, row) in rows.all.iter().enumerate() {
        let mut text = String::new();
        if at == rows.branches {
            let span = columns.len() + 1;
            let _ =
                writeln!(text, "<tr><th colspan=\"{span}\" scope=\"rowgroup\">prefixes of the lists above</th></tr>");
        }
        write_row(&mut text, reads, &rows, (at, row), &columns);
        // The first row is the order that others are held against.
        if at > 0 && page.len() + text.len() + TAIL_BYTES > options.max_plot_bytes {
            break;
        }
        page.push_str(&text);
        shown += 1;
    }
    page.push_str("</tbody>\n</table></div>\n");
    if shown < distinct {
        let _ = writeln!(page, "<p>{} of {distinct} distinct lists were omitted.</p>", distinct - shown);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// The page as far as the table.
fn head(page: &mut String, key: &Datum, options: &PlotOptions, rows: &Rows<'_>, (reads, distinct): (usize, usize)) {
    let mut title = String::new();
    text::escape(&mut title, &format!("Reads of key {}", text::datum(key, KEY_COLUMNS_MAX)));
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    if !options.title.is_empty() {
        page.push_str("<p>");
        text::escape(page, &text::shorten(&options.title, 2 * KEY_COLUMNS_MAX));
        page.push_str("</p>\n");
    }
    let _ = writeln!(page, "<p>{reads} reads saw {distinct} distinct lists; each is a row below.</p>");
    page.push_str(if rows.forks.is_empty() {
        "<p>Of any two, one is a prefix of the other: they agree.</p>\n"
    } else {
        "<p>A list only grows at its end, so of any two reads one must be a prefix of the other. These reads violate \
         that: where a row <span class=\"fork\">differs</span> from the first one, or from the one above it, both \
         elements are highlighted. Later elements that differ from those of the first row are tinted.</p>\n"
    });
}

/// The row of positions.
fn positions(page: &mut String, columns: &[Column]) {
    page.push_str("<thead><tr><th scope=\"col\">read by</th>");
    for column in columns {
        let _ = match column {
            Column::At(at) => write!(page, "<th scope=\"col\">{at}</th>"),
            Column::Gap { from, to } if to - from == 1 => write!(page, "<th scope=\"col\">{from}</th>"),
            Column::Gap { from, to } => write!(page, "<th scope=\"col\">{from} to {}</th>", to - 1),
            Column::Rest(from) => write!(page, "<th scope=\"col\">from {from}</th>"),
        };
    }
    page.push_str("</tr></thead>\n");
}

fn write_row(page: &mut String, reads: &[KeyRead], rows: &Rows<'_>, (at, row): (usize, &Row), columns: &[Column]) {
    page.push_str("<tr><th scope=\"row\">");
    for (nth, read) in row.reads.iter().take(READERS_MAX).map(|read| &reads[*read]).enumerate() {
        let comma = if nth > 0 { "<br>" } else { "" };
        let _ = write!(page, "{comma}{}, index {}", read.kind.name(), read.index);
        text::escape(page, &read.process.as_ref().map(text::process).unwrap_or_default());
    }
    if row.reads.len() > READERS_MAX {
        let _ = write!(page, "<br>and {} more", row.reads.len() - READERS_MAX);
    }
    page.push_str("</th>");
    let length = row.elements.len();
    for column in columns {
        match column {
            Column::At(place) => match row.elements.get(*place) {
                Some(element) => {
                    let class = if rows.forks.contains(&(at, *place)) {
                        " class=\"fork\""
                    } else if *place < rows.all[0].shared_with(row) {
                        " class=\"same\""
                    } else if rows.all[0].elements.get(*place) == Some(element) {
                        ""
                    } else {
                        " class=\"off\""
                    };
                    let _ = write!(page, "<td{class}>");
                    text::escape(page, &text::datum(rows.element(*element), ELEMENT_COLUMNS_MAX));
                    page.push_str("</td>");
                }
                None => page.push_str("<td></td>"),
            },
            Column::Gap { from, to } => {
                gap(page, length.min(*to).saturating_sub(*from), "elements");
            }
            Column::Rest(from) => gap(page, length.saturating_sub(*from), "more"),
        }
    }
    page.push_str("</tr>\n");
}

/// A cell for elements that are not shown.
fn gap(page: &mut String, hidden: usize, what: &str) {
    let _ =
        if hidden == 0 { write!(page, "<td></td>") } else { write!(page, "<td class=\"gap\">{hidden} {what}</td>") };
}

#[cfg(test)]
mod tests;
