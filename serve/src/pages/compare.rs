//! The page that shows the differences between two runs.

use super::layout::{badge, page};
use super::list::{length, name};
use crate::files::place;
use crate::http::query::{Query, encoded};
use crate::runs::Run;
use crate::state::State;
use histcheck_draw::text;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The maximum number of files of a run that are compared, and that are named.
const FILES_MAX: usize = 10_000;
const NAMED_MAX: usize = 100;

/// The page of two runs; `None` if one of them does not exist. The address has their ids in `a` and `b`. The form on
/// the page of a run sends its own id as `run` instead of `a`.
pub(crate) fn compare(state: &State, query: &Query) -> Option<Markup> {
    let snapshot = state.watcher.snapshot();
    let a = match query.get("run") {
        Some(field) => snapshot.run_in_form(field)?,
        None => snapshot.run(query.get("a")?)?,
    };
    let b = snapshot.run(query.get("b")?)?;
    Some(page(
        "Two runs",
        &html! {
            h1 { "Two runs" }
            table.compared {
                thead { tr {
                    td {}
                    @for run in [a, b] { th scope="col" { a href={ "/runs/" (encoded(&run.id)) } { bdi { (text::shown(&name(&run.id), 300)) } } } }
                } }
                tbody {
                    (row("Verdict", a.outcome.verdict != b.outcome.verdict, &badge(a.outcome.verdict), &badge(b.outcome.verdict)))
                    @for (title, of) in FACTS { @let (left, right) = (of(a), of(b)); (row(title, left != right, &plain(&left), &plain(&right))) }
                    (lists("Checkers", &a.outcome.checkers, &b.outcome.checkers))
                    (lists("Anomalies", &a.outcome.anomalies, &b.outcome.anomalies))
                    (lists("Levels ruled out", &a.outcome.not, &b.outcome.not))
                    (lists("Strongest levels that hold", &a.outcome.strongest, &b.outcome.strongest))
                    (lists("Files", &files(state, a), &files(state, b)))
                }
            }
            p.note { "Rows that differ are marked. Of lists, only items that the other run lacks are shown." }
        },
    ))
}

/// A fact about a run: its name, and the function that returns its text.
type Fact = (&'static str, fn(&Run) -> String);

const FACTS: [Fact; 3] = [
    ("Time (UTC)", Run::time),
    ("Length", |run| length(run.length_ns)),
    ("Ops", |run| run.ops.map_or("\u{2013}".to_owned(), text::grouped)),
];

fn plain(text: &str) -> Markup {
    html! { bdi { (text::shown(text, 300)) } }
}

fn row(title: &str, differs: bool, left: &Markup, right: &Markup) -> Markup {
    html! {
        tr class=[differs.then_some("differs")] {
            th scope="row" { (title) @if differs { span.note { " differs" } } }
            td { (left) }
            td { (right) }
        }
    }
}

/// A row with the entries that only one of two lists has.
fn lists(title: &str, left: &[String], right: &[String]) -> Markup {
    let sets = [left, right].map(|list| list.iter().collect::<BTreeSet<_>>());
    let only = |own: &BTreeSet<&String>, other: &BTreeSet<&String>| {
        let only: Vec<&String> = own.difference(other).copied().collect();
        let more = only.len().saturating_sub(NAMED_MAX);
        html! {
            @if only.is_empty() { "\u{2013}" }
            @for name in only.iter().take(NAMED_MAX) { div { (plain(name)) } }
            @if more > 0 { div { "and " (more) " more" } }
        }
    };
    row(title, sets[0] != sets[1], &only(&sets[0], &sets[1]), &only(&sets[1], &sets[0]))
}

/// The files of a run with their sizes: files of different sizes are different.
fn files(state: &State, run: &Run) -> Vec<String> {
    let Ok((path, _)) = place::find(&state.config.directory, &run.id) else { return Vec::new() };
    let (files, _) = if run.is_directory { place::files(&path, FILES_MAX) } else { (Vec::new(), true) };
    files.iter().map(|file| format!("{} ({} bytes)", file.path, text::grouped(file.bytes))).collect()
}
