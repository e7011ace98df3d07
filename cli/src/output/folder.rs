//! A folder of files that this program writes. A new set of files replaces the previous set, and no other files.
//!
//! The files are written into a new folder first, and then renamed: so a pipe or symbolic link in their place is never
//! opened or followed. A locked list of files determines which files to remove when new ones are written; two processes
//! that write into one folder do so one after the other. Files that are not in the list belong to others and remain.

use crate::output::diagnose;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

/// The name of the list of files.
const LIST: &str = ".histcheck";
/// The folder in which files are written first.
const NEW: &str = ".histcheck-new";
/// The maximum length of the list in bytes, enough for a million files.
const LIST_BYTES_MAX: u64 = 256 << 20;

/// A file: its path in the folder, and its content.
pub(crate) type Content<'a> = (PathBuf, Cow<'a, [u8]>);

/// Replaces the files of this program in a folder by these files. Creates the folder if necessary.
///
/// # Errors
///
/// If a file or folder cannot be created; the error names it.
pub(crate) fn replace(folder: &Path, files: &[Content<'_>]) -> Result<(), String> {
    let first = files.first().map_or(Path::new(LIST), |(path, _)| path);
    fs::create_dir_all(folder).map_err(|error| cannot(&folder.join(first), &error))?;
    let mut list = List::open(folder)?;
    let (before, after) = (list.read()?, files.iter().map(|(path, _)| path.clone()).collect::<BTreeSet<_>>());
    if before.is_empty() && folder.join(first).is_file() {
        let folder = folder.display();
        diagnose::note(&format!(
            "{folder} has no file list: files of an earlier run are kept, except {}",
            first.display()
        ));
    }
    // If this process ends before all files are renamed, the next one finds all of them in the list.
    list.write(before.union(&after))?;
    let new = folder.join(NEW);
    remove(&new).map_err(|error| cannot(&new, &error))?;
    for (path, content) in files {
        write_new(&new.join(path), content).map_err(|error| cannot(&folder.join(path), &error))?;
    }
    for path in before.difference(&after) {
        // An error means that the file is already gone, or cannot be removed. An old file does no harm.
        let _ = take_away(folder, path);
    }
    for path in &after {
        settle(folder, &new, path).map_err(|error| cannot(&folder.join(path), &error))?;
    }
    let _ = remove(&new);
    list.write(after.iter())
}

fn cannot(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// The list of the files in a folder, locked until it is dropped.
struct List {
    path: PathBuf,
    file: File,
}

impl List {
    fn open(folder: &Path) -> Result<List, String> {
        let path = folder.join(LIST);
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Err(format!("cannot write {}: it exists and is not a file", path.display()));
        }
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = opened.map_err(|error| cannot(&path, &error))?;
        match file.lock() {
            Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(cannot(&path, &error)),
            // Some file systems do not support locks.
            _ => Ok(List { path, file }),
        }
    }

    /// The files that the previous run wrote here, all within the folder.
    fn read(&mut self) -> Result<BTreeSet<PathBuf>, String> {
        let mut text = String::new();
        let read = Read::by_ref(&mut self.file).take(LIST_BYTES_MAX).read_to_string(&mut text);
        read.map_err(|error| format!("cannot read {}: {error}", self.path.display()))?;
        let is_below = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
        Ok(text.lines().map(PathBuf::from).filter(|path| path.file_name().is_some() && is_below(path)).collect())
    }

    fn write<'p>(&mut self, paths: impl Iterator<Item = &'p PathBuf>) -> Result<(), String> {
        // Names contain no newlines: see `component`.
        let text = paths.fold(String::new(), |text, path| text + &path.to_string_lossy() + "\n");
        let written =
            self.file.set_len(0).and_then(|()| self.file.rewind()).and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|error| cannot(&self.path, &error))
    }
}

/// Removes the remains of an earlier run that was killed.
fn remove(folder: &Path) -> io::Result<()> {
    let removed = match folder.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(folder),
        Ok(_) => fs::remove_file(folder),
        Err(error) => Err(error),
    };
    if removed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) { Ok(()) } else { removed }
}

/// Creates a file; fails if it exists.
fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
}

/// Moves a file to its final path. Replaces an existing file or link there; creates folders above it, and follows no
/// links.
fn settle(folder: &Path, new: &Path, path: &Path) -> io::Result<()> {
    for above in above(path) {
        match folder.join(above).symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other(format!("{} is not a directory", above.display()))),
            Err(_) => fs::create_dir(folder.join(above))?,
        }
    }
    fs::rename(new.join(path), folder.join(path))
}

/// Removes a file, and the folders that are empty then.
fn take_away(folder: &Path, path: &Path) -> io::Result<()> {
    if above(path).iter().any(|above| folder.join(above).symlink_metadata().map_or(true, |found| !found.is_dir())) {
        return Ok(());
    }
    fs::remove_file(folder.join(path))?;
    above(path).iter().rev().try_for_each(|above| fs::remove_dir(folder.join(above)))
}

