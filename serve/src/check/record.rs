//! What is kept of a check.

use crate::files::place;
use crate::runs::index;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Its name in the folder of a check.
pub(super) const FILE: &str = "check.json";
/// Bytes of such a file, at most.
const BYTES_MAX: usize = 64 << 10;

/// How far a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    Waiting,
    Running,
    /// `result.json` has the result.
    Done,
    /// There is no result; the messages contain the reason.
    Failed,
    Cancelled,
    /// The server ended before the check did.
    Interrupted,
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Waiting => "waiting",
            Stage::Running => "running",
            Stage::Done => "done",
            Stage::Failed => "failed",
            Stage::Cancelled => "cancelled",
            Stage::Interrupted => "interrupted",
        }
    }

    /// Whether it can still change.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Stage::Waiting | Stage::Running)
    }
}

/// What a history is checked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    /// As for `-m`.
    pub(crate) checkers: String,
    /// As for `-c`; empty for the checker's own choice.
    pub(crate) levels: String,
    /// Whether each key is checked separately, as with `--keyed`.
    #[serde(default)]
    pub(crate) keyed: bool,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The name of its folder.
    pub(crate) id: String,
    /// The run whose history is checked.
    pub(crate) run: String,
    /// The history, below the directory that is served.
    pub(crate) history: String,
    /// The name that a dropped file had.
    pub(crate) name: Option<String>,
    #[serde(flatten)]
    pub(crate) wanted: Wanted,
    pub(crate) stage: Stage,
    /// Milliseconds since 1970.
    pub(crate) begun_ms: u64,
    pub(crate) ended_ms: Option<u64>,
}

impl Record {
    /// Reads the record of a folder below the directory that is served. A check that was open then is open no longer.
    pub(super) fn read(root: &Path, folder: &Path) -> Option<Record> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        let limit = u64::try_from(BYTES_MAX).unwrap_or(u64::MAX);
        place::open_own(root, &folder.join(FILE)).ok()?.0.take(limit).read_to_end(&mut bytes).ok()?;
        let mut record: Record = serde_json::from_slice(&bytes).ok()?;
        // The directory may come from elsewhere.
        let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.,".contains(&b));
        let texts = [&record.id, &record.wanted.checkers, &record.wanted.levels];
        if folder.file_name()? != record.id.as_str() || !texts.into_iter().all(|text| is_plain(text)) {
            return None;
        }
        if record.stage.is_open() {
            record.stage = Stage::Interrupted;
        }
        Some(record)
    }

    /// Writes it into a folder.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        index::put(&folder.join(FILE), |out| Ok(serde_json::to_writer(out, self)?))
    }
}
