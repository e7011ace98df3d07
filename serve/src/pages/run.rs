//! The page of a run: its results, its report, its pictures and its files.

use super::layout::{badge, names, page};
use super::list::{length, name};
use crate::files::place::{self, Entry};
use crate::http::query::encoded;
use crate::runs::Run;
use crate::state::State;
use histcheck_draw::text;
use maud::{Markup, html};

/// The maximum number of files and pictures that a page lists; the archive contains all.
const FILES_MAX: usize = 500;
const PICTURES_MAX: usize = 12;
/// The maximum number of other runs offered for comparison.
const NEAR_MAX: usize = 50;

/// The page of a run; `None` if there is no such run.
pub(crate) fn run(state: &State, id: &str) -> Option<Markup> {
    let snapshot = state.watcher.snapshot();
    let run = snapshot.run(id)?;
    let (path, _) = place::find(&state.config.directory, id).ok()?;
    let (files, is_all) = if run.is_directory { place::files(&path, FILES_MAX) } else { (Vec::new(), true) };
    let title = name(&run.id);
    Some(page(
        &text::shown(&title, 200),
        &html! {
            div id="live" data-follow="runs" data-generation=(snapshot.generation) {
                h1 { bdi { (text::shown(&title, 300)) } }
                p.verdict { (badge(run.outcome.verdict)) }
                (facts(run))
                @if run.history.is_some() { p { a href={ "/rows/" (encoded(&run.id)) } { "Rows of the history" } } }
            (beside(run, &snapshot.runs))
                (report(run, &files))
                (pictures(run, &files))
                @if let Some(checks) = &state.checks && run.history.is_some() { (super::check::again(checks, &run.id)) }
            (listed(run, &files, is_all))
            }
        },
    ))
}

fn facts(run: &Run) -> Markup {
    let ops = run.ops.map_or("\u{2013}".to_owned(), text::grouped);
    let of = |list: &[String]| if list.is_empty() { "\u{2013}".to_owned() } else { names(list, 32) };
    let all = [
        ("Time (UTC)", run.time()),
        ("Length", length(run.length_ns)),
        ("Ops", ops),
        ("Checker", of(&run.outcome.checkers)),
        ("Anomalies", of(&run.outcome.anomalies)),
        ("Levels ruled out", of(&run.outcome.not)),
        ("Strongest levels that hold", of(&run.outcome.strongest)),
    ];
    html! { dl.facts { @for (title, value) in all { div { dt { (title) } dd { bdi { (value) } } } } } }
}

/// A form to choose another run for comparison.
fn beside(run: &Run, runs: &[Run]) -> Markup {
    // Offers the runs in the same folder, which are the most likely choice.
    let folder = run.id.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_plain = |other: &Run| text::shown(&other.id, 300) == other.id;
    let is_near = |other: &&Run| {
        other.id != run.id && is_plain(other) && other.id.rsplit_once('/').map_or("", |(near, _)| near) == folder
    };
    html! {
        @if runs.len() > 1 {
            form.beside method="get" action="/compare" {
                input type="hidden" name="run" value=(encoded(&run.id));
                label { "Another run" input type="text" name="b" list="runs" required autocomplete="off"; }
                datalist id="runs" { @for other in runs.iter().rev().filter(is_near).take(NEAR_MAX) { option value=(other.id) {} } }
                button type="submit" { "Compare" }
            }
        }
    }
}

/// The address of a file of a run.
fn address(run: &Run, path: &str) -> String {
    let whole = if run.id == "." { path.to_owned() } else { format!("{}/{path}", run.id) };
    format!("/files/{}", encoded(&whole))
}

fn report(run: &Run, files: &[Entry]) -> Markup {
    let report = files.iter().find(|file| file.path == "report.html");
    html! {
        @if let Some(report) = report {
            @let address = address(run, &report.path);
            h2 { "Report" }
            p { a href=(address) { "Open the report on a separate page" } }
            iframe.report src=(address) title="Report" sandbox="allow-top-navigation-by-user-activation" {}
        }
    }
}

fn pictures(run: &Run, files: &[Entry]) -> Markup {
    let is_picture = |file: &&Entry| [".svg", ".png"].iter().any(|end| file.path.to_ascii_lowercase().ends_with(end));
    let pictures: Vec<&Entry> = files.iter().filter(is_picture).collect();
    html! {
        @if !pictures.is_empty() {
            h2 { "Pictures" }
            ul.pictures {
                @for picture in pictures.iter().take(PICTURES_MAX) {
                    @let address = address(run, &picture.path);
                    li { a href=(address) { img src=(address) alt="" loading="lazy"; bdi { (text::shown(&picture.path, 200)) } } }
                }
            }
            @if pictures.len() > PICTURES_MAX { p.note { "All of them are among the files." } }
        }
    }
}

fn listed(run: &Run, files: &[Entry], is_all: bool) -> Markup {
    html! {
        h2 { "Files" }
        @if run.is_directory {
            p { a href={ "/zip/" (encoded(&run.id)) ".zip" } download={ (archive_name(&run.id)) } { "All as a ZIP archive" } }
            table.files {
                thead { tr { th scope="col" { "File" } th.number scope="col" { "Bytes" } } }
                tbody {
                    @for file in files {
                        tr {
                            td.name { a href=(address(run, &file.path)) { bdi { (text::shown(&file.path, 300)) } } }
                            td.number { (text::grouped(file.bytes)) }
                        }
                    }
                }
            }
            @if !is_all { p.notice { "Only " (text::grouped(u64::try_from(files.len()).unwrap_or(u64::MAX))) " of the files are listed." } }
        } @else {
            p { a href={ "/files/" (encoded(&run.id)) } { bdi { (text::shown(&run.id, 300)) } } }
        }
    }
}

fn archive_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
    let name: String = id.trim_start_matches('.').chars().take(120).map(plain).collect();
    if name.is_empty() { "runs.zip".to_owned() } else { format!("{name}.zip") }
}
