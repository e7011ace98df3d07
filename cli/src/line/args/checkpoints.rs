//! `--checkpoint`: the file in which a watch keeps its state, and how often it is written.

use crate::line::usage::UsageError;
use crate::watch::{Checkpoints, Source};
use clap::ArgMatches;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The error if one of the checkpoint's temporary files is the history.
const TEMPORARY: &str = "the checkpoint's temporary files, FILE.new and FILE.lock, would overwrite the history itself";

/// The checkpoints of a watch, if requested.
///
/// # Errors
///
/// If the source cannot be read again, or is the checkpoint itself.
pub(super) fn given(matches: &ArgMatches, source: &Source) -> Result<Option<Checkpoints>, UsageError> {
    let Some(path) = matches.get_one::<OsString>("checkpoint").map(PathBuf::from) else { return Ok(None) };
    let Source::File(history) = source else {
        let why = "--checkpoint needs a history in a file: a pipe or a connection cannot be read again";
        return Err(UsageError::new(why).tip("append the history to a file, and pass the name of the file"));
    };
    if path.as_os_str().is_empty() {
        return Err(UsageError::new("--checkpoint needs a path"));
    }
    if let Some(over) = crate::watch::written(&path).iter().find(|written| is_written_over(history, written)) {
        let why = if *over == path { "the checkpoint would overwrite the history itself" } else { TEMPORARY };
        return Err(UsageError::new(why).tip("choose another file"));
    }
    let every = matches.get_one("checkpoint-interval").copied().unwrap_or_default();
    let bytes_max = matches.get_one("checkpoint-max-size").copied().unwrap_or(u64::MAX);
    Ok(Some(Checkpoints { path, every, bytes_max }))
}

/// Returns true if writing a file at this path would replace the history, which need not exist yet, or the target of a
/// link to it.
fn is_written_over(history: &Path, written: &Path) -> bool {
    let written = place(written);
    place(history) == written || history.canonicalize().is_ok_and(|history| history == written)
}

/// A path without links and `..`, except for its last name: writing replaces a link itself.
fn place(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (absolute.parent().map(Path::canonicalize), absolute.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => absolute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_history_is_not_written_over_whatever_it_is_called() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        assert!(is_written_over(&at("h"), &at("sub/../h")), "none exists");
        assert!(is_written_over(&at("./h"), &at("h")));
        assert!(!is_written_over(&at("h"), &at("sub/h")));
        assert!(is_written_over(Path::new("no-such-file"), Path::new("./no-such-file")));
        fs::write(at("h"), "").unwrap();
        assert!(is_written_over(&at("h"), &at("h")) && !is_written_over(&at("h"), &at("h.new")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("h"), at("link")).unwrap();
            std::os::unix::fs::symlink(at("sub"), at("dir")).unwrap();
            assert!(is_written_over(&at("link"), &at("h")), "what the link points to would be replaced");
            assert!(is_written_over(&at("link"), &at("link")));
            assert!(!is_written_over(&at("h"), &at("link")), "the link itself would be replaced");
            assert!(is_written_over(&at("dir/h"), &at("sub/h")));
        }
    }
}
