//! Diagnostics: the error in a text, its position, and what was expected, with a caret below the position.

use crate::output::terminal::{self, Terminal};
use anstyle::{AnsiColor, Style};
use history_core::cast::Cast as _;
use history_core::{HistoryError, Position, Problem, Severity, Snippet, visible};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

const PLACE: Style = Style::new().bold();
const GUTTER: Style = AnsiColor::Blue.on_default();

/// A message about a text.
pub(crate) struct Diagnostic<'a> {
    severity: Severity,
    /// The name of the rule that was broken, if it has one.
    rule: Option<&'a str>,
    message: &'a str,
    expected: Option<&'a str>,
    position: Option<Position>,
    snippet: Option<&'a Snippet>,
}

impl<'a> From<&'a HistoryError> for Diagnostic<'a> {
    fn from(error: &'a HistoryError) -> Diagnostic<'a> {
        let HistoryError { message, expected, position, snippet, .. } = error;
        let (expected, snippet) = (expected.as_deref(), snippet.as_deref());
        Diagnostic { severity: Severity::Error, rule: None, message, expected, position: *position, snippet }
    }
}

impl<'a> From<&'a Problem> for Diagnostic<'a> {
    fn from(problem: &'a Problem) -> Diagnostic<'a> {
        let Problem { rule, severity, message, expected, position, snippet } = problem;
        let (expected, snippet) = (expected.as_deref(), snippet.as_ref());
        Diagnostic { severity: *severity, rule: Some(rule.name()), message, expected, position: *position, snippet }
    }
}

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Note => AnsiColor::Cyan.on_default().bold(),
    }
}

/// Writes the message after its position, so that editors recognize it:
///
/// ```text
/// history.edn:2:1: error: process 0 completes an op without having invoked one
///   2 | {:process 0, :type :ok, :f :read}
///     | ^
///   expected an invocation by that process before it
/// ```
///
/// Styles are written as escape sequences; pass a stream that removes them if necessary.
pub(crate) fn write(out: &mut dyn Write, file: &str, diagnostic: &Diagnostic<'_>) -> io::Result<()> {
    let style = style(diagnostic.severity);
    write!(out, "{PLACE}{file}:")?;
    match diagnostic.position {
        Some(position @ Position { line, column, .. }) if position.line_and_column().is_some() => {
            write!(out, "{line}:{column}:")?;
        }
        Some(position) => write!(out, "{position}:")?,
        None => {}
    }
    write!(out, "{PLACE:#} {style}{}{style:#}: {}", diagnostic.severity.name(), visible::line(diagnostic.message))?;
    match diagnostic.rule {
        Some(rule) => writeln!(out, " [{rule}]")?,
        None => writeln!(out)?,
    }
    if let (Some(position), Some(snippet)) = (diagnostic.position, diagnostic.snippet) {
        source(out, position, snippet, style)?;
    }
    if let Some(expected) = diagnostic.expected {
        writeln!(out, "  expected {}", visible::line(expected))?;
    }
    Ok(())
}

/// Writes a line of the source, and a caret below it.
fn source(out: &mut dyn Write, position: Position, snippet: &Snippet, style: Style) -> io::Result<()> {
    let line = position.line.to_string();
    // If fewer characters are available before the position than the line has, the beginning was cut off.
    let cut = if snippet.caret.to_u64() < position.column - 1 { "..." } else { "" };
    let end = snippet.text.char_indices().nth(snippet.caret).map_or(snippet.text.len(), |(end, _)| end);
    let (before, after) = snippet.text.split_at(end);
    // The end of the text may be blank, and was then trimmed.
    let trimmed = snippet.caret - before.chars().count();
    let (before, after) = (visible::line(before), visible::line(after));
    let shift = cut.len() + before.width() + trimmed;
    writeln!(out, "  {GUTTER}{line} |{GUTTER:#} {cut}{before}{after}")?;
    writeln!(out, "  {GUTTER}{:1$} |{GUTTER:#} {2:3$}{style}^{style:#}", "", line.len(), "", shift)
}

/// Reports on standard error why a history cannot be checked.
pub(crate) fn history(place: &str, error: &HistoryError) {
    // If standard error is closed, the text is lost.
    let _ = write(&mut terminal::stderr(), place, &error.into());
}

/// Adds a hint to a line on standard output.
pub(crate) fn hint(place: &str, hint: &str) {
    let hint = visible::line(hint);
    let mut stderr = terminal::stderr();
    // On a terminal, the hint is shown below the history's line.
    let _ = if Terminal::get().stderr_on_screen {
        writeln!(stderr, "  {hint}")
    } else {
        writeln!(stderr, "{place}: {hint}")
    };
}

/// Prints the summary of all histories on standard error.
pub(crate) fn summary(line: &str) {
    let _ = writeln!(terminal::stderr(), "{line}");
}

/// Prints an error on standard error.
pub(crate) fn error(message: &str) {
    print(Severity::Error, message);
}

/// Prints a warning on standard error.
pub(crate) fn warning(message: &str) {
    print(Severity::Warning, message);
}

/// Prints a note on standard error.
pub(crate) fn note(message: &str) {
    print(Severity::Note, message);
}

fn print(severity: Severity, message: &str) {
    let style = style(severity);
    // A message may contain lines from a history or a file. They are indented, so that none looks like a diagnostic.
    let message = visible::lines(message).replace('\n', "\n  ");
    let _ = writeln!(terminal::stderr(), "{style}{}{style:#}: {message}", severity.name());
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{ErrorKind, Reader};
    use std::ops::ControlFlow;

    fn plain(error: &HistoryError) -> String {
        let mut out = anstream::StripStream::new(Vec::new());
        write(&mut out, "h.edn", &error.into()).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    fn of(text: &str) -> String {
        let error = Reader::new(text.as_bytes()).for_each(|_| Ok(ControlFlow::Continue(()))).unwrap_err();
        plain(&error)
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        let text = of("{:process 0, :type :invoke}\n  {:process 0, :type :nope}\n");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "h.edn:2:3: error: the op's type is :nope");
        assert_eq!(lines[1], "  2 |   {:process 0, :type :nope}");
        assert_eq!(lines[2], "    |   ^");
        assert_eq!(lines[3], "  expected invoke, ok, fail or info");
    }

    #[test]
    fn wide_characters_count_twice() {
        let text = of("[{:type :ok, :f \"\u{6f22}\u{5b57}\"} 7]");
        let lines: Vec<&str> = text.lines().collect();
        let column = |line: &str, c: char| line[..line.rfind(c).unwrap()].width();
        assert_eq!(column(lines[1], '7'), column(lines[2], '^'), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let text = of(&format!("{{:type :ok, :value [{}]}} 7", "1 ".repeat(500)));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("  1 | ..."), "{text}");
        assert_eq!(lines[1].find('7'), lines[2].find('^'), "{text}");
        assert!(lines[1].len() < 150, "{text}");
    }

    #[test]
    fn without_a_place_there_is_no_caret() {
        let error = HistoryError::new(ErrorKind::Io, "reading failed: no such file");
        assert_eq!(plain(&error), "h.edn: error: reading failed: no such file\n");
    }
}
