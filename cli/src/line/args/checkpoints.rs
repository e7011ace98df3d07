//! `--checkpoint`: where a watch keeps its state, and how often.

use crate::line::usage::UsageError;
use crate::watch::{Checkpoints, Source};
use clap::ArgMatches;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is kept of a watch, if anything is.
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
    if *history == path {
        return Err(UsageError::new("the checkpoint would overwrite the history itself").tip("choose another file"));
    }
    let every = matches.get_one("checkpoint-interval").copied().unwrap_or_default();
    let bytes_max = matches.get_one("checkpoint-max-size").copied().unwrap_or(u64::MAX);
    Ok(Some(Checkpoints { path, every, bytes_max }))
}
