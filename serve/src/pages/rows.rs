//! The rows of a history: some of them, a search, or an op with its surroundings.
//!
//! The page works without a script, with links to the previous and next rows. The script replaces the table by a list
//! that can be scrolled from the first row to the last.

use super::ROWS_SCRIPT_ADDRESS;
use super::layout::{page, problem};
use super::list::{length, name};
use crate::http::query::{Query, encoded};
use crate::rows::filter::Filter;
use crate::rows::library::Found;
use crate::rows::window::{ROWS_MAX, Row, Shelf, Window};
use crate::rows::{Index, Place};
use crate::runs::Run;
use crate::state::State;
use histcheck_draw::text;
use history_core::OpKind;
use history_core::cast::Cast;
use hyper::StatusCode;
use maud::{Markup, html};
use std::io;

/// The number of rows on a page without a script.
const PAGE_ROWS: usize = 100;
/// The number of rows above the requested op.
const ROWS_ABOVE: u64 = 10;
/// The time in milliseconds until the page of a history that is being read is updated.
const LOOK_AGAIN_MS: u32 = 300;

/// The page of the rows of a run; `None` if there is no such run, or it has no history.
pub(crate) fn rows(state: &State, id: &str, query: &Query) -> Option<(StatusCode, Markup)> {
    let snapshot = state.watcher.snapshot();
    let run = snapshot.run(id)?;
    let history = run.history_path()?;
    let asked = Filter::of(query).and_then(|filter| Ok((filter, Place::of(query)?)));
    let (filter, place) = match asked {
        Ok(asked) => asked,
        Err(why) => return Some((StatusCode::BAD_REQUEST, problem(StatusCode::BAD_REQUEST, &why))),
    };
    let main = match state.library.find(&history).ok()? {
        Found::Building(read, bytes) => waiting(read, bytes),
        Found::Failed(why) => html! { p.notice role="alert" { bdi { (text::shown(&why, 2000)) } } },
        Found::Ready(index, text) => {
            let shown = View { run, filter, place, index: &index }.shown(&mut Found::shelf(&index, text));
            shown.unwrap_or_else(|error| html! { p.notice role="alert" { "The history cannot be read: " (error) "." } })
        }
    };
    let title = text::shown(&name(&run.id), 200);
    let main = html! {
        h1 { "Rows of " a href={ "/runs/" (encoded(&run.id)) } { bdi { (text::shown(&name(&run.id), 300)) } } }
        (main)
        script src=(ROWS_SCRIPT_ADDRESS) defer {}
    };
    Some((StatusCode::OK, page(&format!("Rows of {title}"), &main)))
}

fn waiting(read: u64, bytes: u64) -> Markup {
    html! {
        div id="live" data-look-again=(LOOK_AGAIN_MS) {
            p role="status" { "The history is being read for the first time: " (text::percent(read.min(bytes), bytes)) "." }
            progress max=(bytes.max(1)) value=(read.min(bytes)) aria-label="Bytes read" {}
        }
    }
}

/// The view of a history that an address requests.
struct View<'a> {
    run: &'a Run,
    filter: Filter,
    place: Place,
    index: &'a Index,
}

