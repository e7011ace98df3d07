//! The end of a log, which may explain why a program failed.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

const LINES: usize = 10;
const BYTES: u64 = 4 << 10;
/// The maximum number of bytes of a log that are sent from another machine.
const ALL: u64 = 4 << 20;

/// The last lines of a file; empty if it cannot be read.
pub(crate) fn last_lines(path: &Path) -> String {
    let text = read(path, BYTES);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// The content of a file, or the end of it if it is long; empty if it cannot be read.
pub(crate) fn last_bytes(path: &Path) -> String {
    read(path, ALL)
}

fn read(path: &Path, most: u64) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
        file.take(most).read_to_end(&mut bytes)
    });
    if read.is_err() { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() }
}
