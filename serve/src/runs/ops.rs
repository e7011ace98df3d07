//! The number of ops of a history and its duration, from its last lines: the index and the time of the last op.

use super::edn;
use crate::files::place;
use history_core::cast::Cast as _;
use history_core::{Batch, Limits, Reader};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// The number of bytes at the end of a history that are read.
const TAIL_BYTES: u64 = 64 << 10;

/// The size of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) ops: Option<u64>,
    /// The nanoseconds from the beginning of the test to the last op.
    pub(super) length_ns: Option<u64>,
}

/// Reads a compressed history from its beginning, because its end cannot be found directly: at most this many bytes of
/// it, and of its text. The result is empty for a longer one, and for one that cannot be read.
pub(super) fn count(path: &Path, bytes_max: u64, text_bytes_max: u64) -> Extent {
    let none = Extent::default();
    let Ok((file, length)) = place::open_plain(path) else { return none };
    if length > bytes_max {
        return none;
    }
    // Reading may take long even if there is no op.
    let limits = Limits { text_bytes_max, ..Limits::default() };
    let mut reader = Reader::new(file).with_limits(limits).without_pairing().growing();
    let (mut batch, mut extent) = (Batch::new(), none);
    loop {
        match reader.read_batch(&mut batch) {
            Ok(true) => {}
            Ok(false) => return Extent { ops: Some(reader.ops()).filter(|ops| *ops > 0), ..extent },
            Err(_) => return none,
        }
        let last = batch.ops().filter_map(|op| op.time).last();
        extent.length_ns = last.and_then(|time| u64::try_from(time).ok()).or(extent.length_ns);
    }
}

/// Reads the end of a history. The result is empty for compressed histories, and for those whose ops have no index.
pub(super) fn read(path: &Path) -> Extent {
    tail(path).map(|text| of(&text)).unwrap_or_default()
}

fn tail(path: &Path) -> io::Result<String> {
    let (mut file, length) = place::open_plain(path)?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    // The first character may be incomplete.
    let from = bytes.iter().take(4).take_while(|byte| **byte & 0xc0 == 0x80).count();
    String::from_utf8(bytes.split_off(from)).map_err(io::Error::other)
}

fn of(text: &str) -> Extent {
    // The last line may still be incomplete.
    text.lines().rev().take(3).find_map(line).unwrap_or_default()
}

fn line(line: &str) -> Option<Extent> {
    let line = line.trim().trim_start_matches(['[', '(']).trim_end_matches([',', ']', ')']);
    let (index, time) = if line.contains(":index") || line.contains(":time") {
        let entries = edn::entries(line)?;
        let number = |name: &str| entries.iter().find(|(key, _)| *key == name)?.1.parse::<u64>().ok();
        (number(":index"), number(":time"))
    } else {
        let op: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).ok()?;
        let number = |name: &str| op.get(name)?.as_u64();
        (number("index"), number("time"))
    };
    let extent = Extent { ops: index.map(|index| index.saturating_add(1)), length_ns: time };
    (extent != Extent::default()).then_some(extent)
}

/// The first bytes of a file, up to a maximum.
pub(super) fn head(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    place::open_plain(path)?.0.take(bytes_max.to_u64()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write as _;

    #[test]
    fn a_compressed_text_that_is_too_long_has_no_extent() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.edn.gz");
        let count = |text: &str| {
            let mut file = flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
            file.write_all(text.as_bytes()).unwrap();
            file.finish().unwrap();
            super::count(&path, 1 << 20, 1 << 20)
        };
        let op = "{:index 0, :time 7, :type :ok}\n";
        let both = Extent { ops: Some(1), length_ns: Some(7) };
        assert_eq!(count(&(op.to_owned() + &"\n".repeat(1000))), both);
        // Without an op there is no batch, so the amount of text could not be tested after a batch.
        assert_eq!(count(&("\n".repeat(2 << 20) + op)), Extent::default());
        assert_eq!(count(&(op.to_owned() + &"\n".repeat(2 << 20))), Extent::default());
    }

    #[test]
    fn the_last_op_determines_the_extent() {
        let both = Extent { ops: Some(8), length_ns: Some(99) };
        assert_eq!(of("{:index 6}\n{:index 7, :type :ok, :value [[:r 1 [2]]], :time 99}\n"), both);
        assert_eq!(of("#jepsen.history.Op{:index 7, :time 99, :f :read}"), both);
        assert_eq!(of("[{:index 6}\n {:index 7 :time 99}]\n"), both);
        assert_eq!(of("{\"index\":7,\"time\":99}\n{\"index\":8,\"ti"), both, "the last line is incomplete");
        assert_eq!(of("{\"value\":\"{:index 9\"}"), Extent::default(), "a text is not an index");
        assert_eq!(of("INFO jepsen 1 :ok :read 7\n"), Extent::default());
        assert_eq!(of(""), Extent::default());
    }
}
