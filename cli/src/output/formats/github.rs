//! Results as GitHub's workflow commands: lines of a job's log that become annotations of files.
//!
//! A command is `::error file=F,line=7,title=T::message`. In the message, `%`, CR and LF are written as `%25`, `%0D`
//! and `%0A`; in the part before it, `:` and `,` also as `%3A` and `%2C` (GitHub's documentation, "Workflow commands",
//! and its toolkit).

use super::case::{Case, Failed, Finding};
use super::text;
use crate::judge::input::Input;
use crate::output::policy::Unknown;
use history_core::{Verdict, visible};
use std::io::{self, Write};

/// The maximum number of characters of a message: an annotation is a few lines high, and the log contains the rest.
const MESSAGE_CHARS_MAX: usize = 300;
/// The maximum number of ops that a message names.
const OPS_MAX: usize = 4;

/// Writes the result of a history: its line, for readers of the log; with `verbose`, the anomalies; and the commands.
pub(super) fn write(
    out: &mut dyn Write,
    input: &Input,
    case: &Case,
    unknown: Unknown,
    verbose: bool,
) -> io::Result<()> {
    let findings = match case {
        Case::Judged(findings) => findings,
        Case::Failed(failed) => return out.write_all(command_of_failed(input, failed).as_bytes()),
    };
    let verdict = findings.iter().map(|finding| finding.verdict).fold(Verdict::Valid, Verdict::and);
    let mut lines = Vec::new();
    text::line(&mut lines, input, verdict, "\t")?;
    write_harmless(out, &lines)?;
    for finding in findings {
        if verbose && findings.len() > 1 {
            write_harmless(out, format!("  {}: {}", finding.checker, finding.verdict.name()).as_bytes())?;
        }
        if verbose && !finding.account.is_empty() {
            let lines: Vec<String> = finding.account.lines().map(|line| format!("  {line}")).collect();
            write_harmless(out, visible::lines(&lines.join("\n")).as_bytes())?;
        }
        if let Some(command) = command_of(input, finding, unknown) {
            out.write_all(command.as_bytes())?;
        }
    }
    Ok(())
}

/// Writes lines so that none is a command: neither `::command::` nor the older `##[command]`.
fn write_harmless(out: &mut dyn Write, lines: &[u8]) -> io::Result<()> {
    for line in lines.strip_suffix(b"\n").unwrap_or(lines).split(|byte| *byte == b'\n') {
        let line = line.trim_ascii_end();
        let text = line.trim_ascii_start();
        if text.starts_with(b"::") {
            out.write_all(b"\\")?;
        }
        let mut rest = line;
        while let Some(at) = rest.windows(3).position(|window| window == b"##[") {
            out.write_all(&rest[..at + 2])?;
            out.write_all(b"\\")?;
            rest = &rest[at + 2..];
        }
        out.write_all(rest)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn command_of(input: &Input, finding: &Finding, unknown: Unknown) -> Option<String> {
    let name = &finding.checker;
    match (finding.verdict, unknown) {
        (Verdict::Valid, _) => None,
        (Verdict::Invalid, _) => {
            let witness = finding.anomalies.iter().flat_map(|found| &found.witnesses).next();
            let ops = witness.map_or(&[][..], |witness| &witness.ops);
            let line = ops.iter().find_map(|place| place.line);
            let named: Vec<String> =
                ops.iter().take(OPS_MAX).filter_map(|op| Some((op, op.line?))).map(at_line).collect();
            let mut message = finding.summary() + &of_keys(finding);
            if !named.is_empty() {
                message = format!("{message}; see {}", named.join(", "));
            }
            let (level, title) = if finding.is_known { ("notice", "known violation") } else { ("error", "not valid") };
            Some(command(level, input, line, None, &format!("{name}: {title}"), &message))
        }
        (Verdict::Unknown, unknown) => {
            let level = match unknown {
                Unknown::Itself => "warning",
                Unknown::Pass => "notice",
                Unknown::Fail => "error",
            };
            Some(command(level, input, None, None, &format!("{name}: unknown"), &finding.summary()))
        }
    }
}

fn at_line((op, line): (&super::case::Place, u64)) -> String {
    format!("{} at line {line}", op.name)
}

/// The number of keys with the anomaly.
fn of_keys(finding: &Finding) -> String {
    match (finding.count("key-count"), finding.count("invalid-key-count")) {
        (Some(all), Some(invalid)) => format!(" in {invalid} of {all} keys"),
        _ => String::new(),
    }
}

fn command_of_failed(input: &Input, failed: &Failed) -> String {
    let (line, column) = failed.place.unzip();
    command("error", input, line, column, "cannot be checked", &failed.summary())
}

fn command(level: &str, input: &Input, line: Option<u64>, column: Option<u64>, title: &str, message: &str) -> String {
    let mut properties = Vec::new();
    if !input.is_stdin() {
        properties.push(format!("file={}", property(&input.name())));
    }
    properties.extend(line.map(|line| format!("line={line}")));
    properties.extend(column.map(|column| format!("col={column}")));
    properties.push(format!("title={}", property(title)));
    format!("::{level} {}::{}\n", properties.join(","), data(&short(message)))
}

fn short(message: &str) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", message[..end].trim_end()),
        None => message.to_owned(),
    }
}

/// Escapes the text after the second `::`.
fn data(text: &str) -> String {
    visible::line(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")).into_owned()
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harmless(line: &str) -> String {
        let mut out = Vec::new();
        write_harmless(&mut out, line.as_bytes()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn commands_are_escaped_as_github_documents() {
        let input = Input::new("a,b:c%\n.edn".into());
        let text = command("error", &input, Some(3), None, "x: y", "100%,\r\nno: ::end::\u{1b}");
        assert_eq!(text, "::error file=a%2Cb%3Ac%25%0A.edn,line=3,title=x%3A y::100%25,%0D%0Ano: ::end::\\u{1b}\n");
        let text = command("warning", &Input::new("-".into()), None, None, "t", &"m".repeat(1000));
        assert_eq!(text, format!("::warning title=t::{}...\n", "m".repeat(MESSAGE_CHARS_MAX)));
    }

    #[test]
    fn no_line_of_a_history_is_a_command() {
        assert_eq!(harmless("a\ttrue\n"), "a\ttrue\n");
        assert_eq!(harmless("  ::set-output x::y\n"), "\\  ::set-output x::y\n");
        assert_eq!(harmless("a ##[error]b ##[##[\n"), "a ##\\[error]b ##\\[##\\[\n");
    }
}
