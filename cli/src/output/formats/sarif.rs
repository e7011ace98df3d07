//! Results as SARIF 2.1.0 (OASIS standard, 2020): each anomaly is a result, with its ops as places in the file.
//!
//! Of the standard's many properties, only those are written that some program reads. A history that could not be
//! checked is not a result but a notification of the run, because nothing is known about the history.

use super::case::{Case, CaseWitness, Failed, Finding, Found};
use crate::judge::input::Input;
use crate::output::policy::Unknown;
use history_core::{About, Verdict, visible};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The maximum number of ops shown per result: viewers show only some.
const RELATED_MAX: usize = 100;

/// The summaries of checkers, by name.
type Summaries = BTreeMap<String, String>;

/// Writes the whole document. `cases` are the histories with their URIs.
pub(super) fn write(
    out: &mut dyn Write,
    cases: &[(&str, &Case)],
    summaries: &Summaries,
    about: &About,
    unknown: Unknown,
) -> io::Result<()> {
    let rules = rules(cases, summaries, about, unknown);
    let mut log = Log { rules, results: Vec::new(), notifications: Vec::new(), about, unknown };
    let mut successful = true;
    for (uri, case) in cases {
        match case {
            Case::Judged(findings) => findings.iter().for_each(|finding| log.add(uri, finding)),
            Case::Failed(failed) => {
                successful = false;
                log.notifications.push(failure(uri, failed));
            }
        }
    }
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "histcheck",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": log.rules.values().collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": successful, "toolExecutionNotifications": log.notifications }],
            "results": log.results,
        }],
    });
    writeln!(out, "{}", visible::json(&serde_json::to_string_pretty(&document)?))
}

/// The data of the run.
struct Log<'a> {
    /// The rules by their ids: the checker's name and the anomaly's.
    rules: BTreeMap<String, Value>,
    results: Vec<Value>,
    notifications: Vec<Value>,
    /// The checkers' own descriptions.
    about: &'a About,
    unknown: Unknown,
}

/// The rule for a violation without a named anomaly, and for an unknown verdict that counts as a violation.
const INVALID: &str = "invalid";
const UNKNOWN: &str = "unknown";

fn id(finding: &Finding, name: &str) -> String {
    format!("{}/{name}", finding.checker)
}

/// The rules for all anomalies that were found.
fn rules(cases: &[(&str, &Case)], summaries: &Summaries, about: &About, unknown: Unknown) -> BTreeMap<String, Value> {
    let mut rules = BTreeMap::new();
    let findings = cases.iter().filter_map(|(_, case)| match case {
        Case::Judged(findings) => Some(findings),
        Case::Failed(_) => None,
    });
    for finding in findings.flatten() {
        let mut add = |name: &str, text: String| {
            let id = id(finding, name);
            let mut rule = json!({ "id": id, "name": name, "shortDescription": { "text": text } });
            if let Some(summary) = summaries.get(&finding.checker) {
                rule["fullDescription"] = json!({ "text": format!("{text} Found by {}: {summary}", finding.checker) });
            }
            rules.entry(id).or_insert(rule);
        };
        match finding.verdict {
            Verdict::Valid => {}
            Verdict::Unknown if unknown != Unknown::Fail => {}
            Verdict::Unknown => add(UNKNOWN, "The checker could not decide whether the history is valid.".into()),
            Verdict::Invalid if finding.anomalies.is_empty() => add(INVALID, "The history is not valid.".into()),
            Verdict::Invalid => {
                finding.anomalies.iter().for_each(|found| add(&found.name, description(&found.name, finding, about)));
            }
        }
    }
    rules
}

/// A sentence that describes an anomaly.
fn description(name: &str, finding: &Finding, about: &About) -> String {
    let known = about.of(&finding.checker).anomaly(name);
    known.map_or_else(|| format!("{name}, as {} defines it.", finding.checker), |known| known.summary.to_string())
}

