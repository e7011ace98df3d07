//! Colours for explanations on a terminal: each transaction has the same colour wherever it is named.

use crate::output::terminal::Terminal;
use anstyle::{AnsiColor, Style};
use history_core::WitnessOp;

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Colour,
}

/// The colours of transactions, used in turn. All are readable on dark and on light backgrounds.
const TXNS: [AnsiColor; 6] =
    [AnsiColor::Cyan, AnsiColor::Magenta, AnsiColor::Green, AnsiColor::Yellow, AnsiColor::Blue, AnsiColor::BrightRed];

impl Paint {
    /// The setting for standard output: colours on a terminal, unless the user disabled them (`NO_COLOR`).
    pub(crate) fn for_stdout() -> Paint {
        if Terminal::get().stdout_colour { Paint::Colour } else { Paint::Plain }
    }

    /// Formats the name of an anomaly.
    pub(crate) fn heading(self, text: &str) -> String {
        self.styled(text, AnsiColor::Red.on_default().bold())
    }

    /// Formats the word before a note.
    pub(crate) fn note(self, text: &str) -> String {
        self.styled(text, AnsiColor::Yellow.on_default().bold())
    }

    /// Formats a line of an explanation, with the names of these ops.
    pub(crate) fn explanation(self, line: &str, ops: &[WitnessOp]) -> String {
        if self == Paint::Plain {
            return line.to_owned();
        }
        let mut painted = String::new();
        // A name is a word: letters and digits without others next to them.
        for word in line.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
            match ops.iter().position(|op| op.name == name) {
                Some(at) => {
                    painted += &self.styled(name, TXNS[at % TXNS.len()].on_default().bold());
                    painted += &word[name.len()..];
                }
                None if word == "However," || name == "However" => painted += &self.styled(word, Style::new().bold()),
                None => painted += word,
            }
        }
        painted
    }

    fn styled(self, text: &str, style: Style) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Colour => format!("{style}{text}{style:#}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{Datum, OpKind};

    fn op(name: &str) -> WitnessOp {
        WitnessOp { name: name.into(), index: 0, process: None, kind: OpKind::Ok, time_ns: None, value: Datum::Nil }
    }

    #[test]
    fn names_stand_out_and_nothing_else_does() {
        let line = "  - T1 < T12, because T1's read of XT1 is no T2";
        let ops = [op("T1"), op("T12")];
        assert_eq!(Paint::Plain.explanation(line, &ops), line);
        let cyan = |name: &str| format!("\u{1b}[1m\u{1b}[36m{name}\u{1b}[0m");
        let magenta = |name: &str| format!("\u{1b}[1m\u{1b}[35m{name}\u{1b}[0m");
        let expected =
            format!("  - {} < {}, because {}'s read of XT1 is no T2", cyan("T1"), magenta("T12"), cyan("T1"));
        assert_eq!(Paint::Colour.explanation(line, &ops), expected);
    }
}
