//! Rules on the form of sources that neither rustfmt nor clippy verifies.

use histcheck_tidy::{files, read};

/// The same width as code. rustfmt does not change comments.
const COMMENT_CHARS_MAX: usize = 120;
const FILE_LINES_MAX: usize = 500;

/// Files that may be longer, and the reason.
const LONG: [(&str, &str); 0] = [];

/// A folder whose files must never change.
const FROZEN: &str = "plugins/abi/tests/frozen/";

fn sources() -> Vec<(String, String)> {
    let paths = files(".rs").into_iter().filter(|path| !path.starts_with(FROZEN));
    paths.map(|path| (path.clone(), read(path))).collect()
}

#[test]
fn files_open_with_what_they_are_about() {
    for (path, text) in sources() {
        let first = text.lines().next().unwrap_or_default();
        // A file may also open with a README, which has such a sentence.
        let is_said = first.starts_with("//! ") || first == "#![doc = include_str!(\"../README.md\")]";
        assert!(is_said, "{path} opens with {first:?}");
    }
}

#[test]
fn files_hold_one_idea() {
    for (path, text) in sources() {
        let (lines, reason) = (text.lines().count(), LONG.iter().find(|(long, _)| *long == path));
        let (is_long, is_listed) = (lines > FILE_LINES_MAX, reason.is_some());
        assert!(!is_long || is_listed, "{path} has {lines} lines: part it, or give its reason in LONG");
        assert!(is_long || !is_listed, "{path} is in LONG, and has only {lines} lines");
    }
    for (path, reason) in LONG {
        assert!(!reason.is_empty() && sources().iter().any(|(known, _)| known == path), "LONG: {path}");
    }
}

#[test]
fn lines_can_be_read() {
    for (path, text) in sources() {
        for (at, line) in text.lines().enumerate() {
            let place = format!("{path}:{}", at + 1);
            let line_start = line.trim_start();
            // The row of a table cannot be wrapped.
            let is_comment = line_start.starts_with("//") && !line_start.starts_with("//! |");
            let chars = if is_comment { line.chars().count() } else { 0 };
            assert!(chars <= COMMENT_CHARS_MAX, "{place} has {chars} characters, more than {COMMENT_CHARS_MAX}");
            assert!(!line.ends_with([' ', '\t', '\r']), "{place} ends in blanks");
        }
        assert!(text.ends_with('\n'), "{path} ends within a line");
    }
}

#[test]
fn nothing_is_left_to_be_done() {
    // The words are split here, so that this file does not contain them.
    let left = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("db", "g!("), concat!("FIX", "ME")];
    for (path, text) in sources() {
        for word in left {
            assert!(!text.contains(word), "{path} has {word}");
        }
    }
}
