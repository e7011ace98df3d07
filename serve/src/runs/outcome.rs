//! The results of a run, from any files that contain them: Jepsen's results, reports, and results in JSON.

use super::{edn, ops};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The maximum number of bytes of Jepsen's results that are searched. For a longer file, only its existence is used.
const RESULTS_BYTES_MAX: usize = 16 << 20;
/// The number of bytes at the beginning of a report that contain the verdict.
const HEAD_BYTES: usize = 8 << 10;
/// The maximum number of names of each kind that are kept.
const NAMES_MAX: usize = 32;

/// A verdict, or the reason why there is none. The order is from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Valid,
    Unknown,
    /// The history could not be checked.
    Error,
    Invalid,
}

impl Verdict {
    pub(crate) const ALL: [Verdict; 4] = [Verdict::Invalid, Verdict::Unknown, Verdict::Error, Verdict::Valid];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Unknown => "unknown",
            Verdict::Error => "error",
            Verdict::Invalid => "invalid",
        }
    }

    /// Parses a verdict as histcheck and Jepsen write it.
    fn written(text: &str) -> Option<Verdict> {
        match text.trim_start_matches(':') {
            "true" => Some(Verdict::Valid),
            "false" => Some(Verdict::Invalid),
            "unknown" => Some(Verdict::Unknown),
            "error" => Some(Verdict::Error),
            _ => None,
        }
    }
}

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) verdict: Option<Verdict>,
    pub(crate) checkers: Vec<String>,
    pub(crate) anomalies: Vec<String>,
    /// The weakest consistency levels that the anomalies rule out.
    pub(crate) not: Vec<String>,
    /// The strongest consistency levels that hold.
    #[serde(default)]
    pub(crate) strongest: Vec<String>,
}

impl Outcome {
    /// Combines both. The worse verdict counts: a violation in one file is not hidden by another.
    fn and(mut self, other: Outcome) -> Outcome {
        self.verdict = self.verdict.max(other.verdict);
        add(&mut self.checkers, other.checkers);
        add(&mut self.anomalies, other.anomalies);
        add(&mut self.not, other.not);
        add(&mut self.strongest, other.strongest);
        self
    }
}

fn add(names: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for name in more {
        if names.len() < NAMES_MAX && !names.contains(&name) {
            names.push(name);
        }
    }
}

/// The files that may contain results.
pub(super) const FILES: [&str; 4] = ["result.json", "report.html", "report.txt", "results.edn"];

/// Reads the results from these files of a directory; `None` if none of them contains a result.
pub(super) fn read(directory: &Path, names: &[&str]) -> Option<Outcome> {
    let of = |name: &str| {
        let path = directory.join(name);
        match name {
            "results.edn" => {
                // An empty file, or one that is too long, is still a file of Jepsen's results.
                let bytes = ops::head(&path, RESULTS_BYTES_MAX).ok()?;
                Some(std::str::from_utf8(&bytes).ok().and_then(jepsen).unwrap_or_default())
            }
            "report.html" => page(&String::from_utf8_lossy(&ops::head(&path, HEAD_BYTES).ok()?)),
            "report.txt" => text(&String::from_utf8_lossy(&ops::head(&path, HEAD_BYTES).ok()?)),
            _ => result(&ops::head(&path, RESULTS_BYTES_MAX).ok()?),
        }
    };
    names.iter().filter_map(|name| of(name)).reduce(Outcome::and)
}

/// Parses the results of Jepsen's checkers.
fn jepsen(text: &str) -> Option<Outcome> {
    let mut outcome = Outcome::default();
    for (key, value) in edn::entries(text)? {
        if key == ":valid?" {
            outcome.verdict = Verdict::written(value);
        } else if let Some(inner) = edn::entries(value).filter(|_| value.starts_with('{')) {
            if inner.iter().any(|(key, _)| *key == ":valid?") {
                add(&mut outcome.checkers, [key.trim_start_matches(':').to_owned()]);
            }
            found(&mut outcome, &inner);
        } else {
            found(&mut outcome, &[(key, value)]);
        }
    }
    Some(outcome)
}

/// Parses Elle's description of anomalies.
fn found(outcome: &mut Outcome, entries: &[(&str, &str)]) {
    let names = |value| edn::elements(value).into_iter().map(|name| name.trim_start_matches(':').to_owned());
    for (key, value) in entries {
        match *key {
            ":anomaly-types" => add(&mut outcome.anomalies, names(value)),
            ":not" => add(&mut outcome.not, names(value)),
            _ => {}
        }
    }
}

