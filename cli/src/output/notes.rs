//! Shortens notes that contain a long value of the history.

use history_core::Report;

/// The maximum length of a note in characters. No note without a long value has as many.
const CHARS_MAX: usize = 4000;
/// The number of characters that remain at the end of a note, where it gives what was expected.
const TAIL_CHARS: usize = 1000;

/// Shortens the notes of a report, of its keys and of its checkers.
pub(crate) fn shorten(report: &mut Report) {
    let of_keys = report.keys.iter_mut().flat_map(|key| &mut key.notes);
    for note in report.notes.iter_mut().chain(of_keys) {
        if let Some(shorter) = shortened(note) {
            *note = shorter;
        }
    }
    report.checkers.iter_mut().for_each(shorten);
}

fn shortened(note: &str) -> Option<String> {
    note.char_indices().nth(CHARS_MAX)?;
    let (end, _) = note.char_indices().nth(CHARS_MAX - TAIL_CHARS)?;
    let (start, _) = note.char_indices().rev().nth(TAIL_CHARS - 1)?;
    Some(format!("{} ... {}", &note[..end], &note[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::Verdict;

    #[test]
    fn only_long_notes_are_shortened() {
        let mut report = Report::new("kafka", Verdict::Unknown);
        let long = format!("found {}; expected [:send key message]", "ä".repeat(1 << 20));
        report.notes = vec!["x".repeat(CHARS_MAX), long.clone()];
        let mut both = Report::new("kafka,stats", Verdict::Unknown);
        both.checkers = vec![report];
        shorten(&mut both);
        let notes = &both.checkers[0].notes;
        assert_eq!(notes[0], "x".repeat(CHARS_MAX));
        assert!(notes[1].starts_with("found ää") && notes[1].ends_with("ää; expected [:send key message]"));
        assert_eq!(notes[1].chars().count(), CHARS_MAX + " ... ".len());
    }
}
