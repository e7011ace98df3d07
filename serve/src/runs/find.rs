//! Finds the runs below a directory. Links are not followed, hidden names are omitted, and known data of a run is kept
//! as long as its files are unchanged.

use super::outcome;
use super::run::{Run, millis, named_time};
use super::{ops, outcome::Outcome};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// The maximum depth of directories below the served one.
const DEPTH_MAX: usize = 16;
/// The maximum number of files and directories that are examined.
const ENTRIES_MAX: usize = 2_000_000;
/// The maximum number of runs that are listed.
const RUNS_MAX: usize = 100_000;

/// File names of histories in a directory of Jepsen or `histcheck live`, the most complete first.
const STORED: [&str; 4] = ["history.edn", "history.jsonl", "history.json", "history.txt"];
const EXTENSIONS: [&str; 4] = ["edn", "json", "jsonl", "ndjson"];
const COMPRESSIONS: [&str; 2] = [".gz", ".zst"];
/// Other files that mark a directory as that of a test.
const LEFT_BY_JEPSEN: [&str; 3] = ["test.jepsen", "test.fressian", "jepsen.log"];

/// All runs, sorted by their ids, and notes on why the list may be incomplete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) runs: Vec<Run>,
    pub(crate) notes: Vec<String>,
}

/// The content of a directory.
#[derive(Default)]
struct Listing {
    files: Vec<String>,
    directories: Vec<String>,
}

struct Walk<'a> {
    root: &'a Path,
    known: &'a HashMap<&'a str, &'a Run>,
    runs: Vec<Run>,
    entries: usize,
    /// The number of names that are not UTF-8, and of directories that could not be listed.
    unnamed: usize,
    unlisted: usize,
    is_cut: bool,
}

/// Finds the runs below a directory.
pub(super) fn find(root: &Path, known: &[Run]) -> Found {
    let known: HashMap<&str, &Run> = known.iter().map(|run| (run.id.as_str(), run)).collect();
    let mut walk = Walk { root, known: &known, runs: Vec::new(), entries: 0, unnamed: 0, unlisted: 0, is_cut: false };
    let mut open = vec![(String::new(), 0)];
    while let Some((directory, depth)) = open.pop() {
        if walk.runs.len() >= RUNS_MAX || walk.entries >= ENTRIES_MAX {
            walk.is_cut = true;
            break;
        }
        let below = walk.directory(&directory, depth);
        if depth < DEPTH_MAX {
            open.extend(below.into_iter().map(|directory| (directory, depth + 1)));
        } else {
            walk.is_cut |= !below.is_empty();
        }
    }
    walk.done()
}

impl Walk<'_> {
    fn done(mut self) -> Found {
        let mut notes = Vec::new();
        if self.is_cut {
            notes.push(format!(
                "The list is incomplete: at most {RUNS_MAX} runs, {ENTRIES_MAX} files and {DEPTH_MAX} nested directories are searched."
            ));
        }
        for (count, what) in [
            (self.unnamed, "Files and directories omitted because their names are not UTF-8"),
            (self.unlisted, "Directories omitted because they cannot be read"),
        ] {
            if count > 0 {
                notes.push(format!("{what}: {count}."));
            }
        }
        self.runs.sort_by(|a, b| a.id.cmp(&b.id));
        Found { runs: self.runs, notes }
    }

    /// Adds the runs in a directory. Returns the directories in it that may contain more.
    fn directory(&mut self, id: &str, depth: usize) -> Vec<String> {
        let path = self.root.join(id);
        let Ok(listing) = self.list(&path) else {
            self.unlisted += 1;
            return Vec::new();
        };
        let below = |name: &String| if id.is_empty() { name.clone() } else { format!("{id}/{name}") };
        if let Some(run) = self.run(if depth == 0 { "." } else { id }, &path, &listing) {
            self.runs.push(run);
            // Files below a test belong to it. The served directory may itself be a test, and contain others.
            return if depth == 0 { listing.directories.iter().map(below).collect() } else { Vec::new() };
        }
        for name in listing.files.iter().filter(|name| is_named_like_one(name)) {
            if self.runs.len() < RUNS_MAX {
                let run = self.file(below(name), name, &path.join(name));
                self.runs.extend(run);
            }
        }
        listing.directories.iter().map(below).collect()
    }

    fn list(&mut self, path: &Path) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(path)?.flatten() {
            self.entries += 1;
            let Ok(kind) = entry.file_type() else { continue };
            match entry.file_name().into_string() {
                Ok(name) if name.starts_with('.') => {}
                Ok(name) if kind.is_file() => listing.files.push(name),
                Ok(name) if kind.is_dir() => listing.directories.push(name),
                Ok(_) => {}
                Err(_) => self.unnamed += 1,
            }
            if self.entries >= ENTRIES_MAX {
                break;
            }
        }
        Ok(listing)
    }

    /// The run of a directory, if it is one.
    fn run(&self, id: &str, path: &Path, listing: &Listing) -> Option<Run> {
        let has = |name: &str| listing.files.iter().any(|file| file == name);
        let result_files: Vec<&str> = outcome::FILES.into_iter().filter(|name| has(name)).collect();
        let history = stored(&listing.files);
        let is_test = history.is_some() || has("results.edn") || LEFT_BY_JEPSEN.into_iter().any(has);
        if !is_test && result_files.is_empty() {
            return None;
        }
        let (mut mark, mut newest) = (String::new(), 0);
        for name in history.iter().map(String::as_str).chain(result_files.iter().copied()) {
            let metadata = fs::metadata(path.join(name)).ok();
            newest = newest.max(metadata.as_ref().map_or(0, modified));
            mark_of(&mut mark, name, metadata.as_ref());
        }
        if let Some(known) = self.known.get(id).filter(|known| known.mark == mark) {
            return Some((*known).clone());
        }
        let outcome = outcome::read(path, &result_files);
        if !is_test && outcome.is_none() {
            return None;
        }
        let extent = history.as_ref().map(|name| ops::read(&path.join(name))).unwrap_or_default();
        let time = id.rsplit('/').next().and_then(named_time);
        Some(Run {
            id: id.to_owned(),
            is_directory: true,
            history: history.clone(),
            time_ms: time.unwrap_or(newest),
            length_ns: extent.length_ns,
            ops: extent.ops,
            is_unread: history.as_deref().is_some_and(is_compressed),
            outcome: outcome.unwrap_or_default(),
            mark,
        })
    }

    /// The run of a file.
    fn file(&self, id: String, name: &str, path: &Path) -> Option<Run> {
        let metadata = fs::metadata(path).ok()?;
        let mut mark = String::new();
        mark_of(&mut mark, name, Some(&metadata));
        if let Some(known) = self.known.get(id.as_str()).filter(|known| known.mark == mark) {
            return Some((*known).clone());
        }
        let extent = ops::read(path);
        Some(Run {
            id,
            is_directory: false,
            history: Some(name.to_owned()),
            time_ms: modified(&metadata),
            length_ns: extent.length_ns,
            ops: extent.ops,
            is_unread: is_compressed(name),
            outcome: Outcome::default(),
            mark,
        })
    }
}