impl View<'_> {
    fn shown(&self, shelf: &mut Shelf<'_>) -> io::Result<Markup> {
        let (mut chosen, mut from, mut note) = (None, self.place.from, None);
        if let Some(index) = self.place.at {
            let row = shelf.row_of(index)?;
            let found = shelf.forward(row, 1, &Filter::default())?;
            chosen = found.rows.into_iter().next().filter(|found| found.at == row);
            note = other(index, chosen.as_ref());
            from = row.saturating_sub(ROWS_ABOVE);
        } else if let Some(time_ns) = self.place.time_ns {
            from = shelf.row_at(time_ns)?;
        }
        let window = match self.place.before {
            Some(before) => shelf.backward(before, PAGE_ROWS, &self.filter)?,
            None => shelf.forward(from, PAGE_ROWS, &self.filter)?,
        };
        let head = &self.index.head;
        Ok(html! {
            (self.forms())
            p.counts role="status" {
                (text::count(head.ops, "op", "ops"))
                @if let Some(time) = head.length_ns.and_then(|time| u64::try_from(time).ok()) { " in " (length(Some(time))) }
                ". "
                @if head.is_copy { "They are read from a copy with one op per line, because the history cannot be read from the middle." }
            }
            @if let Some(why) = &head.problem { p.notice { "Rows end here, because the history cannot be read further: " bdi { (text::shown(why, 1000)) } } }
            @if let Some(note) = &note { p.notice role="status" { (note) } }
            @if let Some(row) = &chosen { (self.chosen(shelf, row)?) }
            (self.table(&window, chosen.as_ref().map(|row| row.at)))
        })
    }

    fn path(&self) -> String {
        format!("/rows/{}", encoded(&self.run.id))
    }

    fn address(&self, more: &[(&str, &str)]) -> String {
        self.filter.address(&self.path(), more)
    }

    /// The address of the op with an index, among all other ops.
    fn around(&self, index: u64) -> String {
        Filter::default().address(&self.path(), &[("at", &index.to_string())])
    }

    fn forms(&self) -> Markup {
        let head = &self.index.head;
        let list = |id: &str, names: &[String]| html! { datalist id=(id) { @for name in names { option value=(text::shown(name, 100)) {} } } };
        let field = |label: &str, name: &str, value: &str, list: Option<&str>| {
            html! { label { (label) input type="search" name=(name) value=(text::shown(value, 1000)) list=[list] autocomplete="off"; } }
        };
        html! {
            form.filter method="get" action=(self.path()) role="search" aria-label="Search rows" {
                (field("Process", "process", &self.filter.process, Some("processes")))
                (field("Key", "key", &self.filter.key, None))
                (field("Function", "f", &self.filter.function, Some("functions")))
                label { "Type"
                    select name="type" {
                        option value="" { "any" }
                        @for kind in [OpKind::Invoke, OpKind::Ok, OpKind::Fail, OpKind::Info] {
                            option value=(kind.name()) selected[self.filter.kind == Some(kind)] { (kind.name()) }
                        }
                    }
                }
                (field("Text", "text", &self.filter.text, None))
                button type="submit" { "Search" }
                @if !self.filter.is_empty() { a href=(self.path()) { "Show all" } }
                (list("processes", &head.processes))
                (list("functions", &head.functions))
            }
            form.filter.jump method="get" action=(self.path()) aria-label="Go to a row" {
                label { "Index" input type="number" name="at" min="0" step="1"; }
                label { "or time in s" input type="text" name="time" inputmode="decimal" pattern="[0-9]*[.]?[0-9]*" size="10"; }
                button type="submit" { "Go" }
            }
        }
    }

    /// The full text of an op, and a link to the other op of its operation.
    fn chosen(&self, shelf: &mut Shelf<'_>, row: &Row) -> io::Result<Markup> {
        let written = shelf.written(row.at)?;
        let other = shelf.other_half(row)?;
        let took = other.as_ref().and_then(|other| Some((other.time_ns?.checked_sub(row.time_ns?)?).abs()));
        Ok(html! {
            section.chosen aria-label={ "Op " (row.index) } {
                h2 { "Op " (row.index) @if let Some(line) = row.line { span.note { ", line " (line) } } }
                pre tabindex="0" { bdi { (written) } }
                p {
                    @match &other {
                        Some(other) => {
                            @if row.kind == OpKind::Invoke { "Completed: " } @else { "Invoked: " }
                            a href=(self.around(other.index)) { "op " (other.index) } ", " (other.kind.name())
                            @if let Some(took) = took { ", " (text::duration(took)) @if row.kind == OpKind::Invoke { " later" } @else { " before" } }
                            "."
                        },
                        None => { "The rows nearby have no other op of this operation." },
                    }
                    @if !row.process.is_empty() { " " a href=(of_process(&self.path(), &row.process)) { "All ops of process " bdi { (text::shown(&row.process, 80)) } } }
                }
            }
        })
    }

    fn table(&self, window: &Window, chosen: Option<u64>) -> Markup {
        let ops = self.index.head.ops;
        let can_scroll = self.filter.is_empty() && ops > 0;
        let pair = |name: &'static str, row: u64| self.address(&[(name, &row.to_string())]);
        html! {
            div id="rows" data-total=[can_scroll.then_some(ops)] data-from=[can_scroll.then_some(window.from)]
                data-at=[chosen] data-api={ "/api/ops/" (encoded(&self.run.id)) } data-page=(self.path()) {
                @if window.rows.is_empty() && window.too_long.is_empty() {
                    p { @if window.from == 0 && window.to >= ops { "No row matches." } @else { "No row matches among those that were searched." } }
                } @else {
                    div.scroll tabindex="0" role="region" aria-label="Rows" {
                        table.ops {
                            thead { tr {
                                th.number scope="col" { "Index" }
                                th.number scope="col" { "Time (s)" }
                                th scope="col" { "Process" }
                                th scope="col" { "Type" }
                                th scope="col" { "Function" }
                                th scope="col" { "Value" }
                            } }
                            tbody { (self.body(window, chosen)) }
                        }
                    }
                }
                @if window.to < ops && window.rows.len() < PAGE_ROWS {
                    p.note { "Searched up to row " (text::grouped(window.to)) " of " (text::grouped(ops)) "." }
                }
                nav.pager aria-label="Earlier and later rows" {
                    @if window.from > 0 { a rel="prev" href=(pair("before", window.from)) { "\u{2190} Earlier" } }
                    @if window.to < ops { a rel="next" href=(pair("from", window.to)) { "Later \u{2192}" } }
                }
            }
        }
    }

    /// The rows, and notes between them for those that are too long.
    fn body(&self, window: &Window, chosen: Option<u64>) -> Markup {
        let mut lines: Vec<(u64, Markup)> =
            window.rows.iter().map(|row| (row.at, self.row(row, chosen == Some(row.at)))).collect();
        let (what, them) = if self.filter.is_empty() { ("shown", "") } else { ("searched", " and shown") };
        lines.extend(window.too_long.iter().map(|rows| {
            let last = rows.end - 1;
            let line = html! {
                tr { td.note colspan="6" {
                    @if rows.start == last { "Row " (text::grouped(last)) " is" } @else { "Rows " (text::grouped(rows.start)) " to " (text::grouped(last)) " are" }
                    " too long to be " (what) (them) "."
                } }
            };
            (rows.start, line)
        }));
        lines.sort_by_key(|(at, _)| *at);
        html! { @for (_, line) in &lines { (line) } }
    }

    fn row(&self, row: &Row, is_chosen: bool) -> Markup {
        html! {
            tr class=(row.kind.name()) aria-current=[is_chosen.then_some("true")] {
                td.number { a href=(self.around(row.index)) { (row.index) } }
                td.number { (row.time_ns.map(seconds).unwrap_or_default()) }
                td { bdi { (text::shown(&row.process, 40)) } }
                td { span class={ "kind " (row.kind.name()) } { (row.kind.name()) } }
                td { bdi { (text::shown(&row.function, 40)) } }
                td.value { bdi { (row.value) } @if !row.more.is_empty() { " " span.note { bdi { (row.more) } } } }
            }
        }
    }
}

