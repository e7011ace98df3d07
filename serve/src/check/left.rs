//! What a check left in its folder.

use super::child::{MESSAGES, RESULT};
use serde_json::Value;
use std::path::Path;

/// Bytes of a result that is part of an answer.
const RESULT_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a process's messages that are shown.
const MESSAGES_BYTES_MAX: u64 = 16 << 10;

/// The result of a check, as `--output json` writes it.
pub(crate) fn result(folder: &Path) -> Option<Value> {
    serde_json::from_slice(&read(&folder.join(RESULT), RESULT_BYTES_MAX)?).ok()
}

/// What the process of a check said.
pub(crate) fn messages(folder: &Path) -> String {
    let bytes = read(&folder.join(MESSAGES), MESSAGES_BYTES_MAX).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