/// The name of the history's file in a directory.
fn stored(files: &[String]) -> Option<String> {
    let has = |name: String| files.contains(&name).then_some(name);
    let known = STORED.iter().find_map(|name| {
        has((*name).to_owned()).or_else(|| COMPRESSIONS.iter().find_map(|suffix| has(format!("{name}{suffix}"))))
    });
    // A history that was checked here may have any extension.
    let is_checked_here = || files.iter().any(|name| name == "check.json");
    known.or_else(|| files.iter().find(|name| name.starts_with("history.") && is_checked_here()).cloned())
}

/// Returns true if the end of a file with this name contains no ops, because the file is compressed.
fn is_compressed(name: &str) -> bool {
    COMPRESSIONS.iter().any(|suffix| name.ends_with(suffix))
}

fn modified(metadata: &Metadata) -> u64 {
    metadata.modified().map_or(0, millis)
}

fn mark_of(mark: &mut String, name: &str, metadata: Option<&Metadata>) {
    let nanoseconds = |metadata: &Metadata| {
        let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(since.as_nanos())
    };
    let (time, bytes) = metadata.map_or((0, 0), |found| (nanoseconds(found).unwrap_or(0), found.len()));
    _ = write!(mark, "{name} {time} {bytes};");
}

/// Returns true if a file with this name is treated as a history.
fn is_named_like_one(name: &str) -> bool {
    let plain = COMPRESSIONS.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    Path::new(plain).extension().is_some_and(|it| EXTENSIONS.iter().any(|one| it == *one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::outcome::Verdict;

    fn store() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("redis/20260107T093012.123Z/history.edn", "{:index 0, :time 1}\n{:index 1, :time 5}\n");
        put("redis/20260107T093012.123Z/results.edn", "{:valid? false}");
        put("redis/20260107T093012.123Z/independent/1/history.edn", "{:index 0}");
        put("broken/20260107T093012.123Z/test.jepsen", "");
        put("pages/one/report.html", "<meta name=\"histcheck-verdict\" content=\"true\">");
        put("pages/two/report.html", "<title>of another program</title>");
        put("plain/a.jsonl", "{\"index\":0}\n");
        put("plain/notes.txt", "");
        put("plain/.hidden.edn", "");
        put(".secret/history.edn", "");
        dir
    }

    #[test]
    fn each_kind_of_run_is_found_once() {
        let dir = store();
        let found = find(dir.path(), &[]);
        let ids: Vec<&str> = found.runs.iter().map(|run| run.id.as_str()).collect();
        assert_eq!(ids, ["broken/20260107T093012.123Z", "pages/one", "plain/a.jsonl", "redis/20260107T093012.123Z"]);
        let redis = &found.runs[3];
        assert_eq!((redis.ops, redis.length_ns, redis.time_ms), (Some(2), Some(5), 1_767_778_212_000));
        assert_eq!(redis.outcome.verdict, Some(Verdict::Invalid));
        assert_eq!(found.runs[0].outcome.verdict, None, "a test without results has no verdict");
        assert_eq!(found.notes, [""; 0]);
    }

    #[test]
    fn changed_runs_are_read_again() {
        let dir = store();
        let mut found = find(dir.path(), &[]);
        found.runs[3].ops = Some(77);
        assert_eq!(find(dir.path(), &found.runs), found, "unchanged runs are not read again");
        fs::write(dir.path().join("redis/20260107T093012.123Z/results.edn"), "{:valid? true, :a 1}").unwrap();
        let again = find(dir.path(), &found.runs);
        assert_eq!((again.runs[3].ops, again.runs[3].outcome.verdict), (Some(2), Some(Verdict::Valid)));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let dir = store();
        let (inside, outside) = (dir.path().join("plain"), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("b.edn"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), inside.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("b.edn"), inside.join("b.edn")).unwrap();
        std::os::unix::fs::symlink(dir.path(), inside.join("circle")).unwrap();
        assert_eq!(find(dir.path(), &[]).runs.len(), 4);
    }

    #[test]
    fn the_directory_itself_can_be_a_run() {
        let dir = store();
        fs::write(dir.path().join("history.edn"), "{:index 0}").unwrap();
        let ids: Vec<String> = find(dir.path(), &[]).runs.into_iter().map(|run| run.id).collect();
        assert_eq!((ids.len(), ids[0].as_str()), (5, "."));
    }
}
