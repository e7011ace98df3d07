//! The formats of other checkers: a history that is read in a format is written in it, and reads as the same again.

use crate::format;
use history_core::{ConvertOptions, Converter, Format, History, Reader};

/// Any bytes behind the first, in the format that the first stands for.
pub fn sessions(data: &[u8]) -> String {
    let Some((first, data)) = data.split_first() else { return String::new() };
    let formats = Format::ALL.map(|format| format.is_of_sessions().then_some(format));
    let formats: Vec<Format> = formats.into_iter().flatten().collect();
    let chosen = formats[usize::from(*first) % formats.len()];
    // The detected format does not matter; detection must end.
    let _ = History::read(&mut Reader::new(data));
    round_trip(data, chosen);
    format!("{chosen} {}", format(data, chosen))
}

/// Writes a history in the format from which it was read, and reads it again. The first result is kept; some formats
/// have forms that the writer does not produce: a read that failed, or numbers without a meaning.
fn round_trip(data: &[u8], format: Format) {
    let read = |bytes: &[u8]| History::read(&mut Reader::new(bytes).with_format(format));
    let Some(once) = read(data).ok().and_then(|history| write(&history, format)) else { return };
    if once.is_empty() {
        return;
    }
    let again = read(&once).unwrap_or_else(|error| panic!("{format}: what was written is refused: {error}"));
    let twice = write(&again, format).unwrap_or_else(|| panic!("{format}: what was written cannot be written again"));
    // Sessions and transactions are numbered in order of first occurrence.
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
