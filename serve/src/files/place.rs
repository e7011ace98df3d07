//! Access to files below the served directory: no address reaches any other file.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Returns true if a path below the directory consists of plain names: none is hidden, none is `..`.
pub(crate) fn is_plain(path: &str) -> bool {
    // On systems other than Unix, these lead to other directories, drives and streams.
    let is_foreign = |name: &str| !cfg!(unix) && name.contains(['\\', ':']);
    let is_name = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains('\0') && !is_foreign(name);
    path == "." || path.split('/').all(is_name)
}

/// The path of a file or directory below `root`, if it exists and is reached without links.
///
/// # Errors
///
/// If it is not, or if the path is not plain.
pub(crate) fn find(root: &Path, path: &str) -> io::Result<(PathBuf, Metadata)> {
    if !is_plain(path) {
        return Err(io::ErrorKind::NotFound.into());
    }
    walk(root, path.split('/').filter(|name| *name != ".").map(OsStr::new))
}

/// The path of these names below `root`, if it exists and is reached without links.
fn walk<'a>(root: &Path, names: impl Iterator<Item = &'a OsStr>) -> io::Result<(PathBuf, Metadata)> {
    let mut place = root.to_owned();
    let mut metadata = fs::metadata(root)?;
    for name in names {
        place.push(name);
        metadata = fs::symlink_metadata(&place)?;
        if metadata.is_symlink() {
            return Err(io::ErrorKind::NotFound.into());
        }
    }
    Ok((place, metadata))
}

/// Opens a file below `root`.
///
/// # Errors
///
/// If it does not exist, or is not a regular file: a pipe is never opened.
pub(crate) fn open(root: &Path, path: &str) -> io::Result<(File, u64)> {
    open_below(root, &find(root, path)?.0)
}

/// Opens a file below `root` that the server itself wrote. Its names may be hidden, unlike those of [`open`].
///
/// # Errors
///
/// The same as those of [`open`]: the directory may come from an untrusted source, with links and pipes in place of
/// such files.
pub(crate) fn open_own(root: &Path, path: &Path) -> io::Result<(File, u64)> {
    let below = path.strip_prefix(root).map_err(|_| io::ErrorKind::NotFound)?;
    if !below.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::ErrorKind::NotFound.into());
    }
    open_below(root, &walk(root, below.iter())?.0)
}

fn open_below(root: &Path, place: &Path) -> io::Result<(File, u64)> {
    let opened = open_plain(place)?;
    // A link may have been created in the meantime.
    if !place.canonicalize()?.starts_with(root.canonicalize()?) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(opened)
}

/// Opens the file at a path. Rejects a link as the last name of the path; the caller verifies the other names.
///
/// # Errors
///
/// If it does not exist, or is not a regular file: a pipe is never opened.
pub(crate) fn open_plain(path: &Path) -> io::Result<(File, u64)> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = File::open(path)?;
    let opened = file.metadata()?;
    if !opened.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok((file, opened.len()))
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path below the run.
    pub(crate) path: String,
    pub(crate) bytes: u64,
}

/// The files of a directory and below it, without links and hidden names, in order, up to a maximum; and whether these
/// are all files.
pub(crate) fn files(directory: &Path, count_max: usize) -> (Vec<Entry>, bool) {
    const DEPTH_MAX: usize = 16;
    let (mut found, mut is_all) = (Vec::new(), true);
    let mut open = vec![(directory.to_owned(), String::new(), 0)];
    while let Some((directory, above, depth)) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) else { continue };
            let path = if above.is_empty() { name } else { format!("{above}/{name}") };
            if !is_plain(&path) {
                continue;
            }
            if metadata.is_dir() && depth < DEPTH_MAX {
                open.push((entry.path(), path, depth + 1));
            } else if metadata.is_file() {
                if found.len() >= count_max {
                    is_all = false;
                    break;
                }
                found.push(Entry { path, bytes: metadata.len() });
            } else {
                is_all &= !metadata.is_dir();
            }
        }
    }
    found.sort_by(|a: &Entry, b| a.path.cmp(&b.path));
    (found, is_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(dir.path().join("secret"), "s").unwrap();
        fs::write(root.join(".hidden"), "s").unwrap();
        fs::write(root.join("a/b.txt"), "b").unwrap();
        assert_eq!(open(&root, "a/b.txt").unwrap().1, 1);
        for path in [
            "../secret",
            "a/../../secret",
            "/etc/passwd",
            ".hidden",
            "a/./b.txt",
            "a//b.txt",
            "a",
            "",
            "a/..",
            "a/b.txt/",
            "a/b.txt\0",
        ] {
            assert!(open(&root, path).is_err(), "{path:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed_and_no_pipe_opened() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/secret"), "s").unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside"), root.join("folder")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside/secret"), root.join("file")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
        fs::create_dir(root.join(".own")).unwrap();
        fs::write(root.join(".own/file"), "own").unwrap();
        std::os::unix::fs::symlink(root.join(".own"), root.join(".link")).unwrap();
        for path in ["folder/secret", "file", "pipe", ".own/file", ".own"] {
            assert!(open(&root, path).is_err(), "{path}");
        }
        for path in ["folder/secret", "file", "pipe", ".link/file", ".own", "", "../outside/secret"] {
            assert!(open_own(&root, &root.join(path)).is_err(), "{path}");
        }
        assert!(open_own(&root, &dir.path().join("outside/secret")).is_err());
        assert_eq!(open_own(&root, &root.join(".own/file")).unwrap().1, 3);
        fs::remove_dir_all(root.join(".own")).unwrap();
        assert_eq!(files(&root, 9), (Vec::new(), true));
        // The served directory itself may be reached through a link.
        std::os::unix::fs::symlink(dir.path().join("outside"), dir.path().join("link")).unwrap();
        assert!(open(&dir.path().join("link"), "secret").is_ok());
    }

    #[test]
    fn the_files_of_a_run_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("n")).unwrap();
        for name in ["b", "n/a", ".c", "d"] {
            fs::write(dir.path().join(name), "12").unwrap();
        }
        let (found, is_all) = files(dir.path(), 9);
        assert_eq!(found.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(), ["b", "d", "n/a"]);
        assert!(is_all && found[0].bytes == 2 && !files(dir.path(), 2).1);
    }
}
