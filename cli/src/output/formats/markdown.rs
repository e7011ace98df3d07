//! A summary in Markdown: a table of all histories, for the page of a run of CI or a comment on a change.

use super::case::{Case, Finding};
use super::text;
use history_core::{Verdict, visible};
use std::io::{self, Write};

/// Writes the whole summary. `cases` are the histories with their paths.
pub(super) fn write<'a>(out: &mut dyn Write, cases: impl Iterator<Item = (&'a str, &'a Case)>) -> io::Result<()> {
    let cases: Vec<_> = cases.collect();
    let count = |wanted: Option<Verdict>| cases.iter().filter(|(_, case)| verdict(case) == wanted).count();
    let (valid, invalid) = (count(Some(Verdict::Valid)), count(Some(Verdict::Invalid)));
    let (unknown, failed) = (count(Some(Verdict::Unknown)), count(None));
    writeln!(out, "### histcheck: {}\n", text::counted(valid, invalid, unknown, failed))?;
    if !cases.is_empty() {
        writeln!(out, "| history | checker | verdict | what was found |\n|---|---|---|---|")?;
    }
    for (path, case) in &cases {
        match case {
            Case::Judged(findings) => findings.iter().try_for_each(|finding| row(out, path, finding))?,
            Case::Failed(failed) => {
                writeln!(
                    out,
                    "| {} | {} | not checked | {} |",
                    cell(path),
                    cell(&failed.checker),
                    cell(&failed.summary())
                )?;
            }
        }
    }
    writeln!(out)
}

fn row(out: &mut dyn Write, path: &str, finding: &Finding) -> io::Result<()> {
    let found = if finding.verdict == Verdict::Valid { String::new() } else { finding.summary() };
    let verdict = match finding.verdict {
        Verdict::Invalid if finding.is_known => "false (known)",
        Verdict::Invalid => "**false**",
        other => other.name(),
    };
    writeln!(out, "| {} | {} | {verdict} | {} |", cell(path), cell(&finding.checker), cell(&found))
}

/// The verdict on a history, if it has one.
fn verdict(case: &Case) -> Option<Verdict> {
    match case {
        Case::Judged(findings) => {
            Some(findings.iter().map(|finding| finding.verdict).fold(Verdict::Valid, Verdict::and))
        }
        Case::Failed(_) => None,
    }
}

/// Text of a history in a table cell, with all markup escaped.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in visible::line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '~' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_history_is_markup() {
        assert_eq!(cell("a|b`c` <img> [x](y) 1 & 2"), "a\\|b\\`c\\` &lt;img&gt; \\[x\\](y) 1 &amp; 2");
    }
}
