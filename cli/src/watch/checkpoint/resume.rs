//! Continues from a checkpoint.

use super::build::Build;
use super::fingerprint::Fingerprint;
use super::{Checkpoint, Printed, file};
use crate::watch::follow::{Shared, TextFrom};
use histcheck_front::ReadAs;
use history_core::state::Damaged;
use history_core::{Batch, HistoryError, Op, Reader, Run};
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The advice for a checkpoint that does not fit.
const REMOVE: &str = "to check the history from its beginning, remove the checkpoint";

/// A checkpoint that fits the history and the settings.
pub(crate) struct Resume {
    checkpoint: Checkpoint,
    path: PathBuf,
    history: PathBuf,
    /// The history's file that was compared. Another file may get its name later.
    file: Arc<File>,
    shared: Arc<Shared>,
}

impl Checkpoint {
    /// A clause for a file whose text differs from that of the checkpoint.
    fn other_text(&self, history: &Path) -> String {
        let bytes = self.read.byte;
        if !history.exists() {
            return format!("{} does not exist, and the checkpoint covers its first {bytes} bytes", history.display());
        }
        let history = history.display();
        format!(
            "{history} does not begin with the {bytes} bytes that the checkpoint covers: it is another history, or was \
             replaced"
        )
    }
}

impl Resume {
    /// Reads the checkpoint at the path, if there is one.
    ///
    /// # Errors
    ///
    /// If it does not fit, as a sentence with advice.
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
        let opened = File::open(history).map(Arc::new).and_then(|file| {
            let shared = Shared::read_to(Arc::clone(&file), checkpoint.read.byte)?;
            Ok((file, Arc::new(shared)))
        });
        let Ok((file, shared)) = opened else { return Err(wrong(&checkpoint.other_text(history))) };
        let resume = Resume { checkpoint, path: path.to_owned(), history: history.to_owned(), file, shared };
        resume.compare().map(|()| Some(resume))
    }

    /// Verifies that the open file still begins with the text that the checkpoint covers.
    ///
    /// # Errors
    ///
    /// If it does not, as a sentence with advice.
    pub(crate) fn compare(&self) -> Result<(), String> {
        let read = &self.checkpoint.read;
        if Fingerprint::of(&self.file, read.byte).is_ok_and(|now| now == *read) {
            return Ok(());
        }
        let why = self.checkpoint.other_text(&self.history);
        Err(format!("cannot continue from {}: {why}; {REMOVE}", self.path.display()))
    }

    /// The history's file, read up to the checkpoint, for the thread that follows it.
    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// The reader's state.
    pub(crate) fn reader(&self) -> &[u8] {
        &self.checkpoint.reader
    }

    /// The output up to the checkpoint.
    pub(crate) fn printed(&self) -> Printed {
        self.checkpoint.printed.clone()
    }

    /// A sentence on what happens.
    pub(crate) fn note(&self) -> String {
        let Checkpoint { ops, state, .. } = &self.checkpoint;
        let again = if state.is_none() { ", which are checked again: the checker saves no state" } else { "" };
        format!("continuing from {}, after {ops} ops{again}", self.path.display())
    }

    /// A sentence on why the checkpoint cannot be used after all.
    pub(crate) fn damaged(&self, _: Damaged) -> String {
        format!("cannot continue from {}: its state is damaged, or of another version; {REMOVE}", self.path.display())
    }

    /// The number of ops that a run needs again.
    pub(crate) fn ops_again(&self) -> u64 {
        let Checkpoint { ops, state, .. } = &self.checkpoint;
        state.as_ref().map_or(*ops, |(_, first_ops)| *first_ops)
    }

    /// Passes a run the ops that it needs again, until `see` breaks. Returns whether it did.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub(crate) fn each_op(
        &self,
        read_as: &ReadAs,
        mut see: impl FnMut(&Op<'_>) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<(), HistoryError> {
        let mut left = self.ops_again();
        let text = TextFrom::new(Arc::clone(&self.file), 0).take(self.checkpoint.read.byte);
        let mut reader = read_as.reader(Reader::new(text).growing());
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

    /// Restores the saved state of a run, if there is one.
    ///
    /// # Errors
    ///
    /// If the state is not valid for this run.
    pub(crate) fn restore(&self, run: &mut dyn Run) -> Result<(), Damaged> {
        self.checkpoint.state.as_ref().map_or(Ok(()), |(state, _)| run.restore(state))
    }
}
