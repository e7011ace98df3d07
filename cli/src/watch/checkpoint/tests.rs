//! Tests with a history's file that is replaced, or rewritten, under the same name.

use super::*;
use crate::watch::follow::Follow;
use crate::watch::inbox::inbox;
use history_core::{Batch, Budget, HistoryError, Op, Report, Verdict};
use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

const OLD: &str = "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 1}\n";
const NEW: &str = "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 2}\n{:process 0}\n";

/// A checker that saves no state.
struct Stateless;

impl Run for Stateless {
    fn observe(&mut self, _: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        Ok(Report::new("stateless", Verdict::Valid))
    }
}

/// A history and its checkpoint.
struct Place {
    _dir: tempfile::TempDir,
    history: PathBuf,
    checkpoint: PathBuf,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let (history, checkpoint) = (dir.path().join("history.edn"), dir.path().join("run.checkpoint"));
        fs::write(&history, OLD).unwrap();
        Place { _dir: dir, history, checkpoint }
    }

    fn rename_another_over_it(&self) {
        let new = self.history.with_extension("new");
        fs::write(&new, NEW).unwrap();
        fs::rename(new, &self.history).unwrap();
    }

    fn write_anew(&self) {
        fs::write(&self.history, NEW).unwrap();
    }

    /// Reads the whole history, applies `change`, and writes the last checkpoint. Returns the warning.
    fn keep(&self, change: impl FnOnce(&Place)) -> Option<String> {
        let to = Checkpoints { path: self.checkpoint.clone(), every: Duration::ZERO, bytes_max: 1 << 20 };
        let (mut keeper, _) = Keeper::begin(&to, &self.history, String::new()).unwrap();
        let (sender, inbox) = inbox();
        let mut feed = Feed::followed(inbox, &ReadAs::default(), keeper.file());
        Follow::new(self.history.clone(), keeper.file()).run(&sender, &Arc::new(AtomicBool::new(true)));
        change(self);
        let mut batch = Batch::new();
        while feed.read_batch(&mut batch).unwrap() {}
        keeper.write(&Stateless, &feed, Printed::default()).unwrap()
    }

    fn resume(&self) -> Result<Option<Resume>, String> {
        Resume::read(&self.checkpoint, &self.history, "", &Build::this().unwrap())
    }
}

/// The values of the ops that are checked again.
fn again(resume: &Resume) -> Vec<String> {
    let mut seen = Vec::new();
    let _ = resume.each_op(&ReadAs::default(), |op| {
        seen.push(op.value.to_string());
        Ok(ControlFlow::Continue(()))
    });
    seen
}

#[test]
fn a_checkpoint_is_of_the_file_that_was_read() {
    let place = Place::new();
    assert_eq!(place.keep(Place::rename_another_over_it), None);
    let refused = place.resume().err().unwrap();
    assert!(refused.contains("it is another history, or was replaced"), "{refused}");
}

#[test]
fn there_is_no_checkpoint_of_text_that_was_overwritten() {
    let place = Place::new();
    let warning = place.keep(Place::write_anew).unwrap();
    assert!(warning.contains("a checkpoint needs a file that only grows"), "{warning}");
    assert!(!place.checkpoint.exists());
}

#[test]
fn ops_are_checked_again_in_the_file_that_was_compared() {
    let place = Place::new();
    assert_eq!(place.keep(|_| ()), None);
    let resume = place.resume().unwrap().unwrap();
    place.rename_another_over_it();
    assert_eq!((again(&resume), resume.compare()), (vec!["nil".to_owned(), "1".to_owned()], Ok(())));
    assert!(place.resume().is_err());
}

#[test]
fn ops_that_changed_while_they_are_checked_again_do_not_count() {
    let place = Place::new();
    place.keep(|_| ());
    let resume = place.resume().unwrap().unwrap();
    place.write_anew();
    assert_eq!(again(&resume), ["nil", "2"]);
    assert!(resume.compare().is_err_and(|why| why.contains("it is another history, or was replaced")));
}

#[test]
fn a_history_that_is_emptied_after_its_text_was_compared_is_new() {
    let place = Place::new();
    place.keep(|_| ());
    let shared = place.resume().unwrap().unwrap().shared();
    fs::write(&place.history, "").unwrap();
    let (sender, inbox) = inbox();
    Follow::new(place.history.clone(), Arc::clone(&shared)).run(&sender, &Arc::new(AtomicBool::new(true)));
    drop(inbox);
    assert_eq!(shared.begins(), Some(u64::try_from(OLD.len()).unwrap()));
}
