//! `--checkpoint`: what a watch knows, in a file, so that another one goes on from it after a stop, or a crash.
//!
//! A checkpoint is written between two batches of ops, after what they prove was printed. So each op is in the state,
//! or is read again; and what was proved after the last checkpoint is proved, and printed, once more.
//!
//! The state of a checker is in it, if the checker saves one. For the others, the ops before are checked again, without
//! printing what was printed. Both end in the same verdict.

mod build;
mod file;
mod fingerprint;
mod resume;

pub(crate) use file::written;
pub(super) use resume::Resume;

use super::ahead::ReadOn;
use super::feed::Feed;
use super::follow::Shared;
use crate::output::diagnose;
use build::Build;
use fingerprint::Fingerprint;
use histcheck_front::ReadAs;
use histcheck_front::setup::{Setup, WhetherKeyed};
use history_core::{Run, Saved};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where checkpoints go, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoints {
    pub(crate) path: PathBuf,
    /// Between two of them.
    pub(crate) every: Duration,
    /// Bytes of one.
    pub(crate) bytes_max: u64,
}

/// What a watch needs to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Checkpoint {
    /// How the history is checked.
    settings: String,
    /// What was read of it.
    read: Fingerprint,
    /// How many ops that was.
    ops: u64,
    /// The reader's state.
    reader: Vec<u8>,
    /// The checker's, and how many ops it needs in addition; `None` if it needs all.
    state: Option<(Vec<u8>, u64)>,
    printed: Printed,
}

history_core::state!(struct Checkpoint { settings, read, ops, reader, state, printed });

/// What was printed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) is_violated: bool,
    /// The op at which the violation became certain, as a sentence; absent where doubt came before it.
    pub(super) violated: Option<String>,
    /// Violations that were reported.
    pub(super) violations: u64,
}

history_core::state!(struct Printed { is_violated, violated, violations });

/// Writes checkpoints.
pub(super) struct Keeper {
    to: Checkpoints,
    history: PathBuf,
    settings: String,
    build: Build,
    written: Instant,
    /// The history's file, as it is followed: another one may have its name by now.
    file: Arc<Shared>,
    /// Whether the last attempt failed, which was reported.
    has_failed: bool,
}

impl Keeper {
    /// Goes on from the last checkpoint, if there is one.
    ///
    /// # Errors
    ///
    /// If it does not fit, or there can be none, as a sentence.
    pub(super) fn begin(
        to: &Checkpoints,
        history: &Path,
        settings: String,
    ) -> Result<(Keeper, Option<Resume>), String> {
        let build = Build::this().map_err(|error| format!("--checkpoint: cannot read this program's file: {error}"))?;
        let resume = Resume::read(&to.path, history, &settings, &build)?;
        file::try_out(&to.path).map_err(|error| format!("cannot write {}: {error}", to.path.display()))?;
        let file = resume.as_ref().map(Resume::shared).unwrap_or_default();
        let (to, history, written) = (to.clone(), history.to_owned(), Instant::now());
        Ok((Keeper { to, history, settings, build, written, file, has_failed: false }, resume))
    }

    /// The history's file, for who follows it.
    pub(super) fn file(&self) -> Arc<Shared> {
        Arc::clone(&self.file)
    }

    /// What happens where there is no checkpoint, as a sentence.
    pub(super) fn note(&self) -> String {
        format!("no checkpoint at {} yet: reading the history from its beginning", self.to.path.display())
    }

    /// Writes a checkpoint if it is time to.
    ///
    /// # Errors
    ///
    /// If there can be none of this history, as a sentence.
    pub(super) fn keep(&mut self, run: &dyn Run, feed: &Feed, printed: Printed) -> Result<Option<String>, String> {
        if self.written.elapsed() < self.to.every { Ok(None) } else { self.write(run, feed, printed) }
    }

    /// Writes a checkpoint, if the text can be read on from here. A warning, if that failed.
    ///
    /// # Errors
    ///
    /// As [`Keeper::keep`].
    pub(super) fn write(&mut self, run: &dyn Run, feed: &Feed, printed: Printed) -> Result<Option<String>, String> {
        let place = match feed.read_on() {
            ReadOn::Later => {
                feed.want_save();
                return Ok(None);
            }
            _ if feed.ops() == 0 => return Ok(None),
            ReadOn::Never => return Err(self.never()),
            ReadOn::At(byte, reader) => (*byte, reader.clone()),
        };
        let had_failed = self.has_failed;
        let written = self.try_write(run, feed.ops(), place, printed);
        self.written = Instant::now();
        self.has_failed = written.is_err();
        match written {
            Err(why) if !had_failed => {
                Ok(Some(format!("checkpoint not written: {why}; the watch continues, and the last checkpoint is kept")))
            }
            _ => Ok(None),
        }
    }

    fn never(&self) -> String {
        let (history, why) =
            (self.history.display(), "a checkpoint needs text in EDN, JSON or Jepsen's history.txt, not compressed");
        format!("--checkpoint: {history} cannot be read from the middle: {why}")
    }

    /// Writes a checkpoint after so many ops. Why not, if that failed.
    fn try_write(
        &self,
        run: &dyn Run,
        ops: u64,
        (byte, reader): (u64, Vec<u8>),
        printed: Printed,
    ) -> Result<(), String> {
        let now = |error: std::io::Error| error.to_string();
        // The file of that name may be another one, of which nothing was read.
        let Some(read) = self.file.look(|file| Fingerprint::of(file, byte)).map_err(now)? else {
            let history = self.history.display();
            return Err(format!("{history} was emptied or replaced, but a checkpoint needs a file that only grows"));
        };
        let bytes_max = usize::try_from(self.to.bytes_max).unwrap_or(usize::MAX);
        let too_large = || format!("it would take more than {bytes_max} bytes (--checkpoint-max-size)");
        let state = match run.save(bytes_max) {
            Saved::Ops => None,
            Saved::State { state, first_ops } => Some((state, first_ops)),
            Saved::TooLarge => return Err(too_large()),
        };
        let settings = self.settings.clone();
        let checkpoint = Checkpoint { settings, read, ops, reader, state, printed };
        let bytes = file::encode(&checkpoint, &self.build, bytes_max).ok_or_else(too_large)?;
        file::write(&self.to.path, &bytes).map_err(now)
    }
}

/// How a history is checked, as text: a checkpoint serves for the same settings only.
pub(super) fn settings(setup: &Setup<'_>, read_as: &ReadAs, keep_going: bool) -> String {
    let mut text = format!("-m {}", setup.checker.name());
    text.extend(setup.options.iter().map(|(name, value)| format!(" --{name}={value}")));
    if keep_going {
        text.push_str(" --keep-going");
    }
    if setup.keyed != WhetherKeyed::No {
        text.push_str(&format!(" --keyed={:?}", setup.keyed).to_lowercase());
    }
    text.push_str(&read_as.changes());
    text
}

/// Prints a warning of a keeper, if there is one.
pub(super) fn warn(warning: Option<&str>) {
    if let Some(warning) = warning {
        diagnose::warning(warning);
    }
}

#[cfg(test)]
mod tests;
