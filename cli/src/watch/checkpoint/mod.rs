//! `--checkpoint`: stores the state of a watch in a file, so that another watch can continue after a stop or a crash.
//!
//! A checkpoint is written between two batches of ops, after their results were printed. So each op is in the state, or
//! is read again. Results that were found after the last checkpoint are found and printed once more.
//!
//! The file contains the state of the checker, if the checker can save one. For other checkers, earlier ops are checked
//! again, without printing the earlier output. Both give the same verdict.

mod build;
mod file;
mod fingerprint;
mod lock;
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
use lock::Lock;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The file of checkpoints, and how often they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoints {
    pub(crate) path: PathBuf,
    /// The time between two checkpoints.
    pub(crate) every: Duration,
    /// The maximum length of a checkpoint in bytes.
    pub(crate) bytes_max: u64,
}

/// The data that a watch needs to continue.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Checkpoint {
    /// The settings of the check, as text.
    settings: String,
    /// The part of the history that was read.
    read: Fingerprint,
    /// The number of ops that were read.
    ops: u64,
    /// The reader's state.
    reader: Vec<u8>,
    /// The checker's state, and how many earlier ops it needs in addition; `None` if it needs all ops.
    state: Option<(Vec<u8>, u64)>,
    printed: Printed,
}

history_core::state!(struct Checkpoint { settings, read, ops, reader, state, printed });

/// The output so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) is_violated: bool,
    /// A sentence on the op at which the violation became certain; absent if doubt came before it.
    pub(super) violated: Option<String>,
    /// The number of violations that were reported.
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
    /// The history's file, which is still followed if another file has its name by now.
    file: Arc<Shared>,
    /// Whether the last attempt failed and was reported.
    has_failed: bool,
    /// No other watch has this checkpoint.
    _lock: Lock,
}

impl Keeper {
    /// Loads the last checkpoint, if there is one.
    ///
    /// # Errors
    ///
    /// If it does not fit, or no checkpoint can be written, as a sentence.
    pub(super) fn begin(
        to: &Checkpoints,
        history: &Path,
        settings: String,
    ) -> Result<(Keeper, Option<Resume>), String> {
        let build = Build::this().map_err(|error| format!("--checkpoint: cannot read this program's file: {error}"))?;
        file::verify_kind(&to.path).map_err(|why| format!("--checkpoint: {} {why}", to.path.display()))?;
        let lock = Lock::acquire(&to.path)?;
        let resume = Resume::read(&to.path, history, &settings, &build)?;
        file::try_out(&to.path).map_err(|error| format!("cannot write {}: {error}", to.path.display()))?;
        let file = resume.as_ref().map(Resume::shared).unwrap_or_default();
        let (to, history, written) = (to.clone(), history.to_owned(), Instant::now());
        Ok((Keeper { to, history, settings, build, written, file, has_failed: false, _lock: lock }, resume))
    }

    /// The history's file, for the thread that follows it.
    pub(super) fn file(&self) -> Arc<Shared> {
        Arc::clone(&self.file)
    }

    /// A sentence on what happens if there is no checkpoint yet.
    pub(super) fn note(&self) -> String {
        format!("no checkpoint at {} yet: reading the history from its beginning", self.to.path.display())
    }

    /// Writes a checkpoint if the time has come.
    ///
    /// # Errors
    ///
    /// If this history can have no checkpoint, as a sentence.
    pub(super) fn keep(&mut self, run: &dyn Run, feed: &Feed, printed: Printed) -> Result<Option<String>, String> {
        if self.written.elapsed() < self.to.every { Ok(None) } else { self.write(run, feed, printed) }
    }

    /// Writes a checkpoint, if reading can continue from here. Returns a warning if that failed.
    ///
    /// # Errors
    ///
    /// The same as those of [`Keeper::keep`].
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

    /// Writes a checkpoint after this number of ops. Returns the reason if that failed.
    fn try_write(
        &self,
        run: &dyn Run,
        ops: u64,
        (byte, reader): (u64, Vec<u8>),
        printed: Printed,
    ) -> Result<(), String> {
        let now = |error: std::io::Error| error.to_string();
        // The file with that name may be another one, which was not read.
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

/// The settings of a check, as text. A checkpoint is valid only for the same settings.
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

/// Prints the warning of a keeper, if there is one.
pub(super) fn warn(warning: Option<&str>) {
    if let Some(warning) = warning {
        diagnose::warning(warning);
    }
}

#[cfg(test)]
mod tests;
