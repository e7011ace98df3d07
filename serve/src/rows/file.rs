//! The file of an index: a line of JSON with data about the whole history, then the parts as numbers, then a checksum.
//!
//! It is written under another name and renamed. A file with an unknown version or a wrong checksum is ignored, and the
//! index is built again.

use super::index::{Head, Index, PARTS_MAX, Part};
use super::traits::{Traits, WORDS};
use crate::files::place;
use crate::runs::index::put;
use flate2::Crc;
use std::io::{self, Read as _};
use std::path::Path;

/// The version of the file's format.
const VERSION: &str = "histcheck-rows 1\n";
/// The number of numbers in a part.
const NUMBERS: usize = 4 + WORDS;
const PART_BYTES: usize = NUMBERS * 8;
/// The maximum length of the line of JSON in bytes.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// Writes an index.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn write(path: &Path, index: &Index) -> io::Result<()> {
    let mut bytes = VERSION.as_bytes().to_vec();
    serde_json::to_writer(&mut bytes, &index.head)?;
    bytes.push(b'\n');
    for part in &index.parts {
        let own = [part.row, part.offset, part.lines, part.index];
        bytes.extend(own.into_iter().chain(part.traits.words()).flat_map(u64::to_le_bytes));
    }
    let mut crc = Crc::new();
    crc.update(&bytes);
    bytes.extend(crc.sum().to_le_bytes());
    put(path, |out| out.write_all(&bytes))
}

/// Reads an index below the served directory; `None` if it does not exist or is damaged.
pub(super) fn read(root: &Path, path: &Path) -> Option<Index> {
    let (file, length) = place::open_own(root, path).ok()?;
    let most = u64::try_from(VERSION.len() + HEAD_BYTES_MAX + PARTS_MAX * PART_BYTES + 4).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    if length > most || file.take(length).read_to_end(&mut bytes).is_err() {
        return None;
    }
    let (bytes, sum) = bytes.split_last_chunk::<4>()?;
    let mut crc = Crc::new();
    crc.update(bytes);
    if crc.sum() != u32::from_le_bytes(*sum) {
        return None;
    }
    let bytes = bytes.strip_prefix(VERSION.as_bytes())?;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&bytes[..end]).ok()?;
    let (parts, rest) = bytes[end + 1..].as_chunks::<PART_BYTES>();
    let parts: Vec<Part> = parts.iter().map(part).collect();
    let is_whole = rest.is_empty() && parts.first().is_some_and(|part| part.row == 0);
    let is_ordered = parts.is_sorted_by(|a, b| a.row < b.row && a.offset <= b.offset && a.index < b.index);
    (is_whole && is_ordered).then_some(Index { head, parts })
}

fn part(bytes: &[u8; PART_BYTES]) -> Part {
    let mut numbers = [0; NUMBERS];
    for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *number = u64::from_le_bytes(*bytes);
    }
    let [row, offset, lines, index, rest @ ..] = numbers;
    Part { row, offset, lines, index, traits: Traits::of_words(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::index::Draft;
    use history_core::{Format, History};
    use std::fs;

    #[test]
    fn written_files_are_read_and_damaged_ones_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.rows");
        assert!(read(dir.path(), &path).is_none());
        let history = History::parse("{:process 0, :type :ok, :f :txn, :value [[:r 1 2]]}").unwrap();
        let mut draft = Draft::new();
        for row in 0..1000 {
            draft.add(row, row * 9, row, row + 5, &Traits::of(&history.op(0)), [Some("txn"), Some("0")]);
        }
        let head = Head {
            history: "a/\u{e4}\n".to_owned(),
            mark: "m".to_owned(),
            format: Format::Json,
            bracket: Some('['),
            is_copy: false,
            ops: 1000,
            bytes: 9000,
            length_ns: Some(-1),
            functions: Vec::new(),
            processes: Vec::new(),
            problem: None,
        };
        let index = draft.done(head);
        write(&path, &index).unwrap();
        let again = read(dir.path(), &path).unwrap();
        assert_eq!((&again.head, &again.parts), (&index.head, &index.parts));
        let bytes = fs::read(&path).unwrap();
        for at in [0, 20, bytes.len() / 2, bytes.len() - 1] {
            let mut broken = bytes.clone();
            broken[at] ^= 1;
            fs::write(&path, broken).unwrap();
            assert!(read(dir.path(), &path).is_none(), "{at}");
        }
        fs::write(&path, &bytes[..bytes.len() - 88]).unwrap();
        assert!(read(dir.path(), &path).is_none());
    }
}
