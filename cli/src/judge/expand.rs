//! Finds histories in directories: Jepsen's store, one test's part of it, or any folder of files.
//!
//! The search finds:
//!
//! - A **test** of Jepsen's is a directory with a history in it (`history.edn` and the like, see
//!   [`history_core::history_in`]), or with other files of Jepsen (`test.jepsen`, `test.fressian`, `jepsen.log`). It is
//!   one history, and nothing below it counts: results, and the histories of single keys. A test whose history is
//!   missing is reported as an error.
//! - A **file** counts by its name: `.edn`, `.json`, `.jsonl`, `.ndjson`, alone or with `.gz` or `.zst` behind. `.txt`
//!   does not: too much else is called so (a `history.txt` makes its directory a test).
//! - Names that begin with a dot are ignored; a note gives the number of files named like histories among them.
//! - A symbolic link counts as its target, unless that was found without it (`latest`, `current`) or contains the
//!   directory itself. So no history is checked twice, and every walk ends.
//!
//! Histories are in the order of the bytes of their paths, whatever order the file system has.

use crate::judge::input::Input;
use crate::output::diagnose;
use history_core::{ErrorKind, HistoryError};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};

/// The maximum depth of directories below the given one.
const DEPTH_MAX: usize = 16;
/// The maximum number of histories in one directory.
const HISTORIES_MAX: usize = 100_000;
/// The maximum number of files and directories examined.
const ENTRIES_MAX: usize = 1_000_000;

const EXTENSIONS: [&str; 4] = ["edn", "json", "jsonl", "ndjson"];
const COMPRESSIONS: [&str; 2] = ["gz", "zst"];
/// Files that Jepsen writes to the directory of a test, in addition to a history in text.
const LEFT_BY_JEPSEN: [&str; 3] = ["test.jepsen", "test.fressian", "jepsen.log"];

/// The histories at a path: the history itself, or all those in a directory that is not a Jepsen test. The result is
/// never empty: if there are none, it is an input that reports the reason when opened.
pub(crate) fn expand(path: &OsStr) -> Vec<Input> {
    let root = Path::new(path);
    if path == "-" || !root.is_dir() || is_test(root) {
        return vec![Input::new(path.to_owned())];
    }
    let mut walk = Walk { root, found: Vec::new(), real: BTreeSet::new(), links: Vec::new(), entries: 0, hidden: 0 };
    let found = walk.all();
    if walk.hidden > 0 {
        let (hidden, files) = (walk.hidden, if walk.hidden == 1 { "file" } else { "files" });
        let root = root.display();
        diagnose::note(&format!(
            "skipped {hidden} hidden {files} (names that begin with a dot) in {root} and below; to check one, pass its path"
        ));
    }
    let whole = |error| vec![Input::failed(path.to_owned(), error)];
    match found {
        Err(error) => whole(error),
        Ok(()) if walk.found.is_empty() => whole(nothing()),
        Ok(()) => {
            walk.found.sort_by(|a, b| a.path().as_encoded_bytes().cmp(b.path().as_encoded_bytes()));
            walk.found
        }
    }
}

fn nothing() -> HistoryError {
    HistoryError::new(ErrorKind::Io, "no history found in this directory or below it").expected(
        "Jepsen tests (directories with a history.edn, .jsonl, .json or .txt), or files named *.edn, *.json, *.jsonl or *.ndjson, optionally with .gz or .zst; to check a file with another name, pass its path",
    )
}

fn too_many(what: &str, max: usize) -> HistoryError {
    let message = format!("more than {max} {what} in this directory and below it: nothing was checked");
    HistoryError::new(ErrorKind::Limit, message).expected("fewer: pass its subdirectories one by one")
}

/// Returns true if a directory is that of one test.
fn is_test(directory: &Path) -> bool {
    history_core::history_in(directory).is_ok()
        || !history_core::session_logs(directory).is_empty()
        || LEFT_BY_JEPSEN.iter().any(|name| directory.join(name).symlink_metadata().is_ok())
}

/// At most this number of entries of a directory, each with its type. Hidden files are omitted, and those named like
/// histories are counted.
fn entries(directory: &Path, count: usize, hidden: &mut usize) -> io::Result<Vec<(PathBuf, FileType)>> {
    let mut is_shown = |entry: &DirEntry| {
        let name = entry.file_name();
        let is_shown = !name.as_encoded_bytes().starts_with(b".");
        *hidden +=
            usize::from(!is_shown && is_named_like_one(&name) && entry.file_type().is_ok_and(|kind| !kind.is_dir()));
        is_shown
    };
    let entries = fs::read_dir(directory)?.filter(|entry| entry.as_ref().map_or(true, &mut is_shown)).take(count);
    entries.map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))).collect()
}

