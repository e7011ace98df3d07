//! The index file: the data of all runs, so that no history and no result is read again after a restart.
//!
//! It contains a line of JSON for each run, after a line with its version. It is written under another name and
//! renamed, so that no incomplete file is read. A run whose line cannot be parsed is read again. The file may be
//! removed at any time.

use super::run::Run;
use crate::files::place;
use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// The server's own folder in the served directory. It is hidden, so that it is not served itself.
pub(crate) const FOLDER: &str = ".histcheck-serve";
const FILE: &str = "index.jsonl";
/// The first line, with the version of the format.
const VERSION: &str = "{\"histcheck-serve-index\":3}";
/// The maximum length of a line in bytes.
const LINE_BYTES_MAX: usize = 1 << 20;
const LINES_MAX: usize = 200_000;

/// Reads the known runs.
pub(super) fn read(root: &Path) -> Vec<Run> {
    let Ok((file, _)) = place::open_own(root, &path(root)) else { return Vec::new() };
    let mut lines = BufReader::new(file).split(b'\n').map_while(Result::ok).take(LINES_MAX);
    if lines.next().is_none_or(|line| line != VERSION.as_bytes()) {
        return Vec::new();
    }
    let lines = lines.filter(|line| line.len() <= LINE_BYTES_MAX);
    lines.filter_map(|line| serde_json::from_slice(&line).ok()).collect()
}

/// Writes the known runs.
///
/// # Errors
///
/// If it cannot be written, for example in a directory without write permission.
pub(super) fn write(root: &Path, runs: &[Run]) -> io::Result<()> {
    let path = path(root);
    let folder = root.join(FOLDER);
    if fs::symlink_metadata(&folder).is_ok_and(|found| !found.is_dir()) {
        return Err(io::Error::other(format!("{} is not a directory", folder.display())));
    }
    fs::create_dir_all(&folder)?;
    put(&path, |out| {
        writeln!(out, "{VERSION}")?;
        for run in runs {
            serde_json::to_writer(&mut *out, run)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

fn path(root: &Path) -> PathBuf {
    root.join(FOLDER).join(FILE)
}

/// Replaces a file atomically: a process that opens it in the meantime, or after a crash, gets the previous file.
///
/// # Errors
///
/// If it cannot be written.
pub(crate) fn put(path: &Path, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}-{}", std::process::id()));
    let written = (|| {
        // A file of an earlier process, or a link in its place, is removed and not opened.
        let _ = fs::remove_file(&new);
        let file = fs::OpenOptions::new().write(true).create_new(true).open(&new)?;
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&new, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::outcome::{Outcome, Verdict};

    fn run(id: &str) -> Run {
        let outcome = Outcome { verdict: Some(Verdict::Error), ..Outcome::default() };
        let (mark, id) = ("m".to_owned(), id.to_owned());
        Run {
            id,
            is_directory: true,
            history: None,
            time_ms: 7,
            length_ns: None,
            ops: Some(3),
            outcome,
            is_unread: false,
            mark,
        }
    }

    #[test]
    fn written_indexes_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), []);
        let runs = [run("a/\u{e4} \"b\"\n"), run(".")];
        write(dir.path(), &runs).unwrap();
        assert_eq!(read(dir.path()), runs);
        write(dir.path(), &runs[..1]).unwrap();
        assert_eq!(read(dir.path()), runs[..1]);
        assert_eq!(fs::read_dir(dir.path().join(FOLDER)).unwrap().count(), 1, "no other file remains");
    }

    #[test]
    fn damaged_lines_are_omitted() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[run("a"), run("b"), run("c")]).unwrap();
        let text = fs::read_to_string(path(dir.path())).unwrap();
        // The file is cut within its last line, or contains an invalid line, or has another version.
        fs::write(path(dir.path()), &text[..text.len() - 9]).unwrap();
        assert_eq!(read(dir.path()), [run("a"), run("b")]);
        fs::write(path(dir.path()), text.replacen("\"id\"", "\"id", 1)).unwrap();
        assert_eq!(read(dir.path()), [run("b"), run("c")]);
        fs::write(path(dir.path()), text.replacen("index\":3", "index\":0", 1)).unwrap();
        assert_eq!(read(dir.path()), []);
        fs::write(path(dir.path()), b"\xff\xfe").unwrap();
        assert_eq!(read(dir.path()), []);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), dir.path().join(FOLDER)).unwrap();
        assert!(write(dir.path(), &[run("a")]).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
