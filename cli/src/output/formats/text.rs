//! Plain results: a path, a tab and a verdict; on request, the anomalies and their explanations.

use super::paint::Paint;
use crate::judge::input::Input;
use history_core::cast::Cast as _;
use history_core::{Anomaly, NextStep, Report, Verdict, visible};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes `PATH<TAB>VERDICT`.
pub(crate) fn verdict(out: &mut dyn Write, input: &Input, report: &Report) -> io::Result<()> {
    line(out, input, report.verdict, "\t")
}

/// The same with `between` in place of the tab.
pub(super) fn line(out: &mut dyn Write, input: &Input, verdict: Verdict, between: &str) -> io::Result<()> {
    path(out, input)?;
    writeln!(out, "{between}{}", verdict.name())
}

/// One line with the number of histories per verdict: `3 histories: 1 true, 1 false, 1 not checked`.
pub(crate) fn counted(valid: usize, invalid: usize, unknown: usize, failed: usize) -> String {
    let all = valid + invalid + unknown + failed;
    let counts = [(valid, "true"), (invalid, "false"), (unknown, "unknown"), (failed, "not checked")];
    let shown: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let noun = if all == 1 { "history" } else { "histories" };
    if shown.is_empty() { format!("{all} {noun}") } else { format!("{all} {noun}: {}", shown.join(", ")) }
}

/// Writes the path in one line, for any file name. Bytes that are not text are written as `\xff`, because some
/// terminals would treat them as the beginning of an escape sequence.
pub(crate) fn path(out: &mut dyn Write, input: &Input) -> io::Result<()> {
    for chunk in input.path().as_encoded_bytes().utf8_chunks() {
        out.write_all(visible::line(chunk.valid()).as_bytes())?;
        chunk.invalid().iter().try_for_each(|byte| write!(out, "\\x{byte:02x}"))?;
    }
    Ok(())
}

/// Writes the whole content of a report, each line after `indent`, with the colours of `paint`.
pub(crate) fn account(out: &mut dyn Write, report: &Report, indent: &str, paint: Paint) -> io::Result<()> {
    let mut text = String::new();
    for note in &report.notes {
        _ = writeln!(text, "{} {}", paint.note("note:"), visible::line(note));
    }
    for step in &report.next {
        _ = writeln!(text, "{} {}", paint.note("next:"), visible::line(&step.what));
    }
    if !report.checkers.is_empty() {
        write_indented(out, &text, indent)?;
        // The members of a composition explain their anomalies and keys themselves.
        for report in &report.checkers {
            writeln!(out, "{indent}{}: {}", visible::line(&report.checker), report.verdict.name())?;
            account(out, report, &format!("{indent}  "), paint)?;
        }
        return Ok(());
    }
    for key in report.keys.iter().filter(|key| key.verdict != Verdict::Valid).take(KEYS_MAX) {
        _ = writeln!(text, "key {}: {}", visible::line(&key.key.to_string()), key.verdict.name());
    }
    if let Some(more) = keys_not_shown(report) {
        _ = writeln!(text, "{more}");
    }
    for (word, names) in [("not", &report.not), ("nor", &report.also_not)] {
        if !names.is_empty() {
            text += &wrapped(&format!("{word} {}\n", visible::line(&names.join(", "))));
        }
    }
    for anomaly in &report.anomalies {
        describe(&mut text, anomaly, paint);
    }
    write_indented(out, &text, indent)
}

fn write_indented(out: &mut dyn Write, text: &str, indent: &str) -> io::Result<()> {
    text.lines().try_for_each(|line| writeln!(out, "{}", format!("{indent}{line}").trim_end()))
}

/// The maximum number of keys that are named.
const KEYS_MAX: usize = 20;

/// The number of keys in addition to those that are named.
fn keys_not_shown(report: &Report) -> Option<String> {
    let count = |name: &str| report.counts.iter().find(|(other, _)| other == name).map(|(_, count)| *count);
    let (all, valid) = (count("key-count")?, count("valid-key-count")?);
    let named = report.keys.iter().filter(|key| key.verdict != Verdict::Valid).take(KEYS_MAX).count().to_u64();
    let unnamed = all.saturating_sub(valid + named);
    let more = if unnamed > 0 { format!(", {unnamed} more are not") } else { String::new() };
    Some(format!("{valid} of {all} keys are valid{more}"))
}

/// Wraps a long line of names; all lines but the first are indented.
pub(crate) fn wrapped(line: &str) -> String {
    const WIDTH: usize = 100;
    let whole_names =
        textwrap::Options::new(WIDTH).word_splitter(textwrap::WordSplitter::NoHyphenation).subsequent_indent("    ");
    textwrap::fill(line, whole_names)
}