/// Parses the data for programs in the head of a page of `histcheck report`.
fn page(html: &str) -> Option<Outcome> {
    let of = |name: &str| {
        let (_, after) = html.split_once(&format!("<meta name=\"histcheck-{name}\" content=\""))?;
        let content = after.split_once('"')?.0;
        Some(content.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
    };
    let verdict = of("verdict").filter(|verdict| !verdict.is_empty())?;
    let list = |name: &str| of(name).unwrap_or_default();
    let mut outcome = Outcome { verdict: Verdict::written(&verdict), ..Outcome::default() };
    add(&mut outcome.checkers, checkers(&list("checker")));
    add(&mut outcome.anomalies, split(&list("found")));
    add(&mut outcome.strongest, split(&list("strongest")));
    add(&mut outcome.not, split(&list("not")));
    Some(outcome)
}

fn split(list: &str) -> Vec<String> {
    list.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The names of checkers in the form of `-m`.
fn checkers(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Parses the first line of a text report: a path, a tab, and the verdict.
fn text(text: &str) -> Option<Outcome> {
    let (_, verdict) = text.lines().next()?.rsplit_once('\t')?;
    Some(Outcome { verdict: Some(Verdict::written(verdict)?), ..Outcome::default() })
}

/// Parses a line of `--output json`.
pub(crate) fn result(json: &[u8]) -> Option<Outcome> {
    let value: serde_json::Value = serde_json::from_slice(json).ok()?;
    value.get("schema")?;
    let mut outcome = Outcome::default();
    if value.get("error").is_some() {
        outcome.verdict = Some(Verdict::Error);
        return Some(outcome);
    }
    outcome.verdict = match value.get("valid")? {
        serde_json::Value::Bool(true) => Some(Verdict::Valid),
        serde_json::Value::Bool(false) => Some(Verdict::Invalid),
        _ => Some(Verdict::Unknown),
    };
    let list = |value: &serde_json::Value, key: &str| -> Vec<String> {
        let names = value.get(key).and_then(serde_json::Value::as_array);
        names.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let members = value.get("checkers").and_then(serde_json::Value::as_object);
    let own = value.get("checker").and_then(|name| name.as_str()).unwrap_or_default();
    let whole: Vec<(&str, &serde_json::Value)> = match members.filter(|members| !members.is_empty()) {
        Some(members) => members.iter().map(|(name, one)| (name.as_str(), one)).collect(),
        None => vec![(own, &value)],
    };
    for (name, one) in whole {
        add(&mut outcome.checkers, checkers(name));
        add(&mut outcome.anomalies, list(one, "anomaly_types"));
        add(&mut outcome.not, list(one, "not"));
    }
    Some(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_of_jepsen_is_the_outermost_one() {
        let text = "{:stats {:valid? true}, :workload {:valid? false, :anomaly-types [:G1c], :not #{:read-committed}, :a {:valid? true}}, :valid? false}";
        let outcome = jepsen(text).unwrap();
        assert_eq!(outcome.verdict, Some(Verdict::Invalid));
        assert_eq!(outcome.checkers, ["stats", "workload"]);
        assert_eq!((outcome.anomalies, outcome.not), (vec!["G1c".into()], vec!["read-committed".into()]));
        assert_eq!(jepsen("{:valid? :unknown}").unwrap().verdict, Some(Verdict::Unknown));
        assert_eq!(jepsen("{:stats {:valid? true}}").unwrap().verdict, None, "a missing verdict is not a verdict");
        assert_eq!(jepsen("{:valid? true"), None, "a part of a file has no verdict");
    }

    #[test]
    fn a_violation_is_not_hidden_by_another_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("results.edn"), "{:valid? false}").unwrap();
        std::fs::write(dir.path().join("report.txt"), "h.edn\ttrue\n").unwrap();
        let read = |names: &[&str]| read(dir.path(), names).unwrap().verdict;
        assert_eq!(read(&["report.txt", "results.edn"]), Some(Verdict::Invalid));
        assert_eq!(read(&["report.txt"]), Some(Verdict::Valid));
    }

    #[test]
    fn the_verdict_of_a_page_is_in_its_head() {
        let html = "<meta name=\"histcheck-verdict\" content=\"false\"><meta name=\"histcheck-checker\" content=\"a&amp;b\"><meta name=\"histcheck-found\" content=\"G0, G1c\"><meta name=\"histcheck-strongest\" content=\"read-atomic\"><meta name=\"histcheck-not\" content=\"serializable\">";
        let outcome = page(html).unwrap();
        assert_eq!((outcome.verdict, outcome.checkers), (Some(Verdict::Invalid), vec!["a&b".to_owned()]));
        assert_eq!(
            (outcome.anomalies, outcome.strongest, outcome.not),
            (vec!["G0".into(), "G1c".into()], vec!["read-atomic".to_owned()], vec!["serializable".to_owned()])
        );
        let several = "<meta name=\"histcheck-verdict\" content=\"true\"><meta name=\"histcheck-checker\" content=\"list-append,stats\">";
        assert_eq!(page(several).unwrap().checkers, ["list-append", "stats"]);
        assert_eq!(page("<title>coverage</title>"), None, "a report of another program is not a run");
    }

    #[test]
    fn results_in_json_are_understood() {
        let json = br#"{"schema":1,"file":"h","checker":"a","valid":false,"anomaly_types":["G0"],"not":["x"]}"#;
        let outcome = result(json).unwrap();
        assert_eq!((outcome.verdict, &outcome.anomalies[..]), (Some(Verdict::Invalid), &["G0".to_owned()][..]));
        let several = br#"{"schema":1,"checker":"a,b","valid":false,"checkers":{"a":{"anomaly_types":["G0"]},"b":{}}}"#;
        let outcome = result(several).unwrap();
        assert_eq!(
            (outcome.checkers, outcome.anomalies),
            (vec!["a".to_owned(), "b".to_owned()], vec!["G0".to_owned()])
        );
        let of_keys = result(br#"{"schema":1,"checker":"a,b","keyed":true,"valid":true}"#).unwrap();
        assert_eq!(of_keys.checkers, ["a", "b"]);
        assert_eq!(result(br#"{"schema":1,"error":{}}"#).unwrap().verdict, Some(Verdict::Error));
        assert_eq!(result(br#"{"valid":true}"#), None);
    }
}