/// The parent folders of a file in this relative path, from the outermost on.
fn above(path: &Path) -> Vec<&Path> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
    above.reverse();
    above
}

/// Writes a file, and creates the folders above it. Replaces an existing file, link or pipe without opening it.
///
/// # Errors
///
/// If one of them cannot be created; the error names it.
pub(crate) fn put(path: &Path, content: &[u8]) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}-{}", std::process::id()));
    let written = remove(&new).and_then(|()| write_new(&new, content)).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        let _ = remove(&new);
        cannot(path, &error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content<'a>(files: &[(&str, &'a str)]) -> Vec<Content<'a>> {
        files.iter().map(|(path, text)| (PathBuf::from(path), Cow::Borrowed(text.as_bytes()))).collect()
    }

    /// The entries of a folder except the list, with folders, in order.
    fn names(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                found.extend(names(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
            } else if name != LIST {
                found.push(name);
            }
        }
        found.sort();
        found
    }

    #[test]
    fn what_was_written_before_goes_and_what_others_wrote_stays() {
        let dir = tempfile::tempdir().unwrap();
        replace(dir.path(), &content(&[("report.txt", "false"), ("g/0.svg", "0"), ("g/1.svg", "1"), ("h/0.svg", "h")]))
            .unwrap();
        fs::write(dir.path().join("g/notes.txt"), "of a user").unwrap();
        fs::write(dir.path().join("own.svg"), "of a user").unwrap();
        replace(dir.path(), &content(&[("report.txt", "true"), ("g/0.svg", "new")])).unwrap();
        assert_eq!(names(dir.path()), ["g/0.svg", "g/notes.txt", "own.svg", "report.txt"]);
        assert_eq!(fs::read_to_string(dir.path().join("g/0.svg")).unwrap(), "new");
        assert!(!dir.path().join("h").exists(), "a folder of ours that is empty");
        replace(dir.path(), &[]).unwrap();
        assert_eq!(names(dir.path()), ["g/notes.txt", "own.svg"]);
    }

    #[test]
    fn a_list_that_leads_out_removes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, outside) = (dir.path().join("folder"), dir.path().join("outside"));
        fs::create_dir(&folder).unwrap();
        fs::write(&outside, "").unwrap();
        fs::write(folder.join(LIST), format!("../outside\n{}\nsub/../../outside\n\n.\n", outside.display())).unwrap();
        replace(&folder, &content(&[("report.txt", "")])).unwrap();
        assert!(outside.exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_replaced_and_never_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, outside) = (dir.path().join("folder"), dir.path().join("outside"));
        fs::create_dir_all(&outside).unwrap();
        fs::create_dir_all(&folder).unwrap();
        fs::write(outside.join("0.svg"), "of a user").unwrap();
        let pipe = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        std::os::unix::fs::symlink(outside.join("0.svg"), folder.join("report.txt")).unwrap();
        pipe(&folder.join("a.txt"));
        replace(&folder, &content(&[("report.txt", "r"), ("a.txt", "a")])).unwrap();
        put(&folder.join("a.txt"), b"b").unwrap();
        assert_eq!(fs::read_to_string(folder.join("report.txt")).unwrap(), "r");
        assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "b");
        // A folder that is a link is not followed, neither to write nor to remove.
        std::os::unix::fs::symlink(&outside, folder.join("g")).unwrap();
        let said = replace(&folder, &content(&[("g/0.svg", "new")])).unwrap_err();
        assert!(said.ends_with("g is not a directory"), "{said}");
        replace(&folder, &content(&[("report.txt", "r")])).unwrap();
        assert_eq!(fs::read_to_string(outside.join("0.svg")).unwrap(), "of a user");
        // A pipe in place of the list does not block either.
        fs::remove_file(folder.join(LIST)).unwrap();
        pipe(&folder.join(LIST));
        assert!(replace(&folder, &[]).unwrap_err().ends_with("it exists and is not a file"));
    }

    #[test]
    fn those_who_write_at_one_time_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let sets = ["a", "b", "c", "d"].map(|name| {
            let files = (0..20).map(|at| (PathBuf::from(format!("{name}/{at}.svg")), Cow::Borrowed(&b""[..])));
            files.chain([(PathBuf::from("report.txt"), Cow::Borrowed(name.as_bytes()))]).collect::<Vec<Content<'_>>>()
        });
        std::thread::scope(|scope| {
            for files in &sets {
                scope.spawn(|| (0..10).for_each(|_| replace(dir.path(), files).unwrap()));
            }
        });
        let winner = fs::read_to_string(dir.path().join("report.txt")).unwrap();
        let found = names(dir.path());
        assert_eq!(found.len(), 21, "{found:?}");
        assert!(found.iter().all(|name| name == "report.txt" || name.starts_with(&format!("{winner}/"))), "{found:?}");
    }
}
