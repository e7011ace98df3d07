//! The list of runs: a table that is sorted and filtered by its address.

use super::layout::{badge, names, page};
use crate::http::query::encoded;
use crate::runs::Run;
use crate::runs::outcome::Verdict;
use crate::runs::view::{Column, PAGE_RUNS, View};
use crate::state::State;
use histcheck_draw::text;
use history_core::cast::Cast as _;
use maud::{Markup, html};

/// The list for the view in an address.
pub(crate) fn list(state: &State, view: &View) -> Markup {
    let snapshot = state.watcher.snapshot();
    let selected = view.select(&snapshot.runs);
    let pages = selected.len().div_ceil(PAGE_RUNS).max(1);
    let view = View { page: view.page.min(pages), ..view.clone() };
    let shown = selected.iter().skip((view.page - 1) * PAGE_RUNS).take(PAGE_RUNS);
    let is_filtered = selected.len() < snapshot.runs.len();
    page(
        "Runs",
        &html! {
            h1 { "Runs" }
            @if let Some(board) = &state.board {
                p.notice { a href="/live" { bdi { (text::shown(board.name(), 200)) } @if board.has_ended() { " has ended" } @else { " is in progress" } } }
            }
            @if let Some(checks) = &state.checks { (super::check::drop_zone(checks)) }
        (filter(&view))
            div id="live" data-follow="runs" data-generation=(snapshot.generation) {
                p.counts role="status" {
                    @if is_filtered { (text::grouped(selected.len().to_u64())) " of " }
                    (text::count(snapshot.runs.len().to_u64(), "run", "runs"))
                    @let counts = counts(&selected);
                    @if !counts.is_empty() { ": " (counts) }
                    "."
                    @if !snapshot.is_complete { " Still looking for runs." }
                }
                @for note in &snapshot.notes { p.notice { (note) } }
                @if selected.is_empty() { (nothing(&snapshot.runs, snapshot.is_complete)) } @else { (table(&view, shown.copied())) }
                (pager(&view, pages))
            }
        },
    )
}

fn counts(runs: &[&Run]) -> String {
    let all =
        Verdict::ALL.into_iter().map(|verdict| (Some(verdict), verdict.name())).chain([(None, "without a verdict")]);
    let count = |verdict| runs.iter().filter(|run| run.outcome.verdict == verdict).count().to_u64();
    let parts = all.map(|(verdict, name)| (count(verdict), name)).filter(|(count, _)| *count > 0);
    parts.map(|(count, name)| format!("{} {name}", text::grouped(count))).collect::<Vec<_>>().join(", ")
}

fn nothing(runs: &[Run], is_complete: bool) -> Markup {
    html! {
        @if !runs.is_empty() {
            p { "No run matches. " a href="/" { "Show all" } }
        } @else if is_complete {
            p { "No runs found yet. A run is a directory of Jepsen's store, of " code { "histcheck live -d" } ", "
                code { "histcheck report -d" } " or " code { "histcheck -d" } ", or a history file: *.edn, *.json, *.jsonl or *.ndjson." }
        }
    }
}

fn filter(view: &View) -> Markup {
    let verdicts = Verdict::ALL.map(Verdict::name);
    let chosen = view.verdict.name();
    html! {
        form.filter method="get" action="/" role="search" aria-label="Filter runs" {
            label { "Name" input type="search" name="name" value=(text::shown(&view.name, 600)); }
            label { "Verdict"
                select name="verdict" {
                    option value="" selected[chosen.is_empty()] { "any" }
                    @for name in verdicts { option value=(name) selected[chosen == name] { (name) } }
                    option value="none" selected[chosen == "none"] { "no verdict" }
                }
            }
            label { "Checker" input type="search" name="checker" value=(text::shown(&view.checker, 600)); }
            label { "From" input type="date" name="from" value=(view.from.get(..10).unwrap_or_default()); }
            label { "To" input type="date" name="to" value=(view.to.get(..10).unwrap_or_default()); }
            @if (view.column, view.is_descending) != (Column::Time, true) { input type="hidden" name="sort" value=(view.sort()); }
            button type="submit" { "Filter" }
            @if *view != (View { column: view.column, is_descending: view.is_descending, page: view.page, ..View::default() }) {
                a href="/" { "Show all" }
            }
        }
    }
}

