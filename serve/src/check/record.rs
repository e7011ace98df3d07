//! The stored record of a check.

use crate::files::place;
use crate::runs::index;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// The name of the record in the folder of a check.
pub(super) const FILE: &str = "check.json";
/// The maximum length of such a file in bytes.
const BYTES_MAX: usize = 64 << 10;

/// The stage of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    Waiting,
    Running,
    /// Done, with a result in `result.json`.
    Done,
    /// Done without a result; the messages contain the reason.
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

    /// Returns true if the stage can still change.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Stage::Waiting | Stage::Running)
    }
}

/// The parameters of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    /// The value of `-m`.
    pub(crate) checkers: String,
    /// The value of `-c`; empty for the checker's default.
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
    /// The path of the history below the served directory.
    pub(crate) history: String,
    /// The original name of a dropped file.
    pub(crate) name: Option<String>,
    #[serde(flatten)]
    pub(crate) wanted: Wanted,
    pub(crate) stage: Stage,
    /// Milliseconds since 1970.
    pub(crate) begun_ms: u64,
    pub(crate) ended_ms: Option<u64>,
}

impl Record {
    /// Reads the record in a folder below the served directory. A check that was in progress then was interrupted.
    pub(super) fn read(root: &Path, folder: &Path) -> Option<Record> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        let limit = u64::try_from(BYTES_MAX).unwrap_or(u64::MAX);
        place::open_own(root, &folder.join(FILE)).ok()?.0.take(limit).read_to_end(&mut bytes).ok()?;
        let mut record: Record = serde_json::from_slice(&bytes).ok()?;
        // The directory may come from an untrusted source.
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

    /// Writes the record into a folder.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        index::put(&folder.join(FILE), |out| Ok(serde_json::to_writer(out, self)?))
    }
}