/// The message if the shown op does not have the requested index.
fn other(index: u64, shown: Option<&Row>) -> Option<String> {
    match shown {
        None => Some(format!("The op with index {index}, or the next one, is too long to be shown.")),
        Some(row) if row.index > index => Some(format!("No op has index {index}; this is the next one.")),
        Some(row) if row.index < index => Some(format!("No op has index {index}; this is the last one.")),
        Some(_) => None,
    }
}

fn of_process(path: &str, process: &str) -> String {
    Filter { process: process.to_owned(), ..Filter::default() }.address(path, &[])
}

/// Seconds with six decimal places.
pub(crate) fn seconds(time_ns: i64) -> String {
    let (sign, time) = (if time_ns < 0 { "-" } else { "" }, time_ns.unsigned_abs() / 1000);
    format!("{sign}{}.{:06}", time / 1_000_000, time % 1_000_000)
}

/// The number of rows that a program requests at a time.
pub(crate) fn count(query: &Query) -> Result<usize, String> {
    match query.get("count").filter(|count| !count.is_empty()) {
        None => Ok(PAGE_ROWS),
        Some(count) => count
            .parse::<u64>()
            .ok()
            .filter(|count| (1..=ROWS_MAX.to_u64()).contains(count))
            .map(Cast::to_usize)
            .ok_or_else(|| format!("count={count}: expected a number from 1 to {ROWS_MAX}")),
    }
}