/// Returns true if a file with this name is treated as a history.
pub(crate) fn is_named_like_one(name: &OsStr) -> bool {
    let name = Path::new(name);
    let is = |path: &Path, any: &[&str]| path.extension().is_some_and(|it| any.iter().any(|one| it == *one));
    let plain = if is(name, &COMPRESSIONS) { name.file_stem().map_or(name, Path::new) } else { name };
    is(plain, &EXTENSIONS)
}

struct Walk<'r> {
    root: &'r Path,
    found: Vec<Input>,
    /// The canonical paths of visited directories and found histories.
    real: BTreeSet<PathBuf>,
    /// Links that are still to be followed, each with its depth.
    links: Vec<(PathBuf, usize)>,
    entries: usize,
    /// The number of hidden files that are named like histories.
    hidden: usize,
}

impl Walk<'_> {
    /// Finds all histories. Those that are reached without a link come first, so that they keep their own paths.
    fn all(&mut self) -> Result<(), HistoryError> {
        self.directories(self.root.to_owned(), 0)?;
        while !self.links.is_empty() {
            let mut links = std::mem::take(&mut self.links);
            links.sort();
            for (link, depth) in links {
                self.follow(link, depth)?;
            }
        }
        Ok(())
    }

    /// Searches a directory and those below it.
    fn directories(&mut self, directory: PathBuf, depth: usize) -> Result<(), HistoryError> {
        let mut open = vec![(directory, depth)];
        while let Some((directory, depth)) = open.pop() {
            if !self.is_new(&directory) {
                continue;
            }
            // The given directory is not a test: otherwise it would not be searched.
            if depth > 0 && is_test(&directory) {
                // A link elsewhere may point to the file itself.
                let file = history_core::history_in(&directory).ok().and_then(|file| file.canonicalize().ok());
                self.real.extend(file);
                self.take(directory)?;
                continue;
            }
            if depth > DEPTH_MAX {
                let message = format!("directories nested more than {DEPTH_MAX} deep are not searched");
                let error = HistoryError::new(ErrorKind::Limit, message).expected("its path as an argument");
                self.found.push(Input::failed(directory.into(), error));
                continue;
            }
            let below = self.look_into(&directory, depth)?;
            open.extend(below.into_iter().map(|directory| (directory, depth + 1)));
        }
        Ok(())
    }

    /// Returns the directories in a directory. Adds its histories to the result, and its links to the list of links.
    fn look_into(&mut self, directory: &Path, depth: usize) -> Result<Vec<PathBuf>, HistoryError> {
        let entries = match entries(directory, ENTRIES_MAX - self.entries + 1, &mut self.hidden) {
            Ok(entries) => entries,
            Err(error) => {
                let error = HistoryError::new(ErrorKind::Io, format!("cannot list this directory: {error}"));
                self.found.push(Input::failed(directory.into(), error));
                return Ok(Vec::new());
            }
        };
        self.entries += entries.len();
        if self.entries > ENTRIES_MAX {
            return Err(too_many("files and directories", ENTRIES_MAX));
        }
        let mut directories = Vec::new();
        for (path, kind) in entries {
            let is_named = path.file_name().is_some_and(is_named_like_one);
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_symlink() {
                self.links.push((path, depth + 1));
            } else if kind.is_file() && is_named && self.is_new(&path) {
                self.take(path)?;
            }
        }
        Ok(directories)
    }

    fn follow(&mut self, link: PathBuf, depth: usize) -> Result<(), HistoryError> {
        let is_named = link.file_name().is_some_and(is_named_like_one);
        let Ok(target) = link.canonicalize() else {
            // The target does not exist. Jepsen leaves such links when tests are deleted. A link that is named like a
            // history is reported as an error.
            return if is_named { self.take(link) } else { Ok(()) };
        };
        if target.is_dir() {
            let holds_us = self.root.canonicalize().is_ok_and(|root| root.starts_with(&target));
            return if holds_us { Ok(()) } else { self.directories(link, depth) };
        }
        if target.is_file() && is_named && self.real.insert(target) { self.take(link) } else { Ok(()) }
    }

    /// Returns true if the canonical path of this file or directory is new.
    fn is_new(&mut self, path: &Path) -> bool {
        // A path that cannot be resolved cannot be opened either. That error is reported later.
        path.canonicalize().map_or(true, |real| self.real.insert(real))
    }

    fn take(&mut self, path: PathBuf) -> Result<(), HistoryError> {
        if self.found.len() >= HISTORIES_MAX {
            return Err(too_many("histories", HISTORIES_MAX));
        }
        let below = path.strip_prefix(self.root).unwrap_or(&path);
        let parts: Vec<&OsStr> = below.iter().collect();
        let label: OsString = parts.join(OsStr::new("-"));
        self.found.push(Input::new(path.into()).labelled(label));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
