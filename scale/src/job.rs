//! The input of a check, and its result.

use crate::read::place;
use histcheck_front::setup::WhetherKeyed;
use histcheck_front::source::Reading;
use histcheck_front::{ReadAs, Setup};
use history_core::share::Share;
use history_core::{HistoryError, Options, Reader, Report};
use std::path::PathBuf;
use std::sync::Arc;

/// The default length of a range in bytes: some ten thousand ops, so that communication between workers costs little
/// compared with reading.
const RANGE_BYTES: u64 = 8 << 20;

/// Histories to check, one after another, by all workers together.
#[expect(missing_debug_implementations, reason = "a checker need not implement Debug")]
#[non_exhaustive]
pub struct Job<'c> {
    /// The checker and its options. Each key is checked separately, except for transactions: see [`can_judge`].
    pub setup: &'c Setup<'c>,
    /// The histories.
    pub histories: Vec<History>,
    /// The length of the ranges into which files are divided, in bytes. It affects only memory and time.
    pub range_bytes: u64,
    /// A limit on the memory for a history of transactions, if there is one.
    pub spill: Option<Spill>,
}

/// A limit on the memory for a history of transactions: [`judge`](crate::judge) then reads it several times, each time
/// for other keys, and keeps dependencies in files without names. A report on an invalid history is one on some of its
/// keys.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Spill {
    /// The directory for files.
    pub dir: PathBuf,
    /// The maximum number of bytes of memory that this process may use.
    pub bytes_max: u64,
    /// The number of bytes in use, if that is known.
    pub memory: fn() -> Option<u64>,
}

impl Spill {
    /// Creates a limit in bytes; `memory` returns the number of bytes in use.
    pub fn new(dir: impl Into<PathBuf>, bytes_max: u64, memory: fn() -> Option<u64>) -> Spill {
        Spill { dir: dir.into(), bytes_max, memory }
    }
}

impl<'c> Job<'c> {
    /// Creates a job of these histories.
    pub fn new(setup: &'c Setup<'c>, histories: Vec<History>) -> Job<'c> {
        Job { setup, histories, range_bytes: RANGE_BYTES, spill: None }
    }

    /// Returns true if the histories consist of transactions, so that each worker checks a share.
    pub(crate) fn is_of_transactions(&self) -> bool {
        has_shares(self.setup)
    }
}

/// A history in a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct History {
    /// The file, or the directory of a test of Jepsen. With the feature `objects`, also the address of an object: see
    /// [`is_address`](crate::is_address).
    pub path: PathBuf,
    /// The settings for reading its text.
    pub read_as: ReadAs,
}

impl History {
    /// Creates a history at a path, read with the settings `read_as`.
    pub fn new(path: impl Into<PathBuf>, read_as: ReadAs) -> History {
        History { path: path.into(), read_as }
    }

    /// Opens the history for a complete read. `reading` contains the progress.
    pub(crate) fn open(&self, reading: &Arc<Reading>) -> Result<Reader<'static>, HistoryError> {
        place::reader(&self.path, &self.read_as, reading)
    }
}

/// The result for a history.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judged {
    /// The report, or the reason why there is none.
    pub outcome: Result<Report, HistoryError>,
    /// Names of the client rule that no process had; `None` if not all of the history was read.
    pub unmatched: Option<Vec<String>>,
    /// Further information for the user about how it was read.
    pub decisions: Vec<String>,
}

/// Returns whether many workers can check a checker's histories; an error with the reason if not.
///
/// Many workers can check histories of keys, if each key is checked separately (`--keyed`), and histories of
/// transactions, if the checker can check the keys of each worker separately (list-append, rw-register). Other
/// workloads whose ops have no keys are one history that has to be checked as a whole.
///
/// # Errors
///
/// If many workers cannot check them, the reason as a sentence.
pub fn can_judge(setup: &Setup<'_>) -> Result<(), String> {
    let name = setup.checker.name();
    let about = setup.checker.about();
    if about.is_keyed {
        let of_one_key = match &about.members[..] {
            [(name, _)] => format!("pass -m {name} --keyed instead"),
            _ => "check it on one machine".to_owned(),
        };
        return Err(format!("{name} separates the keys itself, but scale must do this: {of_one_key}"));
    }
    if setup.keyed == WhetherKeyed::Auto {
        return Err(
            "scale does not find out by itself whether a history has keys: pass --keyed if each op is about one key, \
            else leave --keyed=auto out"
                .to_owned(),
        );
    }
    if setup.keyed == WhetherKeyed::No && !has_shares(setup) && is_split(setup, &Options::new()) {
        let given: Vec<String> = setup.options.iter().map(|(option, _)| format!("--{option}")).collect();
        return Err(format!(
            "scale cannot split histories of {name} with all of these options ({}): leave some out, or check the history on one \
             machine",
            given.join(", ")
        ));
    }
    if setup.keyed != WhetherKeyed::Yes && !has_shares(setup) {
        return Err(format!(
            "scale checks each key separately, but {name} without --keyed checks a history as a whole: pass --keyed if each op is \
             about one key, else check it on one machine"
        ));
    }
    Ok(())
}

/// Returns true if many workers can check the history without checking each key separately.
fn has_shares(setup: &Setup<'_>) -> bool {
    setup.keyed == WhetherKeyed::No && is_split(setup, &setup.options)
}

/// Returns true if the checker can check the keys of each worker separately, with these options.
fn is_split(setup: &Setup<'_>, options: &Options) -> bool {
    setup.checker.start_share(options, Share::All).is_ok_and(|run| run.is_some())
}
