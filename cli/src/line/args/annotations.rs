//! `--annotations`: lines of JSON from the user's own harness, which are drawn beside the ops.

use crate::line::usage::UsageError;
use clap::ArgMatches;
use histcheck_draw::bands::{Annotation, Annotations};
use serde_json::{Map, Value};
use std::ffi::OsString;

/// The maximum number of annotations in a file, and of lanes.
const ANNOTATIONS_MAX: usize = 10_000;
const LANES_MAX: usize = 20;
/// The lane of an annotation without a lane.
const LANE: &str = "annotations";

/// The annotations that the command line requests.
///
/// # Errors
///
/// If the file cannot be read, contains an invalid line, or there are several histories.
pub(super) fn given(
    matches: &ArgMatches,
    has_pictures: bool,
    histories: usize,
    warnings: &mut Vec<String>,
) -> Result<Annotations, UsageError> {
    let Some(path) = matches.try_get_one::<OsString>("annotations").ok().flatten() else {
        return Ok(Annotations::default());
    };
    if histories > 1 {
        let message = "--annotations takes one history: its times are those of a single run";
        return Err(UsageError::new(message).tip("check the histories one by one"));
    }
    if !has_pictures {
        warnings.push("--annotations has no effect without --directory: pictures are written there".to_owned());
    }
    let name = path.to_string_lossy();
    let text = std::fs::read_to_string(path)
        .map_err(|error| UsageError::new(format!("cannot read the annotations in {name}: {error}")))?;
    let example = r#"a line such as {"time": 1500000000, "text": "leader changed", "lane": "n1"}"#;
    parse(&text).map(Annotations::new).map_err(|why| UsageError::new(format!("{name}, {why}")).tip(example))
}

/// Parses annotations. Skips empty lines and unknown fields.
fn parse(lines: &str) -> Result<Vec<Annotation>, String> {
    let mut all: Vec<Annotation> = Vec::new();
    let mut lanes: Vec<String> = Vec::new();
    for (at, line) in (1..).zip(lines.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Value = serde_json::from_str(line).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            format!("line {at}, column {}: {message}; expected a JSON object on one line", error.column().max(1))
        })?;
        let Value::Object(fields) = fields else { return Err(format!("line {at}: expected a JSON object")) };
        let annotation = annotation(&fields).map_err(|message| format!("line {at}: {message}"))?;
        if !lanes.contains(&annotation.lane) {
            lanes.push(annotation.lane.clone());
        }
        if lanes.len() > LANES_MAX || all.len() == ANNOTATIONS_MAX {
            return Err(format!("line {at}: more than {LANES_MAX} lanes or {ANNOTATIONS_MAX} annotations"));
        }
        all.push(annotation);
    }
    Ok(all)
}

fn annotation(fields: &Map<String, Value>) -> Result<Annotation, String> {
    let text = fields.get("text").and_then(Value::as_str).ok_or("expected \"text\", a string")?.to_owned();
    let lane = match fields.get("lane") {
        None | Some(Value::Null) => LANE,
        Some(lane) => lane.as_str().ok_or("expected \"lane\" to be a string")?,
    };
    let number = |name: &str| fields.get(name).map(|number| number.as_i64().ok_or(()));
    let (from_ns, until_ns) = match (number("time"), number("from"), number("to")) {
        (Some(Ok(time)), None, None) => (time, time),
        (None, Some(Ok(from)), Some(Ok(to))) if from <= to => (from, to),
        (None, Some(Ok(from)), Some(Ok(to))) => return Err(format!("\"to\" ({to}) is before \"from\" ({from})")),
        _ => return Err("expected \"time\", or \"from\" and \"to\", as integers in nanoseconds".to_owned()),
    };
    Ok(Annotation { text, lane: lane.to_owned(), from_ns, until_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_moment_or_lasts_and_has_a_lane() {
        let lines = r#"
            {"from": 15, "to": 25, "text": "b", "lane": "n1"}
            {"time": 10, "text": "a", "extra": 1}"#;
        let one = |text: &str, lane: &str, from_ns, until_ns| Annotation {
            text: text.into(),
            lane: lane.into(),
            from_ns,
            until_ns,
        };
        assert_eq!(parse(lines), Ok(vec![one("b", "n1", 15, 25), one("a", LANE, 10, 10)]));
    }

    #[test]
    fn what_is_no_annotation_is_reported_with_its_place() {
        let wrong = |lines: &str| parse(lines).unwrap_err();
        assert_eq!(
            wrong("\n{\"time\": 1 \"text\"}"),
            "line 2, column 12: expected `,` or `}`; expected a JSON object on one line"
        );
        assert_eq!(wrong("[1]"), "line 1: expected a JSON object");
        assert_eq!(wrong(r#"{"time": 1}"#), "line 1: expected \"text\", a string");
        assert_eq!(wrong(r#"{"text": "", "from": 2, "to": 1}"#), "line 1: \"to\" (1) is before \"from\" (2)");
        for time in [r#""time": 1.5"#, r#""from": 1"#, r#""time": 1, "from": 1, "to": 2"#, r#""time": "1""#] {
            assert!(wrong(&format!(r#"{{"text": "", {time}}}"#)).ends_with("in nanoseconds"), "{time}");
        }
        assert_eq!(wrong(r#"{"text": "", "time": 1, "lane": 3}"#), "line 1: expected \"lane\" to be a string");
        let lane = |lane: usize| format!("{{\"text\": \"\", \"time\": 1, \"lane\": \"{lane}\"}}\n");
        let many: String = (0..21).map(lane).collect();
        assert_eq!(wrong(&many), "line 21: more than 20 lanes or 10000 annotations");
    }
}
