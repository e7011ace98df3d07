//! Going on from a checkpoint.

use super::build::Build;
use super::fingerprint::Fingerprint;
use super::{Checkpoint, Printed, file};
use histcheck_front::ReadAs;
use history_core::state::Damaged;
use history_core::{Batch, ErrorKind, HistoryError, Op, Reader, Run};
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What to do about a checkpoint that does not fit.
const REMOVE: &str = "to check the history from its beginning, remove the checkpoint";

/// A checkpoint that fits the history and how it is checked.
pub(crate) struct Resume {
    checkpoint: Checkpoint,
    path: PathBuf,
    history: PathBuf,
}

impl Resume {
    /// The checkpoint at the path, if there is one.
    ///
    /// # Errors
    ///
    /// If it does not fit, as a sentence and what to do.
    pub(super) fn read(path: &Path, history: &Path, settings: &str, build: &Build) -> Result<Option<Resume>, String> {
        let wrong = |why: &str| format!("cannot continue from {}: {why}; {REMOVE}", path.display());
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(&error.to_string())),
        };
        let checkpoint = file::decode(&bytes, build).map_err(|why| wrong(&why))?;
        if checkpoint.settings != settings {
            let made = &checkpoint.settings;
            return Err(wrong(&format!("it was written with other options; pass the same options again: {made}")));
        }
        let now = Fingerprint::of(history, checkpoint.read.byte);
        if !now.is_ok_and(|now| now == checkpoint.read) {
            let bytes = checkpoint.read.byte;
            return Err(wrong(&format!(
                "{} does not begin with the {bytes} bytes that the checkpoint covers: it is another history, or was replaced",
                history.display()
            )));
        }
        Ok(Some(Resume { checkpoint, path: path.to_owned(), history: history.to_owned() }))
    }

    /// Where the next op is read, and the reader's state.
    pub(crate) fn place(&self) -> (u64, &[u8]) {
        (self.checkpoint.read.byte, &self.checkpoint.reader)
    }

    /// What was printed by then.
    pub(crate) fn printed(&self) -> Printed {
        self.checkpoint.printed.clone()
    }

    /// What happens, as a sentence.
    pub(crate) fn note(&self) -> String {
        let Checkpoint { ops, state, .. } = &self.checkpoint;
        let again = if state.is_none() { ", which are checked again: the checker saves no state" } else { "" };
        format!("continuing from {}, after {ops} ops{again}", self.path.display())
    }

    /// Says why it does not serve after all.
    pub(crate) fn damaged(&self, _: Damaged) -> String {
        format!("cannot continue from {}: its state is damaged, or of another version; {REMOVE}", self.path.display())
    }

    /// Gives a run the ops that it needs again, until `see` ends that; whether it did.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub(crate) fn each_op(
        &self,
        read_as: &ReadAs,
        mut see: impl FnMut(&Op<'_>) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<(), HistoryError> {
        let Checkpoint { read, ops, state, .. } = &self.checkpoint;
        let mut left = state.as_ref().map_or(*ops, |(_, first_ops)| *first_ops);
        if left == 0 {
            return Ok(());
        }
        let file = File::open(&self.history).map_err(|error| HistoryError::new(ErrorKind::Io, error.to_string()))?;
        let mut reader = read_as.reader(Reader::new(file.take(read.byte)).growing());
        let mut batch = Batch::new();
        while left > 0 && reader.read_batch(&mut batch)? {
            let flow = batch.each(&mut |op| {
                left -= 1;
                let flow = see(op)?;
                Ok(if left == 0 { ControlFlow::Break(()) } else { flow })
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Gives a run its state, if it saved one.
    ///
    /// # Errors
    ///
    /// If it is none of this run's.
    pub(crate) fn restore(&self, run: &mut dyn Run) -> Result<(), Damaged> {
        self.checkpoint.state.as_ref().map_or(Ok(()), |(state, _)| run.restore(state))
    }
}
