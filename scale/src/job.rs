//! What there is to do, and what comes of it.

use histcheck_front::{ReadAs, Setup};
use history_core::{HistoryError, Report};
use std::path::PathBuf;

/// Bytes of a range, unless a job says otherwise: some ten thousand ops, so that what workers tell each other costs
/// little beside reading.
const RANGE_BYTES: u64 = 8 << 20;

/// Histories to be judged, one after another, by all workers together.
#[expect(missing_debug_implementations, reason = "a checker need not have one")]
#[non_exhaustive]
pub struct Job<'c> {
    /// The checker and its options. Each key is judged on its own, whatever the setup says.
    pub setup: &'c Setup<'c>,
    /// The histories.
    pub histories: Vec<History>,
    /// Bytes of the ranges into which files are cut. Nothing but memory and time may depend on it.
    pub range_bytes: u64,
}

impl<'c> Job<'c> {
    /// These histories.
    pub fn new(setup: &'c Setup<'c>, histories: Vec<History>) -> Job<'c> {
        Job { setup, histories, range_bytes: RANGE_BYTES }
    }
}

/// A history in a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct History {
    /// The file, or the directory of a test of Jepsen.
    pub path: PathBuf,
    /// How its text is read.
    pub read_as: ReadAs,
}

impl History {
    /// The history at a path, read as `read_as` says.
    pub fn new(path: impl Into<PathBuf>, read_as: ReadAs) -> History {
        History { path: path.into(), read_as }
    }
}

/// What is known of a history.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judged {
    /// The report, or why there is none.
    pub outcome: Result<Report, HistoryError>,
    /// Names of the client rule that no process had; `None` if not all of the history was read.
    pub unmatched: Option<Vec<String>>,
    /// What else the user should know about how it was read.
    pub decisions: Vec<String>,
}

/// Why a checker's histories cannot be judged by many workers.
///
/// Only histories of keys can: each key is judged on its own (`--keyed`). Transactions on several keys, and workloads
/// whose ops have no keys, are one history that has to be judged as a whole.
///
/// # Errors
///
/// If they cannot, as a sentence.
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
    if setup.keyed != histcheck_front::setup::WhetherKeyed::Yes {
        return Err(format!(
            "scale checks each key separately, but {name} without --keyed checks a history as a whole: pass --keyed if each op is \
             about one key, else check it on one machine"
        ));
    }
    Ok(())
}
