//! `/files/` and `/zip/`: the files of runs.

mod archive;
pub(crate) mod place;
mod report;
mod source;

use crate::http::answer::{self, Answer};
use crate::http::stream;
use crate::state::State;
use archive::Archive;
use hyper::header::{self, HeaderValue};
use source::FileSource;

/// The maximum number of files in an archive.
const ZIPPED_MAX: usize = 100_000;

/// The file name of a report.
const REPORT: &str = "report.html";

/// Returns a file below the directory; `None` if it does not exist.
pub(crate) fn file(state: &State, path: &str) -> Option<Answer> {
    if let Some(report) = report_of_run(state, path) {
        return Some(report);
    }
    let (source, length) = FileSource::open(&state.config.directory, path).ok()?;
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_timeline = name.starts_with("timeline") || path.contains("/timeline");
    let mut answer = answer::file(kind(name), is_timeline, stream::content(source, Some(length)));
    if kind(name) == BINARY {
        answer.headers_mut().insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    Some(answer)
}

/// Returns the report of a run that has a history, with links from ops to their rows.
fn report_of_run(state: &State, path: &str) -> Option<Answer> {
    let id = if path == REPORT { "." } else { path.strip_suffix(REPORT)?.strip_suffix('/')? };
    state.watcher.snapshot().run(id).filter(|run| run.history.is_some())?;
    report::linked(place::open(&state.config.directory, path).ok()?, id).map(answer::report)
}

/// Returns a file that a check wrote; `None` if it does not exist.
pub(crate) fn of_check(state: &State, id: &str, name: &str) -> Option<Answer> {
    const FILES: [&str; 3] = [REPORT, "result.json", "messages.txt"];
    let (record, folder) = state.checks.as_ref()?.find(id)?;
    let name = FILES.into_iter().find(|file| *file == name)?;
    if name == REPORT
        && let Some(report) = report::linked(folder.open(name).ok()?, &record.run)
    {
        return Some(answer::report(report));
    }
    let (source, length) = FileSource::new(folder.open(name).ok()?);
    Some(answer::file(kind(name), false, stream::content(source, Some(length))))
}

/// Returns the files of a run as an archive.
pub(crate) fn zip(state: &State, id: &str) -> Option<Answer> {
    let root = &state.config.directory;
    let id = id.strip_suffix(".zip").unwrap_or(id);
    state.watcher.snapshot().run(id).filter(|run| run.is_directory)?;
    let (path, _) = place::find(root, id).ok()?;
    let (files, is_all) = place::files(&path, ZIPPED_MAX);
    if !is_all {
        return None;
    }
    let archive = Archive::new(root.clone(), id, files);
    let mut answer = answer::file("application/zip", false, stream::content(archive, None));
    answer.headers_mut().insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Some(answer)
}

const BINARY: &str = "application/octet-stream";

/// The media type of a file. All kinds of text are shown as plain text.
fn kind(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "json" => "application/json",
        "txt" | "log" | "edn" | "jsonl" | "ndjson" | "csv" | "md" | "clj" | "yaml" | "yml" | "toml" | "stdout"
        | "stderr" => "text/plain; charset=utf-8",
        _ => BINARY,
    }
}