fn table<'r>(view: &View, runs: impl Iterator<Item = &'r Run>) -> Markup {
    html! {
        table.runs {
            thead { tr {
                (heading(view, Column::Verdict, "Verdict"))
                (heading(view, Column::Name, "Run"))
                (heading(view, Column::Time, "Time (UTC)"))
                (heading(view, Column::Length, "Length"))
                (heading(view, Column::Ops, "Ops"))
                (heading(view, Column::Checker, "Checker"))
                th scope="col" { "Anomalies" }
                th scope="col" { "Ruled out" }
                th scope="col" { "Strongest level" }
            } }
            tbody { @for run in runs { (row(run)) } }
        }
    }
}

fn heading(view: &View, column: Column, title: &str) -> Markup {
    let is_sorted = view.column == column;
    // A second click reverses the order. By default, the largest, latest or worst run is first.
    let is_descending = if is_sorted { !view.is_descending } else { !matches!(column, Column::Name | Column::Checker) };
    let address = View { column, is_descending, page: 1, ..view.clone() }.address();
    let (mark, order) = if view.is_descending { (" \u{2193}", "descending") } else { (" \u{2191}", "ascending") };
    html! {
        th scope="col" aria-sort=[is_sorted.then_some(order)] {
            a href=(address) { (title) @if is_sorted { span aria-hidden="true" { (mark) } } }
        }
    }
}

fn row(run: &Run) -> Markup {
    html! {
        tr {
            td data-title="Verdict" { (badge(run.outcome.verdict)) }
            td.name { a href={ "/runs/" (encoded(&run.id)) } { bdi { (text::shown(&name(&run.id), 300)) } } }
            td.time data-title="Time" { (run.time()) }
            td.number data-title="Length" { (length(run.length_ns)) }
            td.number data-title="Ops" { @match run.ops { Some(ops) => (text::grouped(ops)), None => "\u{2013}" } }
            (cell("Checker", &names(&run.outcome.checkers, 4)))
            (cell("Anomalies", &names(&run.outcome.anomalies, 6)))
            (cell("Ruled out", &names(&run.outcome.not, 4)))
            (cell("Strongest level", &names(&run.outcome.strongest, 4)))
        }
    }
}

/// A cell with names, if there are any.
fn cell(title: &str, names: &str) -> Markup {
    html! { td data-title=(title) { @if !names.is_empty() { bdi { (names) } } } }
}

/// The name of a run.
pub(super) fn name(id: &str) -> String {
    if id == "." { "(this directory)".to_owned() } else { id.to_owned() }
}

/// A duration for people.
pub(super) fn length(nanoseconds: Option<u64>) -> String {
    const TENTH: u64 = 100_000_000;
    let Some(tenths) = nanoseconds.map(|time| time / TENTH) else { return "\u{2013}".to_owned() };
    match tenths {
        0 => format!("{} ms", nanoseconds.unwrap_or(0) / 1_000_000),
        1..600 => format!("{}.{} s", tenths / 10, tenths % 10),
        600..36_000 => format!("{} min {} s", tenths / 600, tenths / 10 % 60),
        _ => format!("{} h {} min", tenths / 36_000, tenths / 600 % 60),
    }
}

fn pager(view: &View, pages: usize) -> Markup {
    let link = |page: usize| View { page, ..view.clone() }.address();
    html! {
        @if pages > 1 {
            nav.pager aria-label="Pages" {
                @if view.page > 1 { a rel="prev" href=(link(view.page - 1)) { "\u{2190} Previous" } }
                span { "Page " (view.page) " of " (pages) }
                @if view.page < pages { a rel="next" href=(link(view.page + 1)) { "Next \u{2192}" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_for_people() {
        assert_eq!(length(Some(59_960_000_000)), "59.9 s");
        assert_eq!(length(Some(61_000_000_000)), "1 min 1 s");
        assert_eq!(length(Some(3_661_000_000_000)), "1 h 1 min");
        assert_eq!((length(Some(99_999_999)), length(Some(100_000_000))), ("99 ms".to_owned(), "0.1 s".to_owned()));
        assert_eq!(length(None), "\u{2013}");
    }
}
