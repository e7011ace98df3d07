//! The formats of other checkers: what is read in one is written in it, and read again as it was.

use crate::format;
use history_core::{ConvertOptions, Converter, Format, History, Reader};

/// Any bytes behind the first, in the format that the first stands for.
pub fn sessions(data: &[u8]) -> String {
    let Some((first, data)) = data.split_first() else { return String::new() };
    let formats = Format::ALL.map(|format| format.is_of_sessions().then_some(format));
    let formats: Vec<Format> = formats.into_iter().flatten().collect();
    let chosen = formats[usize::from(*first) % formats.len()];
    // What is detected is of no consequence but that it ends.
    let _ = History::read(&mut Reader::new(data));
    round_trip(data, chosen);
    format!("{chosen} {}", format(data, chosen))
}

/// Writes a history in the format that it was read from, and reads it again. What comes first in it is kept; some have
/// forms for things that the writer does not make: a read that failed, or numbers that stand for nothing.
fn round_trip(data: &[u8], format: Format) {
    let read = |bytes: &[u8]| History::read(&mut Reader::new(bytes).with_format(format));
    let Some(once) = read(data).ok().and_then(|history| write(&history, format)) else { return };
    if once.is_empty() {
        return;
    }
    let again = read(&once).unwrap_or_else(|error| panic!("{format}: what was written is refused: {error}"));
    let twice = write(&again, format).unwrap_or_else(|| panic!("{format}: what was written cannot be written again"));
    // Sessions get numbers in the order in which they come up, and so do transactions.
    let third = write(&read(&twice).expect("what was written twice"), format).expect("what was read twice");
    assert_eq!(third, twice, "{format}");
    assert_eq!(history_len(&read(&twice).expect("a history")), history_len(&again));
}

fn history_len(history: &History) -> usize {
    history.len()
}

fn write(history: &History, format: Format) -> Option<Vec<u8>> {
    let mut converter = Converter::new(format, ConvertOptions::new())?;
    for op in history.ops() {
        converter.push(&op).ok()?;
    }
    let mut bytes = Vec::new();
    converter.finish().ok()?.write(&mut bytes).expect("a vector takes all");
    Some(bytes)
}