impl Log<'_> {
    fn add(&mut self, uri: &str, finding: &Finding) {
        match (finding.verdict, self.unknown) {
            (Verdict::Valid, _) => {}
            (Verdict::Unknown, Unknown::Fail) => self.push(uri, finding, UNKNOWN, "error", &finding.summary(), None),
            (Verdict::Unknown, unknown) => {
                let level = if unknown == Unknown::Pass { "note" } else { "warning" };
                let text = format!("{}: unknown: {}", finding.checker, finding.summary());
                let mut notification = notification(level, uri, None, &text);
                if !finding.next.is_empty() {
                    notification["properties"] = json!({ "next": finding.next });
                }
                self.notifications.push(notification);
            }
            (Verdict::Invalid, _) if finding.anomalies.is_empty() => {
                self.push(uri, finding, INVALID, "error", &finding.summary(), None);
            }
            (Verdict::Invalid, _) => finding.anomalies.iter().for_each(|found| self.add_found(uri, finding, found)),
        }
    }

    fn add_found(&mut self, uri: &str, finding: &Finding, found: &Found) {
        let Found { name, count, witnesses } = found;
        let known = self.about.of(&finding.checker).anomaly(name);
        let what = known.map_or_else(|| ".".into(), |known| format!(": {}", known.summary));
        let level = if finding.is_known || known.is_some_and(|known| known.is_doubt) { "note" } else { "error" };
        if witnesses.is_empty() {
            return self.push(uri, finding, name, level, &format!("{name} ({count} in all){what}"), None);
        }
        for witness in witnesses {
            let one_of = if *count > 1 { format!(" (one of {count})") } else { String::new() };
            let text = format!("{name}{one_of}{what}\n\n{}", witness.explanation.trim_end());
            self.push(uri, finding, name, level, &text, Some(witness));
        }
    }

    fn push(
        &mut self,
        uri: &str,
        finding: &Finding,
        name: &str,
        level: &str,
        text: &str,
        witness: Option<&CaseWitness>,
    ) {
        let id = id(finding, name);
        let index = self.rules.keys().position(|other| *other == id);
        let ops = witness.map_or(&[][..], |witness| &witness.ops);
        let mut result = json!({
            "ruleId": id,
            "ruleIndex": index,
            "level": level,
            "message": { "text": text },
            "locations": [location(uri, ops.iter().find_map(|op| op.line), None)],
        });
        let related = ops.iter().take(RELATED_MAX).enumerate().map(|(at, op)| {
            let mut place = location(uri, op.line, None);
            place["id"] = json!(at + 1);
            place["message"] = json!({ "text": format!("{}, index {}", op.name, op.index) });
            place
        });
        let related: Vec<Value> = related.collect();
        if !related.is_empty() {
            result["relatedLocations"] = json!(related);
        }
        if let Some(key) = witness.and_then(|witness| witness.key.as_ref()) {
            result["properties"] = json!({ "key": key });
        }
        self.results.push(result);
    }
}

fn failure(uri: &str, failed: &Failed) -> Value {
    let text = format!("{}: cannot be checked: {}", failed.checker, failed.summary());
    notification("error", uri, failed.place, &text)
}

fn notification(level: &str, uri: &str, place: Option<(u64, u64)>, text: &str) -> Value {
    let (line, column) = place.unzip();
    json!({ "level": level, "message": { "text": text }, "locations": [location(uri, line, column)] })
}

fn location(uri: &str, line: Option<u64>, column: Option<u64>) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let Some(line) = line {
        physical["region"] = json!({ "startLine": line });
    }
    if let Some(column) = column {
        physical["region"]["startColumn"] = json!(column);
    }
    json!({ "physicalLocation": physical })
}

/// A path as a URI: relative to the current directory, or absolute. All bytes are kept, escaped if necessary.
pub(super) fn uri(input: &Input) -> String {
    if input.is_stdin() {
        return "stdin".to_owned();
    }
    let bytes = input.path().as_encoded_bytes();
    let bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let is_absolute = Path::new(input.path()).is_absolute();
    let mut uri = String::from(match (is_absolute, bytes.starts_with(b"/")) {
        (true, true) => "file://",
        (true, false) => "file:///",
        (false, _) => "",
    });
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            byte if is_plain(*byte) => uri.push(char::from(*byte)),
            byte => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        let of = |path: &str| uri(&Input::new(path.into()));
        assert_eq!(of("a/b.edn"), "a/b.edn");
        assert_eq!(of("./a b#?%.edn"), "a%20b%23%3F%25.edn");
        // The text before a colon would be a scheme.
        assert_eq!(of("a:b"), "a%3Ab");
        assert_eq!(of("/tmp/\u{fc}"), "file:///tmp/%C3%BC");
        assert_eq!(of("-"), "stdin");
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt as _;
            let path = std::ffi::OsString::from_vec(b"\xff\n.edn".to_vec());
            assert_eq!(uri(&Input::new(path)), "%FF%0A.edn");
        }
    }
}