fn describe(text: &mut String, anomaly: &Anomaly, paint: Paint) {
    _ = write!(text, "\n{}", paint.heading(&visible::line(&anomaly.name)));
    let shown = anomaly.witnesses.len();
    _ = match (anomaly.count, shown) {
        (0 | 1, _) => writeln!(text),
        (count, shown) if shown.to_u64() == count => writeln!(text, ": {count} of them"),
        (count, shown) => writeln!(text, ": {count} of them, {shown} shown"),
    };
    for (i, witness) in anomaly.witnesses.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        for line in witness.explanation.trim_end().lines() {
            _ = writeln!(text, "  {}", paint.explanation(&visible::line(line), &witness.ops));
        }
    }
}

/// Hints to print with a bare verdict, for a report that is `wanted`; for several checkers, those of each.
pub(crate) fn hints(report: &Report, wanted: &dyn Fn(&Report) -> bool) -> Vec<String> {
    if report.checkers.is_empty() {
        return hint(report).filter(|_| wanted(report)).into_iter().collect();
    }
    let of_one = |one: &Report| {
        let hints = hints(one, wanted).into_iter();
        hints.map(|hint| format!("{}: {hint}", one.checker)).collect::<Vec<_>>()
    };
    report.checkers.iter().flat_map(of_one).collect()
}

/// A line on the evidence for a bare verdict; `None` if there is nothing to add.
fn hint(report: &Report) -> Option<String> {
    match report.verdict {
        Verdict::Valid | Verdict::Unknown if report.notes.is_empty() => None,
        Verdict::Valid => Some(format!("note: {}", report.notes.join(" "))),
        Verdict::Unknown => Some(format!("unknown: {}{}", report.notes.join(" "), next(&report.next))),
        Verdict::Invalid => {
            let found = found(report.anomaly_types()).map(|found| found + "; ").unwrap_or_default();
            Some(format!("{found}run with -v to see why"))
        }
    }
}

/// The text of the next steps, which follows an unknown verdict.
pub(super) fn next(steps: &[NextStep]) -> String {
    let what: Vec<&str> = steps.iter().map(|step| &*step.what).collect();
    if what.is_empty() { String::new() } else { format!(" Next: {}", what.join(" ")) }
}

/// One line with the anomalies: `2 anomalies: G1c, G-single-item`; `None` if there are none.
pub(super) fn found<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    /// The maximum number of names in the line.
    const NAMES_MAX: usize = 6;
    let mut names: Vec<&str> = names.collect();
    let count = match names.len() {
        0 => return None,
        1 => "1 anomaly".to_owned(),
        n => format!("{n} anomalies"),
    };
    let more = names.len().saturating_sub(NAMES_MAX);
    names.truncate(NAMES_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{count}: {}{rest}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::Witness;

    fn report(verdict: Verdict, anomalies: &[(&'static str, u64)]) -> Report {
        let witness = Witness::new(Vec::new(), "Let:\n  T1 = ...\n\nThen:\n");
        let anomaly = |(name, count): &(&'static str, u64)| Anomaly {
            name: (*name).into(),
            count: *count,
            witnesses: vec![witness.clone(); (*count).min(2).to_usize()],
        };
        let mut report = Report::new("c", verdict);
        report.anomalies = anomalies.iter().map(anomaly).collect();
        report
    }

    #[test]
    fn a_hint_names_what_was_found() {
        assert_eq!(hint(&report(Verdict::Valid, &[])), None);
        let two = hint(&report(Verdict::Invalid, &[("G1c", 1), ("G-single-item", 3)])).unwrap();
        assert_eq!(two, "2 anomalies: G1c, G-single-item; run with -v to see why");
        let one = hint(&report(Verdict::Invalid, &[("G1c", 9)])).unwrap();
        assert_eq!(one, "1 anomaly: G1c; run with -v to see why");
        let many =
            hint(&report(Verdict::Invalid, &["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| (name, 1)))).unwrap();
        assert_eq!(many, "8 anomalies: a, b, c, d, e, f and 2 more; run with -v to see why");
    }

    #[test]
    fn a_hint_says_why_nothing_is_known() {
        let mut unknown = report(Verdict::Unknown, &[]);
        assert_eq!(hint(&unknown), None);
        unknown.notes.push("the time limit was reached".into());
        assert_eq!(hint(&unknown).unwrap(), "unknown: the time limit was reached");
        unknown.add_next(NextStep::new("Wait longer."));
        assert_eq!(hint(&unknown).unwrap(), "unknown: the time limit was reached Next: Wait longer.");
        let mut doubtful = report(Verdict::Valid, &[]);
        doubtful.notes.push("little was known".into());
        assert_eq!(hint(&doubtful).unwrap(), "note: little was known");
    }

    #[test]
    fn the_account_counts_and_indents() {
        let mut text = Vec::new();
        account(&mut text, &report(Verdict::Invalid, &[("G0", 2), ("G1c", 5), ("G2", 0)]), "  ", Paint::Plain).unwrap();
        let explained = "    Let:\n      T1 = ...\n\n    Then:\n";
        let expected = format!(
            "\n  G0: 2 of them\n{explained}\n{explained}\n  G1c: 5 of them, 2 shown\n{explained}\n{explained}\n  G2\n"
        );
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
